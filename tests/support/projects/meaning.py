"""A small project with every shape of row, read by us without noise and by plain DuckDB."""

import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb

from discreet.core.loss import Approximate
from discreet.curator.answer import prepare
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import randomise
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.tables.declarations.declaration import read_catalog
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT, Reveal
from tests.support.projects.priced_plans import answered_by

PLANS = Path(__file__).parents[2] / "sql" / "plans"
TABLES = ("visits", "patients", "trips", "readings", "districts", "clinics")


def _visits() -> Iterator[list[Any]]:
    """Every shape of row: equal rows, NULLs, ties of days, people with one row and with many."""
    people, clinics = ["p1", "p2", "p3", "p4", "p5"], ["a", "b", "c", ""]
    for i, (person, clinic) in enumerate(product(people, clinics)):
        for copy in range(1 + (i * 7) % 3):
            day = f"2025-0{1 + (i * copy) % 4}-1{(i + copy) % 2}" if i % 6 else ""
            note = ["x", "y", ""][(i + copy) % 3]
            yield [person, clinic, i % 2 == 0, (i * 13) % 80, i % 10, day, note, i / 4]


def _rows() -> Iterator[tuple[str, list[str], Any]]:
    columns = ["person", "clinic", "urgent", "age", "cost", "day", "note", "weight"]
    yield "visits", columns, _visits()
    patients = [["p1", 1950, "d1"], ["p2", 1991, "d2"], ["p3", 1999, ""], ["p4", 1960, "d3"]]
    yield "patients", ["id", "born", "district"], [*patients, ["p9", 2000, "d9"]]
    days = ["2025-01-03", "2025-01-20", "2025-02-01"]
    trips = [[f"p{i % 3}", days[i % len(days)], 10 * i] for i in range(12)]
    yield "trips", ["person", "day", "km"], trips
    yield "readings", ["kind", "value"], [["hot", 40], ["hot", 40], ["cold", 3], ["odd", 9]]


def write_meaning(folder: Path) -> Path:
    """Write the declaration of the plans with limits that never bind, and the data."""
    text = (PLANS / "discreet.toml").read_text(encoding="utf-8")
    lines = [_wide(line) for line in text.splitlines()]
    (folder / "discreet.toml").write_text("\n".join(lines), encoding="utf-8")
    for name in ("districts", "clinics"):
        source = PLANS / f"{name}.csv"
        (folder / source.name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    for name, columns, rows in _rows():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
    return folder


def _wide(line: str) -> str:
    is_limit = line.startswith(("rows_per", "groups_per"))
    return f"{line.partition('=')[0]}= 1000" if is_limit else line


def plain_tables(folder: Path) -> duckdb.DuckDBPyConnection:
    """Return plain DuckDB with the same tables."""
    types = {"day": "DATE", "born": "BIGINT", "age": "BIGINT", "value": "BIGINT"}
    connection = duckdb.connect()
    for name in TABLES:
        file = folder / f"{name}.csv"
        header = file.read_text(encoding="utf-8").splitlines()[0].split(",")
        known = {column: kind for column, kind in types.items() if column in header}
        connection.execute(
            f"CREATE TABLE {name} AS SELECT * FROM read_csv(?, header=true, types={known!r})",
            [str(file)],
        )
    return connection


def rows_without_noise(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of an answer of counts and sums, with no noise in them."""
    nothing: Any = None
    engine = DuckDbEngine()
    curator = Project(catalog=read_catalog(folder), engine=engine, ledger=nothing, rng=nothing)
    question, priced, _ = prepare(curator, sql, Terms.of(Approximate(100, "1e-6")))
    see: Any = Reveal()
    seeing = answered_by(see, priced)
    noisy = randomise(engine.execute(priced.plan, SALT, open_permit()), seeing, see)
    return list(question.view.rows(publish(noisy, priced)))
