"""From exact to noisy: which groups are shown, in which order, and what they carry."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.loss import Approximate, Pure
from discreet.curator.price.allocate import allocate
from discreet.curator.price.price import price
from discreet.curator.publishing.randomise import randomise
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.plans.aggregate import CountRows, CountUnits
from discreet.tables.plans.engine import ExactAggregates, Lists
from tests.support.projects.bounded_plans import (
    FOUR_KEYS,
    PRIVATE,
    age_quantile,
    ages,
    equal_weights,
    make_plan,
)
from tests.support.projects.listed_keys import ListedKeys
from tests.support.projects.priced_plans import keys_of

DELTA = Fraction(1, 10**6)
MANY = 10**6


def priced(plan, given):
    return price(plan, allocate(plan, equal_weights(plan), given), given)


def whole(*values: int):
    return np.array(values, dtype=np.int64)


def test_public_groups_of_all_sets_in_order(rng):
    pairs = KeySet(places=(0, 1), rows=(("a", 1), ("b", 2)))
    by_first = KeySet(places=(0,), rows=(("a",), ("b",)))
    total = KeySet(places=(), rows=((),))
    plan = make_plan(CountRows(), keys=PublicKeys(fields=(1, 2), sets=(pairs, by_first, total)))
    exact = ExactAggregates((whole(1, 2, 3, 4, 5) * MANY,))
    noisy = randomise(exact, priced(plan, Pure(1)), rng)
    assert noisy.keys == (("a", 1), ("b", 2), ("a", None), ("b", None), (None, None))
    assert noisy.sets == (0, 0, 1, 1, 2)
    assert [round(value / MANY) for value in noisy.columns[0]] == [1, 2, 3, 4, 5]


def test_empty_public_groups_get_noise_too(rng):
    plan = make_plan(CountRows(), keys=FOUR_KEYS)
    found = priced(plan, Pure("1/100"))
    noisy = randomise(ExactAggregates((whole(0, 0, 0, 0),)), found, rng)
    # The scale is 600: all four being 0 has a probability below 1e-12.
    assert noisy.columns[0].any()


def test_private_groups_are_shown_with_their_own_numbers(rng):
    plan = make_plan(CountUnits(), ages(), age_quantile(), keys=PRIVATE)
    found = priced(plan, Approximate(1, DELTA))
    keys = (("rare",), ("b",), (None,), ("a",))
    units = whole(1, 3 * MANY, 5 * MANY, 4 * MANY)
    lists = Lists(whole(7, 30, 30, 50, 50, 40, 40), whole(0, 1, 3, 5, 7))
    exact = ExactAggregates((units, 10 * units, lists), groups=(ListedKeys(keys), units))
    noisy = randomise(exact, found, rng)
    assert noisy.keys == (("a",), ("b",), (None,))
    assert noisy.sets == (0, 0, 0)
    assert [round(value / MANY) for value in noisy.columns[0]] == [4, 3, 5]
    assert [round(value / MANY) for value in noisy.columns[1]] == [40, 30, 50]
    assert len(noisy.columns[2]) == 3


def test_the_counts_shown_are_those_that_chose(rng):
    """A count that is shown is never below the threshold, which fresh noise would be at times."""
    plan = make_plan(CountUnits(), keys=PRIVATE)
    found = priced(plan, Approximate(1, DELTA))
    threshold = keys_of(found).threshold
    keys = tuple((f"{i:04}",) for i in range(500))
    units = np.full(500, threshold, dtype=np.int64)
    exact = ExactAggregates((units,), groups=(ListedKeys(keys), units))
    noisy = randomise(exact, found, rng)
    assert 100 < len(noisy.keys) < 500
    assert min(noisy.columns[0]) >= threshold


class Counting:
    """Counts how many words are drawn."""

    def __init__(self, rng) -> None:
        self.rng, self.drawn = rng, 0

    def words(self, count: int):
        self.drawn += count
        return self.rng.words(count)


def test_noise_is_drawn_for_shown_groups_only(rng):
    plan = make_plan(ages(), keys=PRIVATE)
    found = priced(plan, Approximate(1, DELTA))
    keys = tuple((f"{i:04}",) for i in range(1000))
    units = np.ones(1000, dtype=np.int64)
    units[0] = MANY
    counting = Counting(rng)
    exact = ExactAggregates((units,), groups=(ListedKeys(keys), units))
    _, _, shown = exact.select(keys_of(found), counting)
    selected = counting.drawn
    assert len(shown.randomise(0, found.mechanisms[0], counting)) == 1
    assert counting.drawn - selected < selected / 10


def test_the_law_of_private_keys_is_that_of_the_definition(rng):
    """A small threshold, one group of two units: how often it is shown, and with which count.

    False alarm: 20,000 draws, a deviation of 5 standard deviations in one of four cells, < 1e-5.
    """
    plan = make_plan(CountUnits(), keys=PRIVATE, groups_per_unit=1)
    found = priced(plan, Approximate(1, "0.2"))
    keys = keys_of(found)
    q = float(np.exp(-1 / float(keys.noise.spread)))
    counts: Counter[int | None] = Counter()
    draws = 20_000
    for _ in range(draws):
        exact = ExactAggregates((whole(2),), groups=(ListedKeys((("a",),)), whole(2)))
        noisy = randomise(exact, found, rng)
        counts[int(noisy.columns[0][0]) if noisy.keys else None] += 1
    law = {value: (1 - q) / (1 + q) * q ** abs(value - 2) for value in range(-60, 60)}
    expected: dict[int | None, float] = {
        value: law[value] for value in range(keys.threshold, keys.threshold + 3)
    }
    expected[None] = sum(p for value, p in law.items() if value < keys.threshold)
    for value, probability in expected.items():
        spread = 5 * (draws * probability * (1 - probability)) ** 0.5
        assert abs(counts[value] - draws * probability) <= spread
    assert min(value for value in counts if value is not None) >= keys.threshold


def test_the_number_of_private_keys_has_no_part_in_the_mechanism():
    plan = make_plan(ages(), keys=PRIVATE)
    assert plan.reach() == plan.limits
    one, again = (priced(plan, Approximate(1, DELTA)) for _ in range(2))
    assert one == again


def test_public_groups_are_never_selected(rng):
    exact = ExactAggregates((whole(1, 2, 3, 4),))
    found = priced(make_plan(ages(), keys=PRIVATE), Approximate(1, DELTA))
    with pytest.raises(Exception, match="public"):
        randomise(exact, found, rng)
