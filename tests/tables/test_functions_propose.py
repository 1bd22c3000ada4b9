"""Proposed ranges hold in-range rows; public keys hold the values of declared keys."""

import datetime
import itertools
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import RefusedQuery
from discreet.engines.duckdb.render.expression import expression
from discreet.engines.duckdb.render.values import literal
from discreet.tables.column import Bounds, ColumnType, DateRange
from discreet.tables.expression import FieldValue, Literal, fields_in
from discreet.tables.functions.call import call
from discreet.tables.functions.cast import cast
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.functions.public_values import public_keys
from discreet.tables.relations.relation import Field

INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
BOOLEAN, DATE = ColumnType.BOOLEAN, ColumnType.DATE
YEARS = DateRange(first=datetime.date(2019, 11, 5), last=datetime.date(2024, 2, 29))

FIELDS = (
    Field(name="age", type=INTEGER, bounds=Bounds(lower=0, upper=110)),
    Field(name="change", type=INTEGER, bounds=Bounds(lower=-7, upper=3)),
    Field(name="cost", type=REAL, bounds=Bounds(lower=1, upper="20.5", step="0.25")),
    Field(name="balance", type=REAL, bounds=Bounds(lower=-2, upper=2, step="0.1")),
    Field(name="urgent", type=BOOLEAN),
    Field(name="day", type=DATE, dates=YEARS),
    Field(name="other", type=DATE, dates=DateRange(first=YEARS.first, last=YEARS.first)),
    Field(name="free", type=REAL),
)
VALUES = (
    ["0", "1", "57", "110", "NULL"],
    ["-7", "-1", "0", "3"],
    ["1", "1.25", "20.5", "7.3"],
    ["-2", "-0.1", "0", "2", "NULL"],
    ["true", "false"],
    ["'2019-11-05'", "'2020-02-29'", "'2024-02-29'"],
    ["'2019-11-05'"],
    ["'-1e300'", "'5'", "NULL"],
)
KINDS = ("BIGINT", "BIGINT", "DOUBLE", "DOUBLE", "BOOLEAN", "DATE", "DATE", "DOUBLE")
ENGINE = duckdb.connect()
ENGINE.execute("SET threads = 1")


def field(index):
    return FieldValue(FIELDS[index].type, index)


def integer(value):
    return Literal(INTEGER, value)


def values_of(node):
    """Evaluate the node on all combinations of values of the fields that are in it."""
    sources = [
        f"(SELECT unnest([{', '.join(VALUES[i])}]::{KINDS[i]}[]) AS c{i})"
        for i in sorted(fields_in(node))
    ]
    sql = expression(node, [f"c{i}" for i in range(len(FIELDS))])
    rows = ENGINE.execute(
        f"SELECT DISTINCT {sql} FROM {', '.join(sources) or '(SELECT 1)'}"
    ).fetchall()
    return [value for (value,) in rows if value is not None]


def calls(name, *places):
    return st.tuples(*places).map(lambda arguments: call(name, arguments))


numbers = st.one_of(
    st.sampled_from([field(0), field(1), field(2), field(3)]),
    st.integers(-20, 20).map(integer),
    st.sampled_from(["1/2", "-13/4", "1000"]).map(lambda value: Literal(REAL, value)),
    st.just(field(4)).map(lambda urgent: cast(urgent, INTEGER)),
    st.sampled_from(["year", "month", "day_of_week", "week", "day_of_year"]).map(
        lambda part: call(part, [field(5)])
    ),
    st.just(call("-", [field(5), field(6)])),
    st.sampled_from(["day", "month", "quarter", "year"]).map(
        lambda unit: call("date_diff", [Literal(TEXT, unit), field(6), field(5)])
    ),
    st.just(call("least", [call("greatest", [field(7), integer(-3)]), integer(8)])),
    st.just(call("clamp", [field(7), integer(-3), integer(8)])),
)


def wider(inner):
    return st.one_of(
        *(calls(name, inner, inner) for name in ("+", "-", "*", "/", "%")),
        *(calls(name, inner, inner) for name in ("greatest", "least", "coalesce", "nullif")),
        *(calls(name, inner) for name in ("neg", "abs", "floor", "ceil", "trunc", "sqrt", "sign")),
        *(calls(name, inner) for name in ("ln", "log10", "log2")),
        calls("//", inner.map(whole), inner.map(whole)),
        calls("round", inner, st.integers(-2, 2).map(integer)),
        calls("power", inner, st.integers(0, 3).map(integer)),
        calls("case", st.just(field(4)), inner, inner),
        calls("case", st.just(field(4)), inner, st.just(Literal(TEXT, None))),
        calls("clamp", inner, st.just(integer(-2)), st.just(integer(5))),
        calls(
            "width_bucket", inner, st.just(integer(0)), st.just(integer(50)), st.just(integer(7))
        ),
    )


def whole(node):
    return node if node.type is INTEGER else cast(node, INTEGER)


@settings(max_examples=300, deadline=None)
@given(st.recursive(numbers, wider, max_leaves=6))
def test_values_lie_within_the_proposed_range(node):
    bounds = propose_bounds(node, FIELDS)
    if bounds is None:
        return
    for value in values_of(node):
        slack = bounds.step / 2 + abs(Fraction(value)) / 10**12
        assert bounds.lower - slack <= Fraction(value) <= bounds.upper + slack


@pytest.mark.parametrize(
    ("node", "lower", "upper", "step"),
    [
        (call("+", [field(0), field(1)]), -7, 113, 1),
        (call("*", [field(0), field(2)]), 0, "2255", "1/4"),
        (call("-", [field(2), field(3)]), -1, "22.5", "1/20"),
        (call("/", [field(0), field(2)]), 0, 110, "1/100"),
        (call("clamp", [field(7), integer(0), integer(8)]), 0, 8, "1/10000"),
        (call("clamp", [field(2), integer(0), integer(8)]), 0, 8, "1/4"),
        (call("clamp", [field(7), integer(0), integer(8), Literal(REAL, "2")]), 0, 8, 2),
        (call("least", [call("greatest", [field(7), integer(0)]), integer(8)]), 0, 8, "1/10000"),
        (call("year", [field(5)]), 2019, 2024, 1),
        (call("coalesce", [field(0), integer(-5)]), -5, 110, 1),
        (call("round", [field(2), integer(0)]), 1, 21, 1),
        (integer(3), 3, 4, 1),
        (cast(field(4), INTEGER), 0, 1, 1),
    ],
)
def test_the_proposals_that_people_meet(node, lower, upper, step):
    assert propose_bounds(node, FIELDS) == Bounds(lower=lower, upper=upper, step=step)


@pytest.mark.parametrize(
    "node",
    [
        field(7),
        call("/", [field(0), field(1)]),
        call("+", [field(7), integer(1)]),
        call("greatest", [field(7), integer(1)]),
        call("ln", [field(0)]),
        call("length", [Literal(TEXT, "abc")]),
        field(5),
        call("power", [Literal(REAL, str(10**300)), integer(3)]),
    ],
)
def test_no_proposal_where_nothing_is_known(node):
    assert propose_bounds(node, FIELDS) is None


KEYED = (
    Field(name="clinic", type=TEXT, keys=(" North", "south ", "East-1")),
    Field(name="floor", type=INTEGER, keys=(-3, 0, 1, 12)),
    Field(name="urgent", type=BOOLEAN),
    Field(name="day", type=DATE, dates=YEARS),
    Field(name="code", type=TEXT, keys=("7", "-12"), nullable=False),
    Field(name="age", type=INTEGER, bounds=Bounds(lower=0, upper=110)),
    Field(name="free", type=TEXT),
)
ALL_DAYS = [YEARS.first + datetime.timedelta(days=n) for n in range(YEARS.days)]
KEYED_VALUES: tuple[list[Any], ...] = (
    [*(KEYED[0].keys or ()), None],
    [*(KEYED[1].keys or ()), None],
    [True, False, None],
    [*ALL_DAYS[::37], YEARS.last, None],
    [*(KEYED[4].keys or ())],
    [-(2**63), -1, 0, 5, 110, 2**63 - 1, None],
    ["x", None],
)


def keyed(index):
    return FieldValue(KEYED[index].type, index)


def text(value):
    return Literal(TEXT, value)


def keyed_values(node):
    rows = [row for row in _used_rows(node) if row]
    sql = " UNION ALL ".join(f"SELECT {expression(node, cells)}" for cells in rows)
    return {value for (value,) in ENGINE.execute(sql).fetchall()} - {None}


def _used_rows(node):
    used = fields_in(node)
    choices = [values if i in used else values[:1] for i, values in enumerate(KEYED_VALUES)]
    kinds = [known.type for known in KEYED]
    for row in itertools.islice(itertools.product(*choices), 300):
        yield [literal(Literal(kind, value)) for kind, value in zip(kinds, row, strict=True)]


texts = st.one_of(st.sampled_from([keyed(0), keyed(4)]), st.sampled_from(["", "a", "B "]).map(text))
wholes = st.one_of(
    st.just(keyed(1)),
    st.integers(-9, 9).map(integer),
    st.just(call("clamp", [keyed(5), integer(2), integer(9)])),
    st.just(call("width_bucket", [keyed(5), integer(0), integer(90), integer(9)])),
    st.sampled_from(["year", "quarter", "month", "week", "day", "day_of_week"]).map(
        lambda part: call(part, [keyed(3)])
    ),
    st.just(cast(keyed(4), INTEGER)),
    st.just(cast(keyed(2), INTEGER)),
)


def more_texts(inner):
    small = st.integers(-3, 5).map(integer)
    return st.one_of(
        *(calls(name, inner) for name in ("lower", "upper", "trim", "ltrim", "rtrim")),
        *(calls(name, inner, small) for name in ("left", "right")),
        calls("substring", inner, st.integers(1, 4).map(integer), st.integers(0, 4).map(integer)),
        calls("replace", inner, st.just(text("o")), st.just(text("00"))),
        *(calls(name, inner, inner) for name in ("||", "concat", "coalesce", "nullif", "least")),
        calls("case", st.just(keyed(2)), inner, inner),
        wholes.map(lambda number: cast(number, TEXT)),
    )


def more_wholes(inner):
    return st.one_of(
        *(calls(name, inner, inner) for name in ("+", "-", "*", "//", "%", "greatest")),
        *(calls(name, inner) for name in ("neg", "abs", "sign")),
        calls("case", st.just(keyed(2)), inner, st.just(Literal(TEXT, None))),
        texts.map(lambda value: call("length", [value])),
    )


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.recursive(texts, more_texts, max_leaves=4),
        st.recursive(wholes, more_wholes, max_leaves=3),
        st.sampled_from(["day", "week", "month", "quarter", "year"]).map(
            lambda unit: call("date_trunc", [text(unit), keyed(3)])
        ),
    )
)
def test_every_value_is_among_the_public_keys(node):
    keys = public_keys(node, KEYED)
    if keys is None:
        return
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert keyed_values(node) <= set(keys)


@pytest.mark.parametrize(
    ("node", "keys"),
    [
        (keyed(0), KEYED[0].keys),
        (keyed(2), (False, True)),
        (call("<", [keyed(5), integer(1)]), (False, True)),
        (call("lower", [call("trim", [keyed(0)])]), ("north", "south", "east-1")),
        (call("coalesce", [keyed(4), text("none")]), ("7", "-12", "none")),
        (call("width_bucket", [keyed(5), integer(0), integer(9), integer(3)]), (0, 1, 2, 3, 4)),
        (call("clamp", [keyed(5), integer(2), integer(5)]), (2, 3, 4, 5)),
        (call("year", [keyed(3)]), (2019, 2020, 2021, 2022, 2023, 2024)),
        (call("quarter", [keyed(3)]), (1, 2, 3, 4)),
        (call("concat", [text("f"), keyed(4)]), ("f7", "f-12")),
        (call("concat", [text("f"), keyed(0)]), ("f North", "fsouth ", "fEast-1", "f")),
        (call("*", [keyed(1), integer(10)]), (-30, 0, 10, 120)),
    ],
)
def test_the_keys_that_people_meet(node, keys):
    assert public_keys(node, KEYED) == keys


def test_months_of_a_range_of_days_are_keys():
    months = public_keys(call("date_trunc", [text("month"), keyed(3)]), KEYED)
    assert months is not None
    assert (months[0], months[-1]) == (datetime.date(2019, 11, 1), datetime.date(2024, 2, 1))
    assert len(months) == 52
    assert public_keys(keyed(3), KEYED) == tuple(ALL_DAYS)


@pytest.mark.parametrize(
    "node",
    [
        keyed(5),
        keyed(6),
        call("lower", [keyed(6)]),
        call("case", [keyed(2), keyed(6), text("a")]),
        call("coalesce", [keyed(6), text("a")]),
        call("/", [keyed(1), integer(2)]),
        call("upper", [text("ŉa")]),
        call("case", [keyed(2), Literal(TEXT, None), Literal(TEXT, None)]),
        call("clamp", [keyed(5), integer(0), integer(10_000)]),
        call("length", [keyed(6)]),
    ],
)
def test_no_keys_where_values_are_not_public(node):
    assert public_keys(node, KEYED) is None


def test_a_huge_power_is_refused_before_it_is_computed():
    big = call("power", [Literal(REAL, "1000"), integer(10**9)])
    assert propose_bounds(big, FIELDS) is None


def test_constants_must_be_constants():
    with pytest.raises(RefusedQuery, match="constant"):
        call("clamp", [keyed(5), keyed(1), integer(5)])
