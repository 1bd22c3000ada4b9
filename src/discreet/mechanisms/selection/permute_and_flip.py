"""Permute-and-flip: the noisy maximum with exponential noise."""

from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.loss import Pure
from discreet.core.mechanism_event import PermuteAndFlipEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.selection.scores import (
    Scores,
    permute_and_flip_error,
    pure_scale,
    scores_of,
)
from discreet.randomness.argmax import exponential_argmax


@frozen(kw_only=True)
class PermuteAndFlip:
    r"""Ask the candidates in random order; each is taken with :math:`e^{-(best - score)/scale}`.

    Guarantee:
        If one unit moves each score by at most :math:`\Delta` = ``d_in.linf``, the choice is ε-DP
        with :math:`\varepsilon = 2\Delta/scale`, and with :math:`\varepsilon = \Delta/scale` for
        monotone scores.

        Proof. It has the law of the largest :math:`u_i + scale \cdot E_i` with independent
        exponential variables: candidate ``i`` reaches the best score with the probability of its
        coin, and those that reach it have independent, equal excesses, so each of them is equally
        likely to be the largest, as in a random order (Ding et al., arXiv:2105.07260). Fix the
        noise of all but ``i``: it wins when :math:`scale \cdot E_i` exceeds
        :math:`\max_{j \ne i}(u_j + scale \cdot E_j) - u_i`. One unit raises this threshold by at
        most the spread of the changes, and :math:`P[E > t + d] \ge e^{-d} P[E > t]` for every
        :math:`d \ge 0` [Das22, Theorem 4.7, whose proof treats monotone scores of sensitivity 1].

    Assumes:
        As for the exponential mechanism. Only the index may be released: how far the winner was
        ahead is not covered.

    Utility:
        Its error is never larger than that of the exponential mechanism of the same ε (McKenna and
        Sheldon, arXiv:2010.12603), and up to half for two candidates; ``error_quantile`` is the
        exact worst case for one best candidate. In one choice it is the better of the two; over
        many, the bounded range of the exponential mechanism composes better.

    Example:
        >>> choice = PermuteAndFlip(scale=4)
        >>> choice.loss(Contribution(linf=1))
        Pure(ε = 0.5)
        >>> choice.error_quantile("0.05", candidates=1000)
        Fraction(36, 1)
    """

    scale: Fraction = field(converter=exact, validator=check.positive)
    scores: Scores = field(default=Scores.GENERAL, converter=scores_of)

    @classmethod
    def calibrate(
        cls, *, d_in: Contribution, loss: Pure, scores: Scores | str = Scores.GENERAL
    ) -> Self:
        """Return the mechanism that spends exactly ``loss``."""
        return cls(scale=pure_scale(scores_of(scores).spread(d_in), loss), scores=scores)

    def event(self, d_in: Contribution) -> PermuteAndFlipEvent:
        """Describe one use for the accountants."""
        return PermuteAndFlipEvent(
            scale=self.scale, spread=self.scores.spread(d_in), metric=d_in.metric
        )

    def loss(self, d_in: Contribution) -> Pure:
        """Return the loss of one use."""
        return pure_loss([self.event(d_in)])

    def select(self, scores: IntArray, rng: Rng) -> int:
        """Return the index of the chosen candidate. The gate already holds the loss."""
        return exponential_argmax(scores, self.scale, rng)

    def error_quantile(self, beta: Number, *, candidates: int, best: int = 1) -> Fraction:
        """Return how far below the best the chosen score may be, but for ``beta``."""
        return Fraction(permute_and_flip_error(self.scale, beta, candidates=candidates, best=best))
