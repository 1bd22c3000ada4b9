"""Row-wise expressions: typed, total, and about one row only, so they are owner-local."""

from enum import Enum

from attrs import frozen

from discreet.tables.column import Column, ColumnType, Key


class Comparison(Enum):
    """The comparisons, by their SQL spelling."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


@frozen
class Expression:
    """A value or condition computed from one row. It never raises, whatever the row holds."""


@frozen
class ColumnValue(Expression):
    """The value of a declared column, NULL where it does not read as its declared type."""

    column: Column


@frozen
class Literal(Expression):
    """A constant of the query; a real one is written as its exact decimal text."""

    type: ColumnType
    value: Key


@frozen
class Compare(Expression):
    """A comparison of two values of like type; NULL if either is NULL."""

    comparison: Comparison
    left: Expression
    right: Expression


@frozen
class IsNull(Expression):
    """Whether a value is NULL."""

    value: Expression


@frozen
class Not(Expression):
    """The negation; NULL stays NULL."""

    condition: Expression


@frozen
class And(Expression):
    """The conjunction of two conditions."""

    left: Expression
    right: Expression


@frozen
class Or(Expression):
    """The disjunction of two conditions."""

    left: Expression
    right: Expression
