"""Exact releases as an owner declares them: what is published of which rows, under which law."""

from enum import Enum
from fractions import Fraction
from typing import Any

from attrs import field, frozen


class ExactKind(Enum):
    """What can be published exactly."""

    SUM = "sum"
    """The total of each column, as one vector."""
    MEAN = "mean"
    """The same, divided by the declared number of rows."""
    COUNT = "count"
    """How many rows have one of some values."""
    HISTOGRAM = "histogram"
    """How many rows have each value, where they are enough."""
    REGRESSION = "regression"
    """The line of the last column on the others, by sums over parts of a split."""
    THRESHOLD = "threshold"
    """Whether a count or a total is at least a number: yes or no, and nothing else."""
    MAJORITY = "majority"
    """Whether more than half of the declared rows have one of some values."""
    ARGMAX = "argmax"
    """Which of the declared keys most rows have; of several, the one that is declared first."""

    @property
    def is_choice(self) -> bool:
        """Whether one of a few outcomes becomes public, and none of the numbers behind it."""
        return self in (ExactKind.THRESHOLD, ExactKind.MAJORITY, ExactKind.ARGMAX)


@frozen(kw_only=True)
class ExactDeclaration:
    """One exact release that the owner allows. Nothing in it was chosen by looking at the rows.

    Attributes:
        name: What it is called.
        table: Of which table.
        kind: What is published.
        columns: Of which columns.
        values: Of a count, and of a choice by one: the values that are counted.
        threshold: Of a threshold: the least count or total that says yes.
        has_exact_rows: Whether the owner asserts that there are exactly so many rows, as a choice
            by counts needs it.
        least: Of a histogram: a smaller count is not shown.
        discards: Of a histogram: ε and δ with which it is hidden how many rows there are, by
            leaving out a random number of them first; None if none is left out.
        has_intercept: Of a regression: whether the line has a constant term.
        rows: How many rows there are, at least; of a regression, in each part.
        known: How many of them an adversary may know.
        split: The public column whose parts tell rows apart; None if it is of all rows.
        parts: Which parts.
        law: What is asserted of a row: a text or a table, or a table of them by column.
        epsilon: The ε that is wanted.
        delta: The δ that is wanted at it.
        given: Names and tickets of earlier releases that the law is asserted *given*.
        robust: Names of earlier exact releases whose certificates, the owner states, hold for
            somebody who is told what the simulator of this one says.
        holds_beside_noise: Whether the owner states that the law holds for somebody who knows the
            noisy answers too, those to come included.
        assurance: How law, clamps and bins were chosen without looking, in the owner's words.
        place: Where it stands in the declaration.
    """

    name: str
    table: str
    kind: ExactKind
    columns: tuple[str, ...]
    values: tuple[Any, ...] = ()
    threshold: Fraction | None = None
    has_exact_rows: bool = False
    least: int | None = None
    discards: tuple[Fraction, Fraction] | None = None
    has_intercept: bool = True
    rows: int
    known: int = 0
    split: str | None = None
    parts: tuple[str, ...] = ()
    law: Any = field(hash=False)
    epsilon: Fraction
    delta: Fraction
    given: tuple[str, ...] = ()
    robust: tuple[str, ...] = ()
    holds_beside_noise: bool = False
    assurance: str
    place: str = field(default="", eq=False, repr=False)

    @property
    def is_choice_by_counts(self) -> bool:
        """Whether counts are compared; a choice that is none compares a total."""
        return self.kind.is_choice and (self.kind is ExactKind.ARGMAX or bool(self.values))

    @property
    def least_yes(self) -> Fraction:
        """The least count or total that says yes: of a majority, more than half of the rows."""
        if self.threshold is not None:
            return self.threshold
        return Fraction(self.rows // 2 + 1)
