"""One value in several places of a function, in plans that an engine has to copy."""

from typing import Any

import pyarrow as pa
import pytest

from discreet.tables.catalog import Limits
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.cast import cast
from discreet.tables.keyset import KeySet, PublicKeys
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.scan import Scan
from tests.support.projects.bounded_plans import table
from tests.support.projects.clinic import run_exact, visit, write_project
from tests.support.projects.memory import MemoryEngine, reveal
from tests.tables.test_functions_total import CASES

INTEGER, TEXT, DATE = ColumnType.INTEGER, ColumnType.TEXT, ColumnType.DATE
FIELDS = {INTEGER: FieldValue(INTEGER, 2), TEXT: FieldValue(TEXT, 1), DATE: FieldValue(DATE, 3)}
MANY = ("and", "or", "greatest", "least", "coalesce", "concat", "||")
"""Functions that take any number of arguments."""


def values() -> list[Expression]:
    """Return every function of fields, each type always the same field."""
    of_types: dict[ColumnType, Expression] = dict(FIELDS)
    of_types[ColumnType.REAL] = call("/", [FIELDS[INTEGER], Literal(INTEGER, 1)])
    of_types[ColumnType.BOOLEAN] = call("is_null", [FIELDS[TEXT]])
    of_types[ColumnType.TIMESTAMP] = cast(FIELDS[DATE], ColumnType.TIMESTAMP)
    of_types[ColumnType.TIME] = cast(of_types[ColumnType.TIMESTAMP], ColumnType.TIME)
    found = []
    for name, specifications in CASES.items():
        for parts in specifications:
            arguments = [p if isinstance(p, Literal) else of_types[p] for p in parts]
            found.append(call(name, arguments * 2 if name in MANY else arguments))
            if name in MANY:
                found.append(call(name, [arguments[0]] * 5))
    return found


@pytest.mark.parametrize("start", range(0, len(values()), 60))
def test_every_function_takes_a_value_twice_under_grouping_sets(start):
    tests = [call("not", [call("is_null", [v])]) for v in values()[start : start + 60]]
    keys = (KeySet(places=(0,), rows=(("a",), ("b",))), KeySet(places=(), rows=((),)))
    plan = BoundedPlan(
        relation=Scan.of(table()),
        keys=PublicKeys(fields=(1,), sets=keys),
        limits=Limits(rows_per_group=2, groups_per_unit=3),
        aggregates=tuple(CountRows(where=where) for where in tests),
    )
    rows = {"person": [1, 2], "city": ["a", "b"], "age": [3, None]}
    rows["day"] = pa.array([None, None], pa.date32())
    engine = MemoryEngine({"people": pa.table(rows)})
    columns: Any = reveal(engine, plan).columns
    for column in columns:
        first, second, both = column.tolist()
        assert both == first + second


@pytest.mark.parametrize("name", ["LEAST", "GREATEST"])
@pytest.mark.parametrize("extremes", ["age, age, age", "age, change, age, change", "7, age, 7, 7"])
def test_extremes_of_repeated_values_in_a_rollup(tmp_path, name, extremes):
    folder = write_project(tmp_path, [visit("p", age=3), visit("q", "b", age=40)])
    sql = f"SELECT clinic, SUM(CLAMP({name}({extremes}), 0, 50)) FROM visits GROUP BY "
    (rolled,) = run_exact(folder, f"{sql} ROLLUP (clinic)")
    (plain,) = run_exact(folder, f"{sql} clinic")
    assert rolled.tolist() == [*plain.tolist(), sum(plain.tolist())]


def test_fields_of_two_sides_that_are_called_alike(tmp_path):
    folder = write_project(tmp_path, [visit("p", age=3), visit("q", "b", age=40)])
    (counts,) = run_exact(
        folder,
        "SELECT a.clinic, COUNT(*) FROM visits AS a JOIN visits AS b ON a.person = b.person"
        " AND LEAST(5, a.age, b.age, a.change, b.change) > 0 GROUP BY ROLLUP (a.clinic)",
    )
    assert counts.tolist() == [1, 1, 0, 0, 2]


def test_extremes_of_many_values_skip_null(tmp_path):
    folder = write_project(tmp_path, [visit("p", age=3, change=-2), visit("q", age=None)])
    (total,) = run_exact(
        folder, "SELECT SUM(CLAMP(LEAST(NULL, age, change + 9, 8, 9, 10), 0, 50)) FROM visits"
    )
    assert total.tolist() == [3 + 8]
