"""Conversions: the literature's numbers, the order of the methods, exact relations, refusals."""

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.conversions.convert import CONVERSIONS, convert
from discreet.accounting.conversions.from_approximate import deltas_to_zcdp
from discreet.accounting.conversions.from_zcdp import rho_for
from discreet.accounting.curves.bounded import TightPure
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import BoundedLine, Line
from discreet.accounting.curves.noise import GaussianPiece
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    BoundedZcdp,
    GaussianDp,
    MeanConcentrated,
    Measure,
    Pure,
    Zcdp,
)

APPROXIMATE = Measure.APPROXIMATE
ask: Any = convert
ask_every_delta: Any = deltas_to_zcdp
METHODS = ("basic", "square_root", "reciprocal", "mills", "integral", "cks")

rhos = st.sampled_from(["1e-9", "1e-4", "0.003", "0.1", "0.5", "1", "7", "40", "1000"])
deltas = st.sampled_from(["1e-300", "1e-30", "1e-6", "1e-3", "0.1", "0.5", "0.9"])
small = st.fractions(min_value=0, max_value=3, max_denominator=20)


def epsilon_of(loss, delta, method="auto"):
    return ask(loss, to=APPROXIMATE, delta=delta, method=method).loss.epsilon


def delta_of(loss, epsilon, method="auto"):
    return ask(loss, to=APPROXIMATE, epsilon=epsilon, method=method).loss.delta


# ---------------------------------------------------------------- the numbers of the literature


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("basic", 2.450788),
        ("square_root", 2.401007),
        ("mills", 2.229574),
        ("integral", 2.228553),
        ("cks", 2.141939),
        ("auto", 2.141939),
    ],
)
def test_epsilon_of_a_tenth(method, expected):
    assert float(epsilon_of(Zcdp(rho="0.1"), "1e-6", method)) == pytest.approx(expected, abs=6e-7)


def test_exact_gaussian_epsilon_of_a_tenth():
    result = ask(GaussianDp(mu_squared="0.2"), to=APPROXIMATE, delta="1e-6")
    assert float(result.loss.epsilon) == pytest.approx(1.994527, abs=6e-7)
    assert result.lower.epsilon < result.loss.epsilon
    assert float(result.lower.epsilon) == pytest.approx(1.994527, abs=6e-7)


def test_rho_of_one():
    rho = rho_for(1, "1e-6")
    assert float(rho) == pytest.approx(0.01746890, abs=6e-9)
    assert epsilon_of(Zcdp(rho=rho), "1e-6", "basic") <= 1
    assert epsilon_of(Zcdp(rho=rho * Fraction(100001, 100000)), "1e-6", "basic") > 1


@given(st.fractions(min_value=0, max_value=50), deltas, small)
def test_rho_is_never_too_large(epsilon, delta, xi):
    if epsilon >= xi:
        rho = rho_for(epsilon, delta, xi=xi)
        slack = Fraction(1, 2**60) * (1 + epsilon)
        assert (
            epsilon_of(Zcdp(rho=rho, xi=xi), delta, "basic" if rho else "auto") <= epsilon + slack
        )
    else:
        with pytest.raises(Unsupported, match="small enough"):
            rho_for(epsilon, delta, xi=xi)


@pytest.mark.parametrize(
    ("epsilon", "sigma", "truth"),
    [
        # the printed scale √(2 ln(1.25/δ))/ε at δ = 1e-5, far above ε = 1, and √(2 ln(2/δ))/ε
        (1, 4.844805262605, 4.1e-8),
        (8, 0.605600657826, 8.0e-6),
        (10, 0.4844805262605, 2.27e-5),
        (20, 0.24224026313, 1.5e-3),
        (10, 0.494065, 1.36e-5),
        (20, 0.2470325, 9.7e-4),
        (1, 4.94065, 2.4e-8),
    ],
)
def test_exact_gaussian_deltas_of_the_classical_scales(epsilon, sigma, truth):
    mu_squared = Fraction(1) / Fraction(sigma) ** 2
    assert float(delta_of(GaussianDp(mu_squared), epsilon)) == pytest.approx(truth, rel=0.03)


# ---------------------------------------------------------------- the order of the methods


@given(rhos, small, deltas)
def test_methods_are_ordered(rho, xi, delta):
    loss = Zcdp(rho=rho, xi=xi)
    found = {method: epsilon_of(loss, delta, method) for method in METHODS}
    slack = 1 + Fraction(1, 10**9)
    assert found["cks"] <= found["integral"] * slack
    assert found["integral"] <= found["mills"] * slack
    assert found["mills"] <= slack * min(found[name] for name in METHODS[:3])
    assert epsilon_of(loss, delta) == min(found.values())
    if xi == 0:
        exactly = ask(GaussianDp(2 * loss.rho), to=APPROXIMATE, delta=delta)
        assert exactly.lower.epsilon <= exactly.loss.epsilon <= found["cks"] * slack


@given(rhos, small, st.sampled_from(["0", "0.1", "1", "5", "50", "500"]))
def test_methods_are_ordered_at_a_given_epsilon(rho, xi, gap):
    loss = Zcdp(rho=rho, xi=xi)
    epsilon = loss.xi + loss.rho + Fraction(gap)
    found = {}
    for method in METHODS:
        try:
            found[method] = delta_of(loss, epsilon, method)
        except Unsupported:
            found[method] = Fraction(1)
    slack = 1 + Fraction(1, 10**9)
    assert found["cks"] <= found["integral"] * slack
    assert found["integral"] <= found["mills"] * slack
    assert found["mills"] <= slack * min(found[name] for name in METHODS[:3])
    if xi == 0 and found["cks"] < 1:
        exactly = ask(GaussianDp(2 * loss.rho), to=APPROXIMATE, epsilon=epsilon)
        assert exactly.lower.delta <= exactly.loss.delta <= found["cks"] * slack


@pytest.mark.parametrize("method", METHODS)
@given(rho=rhos, xi=small, delta=deltas)
def test_the_two_questions_agree(method, rho, xi, delta):
    """The ε found for a δ has at most that δ, and an ε a little smaller has more."""
    loss = Zcdp(rho=rho, xi=xi)
    epsilon = epsilon_of(loss, delta, method)
    assert delta_of(loss, epsilon, method) <= Fraction(delta) * (1 + Fraction(1, 10**6))
    less = epsilon * Fraction(999, 1000)
    if less >= loss.xi + loss.rho:
        with suppress(Unsupported):
            assert delta_of(loss, less, method) > Fraction(delta)


def test_the_second_option_needs_a_small_delta():
    """Above √(πρ) its closed form has no square root; ξ + ρ is enough there."""
    loss = Zcdp(rho="1e-4", xi="1/4")
    assert math.sqrt(math.pi * 1e-4) < 0.05
    assert epsilon_of(loss, "0.05", "square_root") == loss.xi + loss.rho
    assert epsilon_of(Zcdp(rho=40), "1e-6", "square_root") > epsilon_of(
        Zcdp(rho=40), "1e-6", "basic"
    )


# ---------------------------------------------------------------- exact relations


def test_pure_is_zcdp_without_rho():
    result = ask(Pure("1/3"), to=Measure.ZCDP, method="equivalent")
    assert result.loss == Zcdp(rho=0, xi="1/3")
    assert ask(result.loss, to=Measure.PURE).loss == Pure("1/3")
    assert ask(result.loss, to=APPROXIMATE, delta="1e-6").loss.epsilon <= Fraction(1, 3)
    assert ask(Pure(2), to=Measure.ZCDP, method="half_square").loss == Zcdp(rho=2)
    assert ask(Pure(2), to=Measure.ZCDP).method == "tanh"


def test_approximate_is_approximate_zcdp():
    loss = Approximate(1, "1e-6")
    same = ask(loss, to=Measure.APPROXIMATE_ZCDP, method="equivalent").loss
    assert same == ApproximateZcdp(rho=0, delta="1e-6", xi=1)
    assert ask(same, to=APPROXIMATE).loss == loss
    half = ask(loss, to=Measure.APPROXIMATE_ZCDP, method="half_square").loss
    assert half == ApproximateZcdp(rho="1/2", delta="1e-6")
    assert ask(loss, to=Measure.APPROXIMATE_ZCDP).loss <= half


def test_a_delta_of_zero_is_no_delta():
    assert ask(Approximate(1, 0), to=Measure.PURE).loss == Pure(1)
    assert ask(Approximate(1, 0), to=Measure.ZCDP, method="half_square").loss == Zcdp(rho="1/2")
    line = ApproximateZcdp(rho="1/2", delta=0, xi=1)
    assert ask(line, to=Measure.ZCDP).loss == Zcdp(rho="1/2", xi=1)
    assert ask(Zcdp(rho="1/2", xi=1), to=Measure.APPROXIMATE_ZCDP).loss == line


def test_curves_and_lines():
    assert ask(Zcdp(rho=1, xi=2), to=Measure.RENYI).loss == RenyiCurve.of(Line(rho=1, xi=2))
    gaussian = GaussianDp(mu_squared="1/2")
    assert ask(gaussian, to=Measure.RENYI).loss == RenyiCurve.of(GaussianPiece(mu_squared="1/2"))
    assert ask(gaussian, to=Measure.ZCDP).loss == Zcdp(rho="1/4")
    curve = RenyiCurve.of(Line(rho=1, xi=2), GaussianPiece(mu_squared=1))
    assert ask(curve, to=Measure.ZCDP).loss == Zcdp(rho="3/2", xi=2)
    assert epsilon_of(RenyiCurve([]), "1e-6") == 0
    line = ask(Pure(1), to=Measure.RENYI, method="line").loss
    assert line == RenyiCurve.of(Line(rho="1/2"))


def test_thousand_small_pure_losses():
    """The Rényi curve is far below the sum, and below what the line of ½ε² gives."""
    curve = 1000 * RenyiCurve.of(TightPure(epsilon="0.1"))
    line = Zcdp(rho=5)
    assert epsilon_of(curve, "1e-6") < epsilon_of(line, "1e-6") < 100
    assert float(epsilon_of(curve, "1e-6")) == pytest.approx(20.46, abs=0.01)


def test_the_converse_from_every_delta():
    assert deltas_to_zcdp(xi="1/2", rho=0).loss == Zcdp(rho=0, xi="1/2")
    loss = ask_every_delta(xi="1/16", rho="1/16").loss
    assert loss.rho == Fraction(1, 64)
    assert loss.xi == Fraction(1, 16) - Fraction(1, 64) + Fraction(5, 2)
    for bad in (-1, "1.1"):
        with pytest.raises(InvalidArgument):
            deltas_to_zcdp(xi=bad, rho=0)
        with pytest.raises(InvalidArgument):
            deltas_to_zcdp(xi=0, rho=bad)


def test_results_say_how():
    result = ask(Zcdp(rho="0.1"), to=APPROXIMATE, delta="1e-6")
    assert result.method == "cks"
    assert {other.method for other in result.others} == set(METHODS) - {"cks"}
    assert all(result.theorem and other.theorem for other in result.others)
    assert ask(Zcdp(rho=1), to=Measure.ZCDP).method == "identity"


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("delta", [0, 1, -1, "1.5", "nan"])
def test_bad_deltas(delta):
    for loss in (Zcdp(rho=1), GaussianDp(1), RenyiCurve.of(Line(rho=1)), BoundedZcdp(1, 2)):
        with pytest.raises(InvalidArgument):
            ask(loss, to=APPROXIMATE, delta=delta)
    if delta != 0:
        with pytest.raises(InvalidArgument):
            ask(Pure(1), to=APPROXIMATE, delta=delta)


def test_bad_questions():
    with pytest.raises(InvalidArgument, match="neither"):
        ask(Zcdp(rho=1), to=APPROXIMATE)
    with pytest.raises(InvalidArgument, match="both"):
        ask(Zcdp(rho=1), to=APPROXIMATE, delta="1e-6", epsilon=1)
    with pytest.raises(InvalidArgument, match="not both"):
        ask(Pure(1), to=APPROXIMATE, delta="1e-6", epsilon=1)
    with pytest.raises(InvalidArgument, match="epsilon"):
        ask(Zcdp(rho=1), to=APPROXIMATE, epsilon=-1)
    with pytest.raises(InvalidArgument, match="neither delta nor epsilon"):
        ask(Pure(1), to=Measure.ZCDP, delta="1e-6")
    with pytest.raises(InvalidArgument, match="auto, basic") as caught:
        ask(Zcdp(rho=1), to=APPROXIMATE, delta="1e-6", method="magic")
    assert caught.value.got == "magic"


def test_impossible_targets():
    with pytest.raises(Unsupported, match="smaller δ"):
        ask(Approximate(1, "1e-3"), to=APPROXIMATE, delta="1e-6")
    with pytest.raises(Unsupported, match="no pure loss"):
        ask(Zcdp(rho=1), to=Measure.PURE)
    with pytest.raises(Unsupported, match="ξ"):
        ask(Zcdp(rho=1), to=APPROXIMATE, epsilon="1/2", method="basic")
    with pytest.raises(Unsupported, match="promises nothing"):
        ask(Zcdp(rho=1000), to=APPROXIMATE, epsilon=0)
    with pytest.raises(Unsupported, match="line"):
        ask(RenyiCurve.of(BoundedLine(rho=1, order=3)), to=Measure.ZCDP)


def test_pairs_without_a_theorem_are_refused_and_say_what_would_work():
    losses = {
        Measure.PURE: Pure(1),
        Measure.APPROXIMATE: Approximate(1, "1e-6"),
        Measure.ZCDP: Zcdp(rho=1),
        Measure.APPROXIMATE_ZCDP: ApproximateZcdp(rho=1, delta="1e-6"),
        Measure.BOUNDED_ZCDP: BoundedZcdp(rho=1, order=9),
        Measure.MEAN_CONCENTRATED: MeanConcentrated(mu=1, tau_squared=2),
        Measure.RENYI: RenyiCurve.of(Line(rho=1)),
        Measure.GAUSSIAN: GaussianDp(1),
    }
    assert set(losses) == set(Measure)
    for source, loss in losses.items():
        for target in Measure:
            if (source, target) not in CONVERSIONS and source is not target:
                with pytest.raises(Unsupported, match="No theorem") as caught:
                    ask(loss, to=target)
                assert "approximate" in caught.value.must


EXTREMES = [Fraction(10) ** power for power in (-400, -320, -160, -30, 0, 6, 16, 160, 400)]


@pytest.mark.parametrize(
    "size", EXTREMES, ids=lambda size: f"{len(str(size.numerator))} to {len(str(size.denominator))}"
)
def test_absurd_sizes_are_answered_or_refused(size):
    """No float error escapes: every answer is a certified number, or one of our own errors."""
    losses = [
        Zcdp(rho=size, xi=size),
        GaussianDp(size),
        BoundedZcdp(rho=size, order=1 + Fraction(1, 10**20)),
        BoundedZcdp(rho=size, order=10**400),
        RenyiCurve.of(TightPure(size)),
        MeanConcentrated(mu=size, tau_squared=size),
        ApproximateZcdp(rho=size, delta="1e-9"),
        Approximate(size, "1e-9"),
        Pure(size),
    ]
    for loss in losses:
        for delta in (Fraction(1, 10**400), Fraction(1, 2), 1 - Fraction(1, 10**30)):
            with suppress(Unsupported, InvalidArgument):
                assert ask(loss, to=APPROXIMATE, delta=delta).loss.epsilon >= 0
        for epsilon in EXTREMES:
            with suppress(Unsupported, InvalidArgument):
                assert 0 <= ask(loss, to=APPROXIMATE, epsilon=epsilon).loss.delta < 1
