"""Sums and means of reals below an aggregate are those of plain DuckDB, whatever step is declared.

Of decimals the exact total is known, and every comparison is held to it: floating point, and so
DuckDB, misses ties. Other reals are compared with DuckDB's answer, further from the constant than
rounding reaches.
"""

import operator
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from attrs import evolve

from discreet.core.canonical import digest
from discreet.curator.answer import bound
from discreet.releases.estimates.estimate import TotalOf
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.sql.rows import totals as inner_totals
from discreet.tables.column import Bounds, Column, ColumnType
from tests.support.projects.clinic import exact_columns
from tests.support.projects.dice import Dice
from tests.support.projects.memory import MemoryEngine
from tests.support.projects.plan import plan_of
from tests.support.projects.small import small_catalog

RANGES = {
    "wide": Bounds(lower=0, upper=100, step=10),
    "thirds": Bounds(lower=-20, upper=20, step="1/3"),
    "threes": Bounds(lower=-99, upper=300, step=3),
    "cents": Bounds(lower=0, upper=10, step="0.01"),
    "fine": Bounds(lower=0, upper=1000, step="1e-11"),
}
DIGITS = 3
PEOPLE = 60

CATALOG = small_catalog(rows_per_group=10**4)
TABLE = evolve(
    CATALOG.tables[1],
    columns=(
        Column(name="person", type=ColumnType.TEXT),
        *(Column(name=name, type=ColumnType.REAL, bounds=one) for name, one in RANGES.items()),
    ),
)
WORLD = evolve(CATALOG, tables=(TABLE,))


def rows(number: int, *, is_decimal: bool) -> list[dict[str, Any]]:
    """Return rows of people with one to nine rows, all values within the declared ranges."""
    dice = Dice(number, label="inner sums")

    def value(bounds: Bounds) -> float:
        parts = 10**DIGITS if is_decimal else 7**15
        steps = dice.between(int(bounds.lower * parts), int(bounds.upper * parts))
        return float(Fraction(steps, parts))

    return [
        {"person": f"p{i}"} | {name: value(bounds) for name, bounds in RANGES.items()}
        for i in range(PEOPLE)
        for _ in range(dice.between(1, 9))
    ]


INNER = "SELECT person, SUM({0}) AS s, AVG({0}) AS a FROM visits GROUP BY person"
ABOVE = "SELECT {0} AS x, AVG({0}) OVER (PARTITION BY person) AS a FROM visits"


def ours(engine: MemoryEngine, conditions: list[str], inner: str) -> list[int]:
    """Return for how many rows of a sub-query each condition holds."""
    question = resolve(parse(counting(conditions, inner)), WORLD, engine.public_rows)
    columns = exact_columns(engine, bound(question))
    shown = [output.estimate for output in question.view.outputs]
    return [int(columns[part.index][0]) for part in shown if isinstance(part, TotalOf)]


def counting(conditions: list[str], inner: str) -> str:
    each = (f"COUNT(*) FILTER (WHERE {one}) AS n{i}" for i, one in enumerate(conditions))
    return f"SELECT {', '.join(each)} FROM ({inner}) AS t"


def conditions_on(totals: dict[str, list[Fraction]], number: int) -> list[str]:
    """Return comparisons with totals that there are, and with others in between."""
    dice, found = Dice(number, label="constants"), []
    for name, values in totals.items():
        for value in dice.some(values, 8):
            if 10**9 % value.denominator == 0:
                found += [f"{name} {sign} {float(value)!r}" for sign in ("=", ">", ">=", "<")]
            found.append(f"{name} > {float(dice.pick(values) + Fraction(1, 10**6))!r}")
    return found


def exact_totals(data: pa.Table, name: str) -> dict[str, list[Fraction]]:
    """Return the sum and the mean of each person, without any rounding."""
    of_people: dict[str, list[Fraction]] = {}
    for row in data.to_pylist():
        value = Fraction(round(row[name] * 10**DIGITS), 10**DIGITS)
        of_people.setdefault(row["person"], []).append(value)
    sums = {"s": [sum(some, Fraction(0)) for some in of_people.values()]}
    return sums | {"a": [sum(some, Fraction(0)) / len(some) for some in of_people.values()]}


def holds(condition: str, totals: dict[str, list[Fraction]]) -> int:
    name, sign, constant = condition.split()
    number = Fraction(constant)
    return sum(SIGNS[sign](value, number) for value in totals[name])


SIGNS = {"=": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt}


@pytest.mark.parametrize("name", RANGES)
def test_decimals_compare_as_they_are_written(engine, name):
    """Every comparison with a constant is that of the exact total, ties with it as well."""
    data = pa.Table.from_pylist(rows(1, is_decimal=True))
    engine.tables = {"visits": data}
    totals = exact_totals(data, name)
    asked = conditions_on(totals, 1)
    assert any("=" in one and holds(one, totals) for one in asked)
    assert ours(engine, asked, INNER.format(name)) == [holds(one, totals) for one in asked]


@pytest.mark.parametrize("name", RANGES)
def test_other_reals_pass_as_they_do_in_duckdb(engine, name):
    """No total is as near to a constant as rounding reaches: half a step for each of nine rows."""
    data = pa.Table.from_pylist(rows(2, is_decimal=False))
    engine.tables = {"visits": data}
    with duckdb.connect(":memory:") as plain:
        plain.register("visits", data)
        found = plain.execute(INNER.format(name)).fetchall()
        reach = 9 * RANGES[name].upper / 10**14
        dice, asked = Dice(2, label="constants"), list[str]()
        for column, which in (("s", 1), ("a", 2)):
            values = sorted(Fraction(row[which]) for row in found)
            for _ in range(15):
                near = dice.pick(values) + dice.pick((-1, 1)) * 4 * reach
                assert min(abs(one - near) for one in values) > reach
                asked.append(f"{column} > {float(near)!r}")
        theirs = plain.execute(counting(asked, INNER.format(name))).fetchone()
    assert theirs is not None
    assert ours(engine, asked, INNER.format(name)) == list(theirs)


def test_a_value_is_not_above_the_mean_of_itself(engine):
    """One row a person: no value of up to fifteen digits differs from its own mean."""
    data = pa.Table.from_pylist(
        [{"person": f"p{i}", "cents": float(f"0.{i}37912468013"[:15])} for i in range(1, 99)]
    )
    engine.tables = {"visits": data}
    assert ours(engine, ["x > a", "x < a", "x = a"], ABOVE.format("cents")) == [0, 0, 98]


def test_on_the_declared_grid_they_would_not(engine, monkeypatch):
    """Power: what this was like before, in both of its ways to mislead."""
    few = [{"person": f"p{i}", "wide": 4.9} for i in range(400)]
    engine.tables = {"visits": pa.Table.from_pylist(few)}
    asked = ["s > 3", "s = 4.9", "a >= 4.9"]
    assert ours(engine, asked, INNER.format("wide")) == [400, 400, 400]
    before = plan_of(counting(asked, INNER.format("wide")), WORLD, engine)
    monkeypatch.setattr(inner_totals, "fine_grid", lambda bounds: bounds)
    assert ours(engine, asked, INNER.format("wide")) == [0, 0, 0]
    # An answer on the declared grid is another question's: it is never given for this one.
    after = plan_of(counting(asked, INNER.format("wide")), WORLD, engine)
    assert digest(before.to_json()) != digest(after.to_json())
