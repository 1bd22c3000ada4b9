"""The ends of a quantile's interval: the law, every neighbour, and how often an end is wrong."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.exponential_sum import exp
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import ExactLaw, enclosed
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.selection.quantile_end import EndSide, QuantileEnd
from tests.support.statistics.exact_tests import alpha, cells_p_value

SHARES = [Fraction(1, 2), Fraction(9, 10), Fraction(0)]
LOWER, UPPER = 0, 3
ONE_ROW = Contribution(l1=1)
SAMPLES = 1500
Errors = Callable[[Sequence[int], Fraction, Fraction, int], Fraction]


def low_error(rows: Sequence[int], share: Fraction, distance: Fraction, v: int) -> Fraction:
    """By the definition: a distance of a rank from an interval, which is open at the lowest."""
    target = share * len(rows) - distance
    at_most, below = sum(x <= v for x in rows), sum(x < v for x in rows)
    above = Fraction(0) if v == LOWER else below - target
    return max(Fraction(0), target - at_most, above)


def closed_error(rows: Sequence[int], share: Fraction, distance: Fraction, v: int) -> Fraction:
    """The broken twin: ranks below 0 are those of all values that nothing is below."""
    target = max(Fraction(0), share * len(rows) - distance)
    at_most, below = sum(x <= v for x in rows), sum(x < v for x in rows)
    return max(Fraction(0), target - at_most, below - target)


def law(rows: Sequence[int], end: QuantileEnd, errors: Errors = low_error) -> ExactLaw:
    if end.side is EndSide.HIGH:
        turned = [LOWER + UPPER - x for x in rows]
        weights = {
            LOWER + UPPER - v: errors(turned, 1 - end.quantile, end.distance, v)
            for v in range(LOWER, UPPER + 1)
        }
    else:
        weights = {v: errors(rows, end.quantile, end.distance, v) for v in range(LOWER, UPPER + 1)}
    return ExactLaw({v: exp(-error / end.scale) for v, error in weights.items()})


def data_sets(most: int) -> list[tuple[int, ...]]:
    return [
        rows
        for size in range(most + 1)
        for rows in itertools.combinations_with_replacement(range(LOWER, UPPER + 1), size)
    ]


def quantiles_of(rows: Sequence[int], share: Fraction) -> list[Fraction]:
    """Every value of rank error 0, and what PERCENTILE_DISC and PERCENTILE_CONT are."""
    ordered, n = sorted(rows), len(rows)
    rank = share * n
    found = [
        Fraction(v)
        for v in range(LOWER, UPPER + 1)
        if sum(x < v for x in rows) <= rank <= sum(x <= v for x in rows)
    ]
    place = (n - 1) * share
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    disc = ordered[max(0, math.ceil(rank) - 1)]
    return [*found, Fraction(disc), low + (high - low) * (place - math.floor(place))]


def wrong(rows: Sequence[int], end: QuantileEnd, errors: Errors = low_error) -> Fraction:
    """How likely an end is on the wrong side of some quantile, at most."""
    every = quantiles_of(rows, end.quantile)
    masses = enclosed(law(rows, end, errors)).masses
    if end.side is EndSide.LOW:
        return sum((high for v, (_, high) in masses.items() if v > min(every)), Fraction(0))
    return sum((high for v, (_, high) in masses.items() if v < max(every)), Fraction(0))


def end_of(share: Fraction, side: EndSide, epsilon: str, beta: str = "0.1") -> QuantileEnd:
    return QuantileEnd.calibrate(
        d_in=ONE_ROW,
        loss=Pure(epsilon),
        beta=beta,
        quantile=share,
        side=side,
        lower=LOWER,
        upper=UPPER,
    )


@pytest.mark.parametrize("side", EndSide)
@pytest.mark.parametrize("share", SHARES, ids=str)
def test_no_neighbours_break_the_loss(share: Fraction, side: EndSide):
    end = QuantileEnd(quantile=share, side=side, lower=LOWER, upper=UPPER, scale="3/4", distance=2)
    known = {rows: law(rows, end) for rows in data_sets(4)}
    for first in data_sets(3):
        for new in range(LOWER, UPPER + 1):
            pair = LawPair(first=known[first], second=known[tuple(sorted((*first, new)))])
            assert verify(pair, end.loss(ONE_ROW)).answer is VerdictAnswer.HOLDS, (first, new)


def test_verifier_catches_an_end_at_half_its_price():
    end = QuantileEnd(quantile="1/2", side="low", lower=0, upper=3, scale="1/2", distance=1)
    claim = Pure(end.loss(ONE_ROW).epsilon / 2)
    answers = {
        verify(LawPair(first=law(first, end), second=law((*first, new), end)), claim).answer
        for first in data_sets(4)
        for new in range(4)
    }
    assert VerdictAnswer.BROKEN in answers


@pytest.mark.parametrize("side", EndSide)
@pytest.mark.parametrize("share", SHARES, ids=str)
def test_an_end_is_wrong_as_rarely_as_it_says(share: Fraction, side: EndSide):
    """Over all data of one to six rows, and for prices from hardly any to plenty."""
    for epsilon in ("0.2", "2"):
        end = end_of(share, side, epsilon)
        assert end.holds("0.1")
        worst = max(wrong(rows, end) for rows in data_sets(6) if rows)
        assert worst <= Fraction(1, 10)


def test_distance_is_needed_and_so_is_the_open_end():
    """A nearer end, and one that forgets what ranks below 0 mean, are wrong too often."""
    end = end_of(Fraction(1, 2), EndSide.LOW, "2")
    nearer = QuantileEnd(
        quantile="1/2", side="low", lower=0, upper=3, scale=end.scale, distance="1/2"
    )
    assert not nearer.holds("0.1")
    everything = [rows for rows in data_sets(6) if rows]
    assert max(wrong(rows, nearer) for rows in everything) > Fraction(1, 10)
    assert max(wrong(rows, end, closed_error) for rows in everything) > Fraction(1, 10)


def test_no_rows_have_the_whole_range():
    for side, outermost in ((EndSide.LOW, LOWER), (EndSide.HIGH, UPPER)):
        masses = enclosed(law((), end_of(Fraction(1, 2), side, "1"))).masses
        assert masses[outermost][0] >= Fraction(9, 10)


@pytest.mark.parametrize("side", EndSide)
@pytest.mark.parametrize(
    ("values", "share", "distance"),
    [
        ([], Fraction(1, 2), 1),
        ([2, 2, 2, 2], Fraction(1, 2), 1),
        ([0, 0, 0, 1, 3, 3], Fraction(1, 3), 3),
        ([-7, 2, 30], Fraction(9, 10), Fraction(3, 2)),
    ],
)
def test_sampler_has_the_law(values, share, distance, side, rng):
    """Few rows, duplicates, the lowest value itself, and values outside the domain."""
    end = QuantileEnd(
        quantile=share, side=side, lower=LOWER, upper=UPPER, scale="3/4", distance=distance
    )
    given = np.array(values, dtype=np.int64)
    sample = np.array([end.release(given, rng) for _ in range(SAMPLES)])
    moved = [min(UPPER, max(LOWER, x)) for x in values]
    masses = enclosed(law(moved, end)).masses
    level = alpha("quantile end/sampler", parts=8)
    assert cells_p_value(sample, {v: float(low) for v, (low, _) in masses.items()}) > level


def test_many_rows_are_looked_at_through_a_window(rng):
    """Most intervals are never looked at, and ends lie where they were sent."""
    values = np.arange(100_000)
    for side, near in (("low", 50_000 - 94.5), ("high", 50_000 + 94.5)):
        end = QuantileEnd.calibrate(
            d_in=ONE_ROW,
            loss=Pure("0.1"),
            beta="0.01",
            quantile="1/2",
            side=side,
            lower=0,
            upper=120,
        )
        assert end.distance == Fraction(189, 2)
        wide = QuantileEnd(
            quantile="1/2",
            side=side,
            lower=0,
            upper=99_999,
            scale=end.scale,
            distance=end.distance,
        )
        assert abs(wide.release(values, rng) - near) < 1000


def test_price_of_zcdp_and_of_several_rows():
    for loss in (Pure("0.5"), Zcdp(rho="1/32")):
        end = QuantileEnd.calibrate(
            d_in=Contribution(l1=3),
            loss=loss,
            beta="0.01",
            quantile="1/4",
            side="high",
            lower=0,
            upper=9,
        )
        assert end.scale == 9
        assert end.loss(Contribution(l1=3)).epsilon == Fraction(1, 2)


@pytest.mark.parametrize("distance", [0, "1/3", 2**61, -1])
def test_distances_out_of_range_are_refused(distance):
    with pytest.raises(InvalidArgument, match="distance is out of range"):
        QuantileEnd(quantile="1/2", side="low", lower=0, upper=9, scale=1, distance=distance)
