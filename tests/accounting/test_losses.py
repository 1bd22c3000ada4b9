"""The losses beside pure, approximate and zCDP: what they add up to, and what they refuse."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import BoundedZcdp, GaussianDp, MeanConcentrated, Zcdp

amounts = st.fractions(min_value=0, max_value=9, max_denominator=50)
orders = st.fractions(min_value="11/10", max_value=50, max_denominator=10)
bounded = st.builds(BoundedZcdp, amounts, orders, amounts)


@given(
    st.one_of(
        bounded, st.builds(MeanConcentrated, amounts, amounts), st.builds(GaussianDp, amounts)
    )
)
def test_json_round_trip(loss):
    assert loss_from_json(loss.to_json()) == loss
    assert loss <= loss


@given(bounded, bounded, orders)
def test_bounded_lines_add_up_and_compare_below_their_orders(first, second, alpha):
    both = first + second
    assert both.order == min(first.order, second.order)
    assert both.at(alpha) == first.at(alpha) + second.at(alpha)
    assert 2 * first == first + first
    if first <= second and alpha < second.order:
        assert alpha < first.order
        assert first.at(alpha) <= second.at(alpha)
        assert first.at(alpha) <= first.share_of(second) * second.at(alpha)


def test_a_bounded_line_that_ends_early_implies_nothing_beyond():
    assert not BoundedZcdp(rho=1, order=4) <= BoundedZcdp(rho=100, order=5)
    assert BoundedZcdp(rho=2, order=9) <= BoundedZcdp(rho=1, order=4, xi=4)
    with pytest.raises(Unsupported, match="some orders"):
        BoundedZcdp(rho=1, order=4).share_of(BoundedZcdp(rho=100, order=5))
    other: Any = Zcdp(rho=1)
    with pytest.raises(Unsupported, match="same measure"):
        BoundedZcdp(rho=1, order=4) + other


def test_gaussian_squares_add_up():
    assert GaussianDp("1/4") * 4 == GaussianDp(1)
    assert str(GaussianDp(1) + GaussianDp(1)) == "μ² = 2"
    assert GaussianDp(1).share_of(GaussianDp(4)) == Fraction(1, 4)


def test_mean_concentrated_losses_do_not_compose():
    loss = MeanConcentrated(mu=1, tau_squared=2)
    for operate in (lambda: loss + loss, lambda: loss * 2, lambda: 2 * loss):
        with pytest.raises(Unsupported, match="zCDP"):
            operate()


@pytest.mark.parametrize("tau_squared", [9, 16, 100])
def test_a_public_coin_breaks_mean_concentration(tau_squared):
    """Silence or Gaussian noise with mean loss τ²/2: the variance of the mixture is above τ²."""
    mean, variance = Fraction(tau_squared, 2), Fraction(tau_squared)
    mixture = variance / 2 + mean**2 / 4
    assert mixture > variance


@pytest.mark.parametrize(
    "make",
    [
        lambda: BoundedZcdp(rho=-1, order=2),
        lambda: BoundedZcdp(rho=1, order=1),
        lambda: BoundedZcdp(rho=1, order=2) * -1,
        lambda: GaussianDp(-1),
        lambda: MeanConcentrated(mu=1, tau_squared=-1),
        lambda: MeanConcentrated(mu="x", tau_squared=1),
    ],
)
def test_bad_numbers(make):
    with pytest.raises(InvalidArgument):
        make()
