"""Exact attackers on small models of choices through the gate: all tables are enumerated.

What the attacker sees is what the gate makes of the counts, not what a certificate says of it.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.rounding import exp_up
from discreet.noiseless.certifiable import PrivacyTarget
from discreet.noiseless.exact.exact_plan import ExactPlan
from discreet.noiseless.exact.exact_statistics import statistic_of
from discreet.tables.catalog import Table
from discreet.tables.declarations.declaration import parse_catalog
from tests.support.noiseless.fair_bits import excess_of
from tests.support.projects.exact import SCHOOL, release

EPSILONS = [Fraction(0), Fraction(1, 4), Fraction(1)]
YES = {"law": '"bernoulli(0.25)"', "rows_exact": "true", "threshold": 6}
GRADED = {"law": '"shares(0.7, 0.2, 0.1)"', "rows_exact": "true"}


def planned(statistic: str, rows: int, known: int = 0, more: Any = None) -> ExactPlan:
    column = '["grade"]' if statistic == "argmax" else '["passed"]'
    return plan_of(release("one", statistic, column, rows=rows, known=known, **(more or {})))


def plan_of(made: str) -> ExactPlan:
    catalog = parse_catalog(SCHOOL.format(exact=made), Path("/project/discreet.toml"))
    table = catalog.table("exams")
    assert isinstance(table, Table)
    return ExactPlan(declared=catalog.exact[0], table=table)


def counts_of(plan: ExactPlan, values: tuple[int, ...]) -> tuple[int, ...]:
    """Return the integers that an engine would: how many yeses there are, or rows of each key."""
    if plan.has_bins:
        return tuple(values.count(place) for place in range(len(plan.bins)))
    return (sum(values),)


def shown(plan: ExactPlan, values: tuple[int, ...], rng) -> int:
    """Return what is public, as the number of the outcome."""
    numbers = (np.array(counts_of(plan, values), dtype=np.int64),)
    found = plan.published(numbers, rng)["choice"]["is"]
    return int(found) if isinstance(found, bool) else "abc".index(found)


def attacked(plan: ExactPlan, law, rows: int, known: int, epsilon: Fraction, rng) -> Fraction:
    """Return the exact divergence of the worst row beside the worst known rows, rounded down."""
    factor, worst = exp_up(epsilon), Fraction(0)
    seen: dict[tuple[int, ...], int] = {}

    def outcome(values: tuple[int, ...]) -> int:
        counts = counts_of(plan, values)
        if counts not in seen:
            seen[counts] = shown(plan, values, rng)
        return seen[counts]

    for fixed in ordered(len(law), known):
        others = [(chance, one + fixed) for chance, one in drawn(law, rows - 1 - known)]
        for own in range(len(law)):
            real: dict[int, Fraction] = {}
            simulated: dict[int, Fraction] = {}
            for chance, one in others:
                with_row, without = outcome((*one, own)), outcome(one)
                real[with_row] = real.get(with_row, Fraction(0)) + chance
                simulated[without] = simulated.get(without, Fraction(0)) + chance
            found = (excess_of(real, simulated, factor), excess_of(simulated, real, factor))
            worst = max(worst, *found)
    return worst


def ordered(values: int, count: int) -> Iterator[tuple[int, ...]]:
    return (one for one in product(range(values), repeat=count) if list(one) == sorted(one))


def drawn(law, count: int) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Return all tables of so many rows with their probabilities; equal counts are one."""
    found: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for _ in range(count):
        grown: dict[tuple[int, ...], Fraction] = {}
        for one, chance in found.items():
            for value, share in enumerate(law):
                key = tuple(sorted((*one, value)))
                grown[key] = grown.get(key, Fraction(0)) + chance * share
        found = grown
    return [(chance, one) for one, chance in found.items()]


MODELS = [
    ("threshold", 9, 0, [Fraction(3, 4), Fraction(1, 4)], YES),
    ("threshold", 9, 2, [Fraction(3, 4), Fraction(1, 4)], YES),
    ("majority", 8, 1, [Fraction(3, 4), Fraction(1, 4)], YES | {"threshold": None}),
    ("majority", 7, 0, [Fraction(3, 4), Fraction(1, 4)], YES | {"threshold": None}),
    ("argmax", 9, 0, [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)], GRADED),
    ("argmax", 8, 2, [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)], GRADED),
]


def settings(more: dict) -> dict:
    return {key: value for key, value in more.items() if value is not None}


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("statistic", "rows", "known", "law", "more"), MODELS)
def test_no_attacker_sees_more_than_is_certified(statistic, rows, known, law, more, epsilon, rng):
    plan = planned(statistic, rows, known, settings(more))
    certified = min(statistic_of(plan).deltas(epsilon).values())
    found = attacked(plan, law, rows, known, epsilon, rng)
    assert found <= certified
    assert certified <= found + Fraction(1, 10**6), "and no less would be true"


@pytest.mark.parametrize(("statistic", "rows", "known", "law", "more"), MODELS)
def test_one_more_known_row_is_beyond_it(statistic, rows, known, law, more, rng):
    plan = planned(statistic, rows, known, settings(more))
    certified = min(statistic_of(plan).deltas(Fraction(0)).values())
    assert attacked(plan, law, rows, known + 1, Fraction(0), rng) > certified


@pytest.mark.parametrize("more_rows", [1, 3, 11])
def test_more_rows_than_asserted_do_harm(more_rows, rng):
    """Of a sum they do none. Here they bring the count to where one row decides."""
    law = [Fraction(3, 4), Fraction(1, 4)]
    plan = planned("threshold", 9, more=YES)
    certified = min(statistic_of(plan).deltas(Fraction(0)).values())
    assert attacked(plan, law, 9 + more_rows, 0, Fraction(0), rng) > certified


def test_fewer_rows_than_asserted_do_harm_to_the_most_common_key(rng):
    law = [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
    plan = planned("argmax", 9, more=GRADED)
    certified = min(statistic_of(plan).deltas(Fraction(0)).values())
    assert attacked(plan, law, 4, 0, Fraction(0), rng) > certified


@pytest.mark.parametrize(
    ("rows", "share", "threshold", "what"),
    [(40, "0.25", 30, "more"), (200, "0.5", 60, "fewer")],
)
def test_the_number_of_rows_at_which_it_breaks_is_named(rows, share, threshold, what, rng):
    target = PrivacyTarget(Fraction(0), Fraction(1, 10**4))
    settled = {"threshold": threshold, "rows_exact": "true", "law": f'"bernoulli({share})"'}
    plan = planned("threshold", rows, more=settled)
    named = {one.what: one.limit for one in statistic_of(plan).breaking_points(target)}
    found = named[f"the number of rows, if there are {what}"]
    assert found is not None
    limit = int(found)
    beyond = limit + (1 if what == "more" else -1)
    law = [1 - Fraction(share), Fraction(share)]
    assert attacked(plan, law, limit, 0, Fraction(0), rng) <= target.delta
    assert attacked(plan, law, beyond, 0, Fraction(0), rng) > target.delta


def test_rows_with_shares_of_their_own_are_within_it(rng):
    """Each row has its own probability of a yes between two ends: no mixture is worse."""
    wide = YES | {"law": '"yes(0.1, 0.25)"', "threshold": 6}
    plan = planned("threshold", 8, more=wide)
    certified = min(statistic_of(plan).deltas(Fraction(0)).values())
    ends = (Fraction(1, 10), Fraction(1, 4))
    for low in range(8):
        chances = {0: Fraction(1)}
        for share in [ends[0]] * low + [ends[1]] * (7 - low):
            grown: dict[int, Fraction] = {}
            for count, chance in chances.items():
                grown[count] = grown.get(count, Fraction(0)) + chance * (1 - share)
                grown[count + 1] = grown.get(count + 1, Fraction(0)) + chance * share
            chances = grown
        flips = sum(
            chance
            for count, chance in chances.items()
            if shown(plan, (1,) * (count + 1), rng) != shown(plan, (1,) * count, rng)
        )
        assert flips <= certified


def test_a_total_that_is_compared_tells_no_more_than_the_total(rng):
    made = release(
        "one", "threshold", '["hours"]', rows=6, threshold=130, law='"uniform(0, 40)"', delta="0.9"
    )
    plan = plan_of(made)
    chances = {0: Fraction(1)}
    for _ in range(5):
        grown: dict[int, Fraction] = {}
        for total, chance in chances.items():
            for value in range(41):
                at = total + value - 20
                grown[at] = grown.get(at, Fraction(0)) + chance / 41
        chances = grown

    def yes(total: int) -> bool:
        return plan.published((np.array([total], dtype=np.int64),), rng)["choice"]["is"]

    for epsilon in EPSILONS:
        certified = min(statistic_of(plan).deltas(epsilon).values())
        without = Fraction(sum(chance for total, chance in chances.items() if yes(total)))
        for own in (0, 40):
            found = (chance for total, chance in chances.items() if yes(total + own - 20))
            with_row = Fraction(sum(found))
            real = {1: with_row, 0: 1 - with_row}
            simulated = {1: without, 0: 1 - without}
            assert real != simulated
            assert excess_of(real, simulated, exp_up(epsilon)) <= certified
            assert excess_of(simulated, real, exp_up(epsilon)) <= certified
