"""What may stand in a free statement: a closed list, so that nothing unknown is ever run."""

from discreet.core.errors import RefusedQuery
from discreet.sql.expressions.refusals import CLOCK
from discreet.sql.syntax.databases import require_schema
from discreet.sql.syntax.nodes import Node, function_name, is_a, part, require_plain, written


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SHAPE = _names(
    """
    Add Alias All And Between Boolean CTE Case Cast Column DPipe DataType Distinct Div EQ
    Except Exists Fetch From GT GTE Group Having ILike Identifier In IntDiv Intersect
    Interval Is Join LT LTE Like Limit LimitOptions Literal Mod Mul NEQ Neg Not Null
    NullSafeEQ NullSafeNEQ Offset Or Order Ordered Paren Qualify Select Star Sub Subquery
    Table TableAlias TryCast Tuple Union Var Where With
    """
)
"""How statements and conditions are put together, by the parser's names."""

_OF_ROWS = _names(
    """
    Abs Ceil Coalesce Concat ConcatWs Contains DateAdd DateDiff DateFromParts DateSub
    DateTrunc Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Dayname EndsWith Exp Extract
    Floor Greatest Hour If Initcap LastDay Least Left Length Ln Log Lower Minute Month
    Monthname Nullif Pow Quarter Replace Right Round Second Sign Sqrt StartsWith StrPosition
    StrToTime Substring TimeToStr TimestampTrunc Trim Trunc Upper Week WeekOfYear
    WidthBucket Year
    """
)
"""Functions of the values of one row."""

_OF_MANY = _names(
    """
    AnyValue ApproxDistinct ArgMax ArgMin Avg Corr Count CountIf CovarPop CovarSamp CumeDist
    DenseRank Filter First FirstValue GroupConcat IgnoreNulls Lag Last LastValue Lead
    LogicalAnd LogicalOr Max Median Min Mode NthValue Ntile PercentRank PercentileCont
    PercentileDisc Quantile Rank RegrSlope RowNumber Stddev StddevPop StddevSamp Sum
    Variance VariancePop Window WindowSpec WithinGroup
    """
)
"""Aggregates and windows."""

_BY_NAME = frozenset({"date_part", "iso_day_of_week", "isoyear", "iso_week", "decade", "century"})
"""Functions of one row that the parser has no class for."""

_CLOCKS = _names(
    """
    CurrentDate CurrentDatetime CurrentTime CurrentTimestamp Localtime Localtimestamp
    """
)

_READ = {
    "Table": ("this", "alias", "joins", "db"),
    "With": ("expressions",),
    "Star": (),
}
"""Of some nodes no other part is read, whatever the parser may find there."""


def require_allowed(select: Node) -> None:
    """Refuse a free statement in which something stands that is not on the list."""
    for node in select.walk():
        kind = type(node).__name__
        if kind in _CLOCKS:
            raise RefusedQuery("The clock is not asked", got=written(node), next=CLOCK)
        if kind == "Anonymous" and node.name.lower() in _BY_NAME:
            continue
        if kind not in _SHAPE | _OF_ROWS | _OF_MANY:
            raise _not_listed(select, node)
        if kind in _READ:
            require_plain(node, *_READ[kind], next="Write it without")
        if kind in ("Table", "Column"):
            require_schema(part(node, "db"))


def _not_listed(select: Node, node: Node) -> RefusedQuery:
    reads_rows = any(is_a(one, "Table") for one in select.walk())
    where = "about public rows" if reads_rows else "that reads no table"
    return RefusedQuery(
        f"This is not supported in a statement {where}",
        got=function_name(node) if is_a(node, "Func") else written(node),
        next="Read the rows, and work it out where you are: they cost nothing"
        if reads_rows
        else "Work it out where you are, or leave it out: no data is needed for it",
    )


def is_of_rows(select: Node) -> bool:
    """Tell whether all that stands in a statement is about one row: nothing is put together."""
    return not any(type(node).__name__ in _TOGETHER for node in select.walk())


_TOGETHER = _OF_MANY | {"Group", "Having", "Qualify", "Distinct", "Union", "Except", "Intersect"}


def has_aggregates(select: Node) -> bool:
    """Tell whether an aggregate or a window stands anywhere in a statement."""
    return any(type(node).__name__ in _OF_MANY or is_a(node, "AggFunc") for node in select.walk())
