"""Data frames that are owned, and what an engine reads of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb
import pandas as pd
import polars
import pyarrow as pa

import discreet
from discreet.engines.duckdb.sources.declared_values import column_value
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.roles.owner import Owner
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.memory import Exact, reveal
from tests.support.projects.plan import plan_of

COLUMNS: dict[str, Any] = {
    "patient": "integer",
    "clinic": {"type": "text", "keys": ["a", "b"]},
    "age": {"type": "integer", "min": 0, "max": 100},
}


class Stream:
    """What hands over a stream of Arrow, and is nothing that we know besides."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def with_views(table: pa.Table) -> Stream:
    """Return rows as Polars hands them over: texts as views into other memory."""
    kinds = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
    schema = pa.schema(
        [field.with_type(kinds.get(field.type, field.type)) for field in table.schema]
    )
    return Stream(table.cast(schema))


KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": pa.Table.to_pandas,
    "polars": polars.from_arrow,
    "arrow": lambda table: table,
    "stream": with_views,
}
"""The kinds of frame, each made from a table of Arrow."""


def owned(frames: Mapping[str, object], **said: Any) -> Owner:
    """Own frames as the visits of patients, unless something else is said."""
    usual: dict[str, Any] = {
        "unit": "patient",
        "budget": {"epsilon": 10},
        "columns": {"visits": COLUMNS},
        "rows_per_group": 2,
        "groups_per_unit": 2,
    }
    return discreet.own(frames, **usual | said)


def exact(owner: Owner, sql: str) -> tuple[BoundedPlan, Exact]:
    """Return the plan of a question about frames, and its exact aggregates."""
    project = owner._project
    plan = plan_of(sql, project.catalog, project.engine)
    return plan, reveal(project.engine, plan)


def cells(owner: Owner, column: str) -> list[Any]:
    """Return the cells of a column of visits as an engine reads them."""
    table = owner.catalog().table("visits")
    opened = open_source(table, frozenset({column}), "source")
    with duckdb.connect() as database:
        for name, batches in opened.batches.items():
            database.register(name, batches)
        value = column_value(table.column(column), opened.cells)
        return [
            cell
            for (cell,) in database.execute(f"SELECT {value} FROM {opened.relation}").fetchall()
        ]


def read(column: object, about: object, *, unit: object = None) -> list[Any]:
    """Return the cells of one column that is declared so, beside a unit that does not matter."""
    is_arrow = isinstance(column, pa.Array | pa.ChunkedArray)
    frame: Any = pa.table({"x": column}) if is_arrow else pd.DataFrame({"x": column})
    said: dict[str, Any] = {"unit": unit or {"each_row": True}, "id_space": f"rows of {about}"}
    said |= {"columns": {"visits": {"x": about}}}
    return cells(owned({"visits": frame}, data_changed=True, **said), "x")


def objects(some: Sequence[object]) -> pd.Series:
    """Return a column of Python objects."""
    return pd.Series(list(some), dtype=object)
