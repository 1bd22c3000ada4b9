"""Monitors: they know the population, watch games, and pick the question that was answered worst.

They are how transfer theorems are proved, and a way to audit a mechanism: if it is stable, so is
what a monitor picks, and what a stable algorithm picks cannot overfit.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.adaptive.games import AccuracyGame, Question
from discreet.adaptive.transfer import half_tangent_up
from discreet.audit.binomial import upper_confidence
from discreet.core import check
from discreet.core.loss import Approximate
from discreet.core.numbers import Number, exact


@frozen(eq=False)
class WorstQuestion:
    """What a monitor picks: a question of one of several games, with its sign.

    Attributes:
        game: The number of the game.
        place: The place of the question in it.
        question: Its values; negated where the answer was too small, so that the error is positive.
        error: By how much the answer exceeds the truth, with that sign.
    """

    game: int
    place: int
    question: Question
    error: float


def watch(games: Sequence[AccuracyGame]) -> WorstQuestion:
    r"""Return the worst question of independent games [Ste16, figures 3.4 and 3.5].

    If each transcript is :math:`(\varepsilon, \delta)`-DP in its sample, so is what is picked in
    all samples: a row is in one of them. One game makes the monitor of the theorem in expectation.
    """
    number, game = max(enumerate(games), key=lambda one: one[1].population_error)
    sign = 1.0 if game.of_population[game.worst] >= 0 else -1.0
    return WorstQuestion(
        number, game.worst, sign * game.questions[game.worst], abs(game.of_population[game.worst])
    )


@frozen
class OverfittingAudit:
    """What games say about a promise that questions do not overfit.

    Attributes:
        gap: The mean over games of how much the worst question exceeds the truth, on the sample.
        surely: A lower bound of its expectation, with the confidence that was asked for.
        allowed: What stability allows in expectation.
    """

    gap: float
    surely: float
    allowed: float

    @property
    def is_refuted(self) -> bool:
        """Whether the games show that the mechanism is not as stable as claimed."""
        return self.surely > self.allowed


def audit_overfitting(
    games: Sequence[AccuracyGame], claimed: Approximate, *, confidence: Number = "0.99"
) -> OverfittingAudit:
    r"""Compare how much questions overfit with what an :math:`(\varepsilon, \delta)` allows.

    Guarantee:
        The worst question of a transcript, with its sign, is a function of it. By the lemma of
        :class:`~discreet.adaptive.transfer.PosteriorTransfer`, with all transcripts for :math:`B`,
        its mean on the sample exceeds that of the population by at most
        :math:`\tanh(\varepsilon/4) + \delta` in expectation, if the claim is true. Games are
        independent, and the excess of one is in :math:`[-1, 1]`, so by Hoeffding's inequality a
        true claim is refuted with a chance of at most one minus the confidence.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.adaptive import ExactMechanism, FinitePopulation, SignAnalyst, play
        >>> coins = np.random.default_rng(2).integers(0, 2, (100, 1_000)).astype(float)
        >>> population, cheat = FinitePopulation.uniform(1_000), SignAnalyst(coins)
        >>> games = [
        ...     play("adaptive", population=population, rows=50, questions=100,
        ...         mechanism=ExactMechanism, analyst=cheat, rng=SystemRng())
        ...     for _ in range(200)
        ... ]
        >>> audit_overfitting(games, Approximate("0.1", "1e-6")).is_refuted
        True
    """
    failure = check.level(1 - exact(confidence))
    excess = [_excess(one) for one in games]
    mean = float(np.mean(excess))
    slack = float(np.sqrt(2 * np.log(1 / float(failure)) / len(excess)))
    allowed = float(half_tangent_up(claimed.epsilon / 2) + claimed.delta)
    return OverfittingAudit(mean, mean - slack, allowed)


def _excess(game: AccuracyGame) -> float:
    """Return how much the worst question exceeds the truth on the sample, with its sign."""
    at = game.worst
    sign = 1.0 if game.of_population[at] >= 0 else -1.0
    return sign * (game.of_population[at] - game.of_sample[at])


def failure_rate(
    make_game: Callable[[], AccuracyGame], *, alpha: Number, runs: int, confidence: Number = "0.99"
) -> Fraction:
    """Return an upper confidence bound of how often some answer is farther than ``alpha``."""
    within = float(exact(alpha))
    count = check.at_least_one(runs, "runs")
    missed = sum(make_game().population_error > within for _ in range(count))
    return exact(upper_confidence(missed, count, 1 - exact(confidence)))
