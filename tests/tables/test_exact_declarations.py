"""Exact releases in a declaration: what is read, and what is refused with its place and reason."""

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.core.errors import DeclarationError
from discreet.tables.declarations.declaration import parse_catalog
from discreet.tables.exact_declaration import ExactKind
from tests.support.projects.exact import ASSURANCE, SCHOOL, release


def read(*releases: str):
    text = SCHOOL.format(exact="\n".join(releases))
    return parse_catalog(text, Path("/project/discreet.toml")).exact


def test_all_of_it_is_read():
    settings = {
        "rows": 400,
        "known": 40,
        "split": '"CAMPUS"',
        "parts": '["south", "north"]',
        "law": '{ kind = "normal", mean = 50.5, deviation = 10 }',
        "given": '["other", 12]',
        "robust": '["other"]',
        "holds_beside_noise": "true",
    }
    (one,) = read(release("total", columns='["Score"]', **settings))
    assert (one.name, one.table, one.kind) == ("total", "exams", ExactKind.SUM)
    assert (one.columns, one.rows, one.known) == (("score",), 400, 40)
    assert (one.split, one.parts) == ("campus", ("south", "north"))
    assert one.law == {"kind": "normal", "mean": "50.5", "deviation": 10}
    assert (one.epsilon, one.delta) == (Fraction(1, 2), Fraction(1, 10**6))
    assert (one.given, one.robust) == (("other", "ticket 12"), ("other",))
    assert one.holds_beside_noise
    assert one.assurance == "The law is from the report of last year, before the exams."


def test_nothing_is_declared_by_default():
    assert read() == ()


def test_histograms_and_counts():
    grades = release(
        "grades",
        "histogram",
        '["grade"]',
        least=20,
        discard="{ epsilon = 0.2, delta = 1e-7 }",
        law='"discarded()"',
    )
    passed, some = (
        release("passed", "count", '["passed"]'),
        release("some", "count", '["grade"]', values='["a", "b"]'),
    )
    first, second, third = read(grades, passed, some)
    assert (first.least, first.discards) == (20, (Fraction(1, 5), Fraction(1, 10**7)))
    assert (second.values, third.values) == ((True,), ("a", "b"))


@pytest.mark.parametrize(
    ("changed", "because"),
    [
        ({"table": '"none"'}, "exact.one.table .* names no private table. It must be one of exams"),
        ({"statistic": "median"}, "exact.one.statistic .* is not known"),
        ({"statistic": "moments"}, "exact.one.statistic .* is not known"),
        ({"statistic": "regression"}, "exact.one.columns .* makes no line"),
        ({"columns": "[]"}, "has no columns, or too many"),
        ({"columns": '["score", "Score"]'}, "declares something twice"),
        ({"columns": '["shoes"]'}, "names no declared column of exams"),
        ({"columns": '["student"]'}, "names the column that says whose a row is"),
        ({"columns": '["passed"]'}, "names passed, which has no declared range"),
        ({"columns": "[1]"}, "has something that is no text"),
        ({"rows": 0}, "exact.one.rows .* is out of range"),
        ({"rows": '"?"'}, "is not answered yet"),
        ({"known": 60}, "exact.one.known .* below the number of rows, or nothing is hidden"),
        ({"known": -1}, "exact.one.known .* is out of range"),
        ({"epsilon": 0}, "exact.one.epsilon .* is out of range. It must be above 0"),
        ({"epsilon": "nan"}, "exact.one.epsilon"),
        ({"delta": 0}, "exact.one.delta .* is out of range"),
        ({"delta": 1}, "exact.one.delta .* is out of range. It must be below 1"),
        ({"law": "3"}, "exact.one.law .* has the wrong type"),
        ({"law": "{ kind = true }"}, None),
        ({"law": "{ since = 2025-01-01 }"}, "has a value that no law has"),
        ({"parts": '["north"]'}, "belongs to no split"),
        ({"split": '"campus"'}, r"exact.one.parts .* is missing"),
        ({"split": '"campus"', "parts": '["west"]'}, "Conditions on private columns"),
        ({"split": '"hours"', "parts": '["3"]'}, "a column with declared keys"),
        ({"split": '"score"', "parts": '["3"]'}, "a column with declared keys"),
        ({"given": '["one"]'}, "names the release itself"),
        ({"given": "[true]"}, "is no list of releases"),
        ({"robust": '["other"]'}, "be among given too: the theorem has both premises"),
        ({"discard": "{ epsilon = 1, delta = 0.1 }"}, "is for histograms alone"),
        ({"where": '"score > 3"'}, "exact.one.where .* is not a setting"),
        ({"least": 3}, "exact.one.least .* is not a setting"),
    ],
)
def test_what_is_wrong_is_refused(changed, because):
    made = release(**({"name": "one"} | changed))
    if because is None:
        (one,) = read(made)
        assert one.law == {"kind": True}
        return
    with pytest.raises(DeclarationError, match=because):
        read(made)


@pytest.mark.parametrize(
    ("statistic", "columns", "more", "because"),
    [
        ("histogram", '["grade"]', {}, r"exact.one.least .* is missing"),
        ("histogram", '["hours"]', {"least": 9}, "has no declared keys"),
        ("histogram", '["grade", "campus"]', {"least": 9}, "names several"),
        ("count", '["grade"]', {}, r"exact.one.values .* is missing"),
        ("count", '["grade"]', {"values": '["z"]'}, "be different ones of a, b, c"),
        ("count", '["grade"]', {"values": '["a", "a"]'}, "be different ones of a, b, c"),
        ("count", '["passed"]', {"values": "[]"}, "be different ones of True, False"),
        (
            "histogram",
            '["grade"]',
            {"least": 9, "split": '"grade"', "parts": '["a"]'},
            "names a column of the statistic itself",
        ),
    ],
)
def test_counts_need_declared_bins(statistic, columns, more, because):
    with pytest.raises(DeclarationError, match=because):
        read(release("one", statistic, columns, **more))


_DOTS, _UNSEEN = ('"' + sign * 30 + '"' for sign in (".", "\u200b"))


@pytest.mark.parametrize("text", ['""', '"yes"', "true", _DOTS, _UNSEEN])
def test_an_owner_assures_something_in_words(text):
    made = release("one").replace(ASSURANCE, f"assurance = {text}")
    with pytest.raises(DeclarationError, match=r"exact.one.assurance"):
        read(made)
    with pytest.raises(DeclarationError, match=r"exact.one.assurance .* is missing"):
        read(release("one").replace(ASSURANCE, ""))


def test_names_are_not_those_of_tickets():
    with pytest.raises(DeclarationError, match="has no name of its own"):
        read(release("'ticket 3'"))


CHOICE = {"rows_exact": "true"}


def test_choices_are_read():
    made = (
        release("least", "threshold", '["passed"]', threshold=20, **CHOICE),
        release("much", "threshold", '["score"]', threshold=3000.5),
        release("most", "majority", '["grade"]', values='["a", "b"]', **CHOICE),
        release("first", "argmax", '["grade"]', **CHOICE),
    )
    least, much, most, first = read(*made)
    assert (least.values, least.least_yes, least.is_choice_by_counts) == ((True,), 20, True)
    assert (much.values, much.least_yes, much.is_choice_by_counts) == (
        (),
        Fraction("3000.5"),
        False,
    )
    assert (most.values, most.least_yes, most.has_exact_rows) == (("a", "b"), 31, True)
    assert (first.kind, first.is_choice_by_counts) == (ExactKind.ARGMAX, True)
    assert [one.kind.is_choice for one in (least, much, most, first)] == [True] * 4


@pytest.mark.parametrize(
    ("statistic", "columns", "more", "because"),
    [
        ("sign", '["score"]', {}, "is 'sign', which cannot be published: it has three outcomes"),
        ("map", '["score"]', {}, "is 'map', which cannot be published: it compares sums of log"),
        ("majority", '["passed"]', {}, "asserts that there are exactly 60 rows with a unit"),
        ("argmax", '["grade"]', {"rows_exact": "false"}, "exact.one.rows_exact .* is not true"),
        ("sum", '["score"]', CHOICE, "exact.one.rows_exact .* is for choices by counts alone"),
        ("threshold", '["score"]', CHOICE | {"threshold": 9}, "more rows than declared do no harm"),
        ("threshold", '["passed"]', CHOICE, r"exact.one.threshold .* is missing"),
        ("threshold", '["passed"]', CHOICE | {"threshold": 0}, "or the answer is known before"),
        ("threshold", '["passed"]', CHOICE | {"threshold": 61}, "number from 1 to the 60 rows"),
        ("threshold", '["passed"]', CHOICE | {"threshold": 2.5}, "be a whole number from 1"),
        ("threshold", '["score"]', {"threshold": 0}, "be above the least total of 60 rows"),
        ("threshold", '["score"]', {"threshold": 6001}, "or the answer is known before"),
        ("threshold", '["score", "hours"]', {"threshold": 9}, "names several"),
        ("threshold", '["passed", "grade"]', CHOICE | {"threshold": 9}, "names several"),
        ("threshold", '["grade"]', CHOICE | {"threshold": 9}, r"exact.one.values .* is missing"),
        ("threshold", '["hours"]', CHOICE | {"threshold": 9, "values": "[3]"}, "different ones"),
        ("majority", '["score"]', CHOICE, r"exact.one.values .* is missing"),
        ("majority", '["passed"]', CHOICE | {"threshold": 9}, "threshold .* is not a setting"),
        ("argmax", '["hours"]', CHOICE, "names hours, which has no declared keys"),
        ("argmax", '["grade", "campus"]', CHOICE, "names several"),
        ("argmax", '["grade"]', CHOICE | {"values": '["a"]'}, "values .* is not a setting"),
        ("argmax", '["grade"]', CHOICE | {"least": 3}, "least .* is not a setting"),
    ],
)
def test_choices_that_say_too_little_or_too_much_are_refused(statistic, columns, more, because):
    with pytest.raises(DeclarationError, match=because):
        read(release("one", statistic, columns, **more))
