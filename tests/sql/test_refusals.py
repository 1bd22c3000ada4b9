"""What cannot be asked: the right code, a sentence that helps, and nothing spent."""

from typing import Any

import pytest

from discreet.core.errors import (
    BadSyntax,
    BudgetExhausted,
    DeclarationError,
    DiscreetError,
    InvalidArgument,
    LedgerError,
    MissingLoss,
    RefusedQuery,
    UndeclaredBound,
    UnknownColumn,
    UnknownTable,
)
from discreet.core.loss import Pure
from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.owner import owner_of

REFUSED: list[tuple[Any, type[DiscreetError], str]] = [
    ("SELEKT COUNT(*) FROM visits WHERE (", BadSyntax, "line 1"),
    ("", BadSyntax, "one statement"),
    ("SELECT COUNT(*) FROM visits; SELECT 1", BadSyntax, "one statement"),
    ("SELECT COUNT(*) FROM visits WHERE age > 'unclosed", BadSyntax, "quotes"),
    ("SELECT COUNT(*) FROM visit", UnknownTable, "Tables: visits"),
    ("SELECT COUNT(*) FROM visits WHERE v.age > 3", UnknownTable, "In reach: visits"),
    ("SELECT COUNT(*) FROM visits WHERE agee > 3", UnknownColumn, "Columns: person, clinic"),
    ("SELECT SUM(agee) FROM visits", UnknownColumn, "'agee'"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", UnknownColumn, "'ward'"),
    ("SELECT SUM(patients) FROM visits", UnknownColumn, "No column"),
    ("SELECT SUM(weight) FROM visits", UndeclaredBound, "weight"),
    ("SELECT note, COUNT(*) FROM visits GROUP BY note", DiscreetError, "δ"),
    ("SELECT SUM(note) FROM visits", RefusedQuery, "text"),
    ("SELECT * FROM visits", RefusedQuery, "Single rows are never shown"),
    ("SELECT visits.* FROM visits", RefusedQuery, "Single rows are never shown"),
    ("SELECT person FROM visits", RefusedQuery, "COUNT(DISTINCT person)"),
    ("SELECT 1 FROM visits", RefusedQuery, "no aggregate"),
    ("SELECT clinic, COUNT(*) FROM visits", RefusedQuery, "Add clinic to GROUP BY"),
    ("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic, clinic", RefusedQuery, "twice"),
    ("SELECT COUNT(*) FROM visits GROUP BY 7", RefusedQuery, "names no key"),
    ("SELECT COUNT(*) FROM visits GROUP BY 1", RefusedQuery, "names no key"),
    ("SELECT COUNT(*), COUNT(*) FROM visits", RefusedQuery, "Two outputs"),
    ("SELECT COUNT(DISTINCT age, note) FROM visits", RefusedQuery, ""),
    ("SELECT SUM(DISTINCT age) FROM visits", RefusedQuery, ""),
    ("SELECT SUM(age) OVER () FROM visits", RefusedQuery, "window"),
    ("SELECT STRING_AGG(note) FROM visits", RefusedQuery, "not supported"),
    ("SELECT DISTINCT COUNT(*) FROM visits", RefusedQuery, "GROUP BY the columns instead"),
    ("SELECT COUNT(*) FROM visits LIMIT 10%", RefusedQuery, "LIMIT 10"),
    ("SELECT COUNT(*) FROM visits LIMIT age", RefusedQuery, "whole number"),
    ("SELECT COUNT(*) FROM visits FETCH FIRST 3 ROWS WITH TIES", RefusedQuery, "LIMIT 10"),
    ("SELECT COUNT(*) FROM visits ORDER BY 2", RefusedQuery, "ORDER BY"),
    ("SELECT COUNT(*) FROM other.visits", RefusedQuery, "no such schema"),
    ("SELECT COUNT(*) FROM visits, visits", RefusedQuery, "Two tables"),
    ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits", RefusedQuery, "SELECT"),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE 10%", RefusedQuery, "TABLESAMPLE"),
    ("SELECT COUNT(*) FROM visits USING SAMPLE 10%", RefusedQuery, "TABLESAMPLE"),
    ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", RefusedQuery, "table function"),
    ("SELECT COUNT(*) FROM '/etc/passwd'", UnknownTable, "Tables: visits"),
    ("INSERT INTO visits VALUES (1)", RefusedQuery, "not a SELECT"),
    ("DROP TABLE visits", RefusedQuery, "not a SELECT"),
    ("SELECT COUNT(*) INTO t FROM visits", RefusedQuery, "INTO"),
    ("SELECT COUNT(*) FROM visits FOR UPDATE", RefusedQuery, "FOR UPDATE"),
    ("SELECT COUNT(*) FROM visits WHERE regexp_matches(note, 'a')", RefusedQuery, ""),
    ("SELECT COUNT(*) FROM visits WHERE age IN (SELECT 1)", RefusedQuery, "FROM"),
    ("SELECT COUNT(*) FROM visits WHERE age", RefusedQuery, "true or false"),
    ("SELECT COUNT(*) FROM visits WHERE age > 'x'", RefusedQuery, ""),
    ("SELECT COUNT(*) FROM visits WHERE note > 3", RefusedQuery, "text"),
    ("SELECT COUNT(*) FROM visits WHERE day > '2025-13-01'", RefusedQuery, ""),
    ("SELECT COUNT(*) FROM visits WHERE age = note", RefusedQuery, "integer"),
    ("SELECT COUNT(*) FROM visits WHERE age > 99999999999999999999", RefusedQuery, "2**63"),
    ("SELECT COUNT(*) FROM visits WHERE " + "(" * 300 + "urgent" + ")" * 300, DiscreetError, ""),
]


DEEP = "SELECT COUNT(*) FROM visits WHERE " + " AND ".join(["age > 1"] * 199)
REFUSED += [
    ("SELECT COUNT(*) FROM visits GROUP BY " + "9" * 5000, RefusedQuery, "names no key"),
    ("SELECT COUNT(*) FROM visits WHERE note = '\ud800'", BadSyntax, "Unicode"),
    ("SELECT COUNT(*) FROM visits WHERE person = DATE '2024-01-01'", RefusedQuery, "text"),
    ("SELECT COUNT(*) FROM visits WHERE person = -'abc'", RefusedQuery, "text"),
    ("SELECT COUNT(*) FROM visits WHERE urgent = -TRUE", RefusedQuery, "boolean"),
    (None, BadSyntax, "not text"),
]


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    folder = write_project(tmp_path_factory.mktemp("refusals"), [visit("p")], epsilon="1")
    declaration = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(declaration + 'weight = { type = "real" }\n')
    with connect(folder) as connection:
        yield connection


@pytest.mark.parametrize(
    ("sql", "error", "hint"), REFUSED, ids=[ascii(sql)[:50] for sql, *_ in REFUSED]
)
def test_refused_with_a_reason_and_for_nothing(connection, sql, error, hint):
    for ask in (connection.sql, connection.explain):
        with pytest.raises(error) as caught:
            ask(sql, epsilon="0.1")
        assert hint in str(caught.value)
        assert caught.value.to_json()["error"]["code"] == error.code or error is DiscreetError
    assert owner_of(connection).ledger().spent("people") == Pure(0)


def test_an_epsilon_is_never_silently_chosen(connection):
    with pytest.raises(MissingLoss, match="epsilon="):
        connection.sql("SELECT COUNT(*) FROM visits")


def test_a_long_condition_is_answered_at_any_depth(connection):
    def deeper(levels):
        return connection.explain(DEEP, epsilon=1) if not levels else deeper(levels - 1)

    assert deeper(0)
    assert deeper(700)


def test_a_query_that_the_stack_cannot_hold_is_refused(connection):
    nested = "visits"
    for _ in range(60):
        nested = f"(SELECT * FROM {nested})"
    with pytest.raises(RefusedQuery, match="too deeply"):
        connection.explain(f"SELECT COUNT(*) FROM {nested}", epsilon=1)


def test_arguments_of_the_wrong_kind(tmp_path):
    folder = write_project(tmp_path, [visit("p")])
    with pytest.raises(InvalidArgument, match="analyst"):
        connect(folder, analyst=None)  # type: ignore[arg-type]
    with connect(folder) as other:
        release = other.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    with pytest.raises(InvalidArgument, match="noisy output"):
        release.error("zz")
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text('[ledger]\npath = "discreet.toml/x/ledger"\n' + text)
    with pytest.raises(LedgerError, match="this project had one"):
        connect(folder)
    (folder / "discreet.anchor").unlink()
    with pytest.raises(LedgerError, match="cannot be made"):
        connect(folder)


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "a lot", 1e-30, float("inf")])
def test_bad_epsilon(connection, epsilon):
    with pytest.raises((InvalidArgument, RefusedQuery)):
        connection.sql("SELECT COUNT(*) FROM visits", epsilon=epsilon)
    assert owner_of(connection).ledger().spent("people") == Pure(0)


def test_an_empty_budget_says_what_is_left(tmp_path):
    folder = write_project(tmp_path, [visit("p")], epsilon="1")
    with connect(folder, epsilon="0.75") as connection:
        connection.sql("SELECT COUNT(*) FROM visits")
        assert not connection.explain("SELECT SUM(age) FROM visits").is_affordable()
        with pytest.raises(BudgetExhausted) as caught:
            connection.sql("SELECT SUM(age) FROM visits")
        assert "0.25" in str(caught.value)
        assert "0.75" in str(caught.value)
        connection.sql("SELECT SUM(age) FROM visits", epsilon="0.25")


def test_a_misdeclared_source_costs_nothing(tmp_path):
    folder = write_project(tmp_path, [visit("p")], epsilon="1")
    (folder / "visits.parquet").unlink()
    with connect(folder, epsilon="0.75") as connection:
        with pytest.raises(DeclarationError, match="cannot be read"):
            connection.sql("SELECT COUNT(*) FROM visits")
        assert owner_of(connection).ledger().spent("people") == Pure(0)
