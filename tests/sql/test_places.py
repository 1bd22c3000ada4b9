"""Syntax errors: the place with marks under it, what is expected there, in SQL's words."""

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadSyntax, DiscreetError
from discreet.sql.parse import parse
from discreet.sql.syntax.place import WIDEST_EXCERPT, excerpt

PLACES = [
    ("SELECT COUNT(*) FROM [visits]", "[", "name of a table", 'double quotes: "name"'),
    ("SELECT COUNT(*) FROM t WHERE a > {d '2024-01-01'}", "'2024-01-01'", "", "DATE before"),
    ("SELECT COUNT(*) FROM t WHERE a > {ts '2024-01-01'}", "'2024-01-01'", "", "TIMESTAMP before"),
    ("SELECT COUNT(* FROM visits", "FROM", "have ) before FROM", ""),
    ("SELECT COUNT(*) FROM visits WHERE clinic IN ('a', 'b'", "'b'", "have ) after 'b'", ""),
    ("SELEKT COUNT(*) FROM visits", "SELEKT", "begin with SELECT or WITH", "SELECT instead"),
    ("SELECT COUNT(*) FORM visits", "visits", "another clause before visits", "FROM instead of FO"),
    ("SELECT clinic COUNT(*) FROM visits", "(", "before COUNT", ""),
    ("SELECT COUNT(*) FROM visits GROUP clinic", "clinic", "have BY after GROUP", ""),
    ("SELECT COUNT(*) FROM visits WHERE age >", ">", "have a value after >", ""),
    ("SELECT 3 + FROM visits", "FROM", "have a value before FROM", ""),
    ("SELECT COUNT(*) FROM", "FROM", "have the name of a table after FROM", ""),
    ("SELECT SUM(CASE WHEN age > 3 THEN 1) FROM visits", "1", "have END after CASE", ""),
    ("SELECT CAST(age AS) FROM visits", ")", "have a type after CAST", ""),
    ("SELECT COUNT(*)\nFROM visits\nWHERE age > 3 )", ")", "have a ( for every )", ""),
    ("SELECT COUNT(*) FROM visits WHERE age > 'unclosed", "'", "have '", "quotes"),
    ("SELECT COUNT(*) /* FROM visits", "/*", "have */", "quotes"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(* FROM t", "FROM", "have )", ""),
]


def marked(error: BadSyntax) -> tuple[str, str]:
    """Return the line that is shown, and what stands above the marks."""
    line, marks = error.excerpt.split("\n")
    return line.strip(), line[marks.index("^") : len(marks)]


@pytest.mark.parametrize(("sql", "place", "must", "advice"), PLACES)
def test_the_place_and_what_is_expected_are_shown(sql, place, must, advice):
    with pytest.raises(BadSyntax) as caught:
        parse(sql)
    error = caught.value
    line, above = marked(error)
    assert above == place
    assert line in sql.split("\n")
    assert must in error.must
    assert advice in error.next
    assert str(error).endswith(error.excerpt)
    assert error.to_json()["error"]["excerpt"] == error.excerpt


@pytest.mark.parametrize(("sql", "line", "column"), [("SELECT 3 +\n  FROM t", 2, 3), ("x (", 1, 1)])
def test_lines_and_columns_begin_with_1(sql, line, column):
    with pytest.raises(BadSyntax, match=f"line {line}, column {column}[^0-9]"):
        parse(sql)


def test_a_long_line_is_cut_around_the_place():
    sql = f"SELECT {'x + ' * 300} FROM visits"
    with pytest.raises(BadSyntax) as caught:
        parse(sql)
    line, above = marked(caught.value)
    assert above == "FROM"
    assert len(line) <= WIDEST_EXCERPT + 10


@pytest.mark.parametrize("sql", ["SELECT", "SELECT;", "SELECT WHERE 1 = 1"])
def test_a_select_of_nothing_is_not_left_to_an_engine(sql):
    with pytest.raises(BadSyntax, match="SELECT names nothing"):
        parse(sql)


def test_marks_stand_below_wide_and_odd_characters():
    assert excerpt("日本 = 'é' x", 9, 9).split("\n")[1] == " " * 13 + "^"
    assert excerpt("a\tb", 2, 2) == "  a b\n    ^"


def test_a_named_argument_that_moved_words_has_no_excerpt():
    sql = "SELECT SUM(age, contribution_bounds_per_row => (0, 5)) FORM visits WHERE ("
    with pytest.raises(BadSyntax, match="line 1") as caught:
        parse(sql)
    assert not caught.value.excerpt


WORDS = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "(",
    ")",
    ",",
    "x",
    "'a'",
    "'",
    '"',
    ">",
    "+",
    "CASE",
]
WORDS += [
    "WHEN",
    "CAST",
    "AS",
    "IN",
    "NOT",
    "BETWEEN",
    "\n",
    "--",
    "/*",
    "JOIN",
    "ON",
    "1",
    "LIMIT",
]
CLASSES = {name for name in dir(sqlglot.exp) if name[:1].isupper() and name[1:2].islower()}


def complaint(sql: str) -> DiscreetError:
    """Return what is said about a query; nothing, if it can be read."""
    try:
        parse(sql)
    except DiscreetError as error:
        return error
    return BadSyntax("")


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_whatever_is_asked_no_class_of_the_parser_is_named(sql):
    error = complaint(sql)
    told = " ".join([error.what, error.must, error.got, error.next])
    assert "sqlglot" not in told
    assert not CLASSES & {word.strip(".,;") for word in told.split()} - {"Check"}
    assert not error.excerpt or "^" in error.excerpt.split("\n")[1]
