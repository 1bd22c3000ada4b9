"""Rényi curves of events: never below the divergence of the laws themselves."""

import math
from fractions import Fraction

import pytest

from discreet.accounting.accountants.renyi import renyi_loss
from discreet.accounting.curves.bounded import (
    BinaryPiece,
    BoundedRangePiece,
    CategoricalPiece,
    TightPure,
)
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.noise import DiscreteLaplacePiece, LaplacePiece
from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import Unsupported
from discreet.core.event import Event
from discreet.core.mechanism_event import DiscreteLaplaceEvent, TwoCoinResponseEvent

ORDERS = [Fraction(order) for order in ("1.01", "1.5", "2", "3.7", "16", "200")]


def renyi_of(p, q, order):
    """Return the divergence of two lists of probabilities, by the definition."""
    terms = [order * math.log(a) + (1 - order) * math.log(b) for a, b in zip(p, q, strict=True)]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(t - top) for t in terms))) / (order - 1)


def assert_tight(piece, truth, order):
    upper = float(piece.upper(order))
    assert upper >= truth - 1e-12 * max(1, truth)
    assert upper <= truth + 1e-9 * max(1, truth)
    assert math.isclose(piece.estimate(float(order)), truth, rel_tol=1e-6, abs_tol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("scale", "distance"), [("1/3", 1), ("1", 2), ("7/2", 5), ("20", 3)])
def test_discrete_laplace_by_summation(scale, distance, order):
    s, alpha = float(Fraction(scale)), float(order)
    reach = int(800 * s) + distance
    centre = math.log(math.tanh(1 / (2 * s)))
    exponents = [
        centre - (alpha * abs(z) + (1 - alpha) * abs(z - distance)) / s
        for z in range(-reach, reach + 1)
    ]
    top = max(exponents)
    total = top + math.log(math.fsum(math.exp(e - top) for e in exponents))
    piece = DiscreteLaplacePiece(scale=scale, distance=distance)
    assert_tight(piece, total / (alpha - 1), order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shift", ["1/100", "1", "5"])
def test_laplace_by_quadrature(shift, order):
    t, alpha, steps = float(Fraction(shift)), float(order), 20_000
    # Outside of the two centres the integrand is a plain exponential; between them, Simpson.
    # Everything is divided by e^((α-1)t), which is put back at the end.
    left, right = 1 / 2, math.exp(-(2 * alpha - 1) * t) / 2

    def between(x):
        return math.exp(-(2 * alpha - 1) * x) / 2

    width = t / steps
    inner = sum((4 if i % 2 else 2) * between(i * width) for i in range(1, steps))
    middle = width / 3 * (between(0) + inner + between(t))
    truth = t + math.log(left + middle + right) / (alpha - 1)
    upper = float(LaplacePiece(shift=shift).upper(order))
    assert math.isclose(upper, truth, rel_tol=1e-5, abs_tol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("epsilon", "categories"), [("0.1", 2), ("1", 3), ("2.5", 10), ("1", 2)])
def test_categorical_by_definition(epsilon, categories, order):
    odds = math.exp(float(Fraction(epsilon)))
    total = odds + categories - 1
    p = [odds / total, 1 / total, *[1 / total] * (categories - 2)]
    q = [1 / total, odds / total, *[1 / total] * (categories - 2)]
    assert_tight(CategoricalPiece(epsilon, categories), renyi_of(p, q, float(order)), order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("first", "second"), [("3/4", "1/4"), ("1/10", "1/100"), ("1/2", "1/2")])
def test_binary_by_definition(first, second, order):
    p, q = Fraction(first), Fraction(second)
    forth = renyi_of([p, 1 - p], [q, 1 - q], float(order))
    back = renyi_of([q, 1 - q], [p, 1 - p], float(order))
    assert_tight(BinaryPiece(first, second), max(forth, back), order)


@pytest.mark.parametrize("order", ORDERS)
def test_bounded_range_covers_the_exponential_mechanism(order):
    """Scores of sensitivity 1 at ε = 1: every pair of neighbouring score vectors on a grid."""
    piece = BoundedRangePiece(epsilon=1)
    for base in ((0, 0, 0), (3, 1, 0), (5, 5, 0)):
        for change in ((1, 0, -1), (1, -1, 1), (-1, -1, 1), (1, 1, 1)):
            p = [math.exp(score / 2) for score in base]
            q = [math.exp((s + c) / 2) for s, c in zip(base, change, strict=True)]
            p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
            assert renyi_of(p, q, float(order)) <= float(piece.upper(order)) + 1e-12


@pytest.mark.parametrize("order", [Fraction(1), *ORDERS])
def test_no_curve_is_above_the_tight_pure_one(order):
    pure = TightPure(epsilon=1).upper(order)
    pieces = [
        LaplacePiece(shift=1),
        DiscreteLaplacePiece(scale=3, distance=3),
        CategoricalPiece(epsilon=1, categories=4),
        BoundedRangePiece(epsilon=1),
    ]
    for piece in pieces:
        assert piece.upper(order) <= pure * (1 + Fraction(1, 10**5))


def test_distances_between_integers_are_floored():
    found = renyi_loss([DiscreteLaplaceEvent(scale=2, distance="7/2")])
    assert found.curve == RenyiCurve.of(DiscreteLaplacePiece(scale=2, distance=3))


def test_curves_are_written_down_and_read_back():
    curve = RenyiCurve.of(
        LaplacePiece(shift="1/3"),
        DiscreteLaplacePiece(scale="7/2", distance=2),
        CategoricalPiece(epsilon=1, categories=3),
        BinaryPiece(first="3/4", second="1/4"),
        BoundedRangePiece(epsilon=1),
    )
    assert loss_from_json(curve.to_json()) == curve


def test_a_coin_that_tells_all_is_refused():
    with pytest.raises(Unsupported, match="no finite curve"):
        renyi_loss([TwoCoinResponseEvent(truth=1, yes="1/2")])


def test_unknown_events_are_refused():
    class Telepathy(Event):
        kind = "telepathy_for_tests"

    with pytest.raises(Unsupported, match="telepathy"):
        renyi_loss([Telepathy()])
