"""Cells of frames: each is read by itself, and none makes anything fail."""

import datetime as dt
import gc
import uuid
import weakref
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import discreet
from discreet.core.errors import DeclarationError, InvalidArgument, Unsupported
from discreet.engines.duckdb.sources import python_cells
from discreet.project.frame_ledgers import FRAME_LEDGERS
from discreet.tables.column import ColumnType
from discreet.tables.declarations.declaration import parse_catalog
from tests.support.projects.frames import (
    KINDS,
    Stream,
    cells,
    exact,
    objects,
    owned,
    read,
)
from tests.support.projects.neighbours import check_neighbours

pytestmark = pytest.mark.filterwarnings("ignore:The ledger is in memory")


@pytest.fixture(autouse=True)
def _no_ledgers(monkeypatch):
    monkeypatch.setattr(FRAME_LEDGERS, "_known", {})


class Trouble(str):
    """A text whose own code raises."""

    __slots__ = ()

    def encode(self, *_):
        raise RuntimeError

    def __str__(self):
        raise RuntimeError


class Zone(dt.tzinfo):
    """A time zone that does not know what time it is."""

    def utcoffset(self, _):
        raise OSError

    dst = tzname = utcoffset


MISSING: list[object] = [
    None,
    float("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    Decimal("NaN"),
]
NO_VALUES: list[object] = [
    [1],
    {"a": 1},
    object(),
    1j,
    np.timedelta64(1, "s"),
    dt.timedelta(1),
    Decimal("sNaN"),
]

DAY, MOMENT = dt.date(2024, 2, 29), dt.datetime.fromisoformat("2024-02-29 10:30")
OBJECTS: dict[str, list[tuple[object, object]]] = {
    "integer": [
        (5, 5),
        ("6", 6),
        (7.0, 7),
        (np.int8(8), 8),
        (Decimal(9), 9),
        (True, 1),
        (np.False_, 0),
        (b"10", 10),
        ("x", None),
        (2**63, None),
        (10**5000, None),
        (Decimal("1e999999"), None),
        (float("inf"), None),
        (np.uint64(2**63), None),
        (DAY, None),
        ("\ud800", None),
    ],
    "real": [
        (5, 5.0),
        ("6.5", 6.5),
        (Decimal("1.25"), 1.25),
        (float("-inf"), float("-inf")),
        (10**30, 1e30),
        (np.float16(0.5), 0.5),
        (True, 1.0),
        ("nan", None),
        (Decimal("1e999999"), None),
        (b"\xff", None),
    ],
    "text": [
        ("x", "x"),
        (5, "5"),
        (True, "true"),
        (b"y", "y"),
        (bytearray(b"z"), "z"),
        (Trouble("t"), "t"),
        (np.str_("u"), "u"),
        (np.datetime64("2024-02-29"), "2024-02-29"),
        (DAY, "2024-02-29"),
        (MOMENT, "2024-02-29 10:30:00"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ("\ud800", None),
        (b"\xff", None),
    ],
    "boolean": [(True, True), (0, False), (2, True), (0.5, True), ("true", True), ("maybe", None)],
    "date": [(DAY, DAY), (MOMENT, DAY), ("2024-02-29", DAY), ("2024-02-30", None), (5, None)],
    "timestamp": [
        (MOMENT, MOMENT),
        (pd.Timestamp("2024-02-29 10:30:00.123456789"), MOMENT.replace(microsecond=123456)),
        (np.datetime64("2024-02-29T10:30"), MOMENT),
        ("2024-02-29T10:30", MOMENT),
        (DAY, dt.datetime.fromisoformat("2024-02-29")),
        (MOMENT.replace(tzinfo=dt.UTC), None),
        (MOMENT.replace(tzinfo=Zone()), None),
        (5, None),
    ],
    "time": [
        (dt.time(10, 30), dt.time(10, 30)),
        ("10:30", dt.time(10, 30)),
        (dt.time(1, tzinfo=dt.UTC), None),
    ],
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects_are_read_one_by_one(kind):
    """All in one column, and each by itself: neighbours make no difference."""
    nothing = [(cell, None) for cell in MISSING + NO_VALUES]
    pairs = [*OBJECTS[kind], *nothing]
    given, expected = [cell for cell, _ in pairs], [value for _, value in pairs]
    assert read(objects(given), kind) == expected
    for cell, value in pairs:
        one = python_cells.cell_texts(objects([cell]).to_numpy(), _form(kind)).to_pylist()
        both = python_cells.cell_texts(objects([[0], cell]).to_numpy(), _form(kind)).to_pylist()
        assert one == both[1:], value


def _form(kind):
    return python_cells.CellForm(read_as=ColumnType(kind))


def test_instants_among_objects_are_read_on_the_declared_wall():
    berlin = {"type": "timestamp", "zone": "Europe/Berlin"}
    old = pd.Timestamp("1850-01-01", tz="Europe/Berlin")
    found = read(objects([MOMENT.replace(tzinfo=dt.UTC), MOMENT, old]), berlin)
    assert found == [
        MOMENT + dt.timedelta(hours=1),
        MOMENT,
        dt.datetime.fromisoformat("1850-01-01"),
    ]


def test_whoever_is_5_is_nobody_else_as_another_object():
    people = [5, "5", 5.0, Decimal("5.00"), np.float32(5), np.int64(5), b"5"]
    nobody = [5.5, float("inf"), 2.0**53, np.float32(2**24), Decimal("5.1"), Decimal("inf"), [5]]
    for kind in ("integer", "text"):
        found = read(objects([*people, *nobody]), kind, unit="x")
        assert len({*found}) == 2, found
        assert found[len(people) :] == [None] * len(nobody)


PANDAS = {
    "Int64": (pd.Series([1, None], dtype="Int64"), "integer", [1, None]),
    "uint64": (pd.Series([1, 2**64 - 1], dtype="uint64"), "integer", [1, None]),
    "other end": (pd.Series(np.array([1, 2], dtype=">i8")), "integer", [1, 2]),
    "NaN is missing": (pd.Series([1.5, np.nan]), "text", ["1.5", None]),
    "Float64": (pd.Series([1.5, None], dtype="Float64"), "real", [1.5, None]),
    "inf": (pd.Series([np.inf, 1]), "real", [float("inf"), 1.0]),
    "boolean": (pd.Series([True, None], dtype="boolean"), "boolean", [True, None]),
    "str": (pd.Series(["x", None], dtype="str"), "text", ["x", None]),
    "python strings": (pd.Series(["x", None], dtype="string[python]"), "text", ["x", None]),
    "categories": (pd.Series(["x", None, "x"], dtype="category"), "text", ["x", None, "x"]),
    "odd categories": (
        pd.Series(pd.Categorical(objects(["x", 5, None]))),
        "text",
        ["x", "5", None],
    ),
    "whole categories": (pd.Series([3, 4], dtype="category"), "integer", [3, 4]),
    "sparse": (pd.Series(pd.arrays.SparseArray([0, 0, 7])), "integer", [0, 0, 7]),
    "times": (pd.Series([MOMENT, None], dtype="datetime64[s]"), "timestamp", [MOMENT, None]),
    "no time": (pd.Series([MOMENT, pd.NaT], dtype="datetime64[ns]"), "date", [DAY, None]),
    "arrow": (pd.Series([1, None], dtype=pd.ArrowDtype(pa.decimal128(9, 2))), "real", [1.0, None]),
    "wide": (pd.Series(np.array([1.5, np.inf], np.longdouble)), "real", [1.5, float("inf")]),
}


@pytest.mark.parametrize("name", PANDAS)
def test_types_of_pandas(name):
    series, kind, expected = PANDAS[name]
    assert read(series, kind) == expected


def test_instants_of_pandas_have_a_declared_wall():
    series = pd.Series(pd.to_datetime(["2024-07-01 12:00"]).tz_localize("America/New_York"))
    with pytest.raises(DeclarationError, match="have a zone declared"):
        read(series, "timestamp")
    berlin = {"type": "timestamp", "zone": "Europe/Berlin"}
    assert read(series, berlin) == [dt.datetime.fromisoformat("2024-07-01 18:00")]


DECIMAL = pa.array([Decimal("1.5")], pa.decimal128(3, 1))
ARROW = {
    "dictionary": (pa.array(["x", None, "x"]).dictionary_encode(), "text", ["x", None, "x"]),
    "views": (pa.array(["x", None, "y" * 50], pa.string_view()), "text", ["x", None, "y" * 50]),
    "views in a dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["x"], pa.string_view())),
        "text",
        ["x"],
    ),
    "no text": (pa.array([b"\xff", b"x"], pa.binary_view()), "text", [None, "x"]),
    "no text in a string": (
        pa.array([b"\xff", b"x"]).view(pa.string()),
        "text",
        [None, "x"],
    ),
    "beyond a dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([0, 9, -1]), pa.array(["x"]), safe=False),
        "text",
        ["x", None, None],
    ),
    "too many digits": (
        pa.Array.from_buffers(
            pa.decimal128(2, 0), 1, [None, pa.py_buffer((10**9).to_bytes(16, "little"))]
        ),
        "real",
        [None],
    ),
    "decimal": (DECIMAL, "real", [1.5]),
    "wide decimal": (DECIMAL.cast(pa.decimal256(60, 1)), "integer", None),
    "nanoseconds": (
        pa.array([1], pa.timestamp("ns")),
        "timestamp",
        [dt.datetime.fromisoformat("1970-01-01")],
    ),
    "far away": (pa.array([2**62], pa.timestamp("s")), "timestamp", [None]),
    "unsigned": (pa.array([2**64 - 1, 1], pa.uint64()), "integer", [None, 1]),
    "half": (pa.array([1.5], pa.float16()), "real", [1.5]),
    "nothing": (pa.nulls(2), "text", [None, None]),
    "pieces": (pa.chunked_array([["x"], [], ["y"]], pa.string()), "text", ["x", "y"]),
    "a slice": (pa.array(["a", "b", "c"]).slice(1, 1), "text", ["b"]),
}


@pytest.mark.parametrize("name", ARROW)
def test_types_of_arrow(name):
    array, kind, expected = ARROW[name]
    if expected is None:
        with pytest.raises(DeclarationError, match="is stored as decimal256"):
            read(array, kind)
        return
    assert read(array, kind) == expected


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([1], pa.duration("s")),
        pd.Series([dt.timedelta(1)]),
        pd.Series(pd.period_range("2024", periods=1)),
        pd.Series(pd.interval_range(0, 1)),
        pd.Series([1j]),
    ],
    ids=lambda column: str(getattr(column, "dtype", getattr(column, "type", ""))),
)
def test_a_column_that_is_never_read_is_refused_by_its_type(column):
    with pytest.raises(DeclarationError, match="must be stored as a number, text"):
        read(column, "text")


# ---- What one person can do to the others.

PEOPLE = pa.table(
    {
        "patient": [str(i) for i in range(20) for _ in range(2)],
        "clinic": ["a", "b"] * 20,
        "age": [str(i) for i in range(40)],
    }
)
SQL = "SELECT clinic, COUNT(age), SUM(age) FROM visits GROUP BY clinic"


def _replay(*odd: object) -> None:
    people = PEOPLE.to_pandas().astype(object)
    plan, first = exact(owned({"visits": people}), SQL)
    for cell in odd:
        rows = {"patient": [99] * 4, "clinic": ["a", "b"] * 2, "age": [cell] * 4}
        more = pd.concat([people, pd.DataFrame(rows, dtype=object)], ignore_index=True)
        _, second = exact(owned({"visits": more}, data_changed=True), SQL)
        check_neighbours(plan, first, second)


def test_one_person_moves_no_more_than_is_declared():
    _replay([1], 2**70, b"\xff", "\ud800", Decimal("sNaN"), object())


def test_a_twin_that_reads_whole_columns_is_caught(monkeypatch):
    """As a library does that looks for one type for all cells."""

    def whole_column(found, form):
        try:
            return pa.array(found, from_pandas=True).cast(pa.large_binary())
        except (pa.ArrowException, TypeError, ValueError):
            return pa.nulls(len(found), pa.large_binary())

    monkeypatch.setattr("discreet.engines.duckdb.sources.frame_columns.cell_texts", whole_column)
    with pytest.raises(AssertionError, match="is not within"):
        _replay([1])


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_frame_say_the_same(kind):
    _, found = exact(owned({"visits": KINDS[kind](PEOPLE)}), SQL)
    assert sorted(list(map(int, column)) for column in found.columns) == [[20, 20], [380, 400]]


# ---- Copied.


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_caller_does_later_changes_nothing(kind):
    numbers = np.arange(4, dtype=np.int64)
    table = pa.table({"patient": pa.array(numbers), "clinic": list("abab"), "age": [1] * 4})
    frame = KINDS[kind](table)
    if kind == "pandas":
        frame = pd.DataFrame({"patient": numbers, "clinic": list("abab"), "age": 1}, copy=False)
    owner = owned({"visits": frame})
    numbers[:] = 7
    if kind == "pandas":
        frame["age"] = 9
        del frame["clinic"]
    assert cells(owner, "patient") == [0, 1, 2, 3]
    assert cells(owner, "age") == [1] * 4


def test_nothing_of_the_callers_is_kept():
    frame = pd.DataFrame({"patient": [1], "clinic": ["a"], "age": [1]})
    seen = weakref.ref(frame)
    owner = owned({"visits": frame})
    del frame
    gc.collect()
    assert seen() is None
    name = owner.catalog().table("visits").source.frame
    assert name is not None
    with pytest.raises(Unsupported):
        name.__reduce__()


# ---- Polars, with types that only it has.

HALF_PAST = dt.datetime(2024, 7, 1, 10, 30)  # noqa: DTZ001 - a wall, of no zone
IN_POLARS = {
    "categories": (polars.Series(["a", None, "b"], dtype=polars.Categorical), "text"),
    "an enumeration": (polars.Series(["a", None, "b"], dtype=polars.Enum(["b", "a"])), "text"),
    "a small number": (polars.Series([1, None, 255], dtype=polars.UInt8), "integer"),
    "a large number": (polars.Series([1, None, 2**63 - 1], dtype=polars.UInt64), "integer"),
    "a decimal": (polars.Series(["1.5", None, "-2"]).cast(polars.Decimal(9, 2)), "real"),
    "a float": (polars.Series([1.5, None, float("nan")], dtype=polars.Float32), "real"),
    "a truth": (polars.Series([True, None, False]), "boolean"),
    "a day": (polars.Series([HALF_PAST.date(), None, dt.date(1, 1, 1)]), "date"),
    "in milliseconds": (polars.Series([HALF_PAST, None, None], dtype=polars.Datetime("ms")),
                        "timestamp"),
    "in nanoseconds": (polars.Series([HALF_PAST, None, None], dtype=polars.Datetime("ns")),
                       "timestamp"),
    "an instant": (
        polars.Series([HALF_PAST, None, None], dtype=polars.Datetime("us", "Europe/Berlin")),
        {"type": "timestamp", "zone": "Europe/Berlin"},
    ),
    "a time": (polars.Series([HALF_PAST.time(), None, dt.time(0)]), "time"),
    "nothing": (polars.Series([None, None, None]), "text"),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_POLARS)
def test_a_type_of_polars_is_read_as_it_is(name):
    series, declared = IN_POLARS[name]
    frame = polars.DataFrame({"patient": [1, 2, 3], "x": series})
    columns = {"visits": {"patient": "integer", "x": declared}}
    found = cells(owned({"visits": frame}, columns=columns, id_space=name), "x")
    expected = [None if value != value else value for value in series.to_list()]
    if name == "an instant":
        expected = [moment and moment.replace(tzinfo=None) for moment in expected]
    assert found == [float(one) if name == "a decimal" and one else one for one in expected]


@pytest.mark.parametrize(
    "series",
    [
        polars.Series([[1], [2], [3]]),
        polars.Series([{"a": 1}] * 3),
        polars.Series([dt.timedelta(1)] * 3),
        polars.Series([object()] * 3, dtype=polars.Object),
    ],
    ids=["lists", "structures", "durations", "objects"],
)
def test_what_polars_has_and_nobody_reads_is_refused(series):
    frame = polars.DataFrame({"patient": [1, 2, 3], "x": series})
    columns = {"visits": {"patient": "integer", "x": "text"}}
    with pytest.raises(DeclarationError, match=r"is stored as|cannot be handed over"):
        owned({"visits": frame}, columns=columns)
    with pytest.raises(DeclarationError, match=r"collect\(\)"):
        owned({"visits": frame.lazy()}, columns=columns)


def test_what_is_no_frame_is_refused():
    for what in ({"patient": [1]}, [1], "visits.csv", None, Stream):
        with pytest.raises(DeclarationError, match="is no data frame"):
            owned({"visits": what})
    ways = {
        "from_pylist": [{"patient": 1}],
        r"pyarrow.table\(visits\)": {"patient": [1]},
        "Name its columns": np.zeros((2, 2)),
        "discreet init": Path("visits.csv"),
        "one column": pd.Series([7], name="patient"),
        "the frame that it comes from": pa.chunked_array([[7]]),
    }
    for way, what in ways.items():
        with pytest.raises(DeclarationError, match=way) as caught:
            owned({"visits": what})
        assert "7" not in str(caught.value)
    for what in (pd.DataFrame({"patient": [1]}), pd.Series([7]), None):
        with pytest.raises(InvalidArgument, match="Give a frame the name of its table"):
            discreet.own(what)
    with pytest.raises(DeclarationError, match="lacks a declared column"):
        owned({"visits": pd.DataFrame({0: [1]})})
    twice = pd.DataFrame([[1, 2, "a", 3]], columns=["patient", "Patient", "clinic", "age"])
    with pytest.raises(DeclarationError, match="has a column twice"):
        owned({"visits": twice})


class Broken:
    """What promises a stream and has none."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise KeyError("a private value")


def _damaged(kind, offsets):
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abc")]
    return pa.table({"x": pa.Array.from_buffers(kind, 2, buffers)})


@pytest.mark.parametrize(
    "frame",
    [
        Broken(),
        _damaged(pa.string(), [0, 10**6, 3]),
        _damaged(pa.binary(), [0, -5, 2]),
        _damaged(pa.string_view(), [100, 0, 0, 77] * 2),
    ],
    ids=["broken", "beyond", "backwards", "views"],
)
def test_a_damaged_frame_is_refused_without_its_words(frame):
    with pytest.raises(DeclarationError, match=r"cannot be handed over|is damaged") as caught:
        owned({"visits": frame}, columns={"visits": {"x": "text"}}, unit="x")
    assert caught.value.__cause__ is None
    assert "private" not in str(caught.value)


def test_no_file_can_call_itself_a_frame(tmp_path):
    text = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 1 }
[tables.visits]
source = "visits.csv"
format = "frame"
id_space = "people"
unit = { each_row = true }
[tables.visits.columns]
x = { type = "text" }
"""
    with pytest.raises(DeclarationError, match=r"format .* is not known"):
        parse_catalog(text, tmp_path / "discreet.toml")
