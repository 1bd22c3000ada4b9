"""Noise: the mechanism for one aggregate, chosen by its expected error from public limits alone."""

from fractions import Fraction
from functools import singledispatch
from typing import Any

from discreet.core.contribution import Contribution
from discreet.core.errors import LedgerError, RefusedQuery
from discreet.core.loss import PrivacyLoss, Pure, Zcdp
from discreet.core.rounding import sqrt_down
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.scale import LARGEST, SMALLEST

Noise = DiscreteLaplace | DiscreteGaussian

_BETA = Fraction(1, 20)


def choose_noise(d_in: Contribution, share: PrivacyLoss) -> Noise:
    """Return the noise that spends ``share`` with the smaller error bar."""
    return _chosen(share, d_in)


@singledispatch
def _chosen(share: PrivacyLoss, d_in: Contribution) -> Noise:
    raise NotImplementedError


@_chosen.register
def _(share: Pure, d_in: Contribution) -> Noise:
    return _samplable(DiscreteLaplace.calibrate(d_in=d_in, loss=share))


@_chosen.register
def _(share: Zcdp, d_in: Contribution) -> Noise:
    # ε-DP costs at most ε²/2 of ρ [BS16, Proposition 1.4], so ε = √(2ρ) of Laplace noise fits.
    laplace = _samplable(DiscreteLaplace.calibrate(d_in=d_in, loss=Pure(sqrt_down(2 * share.rho))))
    gaussian = DiscreteGaussian.calibrate(d_in=d_in, loss=share)
    if not SMALLEST**2 <= gaussian.sigma_squared <= LARGEST**2:
        return laplace
    candidates: tuple[Noise, ...] = (gaussian, laplace)
    return min(candidates, key=lambda noise: noise.error_quantile(_BETA))


def _samplable(noise: DiscreteLaplace) -> DiscreteLaplace:
    if not SMALLEST <= noise.scale <= LARGEST:
        raise RefusedQuery(
            "This price asks for noise outside the range that we can draw exactly",
            must=f"need a noise scale from {SMALLEST} to {LARGEST} steps",
            got=f"about {float(noise.scale):.3g}",
            next="Offer another ε, or declare another step",
        )
    return noise


def describe_noise(noise: Noise) -> dict[str, str]:
    """Return the noise as public values, for a release."""
    if isinstance(noise, DiscreteLaplace):
        return {"law": "discrete_laplace", "scale": str(noise.scale)}
    return {"law": "discrete_gaussian", "sigma_squared": str(noise.sigma_squared)}


def read_noise(data: dict[str, Any]) -> Noise:
    """Read what :func:`describe_noise` wrote."""
    if data.get("law") == "discrete_laplace":
        return DiscreteLaplace(scale=data["scale"])
    if data.get("law") == "discrete_gaussian":
        return DiscreteGaussian(sigma_squared=data["sigma_squared"])
    raise LedgerError("The stored release has noise that we do not know", got=str(data.get("law")))
