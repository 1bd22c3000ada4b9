"""A statement: the shape of a query, before anything in it is looked up."""

from typing import Any

from attrs import frozen


@frozen
class KeyOutput:
    """An output that shows a group's key."""

    name: str
    column: str


@frozen
class CountOutput:
    """An output that counts rows."""

    name: str


@frozen
class SumOutput:
    """An output that sums a column."""

    name: str
    column: str


Output = KeyOutput | CountOutput | SumOutput


@frozen(kw_only=True)
class Statement:
    """SELECT outputs FROM table WHERE condition GROUP BY columns, as text says it."""

    table: str
    outputs: tuple[Output, ...]
    where: Any
    """The condition as a syntax tree of the parser, or None."""
    group_by: tuple[str, ...]
