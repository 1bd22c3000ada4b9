"""LIKE and ILIKE mean what the engine's own operators mean, and their search comes to an end."""

import duckdb
import pytest

from discreet.engines.duckdb.render.expression import expression
from discreet.tables.column import ColumnType
from discreet.tables.expression import FieldValue, Literal
from discreet.tables.functions.call import call
from tests.support.projects.dice import Dice

TEXT = ColumnType.TEXT
SIGNS = ["a", "A", "b", "é", "É", "İ", "ß", "ſ", "\u212a", "k", "\U0001f600", "e\u0301", "\n", "\\"]
SIGNS += [".", "*", "(", "'", "%", "_", "\u0000"]
WILD = ["%", "%", "_", "_"]


@pytest.fixture(scope="module")
def engine():
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection


def matches(engine, name: str, pattern: str, texts: list[str | None]) -> list[bool | None]:
    """Return what our LIKE or ILIKE says of each text."""
    sql = expression(call(name, [FieldValue(TEXT, 0), Literal(TEXT, pattern)]), ["t"])
    return [row[0] for row in engine.execute(f"SELECT {sql} FROM u ORDER BY i").fetchall()]


@pytest.mark.parametrize("name", ["like", "ilike"])
def test_patterns_mean_what_they_mean_in_the_engine(engine, soak, name):
    dice = Dice(0, label=name)
    texts: list[str | None] = ["".join(dice.some(SIGNS * 2, 8)) for _ in range(300)]
    texts += ["", None]
    engine.execute("CREATE OR REPLACE TABLE u (i INTEGER, t VARCHAR)")
    engine.executemany("INSERT INTO u VALUES (?, ?)", list(enumerate(texts)))
    found = 0
    for _ in range(soak.cases(300)):
        pattern = "".join(dice.some(SIGNS + WILD * 6, 7))
        own = f"SELECT t {name.upper()} ? FROM u ORDER BY i"
        theirs = [row[0] for row in engine.execute(own, [pattern]).fetchall()]
        ours = matches(engine, name, pattern, texts)
        assert ours == theirs, ascii(pattern)
        found += sum(value is True for value in theirs)
    assert found > 100


@pytest.mark.parametrize(
    "pattern", ["%_a" * 12 + "%_b", "%a_" * 30 + "%b_%", "%_" * 12 + "%b", "%a" * 7 + "%b"]
)
def test_no_pattern_searches_without_end(engine, pattern):
    """An engine that tried all ways to share out a text over the parts would never be done."""
    for name in ("like", "ilike"):
        node = call(name, [FieldValue(TEXT, 0), Literal(TEXT, pattern)])
        sql = expression(node, ["t"])
        engine.execute(f"SELECT {sql} FROM (SELECT repeat('a', 10000) AS t)").fetchall()
