"""Print what one person adds to an answer: ``python work_of_one.py CASE seconds|mebibytes``.

Each case is a family of nasty questions that are dear for the rows of one person alone. The largest
that is accepted is asked twice, without that person and with them, and what they add is printed:
seconds of processor time, or the growth of the process's memory. ``CASE all`` prints both, and how
large the question was.
"""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.core.permit import Permit
from discreet.curator.answer import bound
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.contain import row_limits
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.work import work

CROWD = 2_048
"""How many rows the engine works on at a time."""

SIGN = "\U0001f600"
"""A character of four bytes: dear for most functions."""

DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = { epsilon = 1, delta = 1e-6 }

[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = "person"
rows_per_group = 1_000_000
groups_per_unit = 1_000_000

[tables.visits.columns]
person = { type = "text" }
clinic = { type = "text", keys = ["a", "b", "c"] }
age = { type = "integer", min = 0, max = 100 }
note = { type = "text" }

[public_tables.many]
source = "many.parquet"

[public_tables.many.columns]
number = { type = "integer" }
zero = { type = "integer" }
name = { type = "text" }
"""


def made(sign: str, length: int) -> str:
    """Return a text that only one person has."""
    return f"CASE WHEN person = 'x' THEN '{sign * length}' ELSE '' END"


def texts(sign: str = SIGN) -> str:
    """Return a table in which that person has texts of 10,000 characters."""
    return (
        f"WITH s AS (SELECT person, clinic, age, {made(sign, 5_000)} AS m FROM visits),"
        " t AS (SELECT person, clinic, age, m || m AS m FROM s)"
    )


def partners(size: int) -> str:
    """Return a join in which that person's rows have so many public partners, and others none."""
    some = f"(SELECT * FROM many WHERE number < {size}) AS p"
    return f"t JOIN {some} ON zero = CASE WHEN person = 'x' THEN 0 ELSE 1 END"


def chain(size: int, value: str) -> str:
    """Return a text that is changed so often."""
    for i in range(size):
        value = f"{'upper' if i % 2 else 'lower'}({value})"
    return value


def distinct_counts(count: int) -> str:
    """Return so many different counts of different values."""
    return ", ".join(f"COUNT(DISTINCT number % {i + 2}) AS d{i}" for i in range(count))


def roots(value: str) -> str:
    """Return a number that passes ten guarded functions."""
    for i in range(5):
        value = f"sqrt({value} + {i}.5)"
    return value


@frozen(kw_only=True)
class Nasty:
    """A family of questions, larger with a number, and the person that they are about."""

    sql: Callable[[int], str]
    most: int
    rows: int = 1
    note: str = ""
    is_scattered: bool = False
    """Whether each row stands alone among rows of others; then no limit may be needed."""


NESTED = {
    "nullif": "nullif({0}, 'a{1}')",
    "greatest": "greatest({0}, name)",
    "right": "right({0}, 999{1})",
    "concat": "concat({0}, name)",
}


def nested(form: str) -> Nasty:
    """Return the questions with a text in nested calls of one form."""

    def sql(size: int) -> str:
        value = "m"
        for i in range(size):
            value = form.format(value, i)
        return f"{texts()} SELECT COUNT(*) FROM {partners(CROWD)} WHERE {value} <> name"

    return Nasty(sql=sql, most=38)


WINDOW = "MIN(w) OVER (PARTITION BY person ORDER BY w)"

CASES = {
    "texts of stored rows": Nasty(
        sql=lambda n: (
            f"WITH t AS (SELECT person, {made('é', 8_000)} AS m FROM visits)"
            f" SELECT COUNT(*) FROM t WHERE {chain(n, 'm')} = 'a'"
        ),
        most=40,
        rows=100,
        is_scattered=True,
    ),
    "numbers of stored rows": Nasty(
        sql=lambda n: (
            "SELECT COUNT(*) FROM visits WHERE CASE WHEN person = 'x' THEN "
            + " OR ".join(f"{roots('age')} > {i}" for i in range(n))
            + " ELSE FALSE END"
        ),
        most=40,
        rows=100,
        is_scattered=True,
    ),
    "a pattern for public rows": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT COUNT(*) FROM {partners(n)}"
            f" WHERE concat(name, m) LIKE '%{'_' * 20}b%_'"
        ),
        most=100_000,
    ),
    "distinct texts": Nasty(
        sql=lambda n: f"{texts()} SELECT COUNT(DISTINCT concat(name, m)) FROM {partners(n)}",
        most=100_000,
    ),
    "four distinct texts": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT "
            + ", ".join(f"COUNT(DISTINCT concat(name, '{i}', m))" for i in range(4))
            + f" FROM {partners(n)}"
        ),
        most=100_000,
    ),
    "windows over texts": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT COUNT(*) FROM (SELECT *, {WINDOW} AS y FROM"
            f" (SELECT person, concat(name, m) AS w FROM {partners(n)})) WHERE y > w"
        ),
        most=100_000,
    ),
    "long private keys": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT concat(name, m) AS k, COUNT(*) FROM {partners(n)} GROUP BY k"
        ),
        most=100_000,
    ),
    "many private keys": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT {', '.join(f'age + {i} AS k{i}' for i in range(100))}, number + age"
            f" AS z, COUNT(*) FROM {partners(n)}"
            f" GROUP BY {', '.join(f'k{i}' for i in range(100))}, z"
        ),
        most=100_000,
    ),
    "distinct counts of a sub-query": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT COUNT(*) FROM (SELECT person, w, {distinct_counts(50)} FROM"
            f" (SELECT person, number, concat(name, m) AS w FROM {partners(n)})"
            f" GROUP BY person, w) WHERE {' + '.join(f'd{i}' for i in range(50))} > -1"
        ),
        most=100_000,
    ),
    "least texts of a sub-query": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT COUNT(*) FROM (SELECT person, number, "
            + ", ".join(f"MIN(concat(name, '{i}', m)) AS x{i}" for i in range(5))
            + f" FROM {partners(n)} GROUP BY person, number)"
            + " WHERE x0 < x1 AND x1 < x2 AND x2 < x3 AND x3 < x4"
        ),
        most=100_000,
    ),
    **{f"nested {name}": nested(form) for name, form in NESTED.items()},
    "copies with patterns": Nasty(
        sql=lambda n: (
            f"{texts()} SELECT COUNT(*) FROM ("
            + " UNION ALL ".join([f"SELECT person FROM t WHERE m LIKE '%{'_' * 80}b%_'"] * n)
            + ")"
        ),
        most=90,
    ),
    "pairs and sums": Nasty(
        sql=lambda n: (
            "SELECT a.clinic, SUM(a.age), AVG(b.age), COUNT(*) FROM visits AS a"
            " JOIN visits AS b USING (person) WHERE a.age + b.age > -1 GROUP BY a.clinic"
        ),
        most=1,
        rows=1_000,
    ),
    "pairs of long notes": Nasty(
        sql=lambda n: (
            "SELECT COUNT(*) FROM visits AS a JOIN visits AS b USING (person)"
            " WHERE a.note < upper(b.note)"
        ),
        most=1,
        rows=1_000,
        note=SIGN * 10_000,
    ),
}


def make_project(folder: Path, case: Nasty, *, is_there: bool) -> None:
    """Write the tables, with or without the person."""
    (folder / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
    crowd = case.rows * CROWD if case.is_scattered else 5_000
    place = f"i % {CROWD} = 7" if case.is_scattered else f"i < {case.rows}"
    person = f"CASE WHEN {place} AND {is_there} THEN 'x' ELSE 'p' || (i // 3) END"
    note = f"CASE WHEN {place} AND {is_there} THEN '{case.note}' ELSE '' END"
    rows = f"SELECT {person} AS person, 'a' AS clinic, i % 100 AS age, {note} AS note"
    numbers = "SELECT i AS number, 0 AS zero, 'n' || i AS name FROM range(100000) AS t(i)"
    for sql, name in ((f"{rows} FROM range({crowd}) AS t(i)", "visits"), (numbers, "many")):
        duckdb.sql(f"COPY ({sql}) TO '{folder / name}.parquet'")


def accepted(engine: DuckDbEngine, folder: Path, case: Nasty, size: int) -> BoundedPlan | None:
    """Return the plan of a question, if it is accepted; of stored rows, if no limit is needed."""
    question = resolve(parse(case.sql(size)), read_catalog(folder), engine.public_rows)
    try:
        plan = bound(question)
    except RefusedQuery:
        return None
    return None if case.is_scattered and row_limits(plan.relation) else plan


def largest(engine: DuckDbEngine, folder: Path, case: Nasty) -> int:
    """Return the size of the largest question that is accepted."""
    least, most = 1, case.most
    while least < most:
        middle = (least + most + 1) // 2
        if accepted(engine, folder, case, middle) is None:
            most = middle - 1
        else:
            least = middle
    return least


def measured(case: Nasty) -> dict[str, Any]:
    """Return what the person adds to the largest question, and what was counted before."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as made_folder:
        folder, engine = Path(made_folder), DuckDbEngine()
        make_project(folder, case, is_there=False)
        size = largest(engine, folder, case)
        plan = accepted(engine, folder, case, size)
        assert plan is not None
        counted = work(plan)
        each = counted.of_a_row + counted.of_stored_texts
        found["counted"] = (counted.of_a_unit + case.rows * each) / 1e9
        results = []
        permit = Permit()  # nobody's rows: they are made up
        permit.open()
        for is_there in (False, False, True):
            make_project(folder, case, is_there=is_there)
            start = time.process_time()
            engine.execute(plan, bytes(32), permit)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            results.append((time.process_time() - start, peak))
        _, before, after = results
        found["seconds"] = max(1e-3, after[0] - before[0])
        found["mebibytes"] = max(1.0, after[1] - before[1])
        return found | {"size": size}


if __name__ == "__main__":
    name, part = sys.argv[1:]
    numbers = measured(CASES[name])
    print(json.dumps(numbers if part == "all" else {part: numbers[part]}))
