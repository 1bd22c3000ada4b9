"""Messages name a function as the query spells it: never by a name of the parser's own."""

import logging
import re
from pathlib import Path

import pytest
from sqlglot.errors import SqlglotError
from sqlglot.expressions import ALL_FUNCTIONS, Func

from discreet.core.errors import BadSyntax, DiscreetError, RefusedQuery
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.sql.expressions.refusals import (
    not_between_numbers,
    refused_node,
    unknown_aggregate,
    unknown_total,
    unknown_window,
)
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.sql.syntax.nodes import Node, function_name, is_a
from discreet.tables.declarations.declaration import read_catalog

CATALOG = read_catalog(Path(__file__).parent / "plans")
CLASSES = {
    kind.__name__ for kind in ALL_FUNCTIONS if re.search("[a-z][A-Z]|[A-Z]{2}[a-z]", kind.__name__)
}
TAKEN_APART = re.compile(r"\b[A-Z]_[A-Z]_|_[A-Z]_[A-Z]_")
REFUSALS = (
    refused_node,
    unknown_aggregate,
    unknown_total,
    not_between_numbers,
    lambda node: unknown_window(node, "SUM"),
)


def calls(kind: type[Func]) -> list[tuple[str, Node]]:
    """Every spelling of a function that the parser reads as one, with what it makes of it."""
    found = []
    for name in kind.sql_names():
        for arguments in ("x", "x, y", "", "x, y, z", "x, y, z, w"):
            try:
                (item,) = parse(f"SELECT {name.lower()}({arguments}) FROM t").select.expressions
            except DiscreetError:
                continue
            if is_a(item, kind.__name__):
                found.append((name, item))
                break
    return found


@pytest.fixture(scope="module")
def spellings() -> list[tuple[str, Node]]:
    return [call for kind in sorted(ALL_FUNCTIONS, key=str) for call in calls(kind)]


def test_every_function_of_the_parser_is_named_as_sql_does(spellings, caplog):
    assert len(spellings) > 500
    with caplog.at_level(logging.DEBUG):
        for name, node in spellings:
            for refusal in REFUSALS:
                told = refusal(node).sentences()
                assert not TAKEN_APART.search(told.replace(name, ""))
                assert not CLASSES & set(re.findall(r"\w+", told)), told
    assert not caplog.records  # the parser's own complaints name its classes


def test_the_name_is_the_one_that_was_written(spellings):
    """Nearly all functions keep where they stand; the others have a name that SQL knows."""
    other = {name: function_name(node) for name, node in spellings if function_name(node) != name}
    assert len(other) < 20, other
    assert not any(TAKEN_APART.search(name) for name in other.values())


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT array_agg(age) FROM visits", ["ARRAY_AGG"]),
        ("SELECT list(age) FROM visits", ["LIST"]),
        ("SELECT string_agg(clinic, ',') FROM visits", ["STRING_AGG"]),
        ("SELECT bool_or(urgent) FROM visits", ["BOOL_OR"]),
        ("SELECT COUNT(*) FROM visits WHERE timestamp_sub(day, day) = day", ["timestamp_sub"]),
        ("SELECT COUNT(*) FROM visits WHERE VAR_MAP(age) = 1", ["cannot be read"]),
        ("SELECT COUNT(*) FROM visits GROUP BY", ["GROUP BY names nothing"]),
        ("SELECT COUNT(*) FROM visits WHERE initcap(clinic) = 'N'", ["initcap(clinic)"]),
        ("SELECT COUNT(*) FROM visits WHERE minhash(age, age) = 1", ["MINHASH"]),
        ("SELECT initcap(clinic), COUNT(*) FROM visits GROUP BY initcap(clinic)", ["initcap("]),
    ],
)
def test_refusals_say_what_was_written(sql, names):
    with pytest.raises((RefusedQuery, BadSyntax, SqlglotError)) as caught:
        resolve(parse(sql), CATALOG, DuckDbEngine().public_rows)
    told = str(caught.value)
    assert all(name in told for name in names), told
    assert not CLASSES & set(re.findall(r"\w+", told))
