"""Keys of private groups as Arrow columns: their order is that of their values."""

import datetime
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.duckdb.arrow_keys import ArrowKeys
from tests.support.projects.dice import Dice
from tests.support.projects.listed_keys import ListedKeys

VALUES = {
    pa.string(): (
        *("", "a", "A", "ab", "a\0", "\0", "Z", "z", "é", "e\u0301", "\ud7ff", "\uffff"),
        *("\U00010000", "\U0010ffff", "10", "9", None),
    ),
    pa.int64(): (-(2**63), -1, 0, 1, 9, 10, 2**53, 2**53 + 1, 2**63 - 1, None),
    pa.bool_(): (True, False, None),
    pa.date32(): (*(datetime.date(year, 2, 3) for year in (1, 1969, 1970, 9999)), None),
}
"""Values that a careless order would mix up: by bytes or signs, in 53 bits, NULL somewhere."""


@pytest.mark.parametrize("number", range(20))
def test_keys_are_put_in_order_by_their_values(number):
    dice = Dice(number, label="order of keys")
    kinds = [dice.pick(tuple(VALUES)) for _ in range(dice.between(1, 4))]
    rows = {tuple(dice.pick(VALUES[kind]) for kind in kinds) for _ in range(60)}
    listed = ListedKeys(tuple(sorted(rows, key=repr)))
    columns = [
        pa.chunked_array([[row[i] for row in part] for part in halves(listed.keys)], kind)
        for i, kind in enumerate(kinds)
    ]
    found = ArrowKeys(tuple(columns))
    assert found.order().tolist() == listed.order().tolist()
    assert found.rows(found.order().tolist()) == listed.rows(listed.order().tolist())
    assert found.rows([]) == ()


def halves(rows: tuple) -> list[tuple]:
    """Return the rows in two chunks, as an engine may return them."""
    return [rows[: len(rows) // 2], rows[len(rows) // 2 :]]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.int64(), pa.bool_(), pa.date32()],
    ids=["text", "integer", "bool", "date"],
)
def test_places_are_those_of_the_values(kind):
    values = [value for value in VALUES[kind] if value is not None]
    asked = [*values[::2], None, *values[:2]]
    for column in (asked, values[1:3] * 2):
        found = ArrowKeys((pa.chunked_array([column[:1], column[1:]], kind),)).places(
            0, values[::2]
        )
        listed = values[::2]
        assert found.tolist() == [listed.index(one) if one in listed else -1 for one in column]
    assert ArrowKeys((pa.chunked_array([values], kind),)).places(0, []).tolist() == [-1] * len(
        values
    )


PROJECT = """
[id_spaces.people]
unit = "a person"
budget = { rho = 10 }

[tables.facts]
source = "facts.parquet"
id_space = "people"
unit = { each_row = true }

[tables.facts.columns]
kind = { type = "text", keys = ["a", "b"] }
size = { type = "integer", min = 0, max = 9, nullable = false }
"""

ASKED = """
import sys
import discreet

with discreet.connect("discreet.toml") as connection:
    connection.sql("SELECT kind, SUM(size) FROM facts GROUP BY kind", rho=1)
    connection.synthesise("facts", rho=1).to_arrow()
assert "pandas" not in sys.modules
"""


def test_nobody_waits_for_data_frames(tmp_path):
    """Arrow loads them where it is asked for an array, which takes longer than the question."""
    rows = pa.table({"kind": ["a", "b"] * 20, "size": [1, 2] * 20})
    pq.write_table(rows, tmp_path / "facts.parquet")
    (tmp_path / "discreet.toml").write_text(PROJECT, encoding="utf-8")
    subprocess.run([sys.executable, "-c", ASKED], cwd=tmp_path, check=True)
