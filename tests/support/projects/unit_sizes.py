"""How many rows and characters each unit has in a relation: counted in the engine's own SQL."""

from collections.abc import Iterable, Mapping
from itertools import count

import duckdb
import pyarrow as pa
from attrs import frozen

from discreet.engines.duckdb.render.rows import select
from discreet.engines.duckdb.sources.opened import Opened
from discreet.tables.column import ColumnType
from discreet.tables.lowered.lower_relation import lower_relation
from discreet.tables.lowered.rows import unit_columns
from discreet.tables.plans.plan import scans_of
from discreet.tables.plans.work import Meter
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import Scan

SALT = "00" * 16


@frozen
class Size:
    """The rows of one unit, and the characters of each field in all of them."""

    rows: int
    characters: tuple[int, ...]


Sizes = dict[tuple[object, ...], Size]

ENGINE = duckdb.connect(config={"threads": 1})
"""Opening one takes longer than asking it."""


def unit_sizes(tables: Mapping[str, pa.Table], relation: Relation) -> Sizes:
    """Return the size of every unit of a private relation."""
    owner = relation.owner()
    assert owner is not None
    unit = ", ".join(unit_columns(owner))
    sums = [
        f"coalesce(sum(length(f{i})), 0)" if field.type is ColumnType.TEXT else "0"
        for i, field in enumerate(relation.fields())
    ]
    with ENGINE.cursor() as connection:
        opened = [_open(connection, tables, scan, i) for i, scan in enumerate(scans_of(relation))]
        rows = select(lower_relation(relation, count()), opened)
        counted = ", ".join([unit, "count(*)", *sums])
        sql = f"SELECT {counted} FROM ({rows}) GROUP BY {unit}"
        found = connection.execute(sql, {"salt": SALT}).fetchall()
    width = len(unit_columns(owner))
    return {row[:width]: Size(row[width], row[width + 1 :]) for row in found}


def most_rows(tables: Mapping[str, pa.Table], relation: Relation, fields: Iterable[int]) -> int:
    """Return how many rows of one unit have the same values in some fields, at most."""
    owner = relation.owner()
    assert owner is not None
    alike = ", ".join([*unit_columns(owner), *(f"f{i}" for i in fields)])
    with ENGINE.cursor() as connection:
        opened = [_open(connection, tables, scan, i) for i, scan in enumerate(scans_of(relation))]
        rows = select(lower_relation(relation, count()), opened)
        counted = f"SELECT count(*) AS n FROM ({rows}) GROUP BY {alike}"
        sql = f"SELECT coalesce(max(n), 0) FROM ({counted})"
        ((found,),) = connection.execute(sql, {"salt": SALT}).fetchall()
    return int(found)


def _open(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, pa.Table], scan: object, i: int
) -> Opened:
    table = scan.table  # type: ignore[attr-defined]
    data = tables[table.name]
    connection.register(f"source{i}", data)
    cells = {column.name: f'"{column.name}"' for column in table.columns}
    return Opened(relation=f"source{i}", cells=cells)


def stored_rows(tables: Mapping[str, pa.Table], relation: Relation) -> dict[str, Sizes]:
    """Return the size of every unit in each private table that a relation reads."""
    scans = {scan.table.name: scan for scan in scans_of(relation) if isinstance(scan, Scan)}
    return {name: unit_sizes(tables, scan) for name, scan in scans.items()}


def too_large(tables: Mapping[str, pa.Table], relation: Relation) -> list[str]:
    """Return what a unit has more of in a relation than the model of its work says."""
    passed = Meter().passed(relation)
    stored = stored_rows(tables, relation)
    found = []
    for unit, size in unit_sizes(tables, relation).items():
        each = sum(
            count * (stored[table][unit].rows if unit in stored[table] else 0)
            for table, count in passed.rows.stored.items()
        )
        if size.rows > passed.rows.behind + each:
            found.append(f"{size.rows} rows in {type(relation).__name__}")
        for value, characters in zip(passed.fields, size.characters, strict=True):
            if characters > passed.rows.behind * value.length + each * value.longest:
                found.append(f"{characters} characters in {type(relation).__name__}")
    return found
