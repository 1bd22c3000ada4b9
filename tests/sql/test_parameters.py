"""A parameter is a constant, whatever is in it."""

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadSyntax, InvalidArgument
from discreet.sql import parameters
from discreet.sql.parameters import with_parameters
from discreet.sql.syntax.nodes import token_kind, tokens_of

moment = datetime.datetime.fromisoformat

QUERY = "SELECT COUNT(*) FROM visits WHERE clinic = ? AND age > 1 -- why?\n AND note <> 'who?'"


def words(sql: str) -> list[tuple[str, str]]:
    return [(token_kind(token), token.text) for token in tokens_of(sql)]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_one_constant(text):
    bound = words(with_parameters(QUERY, [text]))
    place = words(QUERY).index(("PLACEHOLDER", "?"))
    assert bound[place] == ("STRING", text)
    del bound[place]
    assert bound == [word for word in words(QUERY) if word != ("PLACEHOLDER", "?")]


HOSTILE = ["' OR 1 = 1 --", "\\' OR 1 = 1 --", "/*", "*/", "?", "''", "'; DROP TABLE visits", "$$"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_constants(text):
    assert ("STRING", text) in words(with_parameters(QUERY, [text]))


def test_a_writer_that_does_not_quote_is_caught(monkeypatch):
    """The broken twin: what is written is read again, so a wrong writer is refused."""

    class Careless:
        def __init__(self, text):
            self.text = text

        def sql(self, _):
            return f"'{self.text}'"

    monkeypatch.setattr(parameters, "_constant", Careless)
    assert with_parameters(QUERY, ["a"]).count("'a'") == 1
    for text in HOSTILE[:2]:
        with pytest.raises((InvalidArgument, BadSyntax)):
            with_parameters(QUERY, [text])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (False, "FALSE"),
        (7, "7"),
        (-7, "(-7)"),
        (np.int64(-3), "(-3)"),
        (0.1, "0.1"),
        (np.float64(2.5), "2.5"),
        (-1e-7, "(-1e-07)"),
        (1e16, "1e+16"),
        (Decimal("-1.50"), "(-1.50)"),
        (Decimal("1E+5"), "1e+5"),
        ("Kings' Cross", "'Kings'' Cross'"),
        (datetime.date(2025, 1, 31), "CAST('2025-01-31' AS DATE)"),
        (moment("2025-01-31 03:04"), "CAST('2025-01-31 03:04:00' AS TIMESTAMP)"),
        (moment("2025-01-31 03:04+01:00"), "CAST('2025-01-31 03:04:00+01:00' AS TIMESTAMPTZ)"),
        (datetime.time(3, 4), "CAST('03:04:00' AS TIME)"),
        (datetime.time(3, 4, tzinfo=datetime.UTC), "CAST('03:04:00+00:00' AS TIMETZ)"),
    ],
)
def test_every_kind_of_constant(value, text):
    assert with_parameters("SELECT x - ? FROM t", [value]) == f"SELECT x - {text} FROM t"


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), b"a", [1], {1}, object(), 1j, 10**5000],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_constant_is_refused(value):
    with pytest.raises(InvalidArgument):
        with_parameters(QUERY, [value])


@pytest.mark.parametrize("given", [[], ["a", "b"]])
def test_there_are_as_many_parameters_as_question_marks(given):
    with pytest.raises(InvalidArgument, match=rf"must be 1; got {len(given)}"):
        with_parameters(QUERY, given)


@pytest.mark.parametrize("sql", ["SELECT E?", "SELECT x?y", "SELECT x?1"])
def test_a_parameter_does_not_melt_into_its_neighbours(sql):
    with pytest.raises(InvalidArgument, match="stand by itself"):
        with_parameters(sql, ["a" if "E" in sql[6:] else 1])


def test_a_text_that_is_no_unicode_is_refused():
    with pytest.raises(BadSyntax):
        with_parameters(QUERY, ["\ud800"])


def test_without_question_marks_the_query_stays_as_it_is():
    assert with_parameters("SELECT '?'  -- ?", []) == "SELECT '?'  -- ?"
