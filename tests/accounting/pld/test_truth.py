"""The truth lies in the interval, in every random case, and the interval is narrow."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.accounting.pld import delta_curve
from discreet.accounting.pld.counted_events import Uses
from discreet.accounting.pld.enclosure import enclose_delta, enclose_deltas, enclose_epsilon
from discreet.accounting.pld.laws import grid
from tests.accounting.pld import cases
from tests.accounting.pld.cases import Case, Draw

KINDS = {
    "finite": (cases.finite_case, 250),
    "responses": (cases.response_case, 200),
    "continuous": (cases.continuous_case, 350),
    "sampled": (cases.sampled_case, 150),
    "gaussian": (cases.gaussian_case, 100),
}
"""Kinds of cases, and how many of each: 1,050 in all."""

WIDTH = 1e-3
SHARDS = 4
NOTHING = Decimal("1e-45")
"""What fifty digits leave of a δ that is 0."""


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("kind", KINDS)
def test_truth_is_inside(kind: str, shard: int, rng, soak):
    make, usual = KINDS[kind]
    draw = Draw(rng)
    for _ in range(soak.cases(usual // SHARDS)):
        check_case(make(draw))


@pytest.mark.parametrize("kind", KINDS)
def test_true_delta_is_inside(kind: str, rng, soak):
    """At an ε of their own choosing: near the one that belongs to the case's δ."""
    make, usual = KINDS[kind]
    draw = Draw(rng)
    for _ in range(soak.cases(usual // 20)):
        case = make(draw)
        uses = Uses.of(case.counts)
        near = enclose_epsilon(uses, float(case.delta), WIDTH).low
        epsilon = near * (0.2 + draw.unit())
        found, truth = enclose_delta(uses, epsilon, WIDTH), case.true_delta(epsilon)
        assert found.low <= truth + NOTHING, (case.counts, epsilon, found, truth)
        assert truth - NOTHING <= found.high, (case.counts, epsilon, found, truth)


ACCURACY = 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_true_deltas_are_inside(kind: str, rng, soak):
    """At many ε from one law, and at one ε on a grid that is refined."""
    make, usual = KINDS[kind]
    draw = Draw(rng)
    for _ in range(soak.cases(usual // 40)):
        check_deltas(make(draw), draw)


def check_deltas(case: Case, draw: Draw) -> None:
    uses = Uses.of(case.counts)
    near = enclose_epsilon(uses, float(case.delta), 0.05).low
    epsilons = [0.0, *(near * draw.unit() for _ in range(3)), near]
    found = enclose_deltas(uses, epsilons, ACCURACY)
    assert all(one.high - one.low <= ACCURACY for one in found)
    found.append(enclose_delta(uses, epsilons[1], WIDTH, 0.01))
    for epsilon, one in zip([*epsilons, epsilons[1]], found, strict=True):
        truth = case.true_delta(epsilon)
        assert one.low <= truth + NOTHING, (case.counts, epsilon, one, truth)
        assert truth - NOTHING <= one.high, (case.counts, epsilon, one, truth)


@pytest.mark.parametrize("shift", [-1e-3, 0.0, 1e-3])
def test_a_broken_twin_of_many_deltas_is_caught(monkeypatch, rng, shift: float):
    """Without the bump, and with the sums of a place a thousandth before or after."""
    sums = delta_curve._suffix_sums

    def moved(law, masses, at):
        return sums(law, masses, at + shift)

    monkeypatch.setattr(delta_curve, "_suffix_sums", moved)
    if not shift:
        monkeypatch.setattr(delta_curve, "HEIGHT", 0.0)
    draw = Draw(rng)
    with pytest.raises(AssertionError, match="Interval"):
        check_many_deltas(draw)


def check_many_deltas(draw: Draw) -> None:
    for _ in range(60):
        check_deltas(cases.continuous_case(draw), draw)


def test_without_the_bump_the_truth_is_missed(monkeypatch, rng):
    """A broken twin: the split law taken for the law itself is caught by these cases."""
    monkeypatch.setattr(delta_curve, "HEIGHT", 0.0)
    assert caught(rng)


def test_without_the_split_the_truth_is_missed(monkeypatch, rng):
    """Another: all of a cell at its lower end, which looks more precise than it is."""
    monkeypatch.setattr(grid, "_placed", lambda masses, share: placed(masses, 0 * share))
    assert caught(rng)


placed = grid._placed


def caught(rng) -> bool:
    draw = Draw(rng)
    for _ in range(40):
        try:
            check_case(cases.continuous_case(draw))
        except AssertionError:
            return True
    return False


def check_case(case: Case) -> None:
    uses, delta = Uses.of(case.counts), float(case.delta)
    found = enclose_epsilon(uses, delta, WIDTH)
    assert math.isfinite(found.low), case
    if math.isfinite(found.high):
        assert case.true_delta(found.high) <= case.delta, (case.counts, case.delta, found)
        assert found.high - found.low <= WIDTH * max(1.0, found.high), (case.counts, found)
    else:
        assert max(one.infinite for one in case.truth) >= case.delta * Fraction("0.999999")
    assert found.low == 0.0 or case.true_delta(found.low) >= case.delta, (case.counts, found)
