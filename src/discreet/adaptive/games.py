r"""The three games: what a mechanism must get right, against an analyst who tries to fool it.

An analyst asks :math:`k` questions about a population, and a mechanism has a sample of it. How much
the analyst knows decides how hard that is:

*Offline*: all questions are there before the first answer. *Online*: they were fixed beforehand,
and the mechanism sees them one by one. *Adaptive*: each may depend on all earlier answers.

Populations here are finite, so that errors are exact. A question is the vector of its values, in
[0, 1], over the universe.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.adaptive.guarantee import STEPS
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian

Question = NDArray[np.float64]
"""The value of a statistical question for each element of the universe, in [0, 1]."""

Answers = Sequence[float]

_Asked = TypeVar("_Asked")
_Told = TypeVar("_Told")


class GameKind(Enum):
    """When the analyst has to say the questions, and the mechanism sees them."""

    OFFLINE = "offline"
    ONLINE = "online"
    ADAPTIVE = "adaptive"

    def transcript(
        self,
        questions: int,
        ask: Callable[[int, Sequence[_Told]], _Asked],
        respond: Callable[[Sequence[_Asked]], Sequence[_Told]],
    ) -> tuple[list[_Asked], list[_Told]]:
        """Return all questions and answers, each asked when the game asks for it."""
        asked: list[_Asked] = []
        told: list[_Told] = []
        if self is GameKind.ADAPTIVE:
            for number in range(questions):
                asked.append(ask(number, told))
                told.extend(respond(asked[-1:]))
            return asked, told
        asked = [ask(number, ()) for number in range(questions)]
        parts = [asked] if self is GameKind.OFFLINE else [[one] for one in asked]
        return asked, [answer for part in parts for answer in respond(part)]


class SampleMechanism(Protocol):
    """Answers questions about a sample; it may remember what it has seen."""

    def answer(self, questions: Sequence[Question]) -> Answers:
        """Return an answer to each; online and adaptively there is one at a time."""


OpenMechanism = Callable[[NDArray[np.int64], Rng], SampleMechanism]
"""Makes a mechanism of a sample: how often each element of the universe is in it."""


class GameAnalyst(Protocol):
    """Chooses questions."""

    def ask(self, number: int, answers: Answers) -> Question:
        """Return question ``number``, counted from 0, from all answers that are known."""


@frozen(eq=False)
class FinitePopulation:
    """A population over the elements 0, 1, ... of a universe.

    Example:
        >>> FinitePopulation.uniform(4).mean(np.array([1.0, 0.0, 0.0, 0.0]))
        0.25
    """

    law: NDArray[np.float64] = field()

    @law.validator
    def _is_a_law(self, _: object, law: NDArray[np.float64]) -> None:
        if law.ndim != 1 or not law.size or (law < 0).any() or abs(law.sum() - 1) > 1e-9:
            raise InvalidArgument(
                "A population is no law", must="have chances from 0 on that add up to 1"
            )

    @classmethod
    def uniform(cls, size: int) -> "FinitePopulation":
        """Return the population in which all elements are alike."""
        count = check.at_least_one(size, "size")
        return cls(np.full(count, 1 / count))

    def mean(self, question: Question) -> float:
        """Return the truth about a question."""
        return float(question @ self.law)

    def sample(self, rows: int, rng: Rng) -> NDArray[np.int64]:
        """Draw rows, and return how often each element was drawn."""
        words = rng.words(check.at_least_one(rows, "rows"))
        shares = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        places = np.searchsorted(np.cumsum(self.law), shares, side="right")
        places = np.minimum(places, self.law.size - 1)
        return np.bincount(places, minlength=self.law.size).astype(np.int64)


@frozen(eq=False)
class AccuracyGame:
    """The transcript of a game, and how far off the answers were.

    Attributes:
        questions: All questions, in order.
        answers: The answers.
        of_sample: By how much each answer exceeds the mean of the sample.
        of_population: By how much each exceeds the truth.
    """

    questions: tuple[Question, ...]
    answers: tuple[float, ...]
    of_sample: tuple[float, ...]
    of_population: tuple[float, ...]

    @property
    def sample_error(self) -> float:
        """The largest error of the sample."""
        return max(abs(one) for one in self.of_sample)

    @property
    def population_error(self) -> float:
        """The largest error of the population."""
        return max(abs(one) for one in self.of_population)

    @property
    def worst(self) -> int:
        """The place of the question whose answer is farthest from the truth."""
        return max(range(len(self.answers)), key=lambda at: abs(self.of_population[at]))


def play(
    kind: GameKind | str,
    *,
    population: FinitePopulation,
    rows: int,
    questions: int,
    mechanism: OpenMechanism,
    analyst: GameAnalyst,
    rng: Rng,
) -> AccuracyGame:
    """Play a game of accuracy [Ste16, figure 3.1; section 7.1], and return its transcript.

    Offline and online the analyst is asked for all questions first, and told nothing.

    Example:
        >>> from discreet import SystemRng
        >>> coins = np.random.default_rng(1).integers(0, 2, (200, 5_000)).astype(float)
        >>> naive = play(
        ...     "adaptive", population=FinitePopulation.uniform(5_000), rows=300, questions=200,
        ...     mechanism=ExactMechanism, analyst=SignAnalyst(coins), rng=SystemRng(),
        ... )
        >>> naive.population_error > 0.15, naive.sample_error < 1e-9
        (True, True)
    """
    chosen = check.chosen(GameKind, kind, noun="game")
    sample = population.sample(rows, rng)
    return play_on(
        sample,
        chosen,
        population=population,
        questions=questions,
        mechanism=mechanism,
        analyst=analyst,
        rng=rng,
    )


def play_on(
    sample: NDArray[np.int64],
    kind: GameKind,
    *,
    population: FinitePopulation,
    questions: int,
    mechanism: OpenMechanism,
    analyst: GameAnalyst,
    rng: Rng,
) -> AccuracyGame:
    """Play on a sample that is given, which the analyst may know [Ste16, figure 3.2]."""
    count = check.at_least_one(questions, "questions")
    opened = mechanism(sample, rng)
    asked, answers = kind.transcript(
        count, lambda at, told: _in_range(analyst.ask(at, told), population), opened.answer
    )
    share = sample / sample.sum()
    return AccuracyGame(
        questions=tuple(asked),
        answers=tuple(answers),
        of_sample=tuple(a - float(q @ share) for q, a in zip(asked, answers, strict=True)),
        of_population=tuple(a - population.mean(q) for q, a in zip(asked, answers, strict=True)),
    )


def _in_range(question: Question, population: FinitePopulation) -> Question:
    if question.shape != population.law.shape:
        raise InvalidArgument(
            "A question has another universe",
            must=f"have {population.law.size} values",
            got=str(question.shape),
        )
    return np.clip(np.nan_to_num(question, nan=0.5), 0.0, 1.0)


# ---- Mechanisms.


@frozen(eq=False)
class ExactMechanism:
    """Answers with the mean of the sample: the naive holdout."""

    sample: NDArray[np.int64]
    rng: Rng = field(repr=False)

    def answer(self, questions: Sequence[Question]) -> Answers:
        """Return the means."""
        return [float(one @ self.sample) / int(self.sample.sum()) for one in questions]


@frozen(eq=False)
class NoisyMechanism:
    """Answers with discrete Gaussian noise, as a holdout does.

    Example:
        >>> from discreet import SystemRng
        >>> noisy = NoisyMechanism.with_noise(DiscreteGaussian(sigma_squared=10**12))
        >>> [answer] = noisy(np.array([500, 500]), SystemRng()).answer([np.array([0.0, 1.0])])
        >>> abs(answer - 0.5) < 0.05
        True
    """

    sample: NDArray[np.int64]
    rng: Rng = field(repr=False)
    noise: DiscreteGaussian

    @classmethod
    def with_noise(cls, noise: DiscreteGaussian) -> OpenMechanism:
        """Return what makes such a mechanism of a sample."""
        return lambda sample, rng: cls(sample, rng, noise)

    def answer(self, questions: Sequence[Question]) -> Answers:
        """Return the noisy means, cut to [0, 1]."""
        rows = int(self.sample.sum())
        steps = [np.floor(one * STEPS + 0.5).astype(np.int64) for one in questions]
        totals = np.array([int(one @ self.sample) for one in steps], dtype=np.int64)
        noisy = self.noise.release(totals, self.rng)
        shares = [Fraction(int(one), STEPS * rows) for one in noisy]
        return [float(min(max(one, Fraction(0)), Fraction(1))) for one in shares]


# ---- Analysts.


@frozen(eq=False)
class FixedAnalyst:
    """Asks questions that were chosen before any answer: an honest one."""

    questions: NDArray[np.float64]

    def ask(self, number: int, answers: Answers) -> Question:
        """Return the next one; after the last the first again."""
        found: Question = self.questions[number % len(self.questions)]
        return found


@frozen(eq=False)
class SignAnalyst:
    r"""Asks random questions, and last the one that agrees with all that deviated.

    Utility:
        Of exact answers from :math:`n` rows the last is off by about
        :math:`\Phi(\sqrt{2k/(\pi n(1 + 4n\sigma^2))}) - 1/2` for noise of deviation :math:`\sigma`
        [Ste16, section 1.2.1].
    """

    coins: NDArray[np.float64]
    """The random questions, each with values 0 and 1 and a truth of a half; one fewer is asked."""

    def ask(self, number: int, answers: Answers) -> Question:
        """Return a random question, or the last one; without answers that is random too."""
        found: Question = self.coins[number % len(self.coins)]
        if number < len(self.coins) - 1 or not answers:
            return found
        leaning = np.sign(np.array(answers[: len(self.coins) - 1]) - 0.5)
        votes = leaning @ (self.coins[: len(leaning)] - 0.5)
        return np.where(votes > 0, 1.0, 0.0)


@frozen(eq=False)
class GreedyAnalyst:
    """Keeps a weight for each element, and moves to what raises the last answer: a hill climber."""

    size: int
    coins: NDArray[np.float64]

    def ask(self, number: int, answers: Answers) -> Question:
        """Return the best question so far, changed in a tenth of the universe."""
        best, height = np.full(self.size, 0.5), -1.0
        for earlier, answer in enumerate(answers):
            tried = self._changed(best, earlier)
            if answer > height:
                best, height = tried, answer
        return self._changed(best, number)

    def _changed(self, question: Question, number: int) -> Question:
        coin = self.coins[number % len(self.coins)]
        part = (np.arange(self.size) + 7 * number) % 10 == 0
        return np.where(part, coin, question)
