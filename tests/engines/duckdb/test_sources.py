"""Sources: every kind of file gives the same rows, by name, and none of them can fail or guess."""

import datetime
import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from attrs import evolve

from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.arrow_source import checked
from discreet.engines.duckdb.sources.declared_values import column_value
from discreet.engines.duckdb.sources.examine import require_source
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Column, ColumnType
from discreet.tables.declarations.sources import usual_source
from tests.support.projects.source_writers import OF_TABLES, WRITERS
from tests.support.projects.source_writers import write as write_rows

ROWS = pa.table(
    {
        "person": pa.array(["p", "q", None, "é"]),
        "age": pa.array([1, None, 3, 2**40]),
        "cost": pa.array([0.5, 1.5, None, 2.0]),
        "urgent": pa.array([True, False, None, True]),
        "day": pa.array([datetime.date(2025, 1, 1), None, None, datetime.date(1999, 12, 31)]),
    }
)
TYPES = {
    "person": ColumnType.TEXT,
    "age": ColumnType.INTEGER,
    "cost": ColumnType.REAL,
    "urgent": ColumnType.BOOLEAN,
    "day": ColumnType.DATE,
}
EXPECTED = sorted((tuple(row.values()) for row in ROWS.to_pylist()), key=str)


def write(path: Path, rows: pa.Table = ROWS) -> Path:
    return write_rows(path, rows)


def declared(path: Path, columns=TYPES, *, table: str = "visits") -> PublicTable:
    usual = usual_source(path)
    assert usual is not None
    return PublicTable(
        name="visits",
        source=evolve(usual, table=table if usual.format.has_tables else None),
        columns=tuple(Column(name=name, type=kind) for name, kind in columns.items()),
    )


ENGINE = duckdb.connect(":memory:")
"""Opening one takes longer than asking it."""


def read(table: PublicTable, *names: str, times: int = 1, where: str = "TRUE") -> list[tuple]:
    """Return the rows of the named columns as an engine would read them, ``times`` times over."""
    names = names or tuple(column.name for column in table.columns)
    with ENGINE.cursor() as engine:
        opened = [open_source(table, frozenset(names), f"scan{i}") for i in range(times)]
        for source in opened:
            for relation, batches in source.batches.items():
                engine.register(relation, batches)
        rows = []
        for source in opened:
            cells = [column_value(table.column(name), source.cells) for name in names]
            sql = f"SELECT {', '.join(cells)} FROM {source.relation} WHERE {where}"
            rows += engine.execute(sql).fetchall()
            assert len(engine.execute(sql).fetchall()) * times >= len(rows), "a second scan"
    return sorted(rows, key=str)


ALL = pytest.mark.parametrize("kind", WRITERS)


@ALL
def test_the_rows_are_those_of_the_file(tmp_path, kind):
    table = declared(write(tmp_path / f"visits.{kind}"))
    require_source(table)
    assert read(table) == EXPECTED
    assert read(table, "age", times=2) == sorted([(1,), (None,), (3,), (2**40,)] * 2, key=str)


@ALL
def test_rows_are_counted_even_if_no_column_is_used(tmp_path, kind):
    table = declared(write(tmp_path / f"visits.{kind}"))
    opened = open_source(table, frozenset(), "scan")
    with duckdb.connect(":memory:") as engine:
        for relation, batches in opened.batches.items():
            engine.register(relation, batches)
        sql = f"SELECT count(*) FROM {opened.relation}"
        assert engine.execute(sql).fetchall() == [(4,)]


@ALL
def test_columns_are_found_by_name_in_any_order_and_case(tmp_path, kind):
    turned = ROWS.select(ROWS.column_names[::-1]).rename_columns(
        [name.upper() for name in ROWS.column_names[::-1]]
    )
    assert read(declared(write(tmp_path / f"visits.{kind}", turned))) == EXPECTED


@ALL
def test_a_source_that_is_not_there_or_lacks_a_column_is_refused(tmp_path, kind):
    with pytest.raises(DeclarationError, match="cannot be read"):
        require_source(declared(tmp_path / f"visits.{kind}"))
    path = write(tmp_path / f"visits.{kind}")
    with pytest.raises(DeclarationError, match=r"lacks a declared column\. Got ward"):
        require_source(declared(path, TYPES | {"ward": ColumnType.TEXT}))
    if kind in ("duckdb", "sqlite"):  # they have no two columns of one name
        return
    twice = ROWS.append_column("PERSON", ROWS.column("age"))
    with pytest.raises(DeclarationError, match="twice"):
        require_source(declared(write(tmp_path / f"again.{kind}", twice)))


@ALL
@pytest.mark.parametrize("folder", ["x[1]", "y*", "z?", "age=9", "it's"])
def test_a_folder_is_neither_a_pattern_nor_a_column(tmp_path, kind, folder):
    (tmp_path / "plain").mkdir()
    write(tmp_path / "plain" / f"visits.{kind}")
    (tmp_path / "plain").rename(tmp_path / folder)
    table = declared(tmp_path / folder / f"visits.{kind}")
    if kind == "duckdb" and "?" in folder:
        with pytest.raises(DeclarationError, match="would be read as"):
            require_source(table)
    else:
        assert read(table) == EXPECTED


# ---- Patterns of files.

PATTERNS = pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind not in OF_TABLES])


@PATTERNS
def test_a_pattern_reads_every_file_that_fits_and_no_other(tmp_path, kind):
    write(tmp_path / f"visits-1.{kind}", ROWS.slice(0, 1))
    turned = ROWS.slice(1).select(ROWS.column_names[::-1])
    write(tmp_path / f"visits-2.{kind}", turned)
    write(tmp_path / f"visits-10.{kind}", ROWS)
    write(tmp_path / f".visits-3.{kind}", ROWS)
    write(tmp_path / f"other-3.{kind}", ROWS)
    (tmp_path / f"visits-4.{kind}").mkdir()
    table = declared(tmp_path / f"visits-?.{kind}")
    require_source(table)
    assert read(table) == EXPECTED
    assert len(read(declared(tmp_path / f"visits-*.{kind}"), "age")) == 8
    assert len(read(declared(tmp_path / f"*.{kind}"), "age")) == 12


@PATTERNS
def test_a_pattern_is_refused_if_it_fits_nothing_or_is_a_file(tmp_path, kind):
    for path in (tmp_path / f"visits-*.{kind}", tmp_path / "nowhere" / f"*.{kind}"):
        with pytest.raises(DeclarationError, match="fits no file"):
            require_source(declared(path))
    write(tmp_path / f"visits-*.{kind}")
    with pytest.raises(DeclarationError, match="also the name of a file"):
        require_source(declared(tmp_path / f"visits-*.{kind}"))


@PATTERNS
def test_every_file_must_fit_and_no_message_names_one(tmp_path, kind):
    write(tmp_path / f"visits-1.{kind}")
    write(tmp_path / f"visits-of-kim.{kind}", ROWS.drop_columns(["age"]))
    with pytest.raises(DeclarationError, match=r"lacks a declared column\. Got age") as caught:
        require_source(declared(tmp_path / f"visits-*.{kind}"))
    assert "kim" not in str(caught.value)
    (tmp_path / f"visits-of-kim.{kind}").write_bytes(b"")
    with pytest.raises(DeclarationError, match="cannot be read") as caught:
        require_source(declared(tmp_path / f"visits-*.{kind}"))
    assert "kim" not in str(caught.value)


def test_files_of_a_public_pattern_must_store_one_type(tmp_path):
    write(tmp_path / "visits-1.parquet")
    write(tmp_path / "visits-2.parquet", ROWS.set_column(1, "age", pa.array(["1"] * 4)))
    with pytest.raises(DeclarationError, match="two types"):
        require_source(declared(tmp_path / "visits-*.parquet"))


def test_brackets_in_a_file_name_are_not_special(tmp_path):
    write(tmp_path / "visits[1].parquet", ROWS.slice(0, 1))
    write(tmp_path / "visits1.parquet")
    assert len(read(declared(tmp_path / "visits[1].parquet"), "age")) == 1
    assert len(read(declared(tmp_path / "visits[?].parquet"), "age")) == 1


# ---- No value makes a source fail, and a type that could is refused.

BAD_TEXT = pa.Array.from_buffers(
    pa.string(), 2, pa.array([b"ok", b"\xff\xfe"], pa.binary()).buffers()
)
HOSTILE = {
    "uint64": pa.array([0, 2**64 - 1], pa.uint64()),
    "float16": pa.array([math.inf, math.nan], pa.float16()),
    "string": BAD_TEXT,
    "dictionary": pa.DictionaryArray.from_arrays(pa.array([1, 0]), BAD_TEXT),
    "large_string": pa.array(["9" * 10_000, "\x00"], pa.large_string()),
    "date32": pa.array([-(2**31), 2**31 - 1], pa.int32()).cast(pa.date32()),
    "timestamp": pa.array([-(2**63), 2**63 - 1], pa.int64()).cast(pa.timestamp("ns")),
    "timestamp_s": pa.array([0, 2**62], pa.int64()).cast(pa.timestamp("s")),
    "null": pa.nulls(2),
    "decimal": pa.Array.from_buffers(
        pa.decimal128(5, 0), 2, [None, pa.array([2**62] * 4, pa.int64()).buffers()[1]]
    ),
}
REFUSED = {
    "duration": pa.array([1, 2], pa.int64()).cast(pa.duration("us")),
    "list": pa.array([[1], None]),
    "string_view": pa.array(["a", "b"], pa.string_view()),
    "struct": pa.array([{"a": 1}, None]),
}


@pytest.mark.parametrize("declared_as", ColumnType)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["arrow", "feather"])
def test_no_stored_value_raises(tmp_path, kind, name, declared_as):
    table = declared(
        write(tmp_path / f"visits.{kind}", pa.table({"odd": HOSTILE[name]})), {"odd": declared_as}
    )
    require_source(table)
    assert len(read(table)) == 2


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("kind", ["arrow", "feather"])
def test_types_that_could_raise_are_refused_and_read_as_null(tmp_path, kind, name):
    path = write(tmp_path / f"visits.{kind}", pa.table({"odd": REFUSED[name]}))
    table = declared(path, {"odd": ColumnType.TEXT})
    with pytest.raises(DeclarationError, match="is stored as"):
        require_source(table)
    assert read(table) == [(None,), (None,)]


def test_a_damaged_arrow_file_fails_instead_of_reading_beyond_its_end(tmp_path):
    offsets = pa.array([0, 2**30, 1], pa.int32()).buffers()[1]
    beyond = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"x")])
    with pytest.raises(pa.ArrowInvalid):
        checked(beyond)


# ---- Tables inside DuckDB files.

TOTAL = [
    ("HUGEINT", "170141183460469231731687303715884105727::HUGEINT"),
    ("UHUGEINT", "340282366920938463463374607431768211455::UHUGEINT"),
    ("UBIGINT", "18446744073709551615::UBIGINT"),
    ("FLOAT", "'nan'::FLOAT"),
    ("DECIMAL(38, 10)", "1.5"),
    ("VARCHAR", "repeat('9', 10000)"),
    ("VARCHAR", "chr(0)"),
    ("BLOB", "'\\xFF'::BLOB"),
    ("UUID", "'00000000-0000-0000-0000-000000000001'::UUID"),
    ("ENUM('x', 'y')", "'x'"),
    ("DATE", "'infinity'::DATE"),
    ("DATE", "'290307-12-10 (BC)'::DATE"),
    ("TIMESTAMP", "'-infinity'::TIMESTAMP"),
    ("TIMESTAMP_S", "'infinity'::TIMESTAMP_S"),
    ("TIMESTAMP_MS", "'-infinity'::TIMESTAMP_MS"),
    ("TIMESTAMP_NS", "'1677-09-22'::TIMESTAMP_NS"),
    ("TIME", "'24:00:00'::TIME"),
    ("TIMESTAMP WITH TIME ZONE", "'infinity'::TIMESTAMP WITH TIME ZONE"),
]
NOT_TOTAL = [
    "TIME WITH TIME ZONE",
    "INTERVAL",
    "INTEGER[]",
    "VARCHAR[]",
    "STRUCT(a INTEGER)",
    "BIT",
    "INTEGER GENERATED ALWAYS AS (x + 1)",
]


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(path) as writer:
        for statement in statements:
            writer.execute(statement)
    return path


@pytest.mark.parametrize("declared_as", ColumnType)
def test_no_value_of_a_database_raises(tmp_path, declared_as):
    columns = [f"odd{i} {kind}" for i, (kind, _) in enumerate(TOTAL)]
    values = ", ".join(value for _, value in TOTAL)
    path = database(
        tmp_path / "clinic.duckdb",
        f"CREATE TABLE visits ({', '.join(columns)})",
        f"INSERT INTO visits VALUES ({values}), ({', '.join(['NULL'] * len(TOTAL))})",
    )
    for i in range(len(TOTAL)):
        table = declared(path, {f"odd{i}": declared_as})
        assert len(read(table)) == 2
    # The last is an instant, and as a timestamp it needs a zone.
    known = len(TOTAL) - (declared_as is ColumnType.TIMESTAMP)
    require_source(declared(path, {f"odd{i}": declared_as for i in range(known)}))


@pytest.mark.parametrize("kind", NOT_TOTAL)
def test_types_of_a_database_that_could_raise_are_refused(tmp_path, kind):
    path = database(
        tmp_path / "clinic.duckdb",
        f"CREATE TABLE visits (x INTEGER, odd {kind})",
        "INSERT INTO visits (x) VALUES (1)",
    )
    table = declared(path, {"odd": ColumnType.TEXT})
    with pytest.raises(DeclarationError, match="is stored as"):
        require_source(table)
    assert read(table) == [(None,)]


def test_a_table_is_found_by_its_name_and_a_view_is_not(tmp_path):
    path = database(
        tmp_path / "clinic.duckdb",
        "CREATE TABLE visits (age INTEGER)",
        "INSERT INTO visits VALUES (1)",
        "CREATE SCHEMA ward",
        'CREATE TABLE ward."Vi""sits" ("a""ge" INTEGER)',
        'INSERT INTO ward."Vi""sits" VALUES (2), (3)',
        "CREATE VIEW seen AS SELECT age FROM visits",
    )
    age = {"age": ColumnType.INTEGER}
    assert read(declared(path, age)) == [(1,)]
    assert read(declared(path, age, table="VISITS")) == [(1,)]
    odd = declared(path, {'a"ge': ColumnType.INTEGER}, table='ward.vi"sits')
    assert read(odd) == [(2,), (3,)]
    for name in ("seen", "ward.visits", "nowhere", "main.visits.x", "information_schema.tables"):
        with pytest.raises(DeclarationError, match="no such table"):
            require_source(declared(path, age, table=name))


def test_a_database_is_only_read(tmp_path):
    path = write(tmp_path / "visits.duckdb")
    before = path.read_bytes()
    assert read(declared(path), times=2) == sorted(EXPECTED * 2, key=str)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["visits.duckdb"]
