"""Keys of private groups as Arrow columns: their order is that of their values."""

import datetime

import pyarrow as pa
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
