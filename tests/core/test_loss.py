"""Losses: composition, order, and refusals."""

from decimal import ROUND_FLOOR
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Measure, Pure, Zcdp, short
from discreet.core.numbers import exact

amounts = st.fractions(min_value=0, max_value=100)
deltas = st.fractions(min_value=0, max_value="1/4")
losses = st.one_of(
    st.builds(Pure, amounts),
    st.builds(Approximate, amounts, deltas),
    st.builds(Zcdp, amounts, amounts),
    st.builds(ApproximateZcdp, amounts, deltas, amounts),
)


@given(losses)
def test_json_round_trip(loss):
    assert loss_from_json(loss.to_json()) == loss


@given(losses, st.integers(1, 3))
def test_shares_add_up_exactly(loss, count):
    share = loss * Fraction(1, count)
    total = share
    for _ in range(count - 1):
        total = total + share
    assert total == loss
    assert total.share_of(loss) in (0, 1)


@given(amounts, amounts, amounts, amounts, st.fractions(min_value="1001/1000", max_value=10**6))
def test_zcdp_order_is_the_order_of_lines(rho, xi, other_rho, other_xi, alpha):
    first, second = Zcdp(rho, xi), Zcdp(other_rho, other_xi)
    if first <= second:
        assert xi + rho * alpha <= other_xi + other_rho * alpha


def test_zcdp_order_sees_what_fields_do_not():
    assert Zcdp(rho="1/2", xi=1) <= Zcdp(rho=2, xi="1/2")
    assert not Zcdp(rho=2, xi=0) <= Zcdp(rho=1, xi=100)


def test_pure_arithmetic():
    assert Pure("1/3") + Pure("2/3") == Pure(1)
    assert Pure(1) >= Pure("0.5")
    assert 3 * Pure("1/3") == Pure(1)
    assert Pure(1).measure is Measure.PURE


@pytest.mark.parametrize(
    "operate", [lambda a, b: a + b, lambda a, b: a <= b, lambda a, b: a.share_of(b)]
)
def test_unlike_measures_refuse(operate):
    with pytest.raises(Unsupported, match="same measure"):
        operate(Pure(1), Zcdp(1))


def test_a_delta_of_one_promises_nothing():
    with pytest.raises(InvalidArgument, match="below 1"):
        Approximate(1, 1)
    with pytest.raises(Unsupported, match="promise nothing"):
        Approximate(1, "0.6") + Approximate(1, "0.6")


@pytest.mark.parametrize("epsilon", [-1, float("nan"), float("inf"), "x"])
def test_bad_epsilon(epsilon):
    with pytest.raises(InvalidArgument):
        Pure(epsilon)


def test_unknown_json_is_refused():
    with pytest.raises(Unsupported):
        loss_from_json({"measure": "vibes", "epsilon": "1"})
    with pytest.raises(Unsupported):
        loss_from_json({"measure": "pure"})


@given(st.fractions(min_value=Fraction(1, 10**300), max_value=10**12))
def test_short_numbers_are_never_too_small(value):
    assert exact(short(value)) >= value
    assert exact(short(value)) <= value * Fraction(1003, 1000)
    assert exact(short(value, rounding=ROUND_FLOOR)) <= value


def test_shown():
    assert str(Pure("0.5")) == "ε = 0.5"
    assert str(ApproximateZcdp("1/8", "1e-6")) == "ρ = 0.125, δ = 0.000001"
