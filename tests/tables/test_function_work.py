"""The work of one function: what the model says of lengths and guards is what the engine does."""

import duckdb
import pytest

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.expression import expression
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.comparison import looks
from discreet.tables.functions.work import COPIED
from discreet.tables.plans.bill import (
    Value,
    function_work,
    guards,
    longest_result,
    text_value,
    usual_result,
    value_of,
)
from tests.support.projects.dice import Dice
from tests.tables.test_functions_total import all_nodes

TEXT, INTEGER, BOOLEAN = ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BOOLEAN
NODES = list(all_nodes())
TEXTS = [node for node in NODES if node.values[0].type is TEXT]


@pytest.fixture(scope="module")
def engine():
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection


def lengths_of(node: Call, lengths: list[int]) -> list[int]:
    """Return the most characters of each argument, fields as long as is said."""
    fields = [text_value(length) for length in lengths]
    return [value_of(argument, fields).longest for argument in node.arguments]


def is_call(node: Expression) -> bool:
    return isinstance(node, Call)


def test_an_unknown_function_is_refused():
    for node in (Call(INTEGER, "random", ()), Call(TEXT, "repeat", ())):
        with pytest.raises(Unsupported):
            function_work(node, [])
    with pytest.raises(Unsupported):
        longest_result(Call(TEXT, "repeat", ()), [])
    with pytest.raises(Unsupported):
        value_of(Expression(TEXT), [])


@pytest.mark.parametrize(("node", "kinds"), [n for n in NODES if is_call(n.values[0])])
def test_guards_are_counted_as_they_are_written(node, kinds):
    """A guard is what makes a number dear for a row alone."""
    written = expression(node, [f"c{i}" for i in range(len(kinds))])
    assert written.count("lambda") == sum(map(guards, calls_in(node)))


def calls_in(node: Expression) -> list[Call]:
    """Return the call and all calls in it."""
    if not isinstance(node, Call):
        return []
    return [node, *(found for argument in node.arguments for found in calls_in(argument))]


# ---- Lengths.


@pytest.mark.parametrize(("node", "kinds"), TEXTS)
def test_no_text_is_longer_than_said(engine, node, kinds):
    """Texts of all lengths and of one to four bytes a character, beside numbers and dates."""
    values = {
        ColumnType.INTEGER: ["-9223372036854775808", "9223372036854775807"],
        ColumnType.REAL: ["-1.7976931348623157e308", "-2.2250738585072014e-308", "123456.789"],
        ColumnType.BOOLEAN: ["true", "false"],
        ColumnType.DATE: ["0001-01-01", "9999-12-31", "5881580-07-10", "5877642-06-25 (BC)"],
        ColumnType.TIMESTAMP: ["9999-12-31 23:59:59.999999", "290309-12-22 (BC) 00:00:00.000001"],
        ColumnType.TIME: ["23:59:59.999999"],
    }
    for length in (0, 1, 9, 1_000, 10_000):
        texts = [sign * length for sign in ("x", "İ", "\U0001f600", "ß", "e\u0301")]
        lengths = lengths_of(node, [2 * length if kind is TEXT else 0 for kind in kinds])
        most = longest_result(node, lengths) if isinstance(node, Call) else 0
        for i in range(5):
            cells = [
                f"'{texts[i]}'"
                if kind is TEXT
                else f"'{values[kind][i % len(values[kind])]}'::{SQL[kind]}"
                for kind in kinds
            ]
            found = engine.execute(f"SELECT length({expression(node, cells)})").fetchone()[0]
            assert found is None or found <= most


SQL = {ColumnType.INTEGER: "BIGINT", ColumnType.REAL: "DOUBLE", BOOLEAN: "BOOLEAN"}
SQL |= {ColumnType.DATE: "DATE", ColumnType.TIMESTAMP: "TIMESTAMP", ColumnType.TIME: "TIME"}


def test_small_and_capital_letters_are_as_many(engine):
    characters = "chr(i::INTEGER) FROM range(1, 1114112) AS r(i) WHERE i < 55296 OR i > 57343"
    for name in ("lower", "upper"):
        sql = f"SELECT max(length({name}(c))) FROM (SELECT {characters}) AS t(c)"
        assert engine.execute(sql).fetchone() == (1,)


@pytest.mark.parametrize(("node", "kinds"), [n for n in TEXTS if TEXT in n.values[1]])
def test_averages_of_lengths_give_averages(engine, node, kinds):
    """What is said of texts of usual length holds for all rows together, a few long ones too."""
    dice = Dice(0, label="averages")
    for _ in range(5):
        rows = [[dice.pick((0, 1, 7, 60, 9_000)) for _ in kinds] for _ in range(20)]
        usual = [-(-sum(column) // len(rows)) for column in zip(*rows, strict=True)]
        fields = [Value(length=length, longest=10_000) for length in usual]
        cells = [f"c{i}" for i in range(len(kinds))]
        listed = ", ".join(
            "("
            + ", ".join(
                f"repeat('x', {length})" if kind is TEXT else f"({length % 2} = 1)"
                for kind, length in zip(kinds, row, strict=True)
            )
            + ")"
            for row in rows
        )
        sql = f"SELECT sum(length({expression(node, cells)})) FROM (VALUES {listed}) t"
        (found,) = engine.execute(f"{sql}({', '.join(cells)})").fetchone()
        assert (found or 0) <= len(rows) * value_of(node, fields).length


@pytest.mark.parametrize(("node", "kinds"), [n for n in NODES if TEXT in n.values[1]])
def test_work_does_not_grow_faster_than_texts(node, kinds):
    dice = Dice(1, label="averages")
    for _ in range(20):
        rows = [[dice.pick((0, 1, 7, 60, 9_000)) for _ in kinds] for _ in range(20)]
        every = [function_work(node, lengths_of(node, row)).each for row in rows]
        usual = [-(-sum(column) // len(rows)) for column in zip(*rows, strict=True)]
        together = function_work(node, lengths_of(node, usual)).each
        rounding = len(node.arguments)  # each argument's eighths are rounded
        assert sum(every) <= len(rows) * (together + rounding)


def test_a_choice_of_texts_is_as_long_as_all_of_them_on_an_average():
    node = call("greatest", [FieldValue(TEXT, 0), FieldValue(TEXT, 1)])
    assert isinstance(node, Call)
    assert longest_result(node, [10, 10]) == 10
    assert usual_result(node, [10, 10]) == 20  # one of the two is long in each row


# ---- Copies.


PASSED_ON = {"case", "coalesce"}
"""Functions whose result is one of their texts as it is: measured, nothing is copied."""


@pytest.mark.parametrize(("node", "kinds"), [n for n in TEXTS if is_call(n.values[0])])
def test_a_text_that_is_returned_was_copied(node, kinds):
    """A copy takes time and room: each of the texts that a result can be made of counts."""
    if node.function in PASSED_ON:
        return
    nothing = [0] * len(node.arguments)
    for i, argument in enumerate(node.arguments):
        if argument.type is TEXT and not isinstance(argument, Literal):
            lengths = [*nothing[:i], 9_000, *nothing[i + 1 :]]
            made = function_work(node, lengths).each - function_work(node, nothing).each
            assert made >= COPIED * longest_result(node, lengths)


def test_a_text_is_copied_again_where_it_is_guarded():
    """The engine puts both into a list, and takes the first out of it."""
    node = call("nullif", [FieldValue(TEXT, 0), FieldValue(TEXT, 1)])
    assert isinstance(node, Call)
    first, second = (function_work(node, lengths).each for lengths in ([10_000, 0], [0, 10_000]))
    assert first >= 2 * COPIED * 10_000
    assert second >= COPIED * 10_000


# ---- Patterns.


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("", 1),
        ("%", 1),
        ("flu", 1),
        ("____", 1),  # matched once, from the start
        ("a_c%", 1),
        ("%flu%", 1),
        ("%" + "a" * 500 + "%", 1),
        ("%a_%", 2),  # what ends in _ fits where its beginning does
        ("%a_", 3),  # unless it must reach the end as well
        ("%_@__%.__%", 3),
        ("%" + "_" * 990 + "b%_", 992),
        ("%" + "_" * 990 + "%", 1),
        ("%a" + "_" * 990, 992),
    ],
)
def test_a_pattern_is_looked_for_so_often(pattern, count):
    assert looks(pattern) == count


def test_a_pattern_costs_what_it_looks_at():
    note = FieldValue(TEXT, 0)

    def work(pattern: str, name: str = "like") -> int:
        node = call(name, [note, Literal(TEXT, pattern)])
        return value_of(node, [text_value(10_000)]).steps.each

    assert work("%" + "_" * 990 + "b%_") > 400 * work("%a_%")
    assert work("%" + "a" * 990 + "%") < 2 * work("%a%")
    assert work("%a%", "ilike") > work("%a%")
