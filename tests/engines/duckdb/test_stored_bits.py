"""Whatever bits a file holds for one person, what others hold changes nothing in what is read.

Every stored type, every declared type, random and extreme bits, on an engine whose memory is full
of other people's texts. Where a cell was left as it lay in memory, this finds somebody's.
"""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from discreet.core.protocols import Rng
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.sources import arrow_source, stored_values
from discreet.tables.catalog import Catalog
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.clinic import make_plan
from tests.support.projects.memory import reveal
from tests.support.projects.source_writers import (
    write_arrow_file,
    write_arrow_stream,
    write_duckdb,
    write_parquet,
)
from tests.support.projects.stored_bits import raw_columns, stored_types

DECLARED = ["integer", "real", "text", "boolean", "date", "timestamp", "time"]
MORE = {
    "real": ", min = -1e6, max = 1e6, step = 0.001",
    "timestamp": ', zone = "America/New_York"',
}
SPACE = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 1, delta = 1e-6 }
"""
TABLE = """
[tables.{name}]
source = "{name}.{file}"
{more}
id_space = "people"
unit = "id"
rows_per_group = 1
groups_per_unit = 1
[tables.{name}.columns]
id = {{ type = "text" }}
who = {{ type = "text", keys = ["x", "other"] }}
"""


def declare(folder: Path, file: str, names: Iterable[str]) -> Catalog:
    """Declare a table for each name; its column is there once for each declared type."""
    more = 'source_table = "visits"' if file == "duckdb" else ""
    lines = [SPACE]
    for name in names:
        lines.append(TABLE.format(name=name, file=file, more=more))
        lines += [
            f'a_{declared} = {{ type = "{declared}"{MORE.get(declared, "")} }}\n'
            for declared in DECLARED
        ]
    (folder / "discreet.toml").write_text("".join(lines))
    return read_catalog(folder)


def with_people(x: pa.Array, others: pa.Array, *, x_first: bool) -> pa.Table:
    """Return both together, each row a person."""
    parts = [("x", x), ("other", others)]
    tables = [
        pa.table(
            {"id": [f"{who}{i}" for i in range(len(part))], "who": [who] * len(part)}
            | {f"a_{declared}": part for declared in DECLARED}
        )
        for who, part in (parts if x_first else parts[::-1])
    ]
    return pa.concat_tables(tables)


def question(table: str) -> str:
    """Return a question that shows every cell that was read.

    A group with a key that is NULL is never shown, so what is NULL is counted.
    """
    instead = {"integer": "7", "text": "'NULL'", "boolean": "FALSE", "date": "DATE '1999-09-09'"}
    instead |= {"timestamp": "TIMESTAMP '1999-09-09 00:00:00'", "time": "TIME '09:09:09.000001'"}
    keys = ", ".join(f"COALESCE(a_{kind}, {other})" for kind, other in instead.items())
    counts = ", ".join(f"COUNT(a_{declared})" for declared in DECLARED)
    return f"SELECT who, {keys}, {counts}, SUM(a_real) FROM {table} GROUP BY who, {keys}"


def write(path: Path, rows: pa.Table) -> None:
    if path.suffix == ".csv":
        with path.open("w", encoding="latin-1", newline="") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(rows.column_names)
            columns = [column.cast(pa.binary()).to_pylist() for column in rows.columns]
            for row in zip(*columns, strict=True):
                writer.writerow([(cell or b"").decode("latin-1") for cell in row])
        return
    writers = {
        ".parquet": write_parquet,
        ".arrow": lambda path, rows: write_arrow_file(path, rows, chunk=60),
        ".feather": lambda path, rows: write_arrow_stream(path, rows, chunk=60),
        ".duckdb": write_duckdb,
    }
    writers[path.suffix](path, rows)


class World:
    """Two data sets in which x is the same and the others differ, and an engine that is not fresh.

    There is a table for each stored type.
    """

    def __init__(
        self, folder: Path, file: str, kinds: Mapping[str, pa.DataType], rows: int, rng: Rng
    ) -> None:
        self.engine, self.rows, self.catalogs = DuckDbEngine(), rows, []
        x, *others = (raw_columns(kinds, size, rng, file) for size in (rows, 2 * rows, rows // 3))
        for number, other in enumerate(others):
            place = folder / str(number)
            place.mkdir()
            for name in kinds:
                both = with_people(x[name], other[name], x_first=number == 1)
                write(place / f"{name}.{file}", both)
            self.catalogs.append(declare(place, file, kinds))
        notes = [f"RSSECRET-{i}-OF-O" * (i % 9) for i in range(3000)]
        write_parquet(folder / "dirt.parquet", pa.table({"id": notes, "who": notes}))
        (folder / "discreet.toml").write_text(
            SPACE + TABLE.format(name="dirt", file="parquet", more="")
        )
        self.dirt = read_catalog(folder)

    def of_x(self, number: int, name: str) -> set[Any]:
        """Return all that one data set has about the rows of x."""
        plan = make_plan(self.catalogs[number], question(name), engine=self.engine)
        exact = reveal(self.engine, plan)
        assert exact.keys is not None
        assert exact.units is not None
        parts = zip(exact.keys, exact.units.tolist(), *exact.columns, strict=True)
        return {(key, *map(int, rest)) for key, *rest in parts if key[0] == "x"}

    def make_dirty(self) -> None:
        """Ask about other people's texts, of many lengths."""
        sql = "SELECT COUNT(*), COUNT(DISTINCT id) FROM dirt WHERE who LIKE '%-7-%'"
        reveal(self.engine, make_plan(self.dirt, sql, engine=self.engine))

    def leaks(self, names: Iterable[str]) -> list[str]:
        """Return the columns of x that others change, or that make an answer fail."""
        found = []
        for name in names:
            try:
                self.make_dirty()
                first, second = (self.of_x(number, name) for number in range(2))
                assert sum(key[1] for key in first) == self.rows
            except Exception:
                self.engine = DuckDbEngine()
                found.append(name)
            else:
                found += [name] if first != second else []
        return found


@pytest.mark.parametrize("file", ["csv", "parquet", "arrow", "feather", "duckdb"])
def test_same_bits_are_read_the_same_whoever_else_is_there(tmp_path, rng, soak, file):
    kinds = stored_types(file, is_long=soak.active)
    world = World(tmp_path, file, kinds, soak.cases(90), rng)
    assert [str(kinds[name]) for name in world.leaks(kinds)] == []


MUTANTS = [
    (stored_values, "_beyond", lambda limbs, bound: limbs[:, 0] < 0, pa.decimal128(9, 2)),
    (stored_values, "_beyond", lambda limbs, bound: limbs[:, 0] >= bound, pa.decimal128(38, 0)),
    (stored_values, "_FIRST_SECOND", -(2**62), pa.timestamp("us")),
    (arrow_source, "decimal_type", lambda kind: kind, pa.decimal128(5, -2)),
    (arrow_source, "times_in_a_day", lambda array: array.cast("time64[us]"), pa.time64("us")),
]


@pytest.mark.parametrize(("place", "name", "mutant", "kind"), MUTANTS)
def test_a_reader_without_one_of_the_bounds_is_caught(tmp_path, rng, place, name, mutant, kind):
    world = World(tmp_path, "arrow", {"t0": kind}, 300, rng)
    assert world.leaks(["t0"]) == []
    with mock.patch.object(place, name, mutant):
        assert world.leaks(["t0"]) == ["t0"]
