"""Events: sets of outputs that an auditor bets on."""

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen

from discreet.audit.features import Feature
from discreet.audit.outputs import OutputColumn, OutputPart

_SHOWN = 4


class OutputEvent(Protocol):
    """What the auditor can bet on: a set of outputs that can be told in words."""

    def holds(self, output: Hashable) -> bool:
        """Tell whether the event happened."""

    def count(self, outputs: Sequence[Hashable]) -> int:
        """Return how often the event happened."""

    def describe(self, subject: str) -> str:
        """Return the event in words, for example about ``"the output"``."""


@frozen
class OutcomeSet:
    """The output is one of these.

    Example:
        >>> print(OutcomeSet(frozenset({3, 1})))
        the output is one of 1, 3
    """

    outcomes: frozenset[Hashable] = field(repr=False)

    def holds(self, output: Hashable) -> bool:
        """Tell whether the event happened."""
        return output in self.outcomes

    def count(self, outputs: Sequence[Hashable]) -> int:
        """Return how often the event happened."""
        return sum(map(self.holds, outputs))

    def describe(self, subject: str) -> str:
        """Name some of the outputs."""
        return f"{subject} is {_one_of(map(str, _in_order(self.outcomes)))}"

    def __str__(self) -> str:
        return self.describe("the output")


@frozen(kw_only=True)
class HalfLine:
    """The output is a number on one side of a limit, which belongs to that side.

    Example:
        >>> HalfLine(low=3, high=None).holds(3)
        True
    """

    low: Any = None
    high: Any = None

    def holds(self, output: Any) -> bool:
        """Tell whether the event happened."""
        if not isinstance(output, Real | Fraction):
            return False
        return bool(output >= self.low if self.high is None else output <= self.high)

    def count(self, outputs: Sequence[Hashable]) -> int:
        """Return how often the event happened."""
        return sum(map(self.holds, outputs))

    def describe(self, subject: str) -> str:
        """Name the limit."""
        limit = f"at least {self.low}" if self.high is None else f"at most {self.high}"
        return f"{subject} is {limit}"

    def __str__(self) -> str:
        return self.describe("the output")


@frozen(kw_only=True)
class LabelSet:
    """A feature of the output has one of these labels.

    Example:
        >>> from discreet.audit.features import Residue
        >>> event = LabelSet(feature=Residue(modulus=1024), labels=frozenset({5}))
        >>> print(event, event.holds(1029))
        the output modulo 1024 is 5 True
    """

    feature: Feature
    labels: frozenset[int] = field(repr=False)

    def holds(self, output: Hashable) -> bool:
        """Tell whether the event happened."""
        return self.count([output]) == 1

    def count(self, outputs: Sequence[Hashable]) -> int:
        """Return how often the event happened."""
        labels = self.feature.look(OutputColumn(outputs))
        wanted = np.fromiter(self.labels, dtype=np.int64, count=len(self.labels))
        return int(np.isin(labels, wanted).sum())

    def describe(self, subject: str) -> str:
        """Name the feature and some of the labels."""
        shown = map(self.feature.show, sorted(self.labels))
        return f"{self.feature.describe(subject)} is {_one_of(shown)}"

    def __str__(self) -> str:
        return self.describe("the output")


@frozen(kw_only=True)
class PartEvent:
    """An event about a part of the output.

    Example:
        >>> from discreet.audit.outputs import VectorEntry
        >>> event = PartEvent(part=VectorEntry(1), event=HalfLine(low=3))
        >>> print(event, event.holds((0, 7)))
        entry 1 of the output is at least 3 True
    """

    part: OutputPart
    event: OutputEvent

    def holds(self, output: Hashable) -> bool:
        """Tell whether the event happened."""
        return self.event.holds(self.part.of(output))

    def count(self, outputs: Sequence[Hashable]) -> int:
        """Return how often the event happened."""
        return self.event.count([self.part.of(output) for output in outputs])

    def describe(self, subject: str) -> str:
        """Say which part is meant."""
        return self.event.describe(str(self.part).replace("the output", subject))

    def __str__(self) -> str:
        return self.describe("the output")


def _in_order(outcomes: frozenset[Hashable]) -> list[Any]:
    if all(isinstance(outcome, Real) for outcome in outcomes):
        numbers: list[Any] = list(outcomes)
        return sorted(numbers)
    return sorted(outcomes, key=str)


def _one_of(shown: Iterable[str]) -> str:
    names = list(shown) or ["none"]
    if len(names) == 1:
        return names[0]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"one of {', '.join(names[:_SHOWN])}{more}"
