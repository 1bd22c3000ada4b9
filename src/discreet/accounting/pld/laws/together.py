r"""The law of several mechanisms together, as one law: for what comes before a sample is drawn.

A sample is shared by all that looks at it, so the losses must be composed first. Masses are added
and multiplied only, never subtracted, so that every one of them is right to many digits, however
small it is.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.atomic import AtomicLaw
from discreet.accounting.pld.laws.float_assumptions import LARGEST_LOSS, RELATIVE, UNIT
from discreet.accounting.pld.laws.grid import FloatArray, LossGrid, indices, short_step
from discreet.accounting.pld.laws.law import LossLaw
from discreet.core.errors import Unsupported

_CELLS = 1 << 13
_MOST_CELLS = 1 << 14
_PASSES = 3
_TAIL = 1e-40
_MOST_TOGETHER = 10_000
_ROUNDED = 4.0
_MOVED = 1e-6
"""A split moves a loss by at most this share of a step to have it on the grid."""

Laws = Sequence[tuple[LossLaw, int]]


@frozen(eq=False)
class GridMasses:
    r"""Masses under :math:`P` and :math:`Q` at whole multiples of a step, and what has no loss.

    Both are rounded to the same side, or :math:`P` down and :math:`Q` up.
    """

    first: int
    p: FloatArray
    q: FloatArray
    infinite: float

    def times(self, other: "GridMasses", side: float) -> "GridMasses":
        """Convolve; ``side`` is 1 or -1, the way in which P is rounded."""
        error = 1 + _ROUNDED * UNIT * min(len(self.p), len(other.p))
        p = np.convolve(self.p, other.p) * error**side
        q = np.convolve(self.q, other.q) * error
        mine, theirs = float(self.p.sum()), float(other.p.sum())
        infinite = self.infinite * (theirs + other.infinite) + mine * other.infinite
        return GridMasses(self.first + other.first, p, q, infinite * (1 + side * RELATIVE)).cut(
            side
        )

    def cut(self, side: float) -> "GridMasses":
        """Cut off ends that do not matter: upwards for an upper law, away for a lower one."""
        matter = np.nonzero((self.p > _TAIL) | (self.q > _TAIL))[0]
        if not len(matter):
            return self
        low, high = int(matter[0]), int(matter[-1]) + 1
        p, q, infinite = self.p[low:high].copy(), self.q[low:high], self.infinite
        if side > 0:
            p[0] += float(self.p[:low].sum())
            infinite += float(self.p[high:].sum())
        return GridMasses(self.first + low, p, q, infinite)


def power(one: GridMasses, count: int, side: float) -> GridMasses:
    """Compose with itself, by squaring."""
    found: GridMasses | None = None
    while count:
        if count & 1:
            found = one if found is None else found.times(one, side)
        count >>= 1
        if count:
            one = one.times(one, side)
    assert found is not None
    return found


def upper_together(laws: Laws) -> AtomicLaw:
    r"""Return a law whose curve is nowhere below that of all ``laws`` together.

    Guarantee:
        Each law is split upwards (:class:`discreet.accounting.pld.laws.grid.Split`) and the masses
        are convolved, every rounding up. What thresholds can be off is added to the losses. All
        masses are raised by one factor so that those under :math:`Q` add up to at least 1, as a
        sample needs (``docs/proofs/pld.md``).

    Example:
        >>> from discreet.accounting.pld.laws.atomic import response_law
        >>> law = upper_together([(response_law(0.5), 3)])
        >>> round(float(law.losses.max()), 6)
        1.5
    """
    found, step = _together(laws, _split, 1.0)
    slack = sum(count * (law.slack() + _MOVED * step) for law, count in laws)
    losses = indices(found.first, found.first + len(found.p)) * step
    q = float((found.p * np.exp(-losses - slack)).sum()) * (1 - RELATIVE * (2 + abs(losses).max()))
    factor = max(1.0, 1 / q) if q > 0 else math.inf
    if factor > 2.0:
        raise Unsupported("These losses together are too wide for a grid")
    infinite = np.array([min(1.0, found.infinite * factor)])
    return AtomicLaw((losses + slack)[None, :], (found.p * factor)[None, :], infinite)


def lower_together(laws: Laws) -> AtomicLaw:
    r"""Return a law whose curve is nowhere above that of all ``laws`` together.

    Guarantee:
        Outcomes are told apart by the sum of the numbers of their cells only, which is less than
        is released. Chances under :math:`P` are rounded down and under :math:`Q` up, and both are
        lowered by one factor so that those under :math:`Q` add up to at most 1.
    """
    found, _ = _together(laws, _cells, -1.0)
    kept = (found.p > 0) & (found.q > 0)
    p, q = found.p[kept], found.q[kept]
    factor = min(1.0, 1 / (float(q.sum()) * (1 + 8 * RELATIVE)))
    losses = np.log(p / q) - RELATIVE
    return AtomicLaw(losses[None, :], (p * factor)[None, :], np.array([found.infinite * factor]))


def _together(
    laws: Laws, put: Callable[[LossLaw, float], GridMasses], side: float
) -> tuple[GridMasses, float]:
    """Compose on a grid; look again on a finer one if most of it was empty."""
    if sum(count for _, count in laws) > _MOST_TOGETHER:
        raise Unsupported("Too many uses see the same sample", must=f"be at most {_MOST_TOGETHER}")
    spans = [law.span(_TAIL) for law, _ in laws]
    if max(abs(end) for span in spans for end in span) > LARGEST_LOSS:
        raise Unsupported("These losses are too large for a grid")
    pairs = list(zip(laws, spans, strict=True))
    widest = max(high - low for low, high in spans)
    step = _aligned(sum(n * (high - low) for (_, n), (low, high) in pairs) / _CELLS, laws)
    for last in (*(False,) * (_PASSES - 1), True):
        found: GridMasses | None = None
        for law, count in laws:
            one = power(put(law, step), count, side)
            found = one if found is None else found.times(one, side)
        assert found is not None
        finer = _aligned(max(step * len(found.p) / _CELLS, widest / _MOST_CELLS), laws)
        if last or finer > 0.7 * step:
            return found, step
        step = finer
    raise AssertionError("the last pass returns")


def _unit(laws: Laws) -> float | None:
    units = {law.lattice for law, _ in laws}
    return units.pop() if len(units) == 1 else None


def _aligned(step: float, laws: Laws) -> float:
    """Return about ``step``; a part of the unit of all losses, if they have one that is large."""
    step = max(step, 1e-12)
    unit = _unit(laws)
    if unit is not None and unit >= step / 4:
        return short_step(unit / math.ceil(unit / step))
    return short_step(step)


def _split(law: LossLaw, step: float) -> GridMasses:
    grid = LossGrid.covering(*law.span(_TAIL), step)
    split = law.split(grid)
    p = split.upper[0]
    return GridMasses(grid.first, p, p * np.exp(-grid.losses()), float(split.upper_infinite[0]))


def _cells(law: LossLaw, step: float) -> GridMasses:
    grid = LossGrid.covering(*law.span(_TAIL), step)
    tails = law.tails(grid.losses())
    p, p_error = _between(tails.right_p[0], tails.left_p[0])
    q, q_error = _between(tails.right_q[0], tails.left_q[0])
    p = np.maximum(p - p_error, 0.0)
    return GridMasses(grid.first, p, q + q_error, float(law.infinite[0]) * (1 - RELATIVE))


def _between(right: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what is between neighbouring thresholds, from the better side, and its error."""
    use_right = right[:-1] + right[1:] <= left[:-1] + left[1:]
    found = np.where(use_right, right[:-1] - right[1:], left[1:] - left[:-1])
    error = np.where(use_right, right[:-1] + right[1:], left[1:] + left[:-1])
    return np.maximum(found, 0.0), 1.01 * RELATIVE * error + 1e-300
