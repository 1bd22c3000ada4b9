"""Report noisy max with Laplace noise, and by how much the winner won."""

from fractions import Fraction
from typing import Self

from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.mechanism_event import LaplaceNoisyMaxEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.search import smallest
from discreet.mechanisms.noise.integers import integers
from discreet.mechanisms.noise.laplace_sum import laplace_sum_tail
from discreet.mechanisms.selection.scores import Scores, others, pure_scale, scores_of
from discreet.randomness.samplers import discrete_laplace


@frozen(kw_only=True)
class LaplaceNoisyMax:
    r"""Add discrete Laplace noise to each score and report which one is the largest.

    Guarantee:
        If one unit moves each score by at most :math:`\Delta` = ``d_in.linf``, the index *and the
        margin* together are ε-DP with :math:`\varepsilon = 2\Delta/scale`, and with
        :math:`\varepsilon = \Delta/scale` for monotone scores. [Das22, Algorithm 2] adds
        :math:`Lap(1/\varepsilon)` to counts that come or go with one record, which is the
        monotone case; for scores that can move both ways it costs :math:`2\varepsilon`.

        Proof. Fix the noise of all but ``i``, and let ``k`` be the least noise with which ``i``
        wins, ties going to the earlier candidate. ``i`` wins with margin ``h`` when its noise is
        exactly :math:`k + h`. One unit moves ``k`` by a whole number of at most the spread of the
        changes, in either direction, and so changes the probability of that value by at most
        :math:`e^{spread/scale}`. Sum over the noise of the others.

        The margin is the gap to the second largest, less one if that candidate comes earlier (a
        tie would then have lost). That is not pedantry: for *continuous* noise the gap itself is
        free (Ding et al., PVLDB 13(3), 2019), but with integers a gap of 0 tells on which side the
        second one stood, and the pair of index and gap is not ε-DP.

    Assumes:
        Integer scores below :math:`2^{62}` in size, whose sensitivity the caller proved; a public
        list and order of candidates; ``rng`` is unpredictable to the reader.

    Utility:
        ``error_quantile`` bounds the chance that some candidate far below overtakes the best by
        the exact tail of the difference of two noises, times the number of candidates.

    Example:
        >>> LaplaceNoisyMax(scale=2).loss(Contribution(linf=1))
        Pure(ε = 1)
        >>> LaplaceNoisyMax(scale=2, scores=Scores.MONOTONE).loss(Contribution(linf=1))
        Pure(ε = 0.5)
        >>> LaplaceNoisyMax(scale=2).error_quantile("0.05", candidates=1000)
        Fraction(22, 1)
    """

    scale: Fraction = field(converter=exact, validator=check.positive)
    scores: Scores = field(default=Scores.GENERAL, converter=scores_of)

    @classmethod
    def calibrate(
        cls, *, d_in: Contribution, loss: Pure, scores: Scores | str = Scores.GENERAL
    ) -> Self:
        """Return the mechanism that spends exactly ``loss``."""
        return cls(scale=pure_scale(scores_of(scores).spread(d_in), loss), scores=scores)

    def event(self, d_in: Contribution) -> LaplaceNoisyMaxEvent:
        """Describe one use for the accountants."""
        return LaplaceNoisyMaxEvent(
            scale=self.scale, spread=self.scores.spread(d_in), metric=d_in.metric
        )

    def loss(self, d_in: Contribution) -> Pure:
        """Return the loss of one use."""
        return pure_loss([self.event(d_in)])

    def select(self, scores: IntArray, rng: Rng) -> int:
        """Return the index of the chosen candidate. The gate already holds the loss."""
        return int(self._noisy(scores, rng).argmax())

    def select_with_margin(self, scores: IntArray, rng: Rng) -> tuple[int, int]:
        """Return the index, and by how much its noisy score was above what it needed to win.

        The margin costs nothing extra. There must be at least two candidates.
        """
        if scores.size < 2:
            raise InvalidArgument("There is nothing to compare", must="have two candidates or more")
        return margin_of(self._noisy(scores, rng))

    def error_quantile(self, beta: Number, *, candidates: int, best: int = 1) -> Fraction:
        """Return how far below the best the chosen score may be, but for ``beta``."""
        limit, rest = check.level(beta), others(candidates, best)
        return Fraction(smallest(lambda t: rest * laplace_sum_tail(self.scale, 2, t) <= limit))

    def _noisy(self, scores: IntArray, rng: Rng) -> IntArray:
        values = integers(scores)
        if values.ndim != 1 or values.size == 0:
            raise InvalidArgument(
                "The scores have the wrong shape",
                must="be one row of at least one candidate",
                got=f"shape {values.shape}",
            )
        return values + discrete_laplace(self.scale, values.shape, rng)


def margin_of(noisy: IntArray) -> tuple[int, int]:
    """Return the first largest entry, and how much smaller it could be and still be that.

    Example:
        >>> import numpy as np
        >>> margin_of(np.array([4, 9, 7])), margin_of(np.array([7, 9, 4]))
        ((1, 2), (1, 1))
    """
    winner = int(noisy.argmax())
    before, after = noisy[:winner], noisy[winner + 1 :]
    needed = [int(before.max()) + 1] if before.size else []
    needed += [int(after.max())] if after.size else []
    return winner, int(noisy[winner]) - max(needed)
