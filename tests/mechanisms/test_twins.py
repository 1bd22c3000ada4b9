"""Broken twins of our mechanisms: each is caught by the detector that it names.

Faults of noise in general (one draw for all cells, noise that cannot be negative, biased rounding,
porous floats) are caught beside the auditor; here are the printed formulas that do not hold.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.accountants.discrete_gaussian import delta_of_shift
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import (
    EnclosedLaw,
    discrete_gaussian_law,
    discrete_laplace_law,
    finite_law,
    product,
    push_forward,
)
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.core.mechanism_event import SignOfGaussianEvent
from discreet.core.numbers import sqrt_bounds
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.geometric import geometric
from discreet.mechanisms.noise.grid import Grid
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.response.sign_of_gaussian import SignOfGaussian

WINDOW = (-20, 21)


def laplace(scale, centre: int):
    return discrete_laplace_law(scale, centre=centre, window=WINDOW)


# ---------------------------------------------------------------- exact verifier: scales


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "9/10"])
def test_verifier_catches_the_geometric_scale_upside_down(epsilon: str):
    """DGeo(1/ε), as printed in one place, has scale ε: far too little noise for ε below 1."""
    ours = geometric(epsilon)
    loss = ours.loss(Contribution(l1=1))
    assert loss == Pure(epsilon)
    sound = LawPair(first=laplace(ours.scale, 0), second=laplace(ours.scale, 1))
    broken = LawPair(first=laplace(1 / ours.scale, 0), second=laplace(1 / ours.scale, 1))
    assert verify(sound, loss).answer is VerdictAnswer.HOLDS
    assert verify(broken, loss).answer is VerdictAnswer.BROKEN


def test_verifier_catches_half_the_noise_in_every_measure():
    half = LawPair(first=laplace(1, 0), second=laplace(1, 1))
    assert verify(half, Pure("1/2")).answer is VerdictAnswer.BROKEN
    half = LawPair(
        first=discrete_gaussian_law(1, centre=0, radius=40),
        second=discrete_gaussian_law(1, centre=1, radius=40),
    )
    noise = DiscreteGaussian(sigma_squared=4)
    one = Contribution(l0=1, linf=1)
    assert verify(half, noise.loss(one)).answer is VerdictAnswer.BROKEN
    assert verify(half, noise.approximate_loss(one, epsilon=1)).answer is VerdictAnswer.BROKEN


def test_verifier_catches_one_draw_for_all_cells():
    loss = DiscreteGaussian(sigma_squared=4).approximate_loss(Contribution(l0=2, linf=1), epsilon=1)

    def shared(first: int, second: int):
        draw = discrete_gaussian_law(4, centre=0, radius=30)
        return push_forward(draw, lambda z: (first + z, second + z))

    def separate(first: int, second: int):
        return product(*(discrete_gaussian_law(4, centre=c, radius=30) for c in (first, second)))

    assert (
        verify(LawPair(first=shared(0, 0), second=shared(1, 0)), loss).answer
        is VerdictAnswer.BROKEN
    )
    pair = LawPair(first=separate(0, 0), second=separate(1, 0))
    assert verify(pair, loss).answer is VerdictAnswer.HOLDS


# ---------------------------------------------------------------- exact verifier: (ε, δ)


def continuous_delta(epsilon: float, sigma: float, shift: int) -> float:
    a, b = shift / (2 * sigma), epsilon * sigma / shift
    return stats.norm.cdf(a - b) - math.exp(epsilon) * stats.norm.cdf(-a - b)


@pytest.mark.parametrize(("epsilon", "sigma"), [("1", 1), ("3", 1), ("1/2", 2)])
def test_verifier_catches_the_continuous_gaussian_curve(epsilon: str, sigma: int):
    """The δ of continuous noise is claimed for discrete noise of the same σ."""
    claimed = continuous_delta(float(Fraction(epsilon)), sigma, 1)
    pair = LawPair(
        first=discrete_gaussian_law(sigma**2, centre=0, radius=40),
        second=discrete_gaussian_law(sigma**2, centre=1, radius=40),
    )
    assert verify(pair, Approximate(epsilon, f"{claimed:.9f}")).answer is VerdictAnswer.BROKEN
    low, high = delta_of_shift(Fraction(sigma**2), 1, epsilon)
    assert float(low) > claimed * 1.001
    assert (
        verify(pair, Approximate(epsilon, high * (1 + Fraction(1, 10**9)))).answer
        is VerdictAnswer.HOLDS
    )


@pytest.mark.parametrize("epsilon", [10, 20])
def test_exact_curve_catches_the_textbook_sigma_beyond_its_range(epsilon: int):
    """σ = √(2 ln(1.25/δ))/ε is for ε below 1; on a fine grid it overspends at 10 and 20."""
    target = Fraction(1, 10**5)
    units = 40
    variance = Fraction(2 * math.log(1.25 * 10**5) / epsilon**2 * units**2)
    low, _ = delta_of_shift(variance.limit_denominator(10**6), units, epsilon)
    assert low > target


def test_verifier_catches_a_truncation_that_is_too_near():
    """With B one smaller than calibrated the claim breaks, for one entry that moves by 1."""
    d_in, target = Contribution(l0=1, linf=1), Approximate(1, "1/1000")
    noise = TruncatedGeometric.calibrate(d_in=d_in, loss=target)
    for bound, answer in (
        (noise.bound, VerdictAnswer.HOLDS),
        (noise.bound - 1, VerdictAnswer.BROKEN),
    ):
        laws = [
            discrete_laplace_law(noise.scale, centre=c, window=(c - bound, c + bound))
            for c in (0, 1)
        ]
        assert verify(LawPair(first=laws[0], second=laws[1]), target).answer is answer


def test_verifier_catches_truncation_sold_as_pure():
    laws = [discrete_laplace_law(2, centre=c, window=(c - 9, c + 9)) for c in (0, 1)]
    assert verify(LawPair(first=laws[0], second=laws[1]), Pure(50)).answer is VerdictAnswer.BROKEN


# ---------------------------------------------------------------- exact verifier: responses


def test_verifier_catches_coins_that_are_told_apart():
    """Two fair coins cost ln 3; a claim of 1 is broken."""
    laws = [finite_law({1: Fraction(y, 4), 0: Fraction(4 - y, 4)}) for y in (1, 3)]
    assert verify(LawPair(first=laws[0], second=laws[1]), Pure(1)).answer is VerdictAnswer.BROKEN


# ---------------------------------------------------------------- accountant and verifier: sign


@pytest.mark.parametrize("rho", ["1/10", "1/2", "2"])
def test_accountant_catches_the_sign_variance_as_printed(rho: str):
    """A variance of √2/ρ is worth √2 ρ, even rounded up; 2/ρ is worth ρ."""
    claim = Zcdp(rho=rho)
    printed = sqrt_bounds(Fraction(2))[1] / claim.rho
    assert not zcdp_loss([SignOfGaussianEvent(sigma_squared=printed)]) <= claim
    assert float(zcdp_loss([SignOfGaussianEvent(sigma_squared=printed)]).rho) == pytest.approx(
        math.sqrt(2) * float(claim.rho)
    )
    assert SignOfGaussian.calibrate(loss=claim).loss() == claim


@pytest.mark.parametrize("rho", ["1/10", "1/2"])
def test_verifier_catches_the_printed_variance_before_the_sign(rho: str):
    """On a grid of tenths the values ±1 are 20 units apart: the noise itself breaks the claim."""
    claim = Zcdp(rho=rho)
    for factor, answer in (
        (Fraction(141422, 100000), VerdictAnswer.BROKEN),
        (2, VerdictAnswer.HOLDS),
    ):
        variance = 100 * factor / claim.rho
        radius = 12 * math.isqrt(int(variance))
        laws = [discrete_gaussian_law(variance, centre=c, radius=radius) for c in (-10, 10)]
        assert verify(LawPair(first=laws[0], second=laws[1]), claim).answer is answer


def test_the_sign_alone_hides_the_printed_variance():
    """A sign tells less than its variable (2√2/π < 1), so no test of signs can catch that twin.

    That is why the detector is the accountant, and why the corrected variance rests on the proof.
    """
    for rho in (0.01, 0.1, 1.0, 10.0):
        for power, sigma in ((1, math.sqrt(math.sqrt(2) / rho)), (2, math.sqrt(2 / rho))):
            tells = Fraction(stats.norm.cdf(1 / sigma))
            slack = Fraction(1, 10**13)
            laws = [
                EnclosedLaw(
                    masses={
                        value: (tells - slack, tells + slack),
                        -value: (1 - tells - slack, 1 - tells + slack),
                    },
                    outside=Fraction(0),
                )
                for value in (-1, 1)
            ]
            verdict = verify(LawPair(first=laws[0], second=laws[1]), Zcdp(rho=rho))
            assert verdict.answer is not VerdictAnswer.BROKEN, (rho, power)


# ---------------------------------------------------------------- grids


def test_enumeration_catches_rounding_outside_the_sensitivity():
    """Two sums 0.6 apart may be a whole step apart after rounding: 0.6 units would be too few."""
    grid = Grid(step=1, bound=100)
    d_in = Contribution(l0=1, linf="0.6")
    units = grid.to_units(np.array([0.4, 1.0]))
    assert abs(int(units[1] - units[0])) == 1 > grid.exact(d_in).bound("linf")
    assert grid.rounded(d_in).linf == 1
