"""Monitors: they know the population, watch games, and pick the question that was answered worst.

They are how transfer theorems are proved, and a way to audit a mechanism: if it is stable, so is
what a monitor picks, and what a stable algorithm picks cannot overfit.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.adaptive.choice_games import ChoiceGame
from discreet.adaptive.games import AccuracyGame, Question
from discreet.adaptive.guarantee import STEPS
from discreet.adaptive.stability_notions import overfitting_gap
from discreet.adaptive.transfer import half_tangent_up
from discreet.audit.binomial import upper_confidence
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import Number, exact, float_up
from discreet.core.protocols import Rng
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism


@frozen(eq=False)
class WorstQuestion:
    """What a monitor picks: a question of one of several games, with its sign.

    Attributes:
        game: The number of the game.
        place: The place of the question in it.
        question: Its values; negated where the answer was too small, so that the error is positive.
        error: By how much the answer exceeds the truth, with that sign.
        excess: By how much the question, with its sign, is larger on its sample than in truth.
    """

    game: int
    place: int
    question: Question
    error: float
    excess: float


def watch(games: Sequence[AccuracyGame]) -> WorstQuestion:
    r"""Return the worst question of independent games [Ste16, figures 3.4 and 3.5].

    If each transcript is :math:`(\varepsilon, \delta)`-DP in its sample, so is what is picked in
    all samples: a row is in one of them. One game makes the monitor of the theorem in expectation.
    """
    number, game = max(enumerate(games), key=lambda one: one[1].population_error)
    sign = 1.0 if game.of_population[game.worst] >= 0 else -1.0
    return WorstQuestion(
        number,
        game.worst,
        sign * game.questions[game.worst],
        abs(game.of_population[game.worst]),
        _excess(game),
    )


def watch_choices(games: Sequence[ChoiceGame]) -> WorstQuestion:
    r"""Return the worst choice of independent games, as a question [Ste16, figure 3.6].

    It is the loss of the choice that is best in truth, less that of the choice made; the source
    takes the least loss on the sample for the first, which is no mean over rows.
    """
    number, game = max(enumerate(games), key=lambda one: one[1].of_population[one[1].worst])
    at = game.worst
    return WorstQuestion(
        number, at, game.contrasts[at], game.of_population[at], game.overfitted[at]
    )


def draw_question(
    games: Sequence[AccuracyGame], *, rows: int, epsilon: Number, rng: Rng
) -> WorstQuestion:
    r"""Draw a question that overfits from the worst ones of :math:`T` games [Ste16, figure 3.7].

    Guarantee:
        Candidates are the worst question of each game and its negation, with the weight
        :math:`e^{\varepsilon sn/2}` for an excess of :math:`s`: the exponential mechanism. A row
        moves one game's :math:`sn` by 1, up for the question and down for its negation, so the
        draw is ε-DP; and :math:`(\varepsilon + \varepsilon', \delta)`-DP together with transcripts
        that are :math:`(\varepsilon', \delta)`-DP. (The source has twice the exponent, which is
        :math:`2\varepsilon`-DP.) Its excess is on average at least the largest, less
        :math:`\frac{2}{\varepsilon n}\ln 2T` and the rounding [Ste16, second lemma 3.7.1].
    """
    size = check.at_least_one(rows, "rows")
    # Rounding to steps may add one to how far a score moves.
    drawn = ExponentialMechanism.calibrate(
        d_in=Contribution(linf=STEPS + 1), loss=Pure(exact(epsilon))
    )
    gaps = [_gap(game) for game in games]
    scores = [round(sign * one * size * STEPS) for one in gaps for sign in (1, -1)]
    number, is_negated = divmod(drawn.select(np.array(scores, dtype=np.int64), rng), 2)
    game, sign = games[number], -1.0 if is_negated else 1.0
    at = game.worst
    return WorstQuestion(
        number, at, sign * game.questions[at], sign * game.of_population[at], sign * gaps[number]
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
    allowed = half_tangent_up(claimed.epsilon / 2) + claimed.delta
    return _audited([_excess(one) for one in games], 1, allowed, confidence)


def audit_picks(
    picks: Sequence[WorstQuestion],
    claimed: Approximate,
    *,
    samples: int = 1,
    width: int = 1,
    confidence: Number = "0.99",
) -> OverfittingAudit:
    r"""Compare how much picked questions overfit with what an :math:`(\varepsilon, \delta)` allows.

    Guarantee:
        Let each pick be made of ``samples`` games of its own, by ``watch``,
        ``watch_choices`` (whose questions are 2 wide) or ``draw_question``, and let a pick
        be :math:`(\varepsilon, \delta)`-DP in all its samples together. Then its expected excess is
        at most that of :func:`~discreet.adaptive.stability_notions.overfitting_gap`. By Hoeffding's
        inequality a true claim is refuted with a chance of at most one minus the confidence.
    """
    allowed = overfitting_gap(claimed, samples=samples, width=width)
    return _audited([one.excess for one in picks], width, allowed, confidence)


def _audited(
    excess: Sequence[float], width: int, allowed: Fraction, confidence: Number
) -> OverfittingAudit:
    if not excess:
        raise InvalidArgument("There is nothing to audit", must="be one game or more", got="0")
    failure = check.level(1 - exact(confidence))
    mean = float(np.mean(excess))
    slack = width * float(np.sqrt(2 * np.log(1 / float(failure)) / len(excess)))
    return OverfittingAudit(mean, mean - slack, float_up(allowed))


def _excess(game: AccuracyGame) -> float:
    """Return how much the worst question exceeds the truth on the sample, with its sign."""
    return _gap(game) if game.of_population[game.worst] >= 0 else -_gap(game)


def _gap(game: AccuracyGame) -> float:
    """Return by how much the worst question is larger on the sample than in truth."""
    return game.of_population[game.worst] - game.of_sample[game.worst]


def failure_rate(
    make_game: Callable[[], AccuracyGame], *, alpha: Number, runs: int, confidence: Number = "0.99"
) -> Fraction:
    """Return an upper confidence bound of how often some answer is farther than ``alpha``."""
    within = float(exact(alpha))
    count = check.at_least_one(runs, "runs")
    missed = sum(make_game().population_error > within for _ in range(count))
    return exact(upper_confidence(missed, count, 1 - exact(confidence)))
