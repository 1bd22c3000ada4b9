"""How a holdout answers: with noise, from fresh rows, or from training rows that it checks."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen

from discreet.adaptive.guarantee import STEPS, PopulationGuarantee
from discreet.adaptive.row_values import RowValues
from discreet.adaptive.sparse_answers import ONE_ROW, SparseAnswers, SparseGuarantee
from discreet.adaptive.weights_answers import (
    EXACT,
    ONE_CHANGED,
    UNITS,
    WeightsAnswers,
    WeightsGuarantee,
)
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.query_release.guess_and_check import GuessAndCheckRun
from discreet.mechanisms.query_release.public_weights import PublicWeights
from discreet.mechanisms.thresholds.sparse_vector import SparseVectorRun


@frozen
class GivenShare:
    """An answer as a share of the range, and whether training rows gave it."""

    value: Fraction
    is_from_training: bool = False


class AnsweringMode(Protocol):
    """How questions are answered: from the values of rows to a share of their range."""

    @property
    def ended(self) -> bool:
        """Whether there is no further answer, although questions are left."""

    def share(self, values: RowValues, number: int, trained: RowValues | None) -> GivenShare:
        """Return the answer to question ``number``, counted from 0.

        ``trained`` has the values of the training rows, if there are any.
        """


@frozen
class NoisyMode:
    """Every answer has noise of its own; all rows are used."""

    noise: DiscreteGaussian
    rng: Rng = field(repr=False)
    ended: bool = False

    def share(self, values: RowValues, number: int, trained: RowValues | None) -> GivenShare:
        """Return the noisy mean, cut to the range."""
        (given,) = self.shares([values.total()], len(values))
        return given

    def shares(self, totals: Sequence[int], rows: int) -> list[GivenShare]:
        """Return the noisy means of several questions, by their sums over rows."""
        noisy = self.noise.release(np.array(totals, dtype=np.int64), self.rng).tolist()
        return [GivenShare(cut(Fraction(one, STEPS * rows))) for one in noisy]


@frozen
class FreshMode:
    """Every answer is exact of rows that no answer before it has used."""

    order: np.ndarray[Any, np.dtype[np.int64]] = field(repr=False)
    each: int
    ended: bool = False

    def share(self, values: RowValues, number: int, trained: RowValues | None) -> GivenShare:
        """Return the mean over the part of the rows that is this question's."""
        part = self.order[number * self.each : (number + 1) * self.each]
        return GivenShare(Fraction(int(values.steps[part].sum()), STEPS * self.each))


@frozen(eq=False)
class SparseMode:
    """Answers are those of the training rows, unless the holdout is farther off."""

    answers: SparseAnswers
    comparisons: SparseVectorRun
    rng: Rng = field(repr=False)

    @property
    def ended(self) -> bool:
        """Whether all corrections were made."""
        return self.comparisons.ended

    def share(self, values: RowValues, number: int, trained: RowValues | None) -> GivenShare:
        """Return the training rows' mean, or that of the holdout with noise if it is far off."""
        assert trained is not None
        rows, total = len(values), values.total()
        guess = round(Fraction(trained.total() * rows, len(trained)))
        if not self.comparisons.ask(abs(total - guess)):
            return GivenShare(Fraction(guess, STEPS * rows), is_from_training=True)
        noise = self.answers.machine.value_noise
        noisy = int(noise.release(np.array([total], dtype=np.int64), self.rng)[0])
        return GivenShare(cut(Fraction(noisy, STEPS * rows)))


@frozen(eq=False)
class WeightsMode:
    """Answers come from weights over a universe; ``values`` are those of its elements."""

    answers: WeightsAnswers
    run: GuessAndCheckRun[PublicWeights]

    @property
    def ended(self) -> bool:
        """Whether all updates were made."""
        return self.run.ended

    def share(self, values: RowValues, number: int, trained: RowValues | None) -> GivenShare:
        """Return what the weights say, or a noisy mean where that is far off."""
        query = (values.steps * UNITS + STEPS // 2) // STEPS
        return GivenShare(cut(Fraction(self.run.ask(query).value, UNITS * self.answers.rows)))


@frozen(eq=False)
class ExactMode:
    """Answers are exact means over the rows; ``values`` are those of a universe's elements."""

    histogram: IntArray = field(repr=False)
    ended: bool = False

    def share(self, values: RowValues, number: int, trained: RowValues | None) -> GivenShare:
        """Return the mean."""
        total = sum(
            int(one) * int(many) for one, many in zip(values.steps, self.histogram, strict=True)
        )
        return GivenShare(Fraction(total, STEPS * int(self.histogram.sum())))


def answering_mode(
    guarantee: PopulationGuarantee, rng: Rng, histogram: IntArray | None = None
) -> AnsweringMode:
    """Return what keeps a promise; ``histogram`` counts rows if there is a small universe."""
    if isinstance(guarantee, WeightsGuarantee):
        assert histogram is not None
        machine = guarantee.answers.machine
        return WeightsMode(guarantee.answers, machine.open(histogram, d_in=ONE_CHANGED, rng=rng))
    if guarantee.method == EXACT:
        assert histogram is not None
        return ExactMode(histogram)
    if isinstance(guarantee, SparseGuarantee):
        answers = guarantee.answers
        vector = answers.machine.vector
        run = vector.open(threshold=answers.threshold, d_in=ONE_ROW, rng=rng)
        return SparseMode(answers, run, rng)
    if guarantee.noise is not None:
        return NoisyMode(guarantee.noise, rng)
    # A random order, so that rows which lie in some order are fresh draws all the same.
    keys = np.frombuffer(rng.words(guarantee.rows).tobytes(), dtype=np.uint64)
    each = guarantee.rows // guarantee.questions
    return FreshMode(np.argsort(keys, kind="stable").astype(np.int64), each)


def cut(share: Fraction) -> Fraction:
    """Return a share that is cut to the range.

    Example:
        >>> cut(Fraction(3, 2))
        Fraction(1, 1)
    """
    return min(Fraction(1), max(Fraction(0), share))
