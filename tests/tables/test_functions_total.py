"""Totality: no function raises on any value, and none sees more than its own row."""

import itertools
import math
from pathlib import Path
from typing import Any

import duckdb
import pytest
from attrs import asdict

from discreet.core.errors import Unsupported
from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.functions import FUNCTIONS as RENDERED
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import CALLED, FUNCTIONS, call
from discreet.tables.functions.cast import CASTS, cast
from discreet.tables.functions.function import Without

INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
BOOLEAN, DATE = ColumnType.BOOLEAN, ColumnType.DATE
TIMESTAMP, TIME = ColumnType.TIMESTAMP, ColumnType.TIME

SQL_TYPES = {INTEGER: "BIGINT", REAL: "DOUBLE", TEXT: "VARCHAR", BOOLEAN: "BOOLEAN", DATE: "DATE"}
SQL_TYPES |= {TIMESTAMP: "TIMESTAMP", TIME: "TIME"}

NASTY = {
    INTEGER: [str(n) for n in (-(2**63), 2**63 - 1, -1, 0, 1, 2**31, 719_163)],
    REAL: [
        "-0.0", "0.0", "5e-324", "1.7976931348623157e308", "-1.7976931348623157e308", "0.5", "-2.5",
        "9223372036854775807", "inf", "-inf", "nan",
    ],
    TEXT: [
        "", " ", "a", "it''s", "%_\\", "e\u0301", "\U0001f1e9\U0001f1ea", "İßﬁ", "nan", "-infinity",
        "2024-02-30", "0044-03-15 (BC)", "99999-01-01", "1e400", "tRuE", " 7 ",
        "a\u0000b", "x" * 20_000, "2024-02-29 23:59:59.9999999", "2024-02-29T10:00:00+02",
        "2024-02-29 10:00", "2024-02-29 10:00 Europe/Berlin", "epoch", "24:00:00", "10:00:00.5",
    ],
    BOOLEAN: ["true", "false"],
    DATE: [
        "infinity", "-infinity", "5877642-06-25 (BC)", "5881580-07-10", "0001-01-01", "9999-12-31",
        "2024-02-29", "1969-12-31", "10000-01-01", "0001-12-31 (BC)",
    ],
    TIMESTAMP: [
        "infinity", "-infinity", "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806",
        "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "2024-02-29 10:20:30.123456",
        "1969-12-31 23:59:59.999999", "10000-01-01 00:00:00", "0001-12-31 (BC) 23:59:59",
    ],
    TIME: ["00:00:00", "10:20:30.123456", "23:59:59.999999", "24:00:00"],
}  # fmt: skip


def integer(value: int) -> Literal:
    return Literal(INTEGER, value)


def real(value: str) -> Literal:
    return Literal(REAL, value)


def text(value: str) -> Literal:
    return Literal(TEXT, value)


PAIRS = [(INTEGER, INTEGER), (REAL, REAL), (INTEGER, REAL)]
ALIKE = [*PAIRS, (TEXT, TEXT), (BOOLEAN, BOOLEAN), (DATE, DATE)]
ALIKE += [(TIMESTAMP, TIMESTAMP), (DATE, TIMESTAMP), (TIME, TIME)]
ONE_EACH = [(kind,) for kind in ColumnType]
DATE_PARTS = (
    "year", "quarter", "month", "week", "day", "day_of_week", "iso_day_of_week", "day_of_year",
)  # fmt: skip
CUTS = ("day", "week", "month", "quarter", "year")
CLOCK = ("hour", "minute", "second", "millisecond")
PATTERNS = ["", "%", "a%", "%a%_%a%", "_" * 50 + "%" * 50, "\\", "é%"]


def each(names, cases):
    return {name: list(cases) for name in names}


CASES: dict[str, Any] = {
    "and": [(BOOLEAN, BOOLEAN)],
    "or": [(BOOLEAN, BOOLEAN)],
    "not": [(BOOLEAN,)],
    **each(("=", "<>", "<", "<=", ">", ">=", "is_distinct", "nullif"), ALIKE),
    "is_null": ONE_EACH,
    "in": [
        (INTEGER, integer(0), real("1/2")), (TEXT, text("a"), text("it's")),
        (DATE, text("2024-02-29")), (TIMESTAMP, text("2024-02-29 10:20:30.123456")),
        (TIME, text("10:20:30.123456"), text("00:00")),
    ],
    "like": [(TEXT, text(pattern)) for pattern in PATTERNS],
    "ilike": [(TEXT, text(pattern)) for pattern in PATTERNS],
    "+": [*PAIRS, (DATE, INTEGER), (INTEGER, DATE)],
    "-": [*PAIRS, (DATE, INTEGER), (DATE, DATE)],
    **each(("*", "/", "%", "power"), PAIRS),
    "//": [(INTEGER, INTEGER)],
    **each(
        ("neg", "abs", "floor", "ceil", "trunc", "sqrt", "ln", "log10", "log2", "exp", "sign"),
        [(INTEGER,), (REAL,)],
    ),
    "round": [(k, integer(d)) for k in (INTEGER, REAL) for d in (-15, -1, 0, 2, 15)] + [(REAL,)],
    "greatest": [*ALIKE, (REAL, INTEGER, REAL)],
    "least": [*ALIKE, (REAL, INTEGER, REAL)],
    "case": [(BOOLEAN, *pair) for pair in ALIKE],
    "if": [(BOOLEAN, *pair) for pair in ALIKE],
    "coalesce": ALIKE,
    **each(("lower", "upper", "length"), [(TEXT,)]),
    **each(("trim", "ltrim", "rtrim"),
           [(TEXT,), (TEXT, text("a\u0301x")), (TEXT, text(""))]),
    "substring": [
        (TEXT, integer(start), *rest)
        for start in (-1_000_000, -1, 0, 1, 1_000_000)
        for rest in ((), (integer(0),), (integer(1_000_000),))
    ],
    "left": [(TEXT, integer(n)) for n in (-1_000_000, -1, 0, 1, 1_000_000)],
    "right": [(TEXT, integer(n)) for n in (-1_000_000, -1, 0, 1, 1_000_000)],
    "||": [(TEXT, TEXT)],
    "concat": [(TEXT, TEXT), (TEXT,)],
    "replace": [(TEXT, text("x"), text("0123456789")), (TEXT, text("\u0301"), text(""))],
    **each(("starts_with", "ends_with", "contains"), [(TEXT, TEXT)]),
    **each(DATE_PARTS, [(DATE,), (TIMESTAMP,)]),
    **each(("hour", "minute", "second"), [(TIMESTAMP,), (TIME,), (DATE,)]),
    "date_trunc": [
        (text(u), kind)
        for kind, units in ((DATE, CUTS), (TIMESTAMP, (*CUTS, "hour", "minute", "second")))
        for u in units
    ],
    "date_diff": [
        *((text(u), DATE, DATE) for u in ("day", "month", "quarter", "year")),
        *((text(u), TIMESTAMP, TIMESTAMP) for u in ("day", "month", "quarter", "year", *CLOCK)),
        *((text(u), TIME, TIME) for u in CLOCK),
    ],
    "add_months": [
        (k, integer(n)) for k in (DATE, TIMESTAMP) for n in (-119_988, -1, 0, 13, 119_988)
    ],
    "add_seconds": [(TIMESTAMP, INTEGER), (DATE, INTEGER), (TIMESTAMP, integer(-3_600))],
    "make_date": [(INTEGER, INTEGER, INTEGER), (INTEGER, integer(2), integer(30))],
    "width_bucket": [
        (kind, *ends)
        for kind in (INTEGER, REAL)
        for ends in (
            (integer(0), integer(10), integer(4)),
            (real("-1/3"), real("7"), integer(1_000)),
            (integer(-(2**62)), integer(2**62), integer(3)),
        )
    ],
    "clamp": [
        (INTEGER, integer(-5), integer(5)),
        (INTEGER, integer(-6), integer(6), integer(3)),
        (INTEGER, real("-1/2"), real("7/2")),
        (REAL, integer(0), integer(1), real("1/10")),
        (REAL, real("-3/2"), integer(2**60)),
    ],
}  # fmt: skip


def fields_of(specification):
    """Return the arguments: a field for a type, a literal as it is; and the fields' types."""
    arguments: list[Expression] = []
    kinds: list[ColumnType] = []
    for part in specification:
        if isinstance(part, Literal):
            arguments.append(part)
        else:
            arguments.append(FieldValue(part, len(kinds)))
            kinds.append(part)
    return arguments, kinds


def all_nodes():
    for name, specifications in CASES.items():
        for number, specification in enumerate(specifications):
            arguments, kinds = fields_of(specification)
            yield pytest.param(call(name, arguments), kinds, id=f"{name}-{number}")
    for source, targets in CASTS.items():
        for target in targets:
            node = cast(FieldValue(source, 0), target)
            yield pytest.param(node, [source], id=f"cast-{source.value}-{target.value}")


def constants(kind):
    quoted = [f"'{value}'::{SQL_TYPES[kind]}" for value in NASTY[kind]]
    return [*quoted, f"NULL::{SQL_TYPES[kind]}"]


@pytest.fixture(scope="module")
def engine():
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection


def test_every_function_is_tried():
    assert set(CASES) == set(FUNCTIONS)


def test_every_function_has_every_part_or_says_why_not():
    parts = [(f.name, part) for f in CALLED.values() for part in asdict(f, recurse=False).values()]
    assert [name for name, part in parts if not part or part == Without("")] == []
    assert set(RENDERED) == {f.name for f in CALLED.values() if not isinstance(f.work, Without)}


@pytest.mark.parametrize(("node", "kinds"), list(all_nodes()))
def test_no_value_makes_a_function_raise_or_see_another_row(engine, node, kinds):
    """Each row of a crowd has the value that its constants have alone, of the declared type."""
    rows = list(itertools.product(*(constants(kind) for kind in kinds)))
    cells = [f"c{i}" for i in range(len(kinds))]
    values = ", ".join(f"({i}, {', '.join(row)})" for i, row in enumerate(rows))
    sql = expression(node, cells)
    crowd = engine.execute(
        f"SELECT typeof({sql}), ({sql})::VARCHAR FROM (VALUES {values}) t(id, {', '.join(cells)})"
        " ORDER BY id"
    ).fetchall()
    alone = []
    for start in range(0, len(rows), 50):
        texts = [f"({expression(node, row)})::VARCHAR" for row in rows[start : start + 50]]
        alone += engine.execute(f"SELECT {', '.join(texts)}").fetchone()
    assert [value for _, value in crowd] == alone
    assert {kind for kind, _ in crowd} == {SQL_TYPES[node.type]}


@pytest.mark.parametrize(("node", "kinds"), [n for n in all_nodes() if n.values[0].type is REAL])
def test_finite_numbers_have_finite_functions_and_one_zero(engine, node, kinds):
    """A scan passes no NaN and no minus zero on; those texts are tried as texts elsewhere."""
    left_out = ("inf", "nan", "'-0.0'")
    finite = [[c for c in constants(k) if not any(o in c for o in left_out)] for k in kinds]
    rows = list(itertools.product(*finite))
    cells = [f"c{i}" for i in range(len(kinds))]
    values = ", ".join(f"({', '.join(row)})" for row in rows)
    found = engine.execute(
        f"SELECT {expression(node, cells)} FROM (VALUES {values}) t({', '.join(cells)})"
    ).fetchall()
    assert all(value is None or math.isfinite(value) for (value,) in found)
    assert "-0.0" not in {str(value) for (value,) in found}


def test_functions_of_functions_stay_total_and_short(engine):
    """Guards mention their value once, so that nesting does not double the text."""
    node: Expression = FieldValue(REAL, 0)
    for _ in range(15):
        node = call("sqrt", [call("nullif", [call("/", [node, FieldValue(REAL, 1)]), real("1")])])
    sql = expression(node, ["a", "b"])
    assert len(sql) < 15 * 400
    rows = itertools.product(constants(REAL), repeat=2)
    values = ", ".join(f"({a}, {b})" for a, b in rows)
    engine.execute(f"SELECT {sql} FROM (VALUES {values}) t(a, b)").fetchall()


def test_the_deepest_expression_runs(engine):
    whole: Expression = FieldValue(INTEGER, 0)
    number: Expression = FieldValue(REAL, 1)
    for _ in range(99):
        whole = call("nullif", [call("//", [whole, integer(1)]), integer(5)]) if _ < 49 else whole
        number = call("%", [number, real("7/2")])
    for node in (whole, number):
        sql = expression(node, ["a", "b"])
        engine.execute(f"SELECT {sql} FROM (VALUES (8::BIGINT, '2.5'::DOUBLE)) t(a, b)").fetchall()


def test_texts_do_not_grow_without_limit(engine):
    node: Expression = FieldValue(TEXT, 0)
    for _ in range(8):
        node = Call(TEXT, "||", (node, node))
    for _ in range(4):
        node = call("replace", [node, text("x"), text("xxxxxxxxxx")])
    sql = expression(node, ["a"])
    assert engine.execute(f"SELECT length({sql}) FROM (VALUES ('x')) t(a)").fetchone() == (10_000,)


def test_every_function_is_documented():
    page = (
        (Path(__file__).parents[2] / "docs/reference/functions.md").read_text().replace("\\|", "|")
    )
    named = [function.usage for function in FUNCTIONS.values()]
    missing = [usage for usage in named if f"`{usage}`" not in page]
    assert missing == []


def test_an_unknown_function_is_not_rendered():
    with pytest.raises(Unsupported):
        expression(Call(INTEGER, "random", ()), [])
    with pytest.raises(Unsupported):
        expression(Expression(INTEGER), [])
