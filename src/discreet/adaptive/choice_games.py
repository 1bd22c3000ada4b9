r"""Games of choices: an analyst asks for the best of some choices, again and again.

A question is a loss for each choice and each element of the universe; an answer is the place of a
choice. It is off by how much its mean loss is above the least one [Ste16, section 3.5].
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.adaptive.games import FinitePopulation, GameKind
from discreet.adaptive.guarantee import STEPS
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism

Losses = NDArray[np.float64]
"""A row for each choice, with its loss in [0, 1] for each element of the universe."""


class ChoiceMechanism(Protocol):
    """Chooses by a sample; it may remember what it has seen."""

    def choose(self, questions: Sequence[Losses]) -> Sequence[int]:
        """Return a choice for each; online and adaptively there is one question at a time."""


OpenChoices = Callable[[NDArray[np.int64], Rng], ChoiceMechanism]
"""Makes a mechanism of a sample: how often each element of the universe is in it."""


class ChoiceAnalyst(Protocol):
    """Chooses what is to be chosen from."""

    def ask(self, number: int, choices: Sequence[int]) -> Losses:
        """Return question ``number``, counted from 0, from all choices that are known."""


@frozen(eq=False)
class ChoiceGame:
    """The transcript of a game of choices, and how far off they were.

    Attributes:
        questions: All questions, in order.
        choices: What was chosen.
        of_sample: By how much each choice's mean loss is above the least one, on the sample.
        of_population: The same in truth.
        contrasts: For each question the loss of the choice that is best in truth, less that of the
            choice made: a statistical question with values in [-1, 1].
        overfitted: By how much that is larger on the sample than in truth.
    """

    questions: tuple[Losses, ...]
    choices: tuple[int, ...]
    of_sample: tuple[float, ...]
    of_population: tuple[float, ...]
    contrasts: tuple[NDArray[np.float64], ...]
    overfitted: tuple[float, ...]

    @property
    def worst(self) -> int:
        """The place of the choice that is farthest from the best one in truth."""
        return max(range(len(self.choices)), key=lambda at: self.of_population[at])


def play_choices(
    kind: GameKind | str,
    *,
    population: FinitePopulation,
    rows: int,
    questions: int,
    mechanism: OpenChoices,
    analyst: ChoiceAnalyst,
    rng: Rng,
) -> ChoiceGame:
    """Play a game of choices, and return its transcript.

    Example:
        >>> from discreet import SystemRng
        >>> coins = np.random.default_rng(1).integers(0, 2, (500, 2_000)).astype(float)
        >>> class Once:
        ...     def ask(self, number, choices):
        ...         return np.vstack([coins, np.full(2_000, 0.4)])
        >>> naive = play_choices(
        ...     "adaptive", population=FinitePopulation.uniform(2_000), rows=100, questions=1,
        ...     mechanism=LeastLoss, analyst=Once(), rng=SystemRng(),
        ... )
        >>> naive.of_sample, naive.of_population[0] > 0.05
        ((0.0,), True)
    """
    chosen, count = (
        check.chosen(GameKind, kind, noun="game"),
        check.at_least_one(questions, "questions"),
    )
    sample = population.sample(rows, rng)
    opened = mechanism(sample, rng)
    asked, choices = chosen.transcript(
        count, lambda at, told: _losses(analyst.ask(at, told), population), opened.choose
    )
    return _judged(asked, choices, sample / sample.sum(), population.law)


def _judged(
    asked: list[Losses],
    choices: list[int],
    share: NDArray[np.float64],
    law: NDArray[np.float64],
) -> ChoiceGame:
    seen = [losses @ share for losses in asked]
    truth = [losses @ law for losses in asked]
    pairs = list(zip(asked, choices, truth, strict=True))
    contrasts = [losses[int(true.argmin())] - losses[at] for losses, at, true in pairs]
    return ChoiceGame(
        questions=tuple(asked),
        choices=tuple(choices),
        of_sample=tuple(float(m[at] - m.min()) for m, at in zip(seen, choices, strict=True)),
        of_population=tuple(float(m[at] - m.min()) for m, at in zip(truth, choices, strict=True)),
        contrasts=tuple(contrasts),
        overfitted=tuple(float(one @ share - one @ law) for one in contrasts),
    )


def _losses(losses: Losses, population: FinitePopulation) -> Losses:
    if losses.ndim != 2 or losses.shape[1:] != population.law.shape or not len(losses):
        raise InvalidArgument(
            "A question has another universe",
            must=f"have a row of {population.law.size} losses for each choice",
            got=str(losses.shape),
        )
    return np.clip(np.nan_to_num(losses, nan=0.5), 0.0, 1.0)


@frozen(eq=False)
class LeastLoss:
    """Chooses what is best on the sample: it overfits."""

    sample: NDArray[np.int64]
    rng: Rng = field(repr=False)

    def choose(self, questions: Sequence[Losses]) -> Sequence[int]:
        """Return the places of the least losses."""
        return [int((one @ self.sample).argmin()) for one in questions]


@frozen(eq=False)
class NoisyChoices:
    """Chooses by the exponential mechanism, as a holdout does."""

    sample: NDArray[np.int64]
    rng: Rng = field(repr=False)
    mechanism: ExponentialMechanism

    @classmethod
    def with_mechanism(cls, mechanism: ExponentialMechanism) -> OpenChoices:
        """Return what makes such a mechanism of a sample; its scores are sums in steps."""
        return lambda sample, rng: cls(sample, rng, mechanism)

    def choose(self, questions: Sequence[Losses]) -> Sequence[int]:
        """Return choices that are nearly the best."""
        steps = [np.floor(one * STEPS + 0.5).astype(np.int64) for one in questions]
        return [self.mechanism.select(-(one @ self.sample), self.rng) for one in steps]
