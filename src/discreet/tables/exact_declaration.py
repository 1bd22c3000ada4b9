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


@frozen(kw_only=True)
class ExactDeclaration:
    """One exact release that the owner allows. Nothing in it was chosen by looking at the rows.

    Attributes:
        name: What it is called.
        table: Of which table.
        kind: What is published.
        columns: Of which columns.
        values: Of a count: the values that are counted.
        least: Of a histogram: a smaller count is not shown.
        discards: Of a histogram: ε and δ with which it is hidden how many rows there are, by
            leaving out a random number of them first; None if none is left out.
        rows: How many rows there are, at least.
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
    least: int | None = None
    discards: tuple[Fraction, Fraction] | None = None
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
