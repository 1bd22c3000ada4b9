"""The exponential mechanism: the noisy maximum with Gumbel noise."""

from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
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
class ExponentialMechanism:
    r"""Choose candidate ``i`` with probability proportional to :math:`e^{+score_i/scale}`.

    Guarantee:
        If one unit moves each score by at most :math:`\Delta` = ``d_in.linf``, the choice is ε-DP
        with :math:`\varepsilon = 2\Delta/scale`, and with :math:`\varepsilon = \Delta/scale` for
        monotone scores. Its privacy loss stays in an interval of width ε, so it is
        :math:`\varepsilon^2/8`-zCDP too.

        Proof. The loss at ``i`` is :math:`(u_i - u'_i)/scale + \ln(Z'/Z)`; the second term is the
        same for every ``i``, so the loss ranges over an interval of width at most
        :math:`spread/scale`, where the spread of the changes :math:`u_i - u'_i` is
        :math:`2\Delta`, or :math:`\Delta` if they have one sign. The interval contains 0, since
        :math:`e^{-loss}` has mean 1. The bound on the Rényi divergences is with
        :class:`~discreet.accounting.curves.bounded.BoundedRangePiece` [CR21]. The first
        statement is McSherry and Talwar's (FOCS 2007) [DR14, Theorem 3.10; Ste16, Lemma 2.7.3];
        [Gro14, Theorem 3.4] prints :math:`e^{-\varepsilon u/2}` for a utility ``u``, which is just
        as private and chooses the worst candidates.

        It is the noisy maximum with Gumbel noise: :math:`u_i + scale \cdot G_i` (Yellott 1977).
        The sampler is exact, so no rounding of weights adds to the loss.

    Assumes:
        Integer scores, whose sensitivity the caller proved (a real score goes to a declared grid
        first); a public list of candidates; ``rng`` is unpredictable to the reader.

    Utility:
        ``error_quantile`` is the exact worst case; it is at most the usual
        :math:`scale \cdot \ln(N/(N^* \beta))` [DR14, Theorem 3.11; Das22, Theorem 4.5].

    Example:
        >>> choice = ExponentialMechanism(scale=4)
        >>> choice.loss(Contribution(linf=1))
        Pure(ε = 0.5)
        >>> ExponentialMechanism(scale=4, scores=Scores.MONOTONE).loss(Contribution(linf=1))
        Pure(ε = 0.25)
        >>> choice.error_quantile("0.05", candidates=1000)
        Fraction(39, 1)
    """

    scale: Fraction = field(converter=exact, validator=check.positive)
    scores: Scores = field(default=Scores.GENERAL, converter=scores_of)

    @classmethod
    def calibrate(
        cls, *, d_in: Contribution, loss: Pure | Zcdp, scores: Scores | str = Scores.GENERAL
    ) -> Self:
        """Return the mechanism that spends ``loss``; for zCDP the scale is rounded up."""
        return cls(scale=bounded_range_scale([scores_of(scores).spread(d_in)], loss), scores=scores)

    def event(self, d_in: Contribution) -> ExponentialSelectionEvent:
        """Describe one use for the accountants."""
        return ExponentialSelectionEvent(
            scale=self.scale, spread=self.scores.spread(d_in), metric=d_in.metric
        )

    def loss(self, d_in: Contribution) -> Pure:
        """Return the pure loss of one use."""
        return pure_loss([self.event(d_in)])

    def select(self, scores: IntArray, rng: Rng) -> int:
        """Return the index of the chosen candidate. The gate already holds the loss."""
        return gumbel_argmax(scores, self.scale, rng)

    def error_quantile(self, beta: Number, *, candidates: int, best: int = 1) -> Fraction:
        """Return how far below the best the chosen score may be, but for ``beta``.

        ``best`` is how many candidates share the best score, if that is known.
        """
        return Fraction(exponential_error(self.scale, beta, candidates=candidates, best=best))
