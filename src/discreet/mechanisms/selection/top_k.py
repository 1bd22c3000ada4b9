"""The best few of many in one shot: the largest scores with Gumbel noise, in order."""

from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure, Zcdp
from discreet.core.mechanism_event import ExponentialSelectionEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.selection.scores import (
    Scores,
    bounded_range_scale,
    exponential_error,
    scores_of,
)
from discreet.randomness.argmax import gumbel_argmax


@frozen(kw_only=True)
class TopK:
    r"""Return the ``count`` candidates with the largest :math:`score + scale \cdot Gumbel`.

    Guarantee:
        It is the exponential mechanism, ``count`` times, each time without those already chosen
        (Durfee and Rogers, arXiv:1905.04273, Lemma 4.2), and costs what these cost together: each
        has a privacy loss in an interval of width :math:`\varepsilon = 2\Delta/scale`, or
        :math:`\Delta/scale` for monotone scores, so all of them are :math:`k\varepsilon`-DP and
        :math:`k\varepsilon^2/8`-zCDP.

        Proof of the law. With Gumbel variables :math:`G_i` the numbers
        :math:`e^{-(u_i + scale \cdot G_i)/scale}` are independent exponential variables of rates
        :math:`w_i = e^{u_i/scale}`, and the largest noisy scores are the first of them. The first
        one is ``i`` with probability :math:`w_i / \sum w`; exponential variables forget, so from
        there on the others race as if anew. That is how it is drawn here, exactly.

    Assumes:
        As for the exponential mechanism. The order of the list may be released.

    Utility:
        But for a probability of ``beta``, for every ``j`` the ``j``-th chosen score is at least
        the ``j``-th best score minus ``error_quantile(beta)``: whoever was chosen before, the best
        that is left is at least that good.

    Example:
        >>> top = TopK(scale=4, count=10, scores=Scores.MONOTONE)
        >>> top.loss(Contribution(linf=1))
        Pure(ε = 2.5)
        >>> top.error_quantile("0.05", candidates=1000)
        Fraction(48, 1)
    """

    scale: Fraction = field(converter=exact, validator=check.positive)
    count: int = field(converter=check.whole, validator=check.positive)
    scores: Scores = field(default=Scores.GENERAL, converter=scores_of)

    @classmethod
    def calibrate(
        cls,
        *,
        d_in: Contribution,
        loss: Pure | Zcdp,
        count: int,
        scores: Scores | str = Scores.GENERAL,
    ) -> Self:
        """Return the mechanism that spends ``loss`` in all; for zCDP the scale is rounded up."""
        spreads = [scores_of(scores).spread(d_in)] * check.whole(count)
        return cls(scale=bounded_range_scale(spreads, loss), count=count, scores=scores)

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use for the accountants."""
        one = ExponentialSelectionEvent(
            scale=self.scale, spread=self.scores.spread(d_in), metric=d_in.metric
        )
        return one * self.count

    def loss(self, d_in: Contribution) -> Pure:
        """Return the pure loss of one use; over many candidates zCDP is the better measure."""
        return pure_loss([self.event(d_in)])

    def select(self, scores: IntArray, rng: Rng) -> IntArray:
        """Return the indices of the chosen candidates, the first choice first."""
        if scores.ndim != 1 or scores.size < self.count:
            raise InvalidArgument(
                "There are too few candidates",
                must=f"be one row of at least {self.count}",
                got=f"shape {scores.shape}",
            )
        left, values = np.arange(scores.size), scores
        chosen = np.empty(self.count, dtype=np.int64)
        for place in range(self.count):
            index = gumbel_argmax(values, self.scale, rng)
            chosen[place] = left[index]
            left, values = np.delete(left, index), np.delete(values, index)
        return chosen

    def error_quantile(self, beta: Number, *, candidates: int) -> Fraction:
        r"""Return a bound for all choices at once, each failing with at most :math:`\beta/k`."""
        share = check.level(beta) / self.count
        return Fraction(exponential_error(self.scale, share, candidates=candidates))
