"""Rényi curves: certified at every order, added exactly, compared only where it is provable."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.curves.bounded import TightPure, pure_to_kl
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import BoundedLine, Line
from discreet.accounting.curves.noise import GaussianPiece
from discreet.accounting.losses.loss_json import loss_from_json
from discreet.audit.finite_divergence import kl_divergence, max_divergence, renyi_divergence
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Pure
from discreet.core.numbers import log_bounds
from tests.support.statistics.finite_laws import laws, orders, response

epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000)
pieces = st.one_of(
    st.builds(Line, epsilons, epsilons),
    st.builds(TightPure, epsilons),
    st.builds(GaussianPiece, epsilons),
    st.builds(BoundedLine, rho=epsilons, order=st.fractions(min_value=2, max_value=9)),
)
curves = st.lists(st.tuples(pieces, st.integers(0, 4)), max_size=4).map(RenyiCurve)


def spread(p, q):
    """The least pure loss of the pair, rounded up."""
    return max(max_divergence(p, q)[1], max_divergence(q, p)[1])


@given(laws(least=1), laws(least=1), orders(60))
def test_no_pure_pair_is_above_the_tight_curve(p, q, order):
    epsilon = spread(p, q)
    assert renyi_divergence(p, q, order)[0] <= TightPure(epsilon).upper(order)
    assert kl_divergence(p, q)[0] <= pure_to_kl(epsilon)


@given(st.fractions(min_value="51/50", max_value=10**4, max_denominator=50), orders(60))
def test_randomised_response_attains_it(ratio, order):
    low, high = log_bounds(ratio, 96)
    truth = renyi_divergence(*response(ratio), order)
    assert truth[0] <= TightPure(high).upper(order)
    assert TightPure(low).upper(order) <= truth[1] + Fraction(1, 2**70)


@given(epsilons, orders(10**6))
def test_the_tight_curve_is_below_all_its_lines(epsilon, order):
    tight = TightPure(epsilon).upper(order)
    assert tight <= epsilon
    assert tight <= epsilon**2 * order / 2
    assert tight <= pure_to_kl(epsilon) * order
    assert pure_to_kl(epsilon) <= min(epsilon, epsilon**2 / 2)


@given(epsilons, orders(10**4))
def test_the_tight_curve_is_the_printed_quotient_of_sines(epsilon, order):
    e, a = float(epsilon), float(order)
    if a * e < 300:
        printed = math.log((math.sinh(a * e) - math.sinh((a - 1) * e)) / math.sinh(e)) / (a - 1)
        assert float(TightPure(epsilon).upper(order)) == pytest.approx(printed, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-9", "0.1", 1, 10, 500])
def test_extremes_of_the_tight_curve(epsilon):
    piece = TightPure(epsilon)
    values = [piece.upper(1 + Fraction(size)) for size in ("0", "1e-9", "1e-3", "1", "1e3", "1e30")]
    assert all(first <= second for first, second in pairwise(values))
    assert 0 < values[0] <= values[-1] <= piece.epsilon
    assert piece.line() == (Fraction(0), values[0])


@given(pieces, orders())
def test_estimates_are_near(piece, order):
    if piece.limit is None or order < piece.limit:
        upper = float(piece.upper(order))
        assert piece.estimate(float(order)) == pytest.approx(upper, rel=1e-6, abs=1e-12)


@given(curves, curves, orders())
def test_curves_add_order_by_order(first, second, order):
    both = first + second
    assert both == second + first
    assert hash(both) == hash(second + first)
    if both.limit is None or order < both.limit:
        assert both.upper(order) == first.upper(order) + second.upper(order)
        assert (3 * first).upper(order) == 3 * first.upper(order)


@given(curves)
def test_json_round_trip(curve):
    assert loss_from_json(curve.to_json()) == curve


@given(curves, orders(50))
def test_the_line_is_above_the_curve(curve, order):
    line = curve.line()
    if line is None:
        assert curve.limit is not None
    else:
        assert curve.upper(order) <= line[0] + line[1] * order


def test_order_of_curves():
    line, gauss, pure = Line(rho=1), GaussianPiece(mu_squared=1), TightPure(epsilon=1)
    assert RenyiCurve.of(line) <= RenyiCurve.of(line, pure)
    assert RenyiCurve.of(gauss) <= RenyiCurve.of(line)
    assert not RenyiCurve.of(line) <= RenyiCurve.of(gauss)
    assert RenyiCurve.of(line) >= RenyiCurve.of(gauss)
    with pytest.raises(Unsupported, match="No theorem"):
        assert RenyiCurve.of(pure) <= RenyiCurve.of(line)
    with pytest.raises(Unsupported, match="share"):
        RenyiCurve.of(line).share_of(RenyiCurve.of(line))


def test_a_curve_ends_where_a_piece_does():
    curve = RenyiCurve.of(Line(rho=1), BoundedLine(rho=1, order=5), BoundedLine(rho=1, order=3))
    assert curve.limit == 3
    assert curve.upper("2.9") == Fraction("8.7")
    with pytest.raises(InvalidArgument, match="below 3"):
        curve.upper(3)


@pytest.mark.parametrize("order", [0, "0.5", -3])
def test_bad_orders(order):
    with pytest.raises(InvalidArgument, match="at least 1"):
        RenyiCurve.of(Line(rho=1)).upper(order)


def test_bad_counts_pieces_and_partners():
    curve: Any = RenyiCurve.of(Line(rho=1))
    with pytest.raises(InvalidArgument, match="whole"):
        curve * Fraction(1, 2)
    with pytest.raises(InvalidArgument, match="at least 0"):
        curve * -1
    with pytest.raises(Unsupported, match="same measure"):
        curve + Pure(1)
    with pytest.raises(InvalidArgument):
        Line(rho=-1)
    with pytest.raises(Unsupported, match="piece of a curve"):
        loss_from_json({"measure": "renyi", "pieces": '[{"kind": "unheard", "count": "1"}]'})
