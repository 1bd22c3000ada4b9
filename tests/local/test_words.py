"""Words that nobody listed: what reports support, what is found, and what is promised of it."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import InvalidArgument
from discreet.local.device.words import spelled
from discreet.local.words.find_words import find_words, plan_words
from discreet.local.words.hashed_words import HashedWords
from tests.local.words_cases import SMALL
from tests.support.local.device_law import device_law
from tests.support.statistics.exact_tests import alpha


def test_reports_support_the_bucket_that_is_held_and_half_of_all_others():
    """By enumeration, in every group: exactly, whatever the hash does."""
    recipe = SMALL.recipe()
    buckets = [SMALL.buckets_of(g, [spelled(recipe, "ab")])[0] for g in range(SMALL.groups)]
    likely = np.zeros((SMALL.groups, SMALL.buckets), dtype=object)
    for report, weight in device_law(recipe, "ab").items():
        tally = SMALL.tally(np.frombuffer(report, np.uint8)[None])
        group = int(np.flatnonzero(tally[:, -1])[0])
        likely[group] += weight * SMALL.groups * SMALL.supports(tally, group).astype(object)
    for group, bucket in enumerate(buckets):
        expected = [SMALL.held if b == bucket else Fraction(1, 2) for b in range(SMALL.buckets)]
        assert likely[group].tolist() == expected


def crowd(people: int) -> tuple[HashedWords, np.ndarray]:
    scheme = HashedWords.calibrate(epsilon=4, longest=6, salt="crowd", buckets=2**16)
    often = ["meadow"] * (people // 4) + ["sea"] * (people // 5) + ["straße"] * (people // 8)
    rare = [f"r{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}" for i in range(people - len(often))]
    return scheme, np.array(often + rare)


def test_words_that_nobody_listed_are_found_and_no_others(rng):
    """Errs at most as often as the named rate: half for findings, half for words that are missed.

    Collisions of hashes are no chance here: the salt is fixed, and the words are.
    """
    level = Fraction(alpha("local/words"))
    scheme, people = crowd(40_000)
    tally = scheme.tally(scheme.randomise_many(people, rng))
    found = find_words(scheme, tally, least="1/50", false_discoveries=level / 8)
    assert set(found.words) <= {"meadow", "sea", "stra\N{REPLACEMENT CHARACTER}e"}
    hidden = plan_words(scheme, 40_000, least="1/50", false_discoveries=level / 8, missed=level / 8)
    assert hidden < 1 / 5
    assert found.words[:2] == ("meadow", "sea")
    assert found.error < Fraction(1, 100)


def test_what_is_planned_is_enough_for_the_last_group():
    """Against binomial laws: a word of the planned share passes, and is not planned too high."""
    scheme = HashedWords.calibrate(epsilon=2, longest=6, salt="plan")
    share = plan_words(scheme, 500_000, least="1/50")
    size = 500_000 // scheme.groups
    rate = 0.5 + float(scheme.held - Fraction(1, 2)) * share
    counts = stats.binom.ppf([1e-3], size, rate)
    beta = 0.05 / 2 / (28**2 * 50)
    low = stats.beta.ppf(beta, counts, size - counts + 1)
    surely = ((low - 0.5) / float(scheme.held - Fraction(1, 2)))[0]
    assert 0.02 < surely < 0.06
    assert plan_words(scheme, 2_000_000, least="1/50") < share
    assert plan_words(scheme, 10, least="1/50") == 1.0


def test_nothing_is_found_where_nothing_is_frequent(rng):
    scheme, people = crowd(3000)
    alone = np.array([f"{a}{b}" for a, b in zip(people[:1500], people[1500:], strict=True)])
    tally = scheme.tally(scheme.randomise_many(alone, rng))
    assert find_words(scheme, tally, least="1/2").words == ()


def test_few_buckets_promise_nothing(rng):
    """Twin: words that share a bucket with a frequent one are found too, and the bound says so."""
    scheme = HashedWords.calibrate(epsilon=8, longest=2, step=1, salt="few", buckets=4)
    reports = scheme.randomise_many(np.array(["ox"] * 4000), rng)
    found = find_words(scheme, scheme.tally(reports), least="1/4")
    assert len(found.words) > 1
    assert found.error == 1


def test_lists_that_would_be_too_long_are_refused():
    scheme = HashedWords.calibrate(epsilon=2, longest=10, step=10, salt="long", buckets=16)
    reports = np.zeros((scheme.groups, scheme.size), dtype=np.uint8)
    reports[:, 0] = np.arange(scheme.groups)
    with pytest.raises(InvalidArgument, match="too many prefixes"):
        find_words(scheme, scheme.tally(reports), least="1/10")


def test_few_people_find_nothing_and_are_no_error():
    """There may be no report yet of some group: nothing is surely held then."""
    for people in (1, 2):
        tally = SMALL.tally(np.zeros((people, SMALL.size), dtype=np.uint8))
        found = find_words(SMALL, tally, least="1/50")
        assert (found.words, found.tested, found.error) == ((), 0, Fraction(1, 20))
    with pytest.raises(InvalidArgument, match="no reports"):
        find_words(SMALL, np.zeros_like(tally), least="1/50")


def test_lower_ends_leave_room_for_others_in_the_bucket(rng):
    """Others may be as many as is said, and no more than the least share that is looked for."""
    level = Fraction(alpha("local/words beside"))
    scheme = HashedWords.calibrate(epsilon=16, longest=1, salt="beside", buckets=64)
    tally = scheme.tally(scheme.randomise_many(["a"] * 60_000 + ["b"] * 40_000, rng))
    for doubt in (Fraction(1, 2), level):
        found = find_words(scheme, tally, least="0.1", false_discoveries=doubt)
        room = min(0.1, float(found.tested / (64 * doubt)))
        assert room >= 0.05
        assert found.words == ("a", "b")
        coins = found.high - found.shares
        assert found.low == pytest.approx(found.shares - coins - room, abs=0.01)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"lengths": (2, 1, 1)}, "out of order"),
        ({"lengths": (1, 2)}, "out of order"),
        ({"buckets": 3}, "power of two"),
        ({"alphabet": "aa"}, "alphabet"),
        ({"truth": 1}, "truth"),
    ],
)
def test_bad_declarations_are_refused(changed, match):
    kept = {name: getattr(SMALL, name) for name in ("alphabet", "lengths", "buckets", "truth")}
    with pytest.raises(InvalidArgument, match=match):
        HashedWords(salt="w", **(kept | changed))
