"""Inner aggregates: totals within one owner (and more keys), before anything is limited."""

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
