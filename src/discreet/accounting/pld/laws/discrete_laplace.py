"""The loss of discrete Laplace noise."""

import math
from fractions import Fraction

import numpy as np

from discreet.accounting.pld.laws.atoms import AtomicLaw
from discreet.core.errors import Unsupported

MOST_ATOMS = 1 << 21


def discrete_laplace_law(scale: Fraction, distance: int) -> AtomicLaw:
    r"""Return the law of the loss if one entry moves by ``distance``.

    Guarantee:
        With :math:`r = e^{-1/scale}`, noise :math:`y` has probability :math:`r^{|y|}(1-r)/(1+r)`.
        The loss is :math:`d/scale` for all :math:`y \le 0`, :math:`-d/scale` for all
        :math:`y \ge d` and :math:`(d - 2y)/scale` between.
    """
    if distance > MOST_ATOMS:
        raise Unsupported(
            "This noise has too many losses for a grid",
            must=f"move by at most {MOST_ATOMS} steps",
            got=str(distance),
        )
    if distance == 0:
        return AtomicLaw(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1))
    rate = float(1 / scale)
    between = np.arange(distance - 1, 0, -1)
    whole = 1 + math.exp(-rate)
    middle = np.exp(-rate * between) * (-math.expm1(-rate) / whole)
    first, last = math.exp(-rate * distance) / whole, 1 / whole
    steps = np.concatenate(([-distance], distance - 2 * between, [distance]))
    masses = np.concatenate(([first], middle, [last]))
    unit = rate if distance % 2 or distance == 0 else 2 * rate
    return AtomicLaw((steps * rate)[None, :], masses[None, :], np.zeros(1), unit)
