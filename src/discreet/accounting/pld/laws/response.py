"""The losses of responses: a few atoms each."""

import math
from fractions import Fraction

import numpy as np

from discreet.accounting.pld.laws.atoms import AtomicLaw


def response_law(epsilon: float, *, categories: int = 2, told: float = 0.0) -> AtomicLaw:
    r"""Return the law of randomised response, which tells all with probability ``told``.

    Guarantee:
        Otherwise the truth is :math:`e^\varepsilon` times as likely as each of the other
        categories; two values differ in two of them, so the loss is :math:`\varepsilon`,
        :math:`-\varepsilon`, or 0 for a third one.
    """
    others = max(categories - 1, 0)
    small = math.exp(-epsilon)
    total = 1 + others * small
    chances = np.array([small, (others - 1) * small, 1.0]) / total * (1 - told)
    losses = np.array([-epsilon, 0.0, epsilon])
    if epsilon == 0.0 or others == 0:
        losses, chances = np.zeros(3), np.array([0.0, 1 - told, 0.0])
    unit = epsilon or None
    return AtomicLaw(losses[None, :], chances[None, :], np.array([told]), unit)


def coin_law(first: Fraction, second: Fraction) -> AtomicLaw:
    """Return the law of a coin that says yes with probability ``first``, or ``second``."""
    pairs = [(first, second), (1 - first, 1 - second)]
    finite = [(math.log1p((p - q) / q), float(p)) for p, q in pairs if p > 0 and q > 0]
    infinite = sum((p for p, q in pairs if q == 0), Fraction(0))
    finite = sorted(finite) or [(0.0, 0.0)]
    losses = np.array([[loss for loss, _ in finite]])
    return AtomicLaw(losses, np.array([[p for _, p in finite]]), np.array([float(infinite)]))
