"""From concentrated to pure privacy: choose among few possible answers, near all possible ones."""

import math
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import log_up
from discreet.core.stated_event import BoundedRangeEvent
from discreet.mechanisms.noise.integers import LARGEST_VALUE, integers
from discreet.randomness.argmax import gumbel_argmax


def greedy_net(points: IntArray, *, radius: int) -> IntArray:
    r"""Return some rows of ``points``, far from one another and near every row.

    Guarantee:
        Take the first row that is left, and drop all within ``radius`` of it, until none is left.
        Two rows that are taken are more than ``radius`` apart (a packing), for the later one was
        not dropped; and every row is within ``radius`` of the one that dropped it (a net)
        [Ste16, Lemma 2.7.2]. Distances are largest differences, in exact integers.

    Assumes:
        The points are public: all answers that *some* data could have, not those of the data.

    Example:
        >>> greedy_net(np.arange(10).reshape(-1, 1), radius=2).ravel().tolist()
        [0, 3, 6, 9]
    """
    left, reach = np.asarray(points), check.whole(radius)
    if left.dtype != np.int64 or left.ndim != 2 or not left.size:
        raise InvalidArgument(
            "The points have the wrong shape or type",
            must="be a table of 64-bit integers, one point a row",
            got=f"{left.dtype} of shape {left.shape}",
        )
    if reach < 0 or np.abs(left).max() >= 1 << 61 or left.min() == np.iinfo(np.int64).min:
        raise InvalidArgument(
            "The net is out of range",
            must="have a radius of at least 0 and points below 2**61 in size",
        )
    taken = []
    while left.size:
        taken.append(left[0])
        left = left[np.abs(left - left[0]).max(axis=1) > reach]
    return np.array(taken)


NetPoint = tuple[int, ...]


@frozen(kw_only=True)
class AnswerNet:
    r"""Release one of a few public ``points``, the likelier the nearer it is to the exact answer.

    Guarantee:
        If neighbouring answers are integer vectors at L∞ distance at most :math:`\Delta`, the
        output is :math:`\varepsilon`-DP, with a privacy loss in an interval of width
        :math:`\varepsilon = 2\Delta/temperature`.

        Proof. A point :math:`y` has probability proportional to
        :math:`e^{-\|y - q\|_\infty/temperature}`. By the triangle inequality each exponent moves
        by at most :math:`\Delta/temperature`, and so does the logarithm of their sum: this is the
        exponential mechanism for the distance [Ste16, Lemma 2.7.3]. Choosing is exact
        (:func:`~discreet.randomness.argmax.gumbel_argmax`).

    Assumes:
        The points do not depend on the data. ``radius`` matters for the error alone. ``rng`` is
        unpredictable to the reader.

    Utility:
        If every possible answer is within ``radius`` of a point, ``error_quantile`` bounds the
        error: :math:`radius + temperature \cdot \ln(N/\beta)` for :math:`N` points. Any accurate
        zCDP mechanism implies that few points will do, which is how it gives a pure one
        (:func:`rows_for_pure`).

    Example:
        >>> answers = np.array([(a, b) for a in range(21) for b in range(21)])
        >>> net = AnswerNet.calibrate(
        ...     answers, radius=4, d_in=Contribution(linf=1), loss=Pure(2)
        ... )
        >>> len(net.points), net.loss(Contribution(linf=1))
        (25, Pure(ε = 2))
        >>> net.error_quantile("0.05")
        Fraction(10, 1)
    """

    points: tuple[NetPoint, ...] = field(validator=check.non_empty, repr=False)
    radius: int = field(converter=check.whole, validator=check.non_negative)
    temperature: Fraction = field(converter=exact, validator=check.positive)

    @points.validator
    def _fit(self, _: object, points: tuple[NetPoint, ...]) -> None:
        # A distance that does not fit 64 bits would wrap around, and move by more than Δ.
        if any(abs(number) > LARGEST_VALUE for point in points for number in point):
            raise InvalidArgument("A point is too large", must="be below 2**62 in size")

    @classmethod
    def calibrate(cls, answers: IntArray, *, radius: int, d_in: Contribution, loss: Pure) -> Self:
        """Return a greedy net of all possible ``answers`` that spends exactly ``loss``."""
        distance = d_in.bound("linf")
        if loss.epsilon <= 0 or distance <= 0:
            raise InvalidArgument(
                "No temperature fits",
                must="have an ε above 0 and a contribution above 0",
                got=f"ε = {loss.epsilon} and linf = {distance}",
            )
        points = tuple(tuple(point) for point in greedy_net(answers, radius=radius).tolist())
        return cls(points=points, radius=radius, temperature=2 * distance / loss.epsilon)

    def event(self, d_in: Contribution) -> BoundedRangeEvent:
        """Describe one use for the accountants."""
        epsilon = 2 * d_in.bound("linf") / self.temperature
        return BoundedRangeEvent(epsilon=epsilon, metric=d_in.metric)

    def loss(self, d_in: Contribution) -> Pure:
        """Return the loss of one use."""
        return pure_loss([self.event(d_in)])

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the chosen point, in the shape of the exact answer."""
        table = np.array(self.points, dtype=np.int64)
        answer = integers(exact_values)
        if answer.ndim != 1 or answer.size != table.shape[1]:
            raise InvalidArgument(
                "The answer has another shape", must=f"be a row of {table.shape[1]} numbers"
            )
        scores = -np.abs(table - answer).max(axis=1)
        chosen: IntArray = table[gumbel_argmax(scores, self.temperature, rng)]
        return chosen.copy()

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a bound on the largest error, but for a probability of ``beta``.

        All points that are further from the answer than the nearest one by ``t`` have together at
        most ``N exp(-t / temperature)`` of the weight.
        """
        spread = self.temperature * log_up(len(self.points) / check.level(beta))
        return Fraction(self.radius + math.floor(max(Fraction(0), spread)))


def rows_for_pure(
    *, loss: Zcdp, rows: int, accuracy: Number, epsilon: Number, width: int = 2
) -> int:
    r"""Return how many rows make a pure mechanism about as accurate as a zCDP one, rounded up.

    Guarantee:
        Let the answer be a mean of values of norm at most 1, and let some :math:`(\xi, \rho)`-zCDP
        mechanism on :math:`n` rows have expected error at most :math:`\alpha`, with
        :math:`\xi, \rho \le \alpha^2`. Then with :math:`n' \ge \frac{2w}{\varepsilon\alpha}
        (\rho n^2 + \xi n (1 + \ln n) + 1)` rows an :class:`AnswerNet` of radius :math:`4\alpha`
        is :math:`\varepsilon`-DP with expected error at most :math:`10\alpha`
        [Ste16, Theorem 2.7.1]. One row moves the answer by at most :math:`w/n'`.

        The width :math:`w` is 2 for values of norm at most 1, and 1 for values in :math:`[0, 1]^k`
        and largest differences. [Ste16, Theorem 2.1.11] prints :math:`n' = 5n^2` for
        :math:`\varepsilon = \alpha` and :math:`\rho = \alpha^2`: at :math:`\alpha = 1/n` the
        theorem it is taken from gives :math:`8n^2`; with :math:`w = 1`, which that case allows,
        :math:`4n^2` is enough.

    Example:
        >>> loss = Zcdp(rho="1/10000")
        >>> rows_for_pure(loss=loss, rows=100, accuracy="1/100", epsilon="1/100")
        80000
    """
    count, alpha, target = check.whole(rows), exact(accuracy), exact(epsilon)
    factor = check.whole(width)
    if count <= 0 or alpha <= 0 or target <= 0 or factor <= 0:
        raise InvalidArgument(
            "A number is out of range", must="be above 0, like rows, accuracy, epsilon and width"
        )
    if max(loss.xi, loss.rho) > alpha**2:
        raise InvalidArgument(
            "The theorem does not cover this loss",
            must="have ξ and ρ of at most accuracy squared",
            got=f"ξ = {loss.xi}, ρ = {loss.rho} and accuracy = {alpha}",
        )
    information = loss.rho * count**2 + loss.xi * count * (1 + log_up(Fraction(count))) + 1
    return math.ceil(2 * factor / (target * alpha) * information)
