"""The minimum of a convex loss over a population, found by asking a holdout for gradients."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from discreet.adaptive.holdout import Holdout
from discreet.adaptive.question_mix import MixedGuarantee
from discreet.adaptive.row_values import DeclaredRange, require_a_function
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import short
from discreet.core.numbers import Number

Gradient = Callable[[Any, tuple[float, ...]], Any]
"""Of one row and a point, with a partial derivative of the row's loss for each coordinate."""


@frozen
class PopulationMinimum:
    """A point whose mean loss over the population is nearly the least in a box.

    Attributes:
        point: The point.
        excess: By how much its mean loss is above the least one at most.
        questions: How many questions of the holdout it took.
    """

    point: tuple[Fraction, ...]
    excess: Fraction
    questions: int

    def __str__(self) -> str:
        place = ", ".join(f"{float(one):.4g}" for one in self.point)
        return f"({place}), at most {short(self.excess)} worse than the best point of the box"


def convex_minimum(
    holdout: Holdout,
    gradient: Gradient,
    *,
    box: Sequence[tuple[Number, Number]],
    steps: int,
    low: Number = -1,
    high: Number = 1,
    is_batch: bool = False,
) -> PopulationMinimum:
    r"""Return a point of a box whose mean loss over the population is nearly the least.

    Each step asks for the mean gradient where it is, one question a coordinate, and goes down.

    Guarantee:
        Let :math:`\theta_t` be the points of :math:`T` steps, and :math:`\hat g_t` the answers,
        which are within :math:`a` of the gradient over the population: all of them, but for the
        holdout's :math:`\beta`, although each point depends on the answers before. Then the mean
        :math:`\bar\theta` of the points is worse than any point :math:`\theta` of the box by at
        most

        .. math:: \frac1T \sum_t \Big(\langle\hat g_t, \theta_t - \theta\rangle
            + a \sum_j |\theta_{tj} - \theta_j|\Big),

        because the loss is convex: :math:`L(\theta_t) - L(\theta) \le \langle g_t, \theta_t -
        \theta\rangle`, and :math:`L(\bar\theta)` is at most the mean of :math:`L(\theta_t)`. What
        is returned is the largest of that over the box, coordinate by coordinate, worked out in
        fractions from the answers themselves: the first part is largest at an end, and the second
        at the farther one. So the rule by which steps are taken promises nothing and may be any.
        It is that of AdaGrad: a step of coordinate :math:`j` is
        :math:`w_j\hat g_{tj}/\sqrt{2\sum_{s \le t}\hat g_{sj}^2}` in a box of widths :math:`w`.

    Assumes:
        The loss of each row is convex in the point, and ``gradient`` is a gradient, or a
        subgradient, in the declared range: one that is cut belongs to no loss.

    Args:
        holdout: Answers ``steps`` times so many means as there are coordinates.
        gradient: Of one row and a point.
        box: The ends of each coordinate.
        steps: How many steps are taken.
        low: The lower end of partial derivatives.
        high: The upper end.
        is_batch: Whether ``gradient`` takes all rows at once, and gives a row of partial
            derivatives for each.

    Example:
        >>> rows = np.random.default_rng(1).random(100_000)
        >>> found = convex_minimum(
        ...     Holdout(rows, questions=60),
        ...     lambda rows, point: np.sign(point[0] - rows)[:, None],
        ...     box=[(0, 1)],
        ...     steps=60,
        ...     is_batch=True,
        ... )
        >>> abs(float(found.point[0]) - 0.5) < 0.2, found.excess < 0.2
        (True, True)
    """
    require_a_function(gradient, "a row and a point")
    within, count = DeclaredRange(low, high), check.at_least_one(steps, "steps")
    sides = [DeclaredRange(*one) for one in box]
    error = _error_of(holdout, count * len(sides)) * within.width
    point = [float(one.at(Fraction(1, 2))) for one in sides]
    points: list[list[Fraction]] = []
    slopes: list[list[Fraction]] = []
    squares = [0.0] * len(sides)
    for _ in range(count):
        parts = [_slope(gradient, tuple(point), at, is_batch) for at in range(len(sides))]
        asked = [
            holdout.ask(one, low=within.low, high=within.high, is_batch=is_batch) for one in parts
        ]
        points.append([Fraction(one) for one in point])
        slopes.append([one.value for one in asked])
        for place, (side, answer) in enumerate(zip(sides, asked, strict=True)):
            slope = float(answer.value)
            squares[place] += slope * slope
            if slope:
                moved = point[place] - float(side.width) * slope / math.sqrt(2 * squares[place])
                point[place] = min(max(moved, float(side.low)), float(side.high))
    excess = [
        _excess(side, [one[at] for one in points], [one[at] for one in slopes], error)
        for at, side in enumerate(sides)
    ]
    mean = tuple(sum((one[at] for one in points), Fraction(0)) / count for at in range(len(sides)))
    return PopulationMinimum(mean, max(Fraction(0), sum(excess, Fraction(0))), count * len(sides))


def _excess(
    side: DeclaredRange, points: list[Fraction], slopes: list[Fraction], error: Fraction
) -> Fraction:
    """Return the largest part of the bound that one coordinate can have."""
    reached = sum((a * b for a, b in zip(points, slopes, strict=True)), Fraction(0))
    total = sum(slopes, Fraction(0))
    descent = reached - min(total * side.low, total * side.high)
    far = sum((max(abs(one - side.low), abs(side.high - one)) for one in points), Fraction(0))
    return (descent + error * far) / len(points)


def _slope(
    gradient: Gradient, point: tuple[float, ...], place: int, is_batch: bool
) -> Callable[[Any], Any]:
    """Return one partial derivative, of a row or of all rows."""
    if is_batch:
        return lambda rows: np.asarray(gradient(rows, point))[:, place]
    return lambda row: gradient(row, point)[place]


def _error_of(holdout: Holdout, questions: int) -> Fraction:
    """Return what means are within, as a share of their range; refuse what cannot be asked."""
    if questions < 1:
        raise InvalidArgument("A box has no coordinate", must="have one or more")
    left = holdout.left_by_kind.get("means", 0)
    if left < questions:
        raise InvalidArgument(
            f"Only {left:,} means are left",
            must=f"be {questions:,}: one for each step and coordinate",
            next="Nothing was asked. Take fewer steps, or a holdout for more questions",
        )
    promise = holdout.guarantee
    if promise.beta is None:
        raise InvalidArgument(
            "A promise on average says nothing of a minimum",
            must="be one that holds with high probability",
            got=promise.method,
        )
    return promise.alphas["means"] if isinstance(promise, MixedGuarantee) else promise.alpha
