"""Frames: an answer for pandas, Polars and Arrow keeps its intervals, its notes and its digits."""

import datetime
import json
import sys
from decimal import Decimal
from typing import Any

import pandas
import polars
import pyarrow as pa
import pytest
from attrs import evolve

from discreet.core import optional
from discreet.core.errors import MissingDependency
from discreet.releases.cells import arrow_table, pandas_column
from discreet.releases.release import Release
from discreet.tables.column import ColumnType
from tests.support.projects.shown_answers import Hand, outputs, row

INTEGER, REAL = ColumnType.INTEGER, ColumnType.REAL
ROWS = [row(person=str(i), age=20 + i, cost=2, urgent=i % 2 == 0) for i in range(30)]


def release(items: str, *, groups: Any = None, rest: str = "") -> Release:
    asked = outputs(f"SELECT clinic, {items} FROM visits GROUP BY clinic{rest}")
    made = {("a",): ROWS, ("b",): ROWS[:3]} if groups is None else groups
    return Hand(outputs=asked, groups=made, fields=(1,), scale=5).release()


def about(table: Any) -> Any:
    return json.loads(table.schema.metadata[b"discreet"])


def test_each_noisy_output_has_its_ends_beside_it() -> None:
    found = release("COUNT(*) AS n, MEDIAN(age) AS m, 7 AS seven")
    names = ["clinic", "n", "n_low", "n_high", "m", "m_low", "m_high", "seven"]
    frame, table = found.to_pandas(), found.to_arrow()
    assert list(frame.columns) == table.column_names == names
    assert frame["n_low"].tolist() == [15, -12]
    assert list(zip(frame["n_low"], frame["n_high"], strict=True)) == list(found.intervals("n"))
    assert table["m_low"].to_pylist() == [None, None]
    assert frame["m_low"].isna().all()
    for plain in (found.to_pandas(errors=False), found.to_arrow(errors=False).to_pandas()):
        assert list(plain.columns) == ["clinic", "n", "m", "seven"]


def test_notes_cost_and_ticket_go_along() -> None:
    found = release("COUNT(*) AS n, MEDIAN(age) AS m")
    said = found.to_pandas().attrs["discreet"]
    assert said == about(found.to_arrow())
    assert said["notes"] == list(found.notes())
    assert said["cost"] == found.cost.to_json()
    assert said["ticket"] == 1
    assert said["confidence"] == 0.95
    assert said["intervals"] == {"n": ["n_low", "n_high"], "m": ["m_low", "m_high"]}
    assert found.to_pandas(errors=False).attrs["discreet"]["intervals"] == {}


def test_a_name_of_the_query_is_never_lost() -> None:
    found = release('COUNT(*) AS n, SUM(age) AS "N_low", AVG(age) AS n_low_2')
    frame = found.to_pandas()
    assert found.to_arrow().column_names == list(frame.columns)
    assert len(set(frame.columns)) == 10
    assert frame["N_low"].tolist() == [row[2] for row in found.rows]
    assert frame.attrs["discreet"]["intervals"] == {
        "n": ["n_low_3", "n_high"],
        "N_low": ["N_low_low", "N_low_high"],
        "n_low_2": ["n_low_2_low", "n_low_2_high"],
    }


def test_arrow_has_the_types_of_the_outputs() -> None:
    asked = outputs(
        "SELECT day, COUNT(*) AS n, SUM(cost) AS total, COUNT(*) > 3 AS many, NULL AS nothing"
        " FROM visits GROUP BY day"
    )
    made = Hand(outputs=asked, groups={(datetime.date(2025, 3, 1),): ROWS}, fields=(5,))
    table = made.release().to_arrow()
    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    assert kinds["day"] == pa.date32()
    for name, kind in (("n", pa.int64()), ("total", pa.float64()), ("many", pa.bool_())):
        assert {kinds[part] for part in (name, f"{name}_low", f"{name}_high")} == {kind}
    assert kinds["nothing"] == pa.float64()
    empty = evolve(made, groups={}).release()
    assert empty.to_arrow().schema.types == table.schema.types
    frame = empty.to_pandas()
    assert list(frame.columns) == table.column_names
    assert [str(frame[name].dtype) for name in ("n", "total", "many")] == [
        "int64",
        "float64",
        "bool",
    ]


def test_whole_numbers_beside_null_stay_whole() -> None:
    """As floats, two that differ in the last digit would be one."""
    numbers = [2**53, 2**53 + 1, None]
    column = pandas_column(numbers, INTEGER)
    assert (str(column.dtype), column.tolist()[:2]) == ("Int64", numbers[:2])
    assert arrow_table(["n"], [INTEGER], [numbers])["n"].to_pylist() == numbers
    found = release("LAG(COUNT(*)) OVER (ORDER BY clinic) AS x")
    frame = found.to_pandas()
    assert [str(frame[name].dtype) for name in ("x", "x_low", "x_high")] == ["Int64"] * 3
    assert frame["x"].tolist()[1] == 30
    assert found.to_arrow()["x_low"].to_pylist()[0] is None


def test_missing_numbers_and_truths_have_their_types() -> None:
    assert str(pandas_column([1.5, None], REAL).dtype) == "float64"
    assert str(pandas_column([None, None], REAL).dtype) == "float64"
    assert str(pandas_column([None, True], ColumnType.BOOLEAN).dtype) == "boolean"
    assert pandas_column(["a", None], ColumnType.TEXT) == ["a", None]


@pytest.mark.parametrize(
    ("number", "kind", "kept"),
    [
        (2**63 - 1, pa.int64(), 2**63 - 1),
        (-(2**63) - 1, pa.decimal128(38, 0), Decimal(-(2**63) - 1)),
        (10**38 - 1, pa.decimal128(38, 0), Decimal(10**38 - 1)),
        (10**38, pa.string(), str(10**38)),
    ],
)
def test_long_integers_keep_their_digits(number: int, kind: Any, kept: Any) -> None:
    found = arrow_table(["n"], [INTEGER], [[number, None]])["n"]
    assert found.type == kind
    assert found.to_pylist() == [kept, None]
    assert pandas_column([number, None], INTEGER).tolist()[0] == number


def test_an_answer_beyond_64_bits_is_exact_in_every_form() -> None:
    found = release("COUNT(*) * 1000000000000 * 1000000000000 AS n")
    assert found.to_arrow()["n"].to_pylist()[0] == Decimal(30 * 10**24)
    assert found.to_pandas()["n"].tolist()[0] == 30 * 10**24
    assert found.to_arrow()["n_low"].to_pylist()[0] == Decimal(15 * 10**24)


def test_polars_has_the_columns() -> None:
    found = release("COUNT(*) AS n")
    frame = found.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == ["clinic", "n", "n_low", "n_high"]
    assert frame["n_high"].to_list() == [45, 18]
    assert found.to_polars(errors=False).columns == ["clinic", "n"]


def test_without_polars_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setattr(optional, "load", optional.load.__wrapped__)  # what was loaded is kept
    with pytest.raises(MissingDependency, match="pip install 'polars'"):
        release("COUNT(*) AS n").to_polars()


def test_pandas_keeps_what_is_said_when_rows_are_taken() -> None:
    frame = release("COUNT(*) AS n").to_pandas()
    assert frame[frame["n"] > 10].attrs["discreet"]["ticket"] == 1
    assert frame.attrs["discreet"]["data_version"] == release("COUNT(*) AS n").receipt.data_version
    assert isinstance(frame, pandas.DataFrame)
