"""Small projects for tests: a few rows, a declaration, and a way to see the exact integers."""

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.core.protocols import Rng
from discreet.curator.answer import bound
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.project.open_ledger import open_ledger
from discreet.project.project import Project
from discreet.releases.estimates.estimate import SelectedOf, TotalOf
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.tables.catalog import Catalog
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.engine import Engine
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.memory import SALT, reveal

Row = Mapping[str, Any]

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = {epsilon} }}

[tables.visits]
source = "visits.{format}"
id_space = "people"
unit = "person"
rows_per_group = {rows_per_group}
groups_per_unit = {groups_per_unit}

[tables.visits.columns]
person = {{ type = "text" }}
clinic = {{ type = "text", keys = ["a", "b", "c", "d"] }}
urgent = {{ type = "boolean" }}
age = {{ type = "integer", min = 0, max = 100 }}
change = {{ type = "integer", min = -10, max = 4 }}
cost = {{ type = "real", min = 0, max = 10, step = 0.25 }}
day = {{ type = "date" }}
note = {{ type = "text" }}
"""

SCHEMA = pa.schema(
    [
        ("person", pa.string()),
        ("clinic", pa.string()),
        ("urgent", pa.bool_()),
        ("age", pa.int64()),
        ("change", pa.int64()),
        ("cost", pa.float64()),
        ("day", pa.date32()),
        ("note", pa.string()),
    ]
)


def visit(person: str | None, clinic: str | None = "a", **values: Any) -> dict[str, Any]:
    """One row, with ordinary values where none are given."""
    usual = {"urgent": False, "age": 40, "change": 1, "cost": 2.5, "day": None, "note": None}
    return {"person": person, "clinic": clinic} | usual | values


def write_project(
    folder: Path,
    rows: Iterable[Row],
    *,
    file_format: str = "parquet",
    epsilon: str = "10",
    rows_per_group: int = 2,
    groups_per_unit: int = 3,
) -> Path:
    """Write a declaration and its data."""
    folder.mkdir(parents=True, exist_ok=True)
    declaration = DECLARATION.format(
        epsilon=epsilon,
        format=file_format,
        rows_per_group=rows_per_group,
        groups_per_unit=groups_per_unit,
    )
    (folder / "discreet.toml").write_text(declaration, encoding="utf-8")
    write_rows(folder, rows, file_format)
    return folder


def write_rows(folder: Path, rows: Iterable[Row], file_format: str = "parquet") -> None:
    """Write the data of the visits table."""
    if file_format == "parquet":
        pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), folder / "visits.parquet")
        return
    with (folder / "visits.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, SCHEMA.names)
        writer.writeheader()
        writer.writerows(rows)


def make_plan(catalog: Catalog, sql: str, *, engine: Engine | None = None) -> BoundedPlan:
    """Return the bounded plan of a query; the engine is asked for public keys alone."""
    own = engine or DuckDbEngine()
    return bound(resolve(parse(sql), catalog, own.public_rows))


def exact_columns(engine: Engine, plan: BoundedPlan, salt: bytes = SALT) -> list[Any]:
    """Return the exact integers of every aggregate, one for each group."""
    return list(reveal(engine, plan, salt).columns)


def run_exact(folder: Path, sql: str, *, engine: Engine | None = None) -> list[Any]:
    """Return the exact integers of a query of counts and sums, in the order of its outputs."""
    own = engine or DuckDbEngine()
    question = resolve(parse(sql), read_catalog(folder), own.public_rows)
    columns = exact_columns(own, bound(question))
    shown = [output.estimate for output in question.view.outputs]
    return [columns[part.index] for part in shown if isinstance(part, TotalOf | SelectedOf)]


def make_curator(folder: Path, rng: Rng, *, engine: Engine | None = None) -> Project:
    """Return a curator whose randomness the test controls."""
    catalog = read_catalog(folder)
    return Project(
        catalog=catalog, engine=engine or DuckDbEngine(), ledger=open_ledger(catalog), rng=rng
    )
