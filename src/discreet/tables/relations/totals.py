"""Totals and windows over the rows of one owner (and more keys), before anything is limited."""

from enum import Enum
from typing import ClassVar

from attrs import field, frozen

from discreet.core.canonical import PRESENTATION
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression
from discreet.tables.relations.relation import Field, OneSource


class Total(Enum):
    """The totals over rows of one owner that do not depend on the order of rows."""

    COUNT_ROWS = "count_rows"
    COUNT = "count"
    COUNT_DISTINCT = "count_distinct"
    SUM = "sum"
    AVERAGE = "avg"
    MINIMUM = "min"
    MAXIMUM = "max"


@frozen(kw_only=True)
class InnerTotal:
    """One total. Sums and averages of reals are taken on a grid: no float is ever summed."""

    stored_as: ClassVar[str] = "InnerTotal"
    total: Total
    value: Expression | None
    bounds: Bounds | None = None
    """The grid of a real value under a sum or an average."""

    def type(self) -> ColumnType:
        """Return the type of the total."""
        if self.total in (Total.COUNT_ROWS, Total.COUNT, Total.COUNT_DISTINCT):
            return ColumnType.INTEGER
        if self.total is Total.AVERAGE:
            return ColumnType.REAL
        assert self.value is not None
        return self.value.type


@frozen(kw_only=True)
class InnerAggregate(OneSource):
    """One row for each owner and combination of ``keys``; public relations have no owner."""

    stored_as: ClassVar[str] = "InnerAggregate"
    keys: tuple[int, ...]
    """Indices of fields of the source. The owner is always a key besides."""
    totals: tuple[InnerTotal, ...]
    shape: tuple[Field, ...] = field(metadata=PRESENTATION)
    """The fields of the result: the keys, then the totals."""

    def fields(self) -> tuple[Field, ...]:
        """Return the keys and the totals."""
        return self.shape


# ---- Windows: values computed over the rows of one owner, added to each of its rows.


class Ranking(Enum):
    """The functions of a row's place among the rows of its partition."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    LAG = "lag"
    LEAD = "lead"
    FIRST_VALUE = "first_value"


@frozen(kw_only=True)
class SortKey:
    """One item of an ORDER BY; NULL comes last."""

    stored_as: ClassVar[str] = "SortKey"
    value: Expression
    descending: bool = False


@frozen(kw_only=True)
class Ranked:
    """A ranking: of which value (for LAG, LEAD and FIRST_VALUE), and how many rows away."""

    stored_as: ClassVar[str] = "Ranked"
    ranking: Ranking
    value: Expression | None = None
    offset: int = 1

    def type(self) -> ColumnType:
        """Return the type of the result."""
        return ColumnType.INTEGER if self.value is None else self.value.type


@frozen(kw_only=True)
class Window(OneSource):
    """The rows of ``source`` with one more field.

    Guarantee:
        Engines partition by the owner besides ``partition``. Rows that tie in ``order`` are put in
        order by all of their fields, so that the place of a row in the source has no influence:
        it would tell of other owners' rows.
    """

    stored_as: ClassVar[str] = "Window"
    function: InnerTotal | Ranked
    partition: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    shape: Field = field(metadata=PRESENTATION)

    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the source and the new one."""
        return (*self.source.fields(), self.shape)
