r"""The worst law of a mechanism of which only some points of its curve are known."""

from collections.abc import Sequence

import numpy as np

from discreet.accounting.pld.grid import FloatArray
from discreet.accounting.pld.laws.atoms import AtomicLaw
from discreet.accounting.pld.machine import RELATIVE
from discreet.core.errors import Unsupported


def stated_law(epsilons: FloatArray, deltas: FloatArray) -> AtomicLaw:
    r"""Return a symmetric law whose curve is nowhere below any with these points.

    Guarantee:
        Let a mechanism be :math:`(\varepsilon_i, \delta_i)`-DP for every :math:`i`, with
        :math:`0 = \varepsilon_0 < \varepsilon_1 < \dots`. Its curve is convex in
        :math:`e = e^\varepsilon`, at most :math:`\delta_i` at :math:`\varepsilon_i`, at most
        :math:`1 - e^{-\varepsilon_i} (1 - \delta_i)` at :math:`-\varepsilon_i` (exchange the two
        laws), 1 at :math:`e = 0`, and at most :math:`\delta_n` beyond :math:`\varepsilon_n`. So it
        is at most the largest convex function through these points, which is the curve of a law
        with atoms at the :math:`\pm\varepsilon_i` [DGKKM22].

        Where the slope in :math:`e` changes by :math:`q`, the law has an atom of chance :math:`q`
        under :math:`Q`. Left of :math:`e = 1` what exceeds :math:`1 - e` is what is looked at, so
        that nothing small is a difference of large numbers; all chances are raised by a share that
        is larger than every rounding.

    Example:
        >>> law = stated_law(np.array([0.0, 1.0]), np.array([0.5, 0.0]))
        >>> law.losses.round(6).tolist(), law.at_infinity.tolist()
        ([[-1.0, 0.0, 1.0]], [0.0])
    """
    falling = np.minimum.accumulate(np.minimum(deltas, 1.0)) * (1 + 8 * RELATIVE)
    if falling[-1] >= 1.0 or not np.all(np.diff(epsilons) > 0):
        raise Unsupported("These points say nothing together")
    right = _hull(np.expm1(epsilons), falling)
    over = np.append(np.exp(-epsilons[:0:-1]) * falling[:0:-1], falling[0])
    left = _hull(
        np.append(-1.0, np.expm1(-epsilons[::-1])),
        np.append(0.0, over),
    )
    right, left = _joined(right, left)
    falls = np.append(-_slopes(right), 0.0)
    rises = _slopes(left)
    chances = np.concatenate((np.diff(rises), [1 - rises[-1] - falls[0]], -np.diff(falls)))
    places = np.concatenate((left[1:-1, 0], right[:, 0]))
    masses = np.maximum(chances, 0.0) * (1 + places) * (1 + 64 * RELATIVE)
    return AtomicLaw(np.log1p(places)[None, :], masses[None, :], np.array([float(right[-1, 1])]))


def _slopes(corners: FloatArray) -> FloatArray:
    return np.asarray(np.diff(corners[:, 1]) / np.diff(corners[:, 0]))


def _joined(right: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower the point at ε = 0 until the two sides are convex together."""
    while True:
        (x, at_x), (y, at_y) = right[1], left[-2]
        chord = at_x + (at_y - y - at_x) * x / (x - y)
        if right[0, 1] <= chord:
            return right, left
        right, left = right.copy(), left.copy()
        right[0, 1] = left[-1, 1] = chord
        right, left = _hull(right[:, 0], right[:, 1]), _hull(left[:, 0], left[:, 1])


def _hull(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the corners of the largest convex function that is nowhere above the points."""
    corners: list[tuple[float, float]] = []
    for point in zip(x.tolist(), y.tolist(), strict=True):
        while len(corners) > 1 and not _is_convex(corners[-2:], point):
            corners.pop()
        corners.append(point)
    return np.array(corners)


def _is_convex(corners: Sequence[tuple[float, float]], point: tuple[float, float]) -> bool:
    (a, at_a), (b, at_b) = corners
    c, at_c = point
    return (at_b - at_a) * (c - b) < (at_c - at_b) * (b - a)
