"""What cannot be shown in an answer, why, and what to write instead."""

from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.sql.outputs.aggregates import SUPPORTED
from discreet.sql.outputs.nodes import shown
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression

_SINGLE = "It would show values of single rows. To see which values there are, GROUP BY the column"
_TOGETHER = (
    "Write it with averages: AVG(x * y) - AVG(x) * AVG(y) is the covariance, and that over"
    " STDDEV_POP(x) * STDDEV_POP(y) the correlation"
)
_REWRITES = {
    "mode": "Write SELECT x, COUNT(*) ... GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1",
    "corr": _TOGETHER,
    "covarpop": _TOGETHER,
    "covarsamp": _TOGETHER,
    "groupconcat": _SINGLE,
    "arrayagg": _SINGLE,
    "anyvalue": _SINGLE,
    "first": _SINGLE,
    "last": _SINGLE,
    "argmax": _SINGLE,
    "argmin": _SINGLE,
    "logicalor": "Write COUNT(*) FILTER (WHERE condition) > 0",
    "logicaland": "Write COUNT(*) FILTER (WHERE NOT condition) = 0",
    "histogram": "GROUP BY width_bucket(x, 0, 100, 10)",
}


def unknown_aggregate(node: Any) -> RefusedQuery:
    """Return the refusal of an aggregate that is not on the list."""
    inner = node.this if node.key == "ignorenulls" else node
    return RefusedQuery(
        f"The aggregate {shown(inner)} is not supported",
        must=f"be one of {SUPPORTED}",
        next=_REWRITES.get(inner.key, ""),
    )


def aggregate_of_aggregate(node: Any) -> RefusedQuery:
    """Return the refusal of MAX(COUNT(*)) and the like."""
    text = node.sql(dialect="duckdb")[:_LONGEST_SHOWN]
    return RefusedQuery(
        f"{shown(node)} stands around another aggregate",
        must="be about rows",
        next=f"Write {text} OVER () for the rows of the answer, or ORDER BY and LIMIT; totals of"
        " each person are a sub-query that groups by the unit",
    )


def not_grouped(name: str, value: Expression) -> RefusedQuery:
    """Return the refusal of a column that is neither a key nor inside an aggregate."""
    is_number = value.type in (ColumnType.INTEGER, ColumnType.REAL)
    example = f"AVG({name}), MEDIAN({name})" if is_number else f"COUNT(DISTINCT {name})"
    return RefusedQuery(
        f"Column '{name}' is neither grouped nor aggregated",
        must="be a key of GROUP BY or stand inside an aggregate: single rows are never shown",
        next=f"Add {name} to GROUP BY, or write {example} or the like",
    )


def single_person(name: str) -> RefusedQuery:
    """Return the refusal of the column that says whose row it is, as a value of its own."""
    return RefusedQuery(
        f"Column '{name}' says whose row it is, and single people are never shown",
        must="stand inside COUNT(DISTINCT ...)",
        next=f"Write COUNT(DISTINCT {name}) for the number of people, or group by other columns",
    )


def not_a_key(node: Any) -> RefusedQuery:
    """Return the refusal of a function of keys that is no key itself."""
    text = node.sql(dialect="duckdb")[:_LONGEST_SHOWN]
    return RefusedQuery(
        f"{text} is not what is grouped by",
        must="be a grouped expression itself, an aggregate, or arithmetic between them",
        next=f"Write GROUP BY {text}",
    )


_LONGEST_SHOWN = 60
