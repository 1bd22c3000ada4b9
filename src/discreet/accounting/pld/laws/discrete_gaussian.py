"""The loss of discrete Gaussian noise on one integer."""

import math
from fractions import Fraction

import numpy as np

from discreet.accounting.pld.grid import indices
from discreet.accounting.pld.laws.atoms import AtomicLaw
from discreet.accounting.pld.laws.law import Law
from discreet.accounting.pld.laws.wide_discrete_gaussian import (
    LARGEST_SIGMA,
    LEAST_SIGMA,
    WideDiscreteGaussianLaw,
)
from discreet.accounting.pld.machine import LARGEST_LOSS, LARGEST_MU
from discreet.core.errors import Unsupported

_FAR = 38.0


def discrete_gaussian_law(sigma_squared: Fraction, shift: int) -> Law:
    r"""Return the law of the loss if one entry moves by ``shift``.

    Noise of many values is a :class:`WideDiscreteGaussianLaw`; other noise is listed.

    Guarantee:
        :math:`P(y) \propto e^{-y^2/(2\sigma^2)}` on the integers, and the loss is
        :math:`s(s - 2y)/(2\sigma^2)`. What is beyond 38 deviations, or a loss of 600, is left out
        and counts as an infinite loss: under either law at most
        :math:`4 (1 + \sigma) e^{-(y - s)^2/(2\sigma^2)}` at the last :math:`y`.
    """
    if shift == 0:
        return AtomicLaw(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1))
    if sigma_squared > LARGEST_SIGMA**2:
        raise Unsupported("This noise is too wide for floats", must="have a sigma of at most 1e120")
    sigma = math.sqrt(sigma_squared)
    if sigma >= LEAST_SIGMA:
        if shift > LARGEST_MU * sigma:
            raise Unsupported("This noise is too small for a grid", got=f"sigma = {sigma:g}")
        return WideDiscreteGaussianLaw(sigma, shift)
    far = min(math.ceil(_FAR * sigma), math.floor(LARGEST_LOSS * float(sigma_squared) / shift))
    if far - shift < 12 * sigma:
        raise Unsupported("This noise is too small for a grid", got=f"sigma = {sigma:g}")
    y = -indices(-far, far + 1)
    weights = np.exp(-(y * y) / (2 * float(sigma_squared)))
    unit = float(shift / (2 * sigma_squared))
    losses = (shift - 2 * y) * unit
    masses = weights / weights.sum()
    beyond = 4 * math.exp(-((far - shift) ** 2) / (2 * float(sigma_squared))) * (1 + sigma)
    lattice = unit if shift % 2 else 2 * unit
    return AtomicLaw(losses[None, :], masses[None, :], np.zeros(1), lattice, beyond)
