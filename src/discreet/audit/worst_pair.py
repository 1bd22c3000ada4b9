"""Neighbour search: which two neighbouring inputs does a mechanism tell apart best?"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.audit.choose_event import Stakes, choose_event
from discreet.audit.sampling import DEFAULT_CONFIDENCE, AuditResult, audit_outputs, outcomes
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray

Draw = Callable[[Any, int], Iterable[Any]]
"""Draws so many outputs of a mechanism on an input."""

UNROUND = 12_345
"""Where neighbours are tried besides 0: grain that shows there may not show at 0."""

_EXPLORED_SHARE = 8


@frozen(kw_only=True)
class WorstPair:
    """The pair that looked worst among those tried, and an audit of it on fresh samples."""

    pair: tuple[Any, Any]
    tried: int
    result: AuditResult

    def __str__(self) -> str:
        return f"of {self.tried:,} pairs the worst is {self.pair[0]}, {self.pair[1]}: {self.result}"


def search_neighbours(
    draw: Draw,
    pairs: Sequence[tuple[Any, Any]],
    *,
    samples: int,
    delta: Number = 0,
    confidence: Number = DEFAULT_CONFIDENCE,
) -> WorstPair:
    r"""Try pairs of neighbours on a few samples each, and audit the one that looks worst.

    Guarantee:
        That of :class:`~discreet.audit.sampling.AuditResult`, however many pairs are tried: the
        pair is chosen on samples that are then thrown away, and audited on fresh ones, so that it
        is fixed when they are drawn. What is bounded is the :math:`\varepsilon` of the mechanism,
        which is at least that of any pair.

    Utility:
        An eighth of the samples is spent on each pair that is tried, and all on the last.

    Example:
        >>> from discreet import DiscreteLaplace, SystemRng
        >>> def draw(row, count):
        ...     cells = np.tile(np.minimum(row, 1), (count, 1))  # a clamp that was forgotten below
        ...     return cells + DiscreteLaplace(scale=1).release(np.zeros_like(cells), SystemRng())
        >>> worst = search_neighbours(draw, [((5,), (6,)), ((0,), (1,))], samples=4000)
        >>> worst.pair
        ((0,), (1,))
    """
    count, spent = check.at_least_one(samples, "samples"), exact(delta)
    if not pairs:
        raise InvalidArgument("There is nothing to search", must="be one pair or more")
    stakes = Stakes(delta=float(spent), failure=1e-3)
    each = max(8, count // _EXPLORED_SHARE)

    def score(pair: tuple[Any, Any]) -> float:
        first, second = (outcomes(draw(one, each)) for one in pair)
        return choose_event(first, second, stakes).score

    worst = max(pairs, key=score) if len(pairs) > 1 else pairs[0]
    first, second = (draw(one, count) for one in worst)
    result = audit_outputs(first, second, delta=spent, confidence=confidence)
    return WorstPair(pair=worst, tried=len(pairs), result=result)


def _largest_step(d_in: Contribution, moved: int) -> int:
    """Return by how much so many cells can move at once, each by the same whole number."""
    limits = [d_in.bound("linf")]
    if d_in.l1 is not None:
        limits.append(d_in.l1 / moved)
    if d_in.l2_squared is not None:
        limits.append(Fraction(math.isqrt(int(d_in.l2_squared / moved))))
    return int(min(limits))


def moved_pairs(cells: int, d_in: Contribution) -> list[tuple[IntArray, IntArray]]:
    """Return pairs of vectors that one unit can make of one another: corners, and single cells.

    Around 0 and around an unround number each of the moves is tried that reaches a bound: one cell
    by as much as a cell may move, and as many cells as may move, all upwards, or up and down.

    Guarantee:
        No move exceeds a bound in any norm: :math:`k` cells that move by :math:`s` each have the
        norms :math:`k`, :math:`s`, :math:`ks` and :math:`ks^2`.

    Example:
        >>> pairs = moved_pairs(2, Contribution(l0=2, linf=1))
        >>> [(second - first).tolist() for first, second in pairs[:3]]
        [[1, 0], [1, 1], [1, -1]]
        >>> [(b - a).tolist() for a, b in moved_pairs(3, Contribution(l2_squared=2, linf=2))[:2]]
        [[1, 0, 0], [1, 1, 0]]
    """
    width = check.at_least_one(cells, "cells")
    limits = (width, d_in.l0, d_in.l1, d_in.l2_squared)
    touched = min(int(limit) for limit in limits if limit is not None)
    step, each = (_largest_step(d_in, moved) for moved in (1, max(1, touched)))
    if step < 1:
        raise InvalidArgument("Nothing moves by a whole number", must="have linf of at least 1")
    signs = np.where(np.arange(width) % 2 == 0, 1, -1)
    inside = np.arange(width) < touched
    moves = [np.where(np.arange(width) == 0, step, 0), inside * each, inside * signs * each]
    different = {move.tobytes(): move.astype(np.int64) for move in moves if move.any()}
    bases = [np.full(width, at, dtype=np.int64) for at in (0, UNROUND)]
    return [(base, base + move) for base in bases for move in different.values()]
