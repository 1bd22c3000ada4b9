"""Group privacy: the corrected formulas, the printed ones broken, and what is refused."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.losses import group as groups
from discreet.accounting.losses.group import group_renyi
from discreet.audit.finite_divergence import FiniteLaw, hockey_stick, renyi_divergence
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    GaussianDp,
    MeanConcentrated,
    Pure,
    Zcdp,
)
from discreet.core.numbers import exp_bounds


def group(loss, size):
    return groups.group(loss, size)


def chain(epsilon: Fraction, delta: Fraction, steps: int) -> list[FiniteLaw]:
    """Laws of one bad event, each step as much likelier as (ε, δ) lets it be."""
    growth = exp_bounds(epsilon, 128)[0]
    bad = [Fraction(0)]
    for _ in range(steps):
        bad.append(growth * bad[-1] + delta)
    return [{"bad": p, "good": 1 - p} for p in reversed(bad)]


def test_g_epsilon_and_g_delta_are_false():
    # Gro14, section 3.2, prints (gε, gδ); ε = 1, δ = 0.01 and two people refute it.
    laws = chain(Fraction(1), Fraction(1, 100), 2)
    for first, second in pairwise(laws):
        assert hockey_stick(first, second, 1)[0] <= Fraction(1, 100)
        assert hockey_stick(second, first, 1)[0] <= Fraction(1, 100)
    needed = hockey_stick(laws[0], laws[2], 2)[0]
    assert needed > Fraction("0.03718") > 2 * Fraction(1, 100)
    assert group(Approximate(1, "0.01"), 2).loss.delta >= needed


@settings(deadline=None)
@given(
    st.fractions(min_value=0, max_value=1, max_denominator=20),
    st.fractions(min_value=0, max_value=Fraction(1, 100), max_denominator=1000),
    st.integers(1, 4),
)
def test_the_corrected_delta_is_attained(epsilon: Fraction, delta: Fraction, size: int):
    laws = chain(epsilon, delta, size)
    needed = hockey_stick(laws[0], laws[-1], size * epsilon)
    loss = group(Approximate(epsilon, delta), size).loss
    assert loss.epsilon == size * epsilon
    assert needed[0] <= loss.delta <= needed[1] + Fraction(1, 10**12)


def test_pure_gaussian_and_concentrated():
    assert group(Pure("0.1"), 5).loss == Pure("0.5")
    assert group(GaussianDp(mu_squared="0.5"), 3).loss == GaussianDp(mu_squared="4.5")
    assert group(Zcdp(rho="0.1"), 4).loss == Zcdp(rho="1.6")
    assert group(Zcdp(rho="0.1", xi=1), 2).loss == Zcdp(rho="0.4", xi=3)
    assert group(Zcdp(rho="0.1", xi=1), 3).loss == Zcdp(rho="0.9", xi="5.5")


def test_the_pure_part_of_zcdp_stays_pure():
    assert group(Zcdp(rho=0, xi="0.1"), 7).loss == Zcdp(rho=0, xi="0.7")


def test_a_group_of_one_is_the_loss_itself():
    curve = RenyiCurve.of(Line(rho=1))
    for loss in (
        Pure(1),
        Approximate(1, "1e-6"),
        Zcdp(rho=1, xi=1),
        ApproximateZcdp(rho=1, delta="1e-6"),
        GaussianDp(mu_squared=1),
        curve,
    ):
        assert group(loss, 1).loss == loss


def test_large_groups_of_zcdp_round_the_harmonic_number_up():
    harmonic = sum((Fraction(1, i) for i in range(1, 61)), Fraction(0))
    for size, least in ((60, harmonic), (10**6, Fraction("14.3927267228657"))):
        factor = group(Zcdp(rho=1, xi=1), size).loss.xi / size
        assert least <= factor < least + Fraction(1, 1000)


def test_what_promises_nothing_is_refused():
    with pytest.raises(Unsupported, match="promises nothing"):
        group(Approximate(1, "1e-6"), 15)
    assert group(Approximate(1, "1e-6"), 14).loss.delta < 1
    with pytest.raises(Unsupported, match="promises nothing"):
        group(Approximate(0, "0.5"), 2)
    with pytest.raises(Unsupported, match="promises nothing"):
        group(Approximate(10**6, "1e-300"), 10**9)


@pytest.mark.parametrize(
    "loss",
    [
        ApproximateZcdp(rho=1, delta="1e-6"),
        MeanConcentrated(mu=1, tau_squared=1),
        RenyiCurve.of(Line(rho=1)),
    ],
    ids=lambda loss: loss.measure.value,
)
def test_measures_without_a_theorem_are_refused(loss):
    with pytest.raises(Unsupported) as caught:
        group(loss, 2)
    assert caught.value.got == loss.measure.value


@pytest.mark.parametrize("size", [0, -1, 10**12, Fraction(1, 2)])
def test_absurd_sizes_are_refused(size):
    with pytest.raises(InvalidArgument):
        group(Pure(1), size)
    with pytest.raises(InvalidArgument):
        group_renyi(lambda order: order, alpha=2, size=size)


masses = st.lists(st.integers(1, 12), min_size=3, max_size=3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(masses, min_size=3, max_size=4),
    st.fractions(min_value=Fraction(5, 4), max_value=4, max_denominator=4),
)
def test_the_renyi_bound_of_a_chain_holds(weights, alpha: Fraction):
    laws = [{i: Fraction(w, sum(row)) for i, w in enumerate(row)} for row in weights]
    size = len(laws) - 1

    def curve(order: Fraction) -> Fraction:
        steps = pairwise(laws)
        return max(Fraction(renyi_divergence(p, q, order)[1]) for p, q in steps)

    bound = group_renyi(curve, alpha=alpha, size=size)
    assert renyi_divergence(laws[0], laws[-1], alpha)[0] <= bound


def test_the_renyi_bound_of_a_line_is_that_of_zcdp():
    line = Line(rho="0.1", xi="0.2")
    for size in (1, 2, 5):
        known = group(Zcdp(rho="0.1", xi="0.2"), size).loss
        for alpha in (Fraction(11, 10), Fraction(2), Fraction(30)):
            found = group_renyi(line.upper, alpha=alpha, size=size)
            assert found <= known.xi + known.rho * alpha
    with pytest.raises(InvalidArgument):
        group_renyi(line.upper, alpha=1, size=2)
