"""Private keys and the numbers beside them: the exact divergence of small cases, by enumeration."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.loss import Approximate
from discreet.curator.price.allocate import allocate
from discreet.curator.price.price import price
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.tables.plans.aggregate import CountRows, CountUnits
from tests.support.house.narrow import of_kind
from tests.support.projects.bounded_plans import PRIVATE, equal_weights, make_plan
from tests.support.projects.priced_plans import keys_of

FAR = 60
"""Noise beyond this has a probability below e^-30 in every case here."""


def laplace(scale: float, centre: int) -> np.ndarray:
    """The law of a centre plus discrete Laplace noise, on -FAR..FAR."""
    q = np.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(np.arange(-FAR, FAR + 1) - centre)


def group_law(units: int, rows: int, found) -> np.ndarray:
    """What a reader may see of one group: nothing, or its noisy units and its noisy rows.

    With no units the group is absent and never shown.
    """
    keys = keys_of(found)
    counts = laplace(float(of_kind(DiscreteLaplace, keys.noise).scale), units)
    shown = np.where(np.arange(-FAR, FAR + 1) >= keys.threshold, counts, 0.0)
    if units == 0:
        shown = np.zeros_like(shown)
    beside = [
        laplace(float(noise.scale), rows)
        for index, noise in enumerate(found.mechanisms)
        if index != found.plan.counted
    ]
    pairs = np.outer(shown, beside[0]) if beside else shown
    return np.concatenate([[1 - shown.sum()], pairs.ravel()])


def excess(first: list[np.ndarray], second: list[np.ndarray], epsilon: float) -> float:
    """The hockey-stick divergence of two products of two laws, and a little more.

    Outcomes of one group that both laws give less than 1e-12 are left out, and what they weigh is
    added, so the result is never too small.
    """
    kept = [np.flatnonzero((p > 1e-12) | (q > 1e-12)) for p, q in zip(first, second, strict=True)]
    total = sum(law.sum() - law[places].sum() for law, places in zip(first, kept, strict=True))
    ours, theirs = (
        [law[places] for law, places in zip(side, kept, strict=True)] for side in (first, second)
    )
    for p, q in zip(ours[0], theirs[0], strict=True):
        total += np.maximum(p * ours[1] - np.exp(epsilon) * q * theirs[1], 0).sum()
    return float(total)


def laws_of(found, groups) -> list[np.ndarray]:
    return [group_law(units, rows, found) for units, rows in groups]


def priced(*aggregates, groups_per_unit: int):
    plan = make_plan(*aggregates, keys=PRIVATE, groups_per_unit=groups_per_unit)
    given = Approximate(3, "0.03")
    return price(plan, allocate(plan, equal_weights(plan), given), given)


CASES = [
    # (units, rows) of two groups, with the unit and without it; it has two rows in each.
    ([(1, 2), (1, 2)], [(0, 0), (0, 0)]),
    ([(1, 2), (4, 6)], [(0, 0), (3, 4)]),
    ([(3, 5), (4, 6)], [(2, 3), (3, 4)]),
]


@pytest.mark.parametrize("aggregate", [CountUnits(), CountRows()])
@pytest.mark.parametrize(("with_unit", "without"), CASES)
def test_keys_and_numbers_together_keep_what_is_charged(aggregate, with_unit, without):
    found = priced(aggregate, groups_per_unit=2)
    assert found.loss.epsilon == 3
    assert found.loss.delta <= Fraction("0.03")
    first, second = laws_of(found, with_unit), laws_of(found, without)
    assert all(abs(law.sum() - 1) < 1e-9 for law in (*first, *second))
    for sides in ((first, second), (second, first)):
        assert excess(*sides, 3.0) <= float(found.loss.delta) + 1e-7


def test_delta_is_attained_where_all_groups_are_ones_own():
    found = priced(CountRows(), groups_per_unit=2)
    first, second = (laws_of(found, groups) for groups in CASES[0])
    assert excess(first, second, 3.0) > 0.999 * float(found.loss.delta)


def test_a_threshold_for_one_group_alone_is_caught():
    """The broken twin: δ worked out as if a unit were in one group, while it is in two."""
    found = priced(CountUnits(), groups_per_unit=1)
    first, second = (laws_of(found, groups) for groups in CASES[0])
    assert excess(first, second, 3.0) > 1.5 * float(found.loss.delta)
