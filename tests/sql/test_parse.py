"""Parsing: one SELECT, and the privacy options that may stand in it."""

from fractions import Fraction

import pytest

from discreet.core.errors import BadSyntax, DiscreetError, RefusedQuery
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.sql.parse import LONGEST_QUERY, parse
from discreet.sql.syntax.options import NO_OPTIONS, GroupSelection, Options

CLAUSE = "WITH DIFFERENTIAL_PRIVACY OPTIONS"


def options_of(text: str) -> Options:
    return parse(f"SELECT {CLAUSE}({text}) COUNT(*) FROM visits").options


def test_a_plain_query_has_no_options():
    statement = parse("SELECT COUNT(*) FROM visits")
    assert statement.options == NO_OPTIONS
    assert statement.options.price() is None


def test_each_reader_has_a_tree_of_its_own():
    sql = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic LIMIT 3"
    first, second = parse(sql), parse(sql)
    for node in first.select.walk():
        node.meta["spoiled"] = True
    for part in ("expressions", "group", "limit"):
        first.select.set(part, None)
    for statement in (second, parse(sql)):
        assert statement.select.sql("duckdb") == sql
        assert not any("spoiled" in node.meta for node in statement.select.walk())


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("epsilon=0.5", Pure("0.5")),
        ("EPSILON = 1, delta = 0", Approximate(1, 0)),
        ("epsilon=1.5, delta=1e-6", Approximate("1.5", "1e-6")),
        ("rho = 0.1", Zcdp("0.1")),
        ("max_groups_contributed = 2", None),
        ("", None),
    ],
)
def test_the_price(text, price):
    assert options_of(text).price() == price


def test_every_option_by_its_names():
    bigquery = options_of(
        "epsilon=1, delta=1e-5, max_groups_contributed=3, max_rows_contributed=2,"
        " privacy_unit_column=visits.person, group_selection_strategy=public_groups"
    )
    own = options_of(
        "epsilon=1, delta=1e-5, groups_per_unit=3, rows_per_group=2,"
        " privacy_unit_column='person', group_selection_strategy='PUBLIC_GROUPS'"
    )
    assert bigquery == own
    assert bigquery == Options(
        epsilon=Fraction(1),
        delta=Fraction(1, 10**5),
        groups_per_unit=3,
        rows_per_group=2,
        unit_column="person",
        group_selection=GroupSelection.PUBLIC_GROUPS,
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("epsilom=1", "Options: epsilon"),
        ("epsilon=1, epsilon=2", "twice"),
        ("max_rows_contributed=1, rows_per_group=2", "twice"),
        ("epsilon=much", "not a number"),
        ("max_groups_contributed=1.5", "whole number"),
        ("group_selection_strategy=guess", "PUBLIC_GROUPS"),
    ],
)
def test_options_that_are_refused(text, hint):
    with pytest.raises(RefusedQuery, match=hint):
        options_of(text)


@pytest.mark.parametrize("text", ["delta=1e-6", "epsilon=1, rho=1", "rho=1, delta=1e-6"])
def test_prices_that_are_refused(text):
    with pytest.raises(RefusedQuery):
        options_of(text).price()


@pytest.mark.parametrize(
    "text", ["epsilon", "epsilon=", "epsilon 1", "=1", "epsilon=1,", ",", "epsilon==1,("]
)
def test_options_that_cannot_be_read(text):
    with pytest.raises((BadSyntax, RefusedQuery)):
        options_of(text)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {CLAUSE}(epsilon=1) COUNT(*) FROM visits",
        "select with differential_privacy options(epsilon=1)\nCOUNT(*) FROM visits",
        "SELECT WITH ANONYMIZATION OPTIONS(epsilon=1) COUNT(*) FROM visits",
        f"SELECT /* here */ {CLAUSE} /* and */ ( epsilon = 1 ) COUNT(*) FROM visits",
        f"WITH a AS (SELECT 1) SELECT {CLAUSE}(epsilon=1) COUNT(*) FROM visits",
    ],
)
def test_where_the_clause_may_stand(sql):
    statement = parse(sql)
    assert statement.options.price() == Pure(1)
    assert statement.select.sql("duckdb").endswith("SELECT COUNT(*) FROM visits")


def test_the_clause_without_options():
    assert parse("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM visits").options == NO_OPTIONS


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM (SELECT {CLAUSE}(epsilon=1) * FROM visits)",
        f"SELECT {CLAUSE}(epsilon=1) COUNT(*) FROM (SELECT {CLAUSE}(epsilon=1) * FROM visits)",
        f"WITH a AS (SELECT {CLAUSE}(epsilon=9) 1) SELECT COUNT(*) FROM visits",
        f"SELECT COUNT(*) FROM visits UNION ALL SELECT {CLAUSE}(epsilon=9) COUNT(*) FROM visits",
    ],
)
def test_the_clause_in_a_sub_query_is_refused(sql):
    with pytest.raises(RefusedQuery, match="outermost"):
        parse(sql)


def test_the_words_in_quotes_are_no_clause():
    sql = f"SELECT '{CLAUSE}(epsilon=1)' AS a, \"SELECT\" FROM visits -- SELECT {CLAUSE}()"
    assert parse(sql).options == NO_OPTIONS
    assert "epsilon=1" in parse(sql).select.sql("duckdb")


def test_errors_keep_their_lines():
    with pytest.raises(BadSyntax, match="line 3"):
        parse(f"SELECT {CLAUSE}(\n epsilon=1)\n COUNT(*) FROM visits WHERE age ) > 3")


@pytest.mark.parametrize(
    "sql",
    [
        None,
        3,
        b"SELECT 1",
        "",
        ";",
        "SELECT 1; SELECT 2",
        "\ud800",
        "SELECT " + "x" * LONGEST_QUERY,
    ],
)
def test_texts_that_are_no_query(sql):
    with pytest.raises(BadSyntax):
        parse(sql)


@pytest.mark.parametrize(
    "sql", ["DROP TABLE visits", "UPDATE visits SET a = 1", "PRAGMA x", "SELECT 1 EXCEPT SELECT 2"]
)
def test_other_statements_are_refused(sql):
    with pytest.raises(RefusedQuery, match="SELECT"):
        parse(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + ", ".join(f"COUNT(*) + {i}" for i in range(1_001)) + " FROM visits",
        "SELECT COUNT(*) FROM visits ORDER BY " + ", ".join(["1"] * 1_001),
        "SELECT COUNT(*) FROM visits GROUP BY " + ", ".join(["age"] * 1_001),
    ],
)
def test_long_lists_are_refused_before_they_are_worked_on(sql):
    with pytest.raises(RefusedQuery, match="at most 1,000 items; got 1,001"):
        parse(sql)


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("", "Write, for example, SELECT"),
        ("-- nothing", "Write, for example, SELECT"),
        ("SELECT 1; SELECT 2", "one after the other"),
        ("SHOW TABLES", "discreet tables"),
        ("DESCRIBE visits", "LIMIT 0"),
    ],
)
def test_what_is_no_single_select_is_refused_with_what_to_write(sql, advice):
    with pytest.raises(DiscreetError) as caught:
        parse(sql)
    assert advice in caught.value.next
