r"""How much a hat split can raise a curve, in a form that can be taken off again."""

import math

import numpy as np

from discreet.accounting.pld.grid import FloatArray

HEIGHT = 0.82
SPREAD = 1.25
WIDEST = 0.25
"""The largest noise for which the inequality below is proved."""


def bump(distance: FloatArray, noise: float) -> FloatArray:
    r"""Return :math:`0.82\,\kappa\,e^{-u^2 / (2.5 \kappa^2)}` at distances :math:`u`.

    Guarantee:
        Let :math:`W = \prod W_i` with :math:`E[W_i] = 1` and each :math:`\ln W_i` in an interval
        of length :math:`h_i`, and :math:`\kappa^2 = \sum h_i^2 / 4 \le 1/16`. Then for every
        real :math:`u`

        .. math:: E(1 - e^{u + w})_+ - (1 - e^u)_+ \le E[\mathrm{bump}(u + w)],\qquad w = \ln W.

        So :math:`E[(1 - e^u X W)_+ - \mathrm{bump}(u + \ln(XW))] \le E(1 - e^u X)_+`: the split
        law itself gives a curve below the true one, off by about :math:`2.3 \kappa^2` times the
        density of the loss. Proof in ``docs/proofs/pld.md``.

    Example:
        >>> round(float(bump(np.zeros(1), 0.01)[0]), 6)
        0.0082
    """
    if noise == 0.0:
        return np.zeros_like(distance)
    scaled = distance / noise
    return HEIGHT * noise * np.exp(-(scaled * scaled) / (2 * SPREAD))


def reach(noise: float) -> float:
    """Return the distance beyond which the bump is below ``e**-700`` of its height."""
    return noise * math.sqrt(2 * SPREAD * 700)
