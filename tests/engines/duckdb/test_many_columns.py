"""Tables with very many columns: what a question does is in proportion to their number."""

from collections import Counter

import numpy as np
import pytest

from discreet.core.errors import UnknownColumn
from discreet.engines.duckdb.sources import csv_source
from discreet.engines.duckdb.sources.csv_records import LineEnd, field_array, first_fields, split
from discreet.engines.duckdb.sources.csv_source import csv_header
from discreet.project.unit_effect import grouping
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.sql.rows.scope import Scope
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.relations import scan as scan_module
from discreet.tables.relations.scan import Scan
from tests.support.projects.clinic import visit, write_project


@pytest.fixture
def catalog(tmp_path):
    return read_catalog(write_project(tmp_path, [visit("p")]))


def test_what_is_known_of_the_columns_is_found_once_for_each_reading(catalog, monkeypatch):
    made: Counter[str] = Counter()
    own = scan_module._field

    def counted(column: Column, part: int | None):
        made[column.name] += 1
        return own(column, part)

    monkeypatch.setattr(scan_module, "_field", counted)
    sql = "SELECT clinic, SUM(age), AVG(cost) FROM visits WHERE urgent AND age > 3 GROUP BY clinic"
    resolve(parse(sql), catalog, lambda _: ())
    assert set(made.values()) == {1}


def test_what_can_be_asked_of_a_column_is_found_without_the_others(catalog, monkeypatch):
    made: Counter[str] = Counter()
    own = scan_module._field

    def counted(column: Column, part: int | None):
        made[column.name] += 1
        return own(column, part)

    monkeypatch.setattr(scan_module, "_field", counted)
    table = catalog.table("visits")
    for column in table.columns:
        grouping(catalog, table, column)
    assert made
    assert set(made.values()) == {1}


@pytest.mark.parametrize(
    "line",
    [b"a,b,c", b"a", b",", b'"a,""b""",c,', b'"",x,"y"', b'a"b,c', b",,,", b'"line\nfeed",z'],
)
def test_the_fields_of_a_header_are_those_of_its_places(line):
    records, _ = split(np.frombuffer(line, np.uint8), LineEnd.FEED, width=99, is_last=True)
    one_by_one = [field_array(records, i)[0].as_py() for i in range(int(records.counts[0]) + 1)]
    assert first_fields(records).to_pylist() == one_by_one


def test_a_header_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.delattr(csv_source, "field_array")  # it looks at all commas for one field
    (tmp_path / "wide.csv").write_text(",".join(f"c{i}" for i in range(5_000)) + "\n")
    assert csv_header(tmp_path / "wide.csv").names == tuple(f"c{i}" for i in range(5_000))


def test_columns_are_found_by_their_names_in_any_case(catalog):
    table = catalog.table("visits")
    assert table.column("AGE").type is ColumnType.INTEGER
    with pytest.raises(UnknownColumn, match="No column 'agee'"):
        table.column("agee")
    scope = Scope.of(Scan.of(table), "v")
    assert scope.name("V", "Clinic") == scope.name("", "clinic")
    assert scope.columns["clinic"][0] == scope.name("", "CLINIC")
