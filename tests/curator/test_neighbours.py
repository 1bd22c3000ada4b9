"""Neighbour replay: the same query with and without one person.

The exact aggregates of the two may differ by no more than the declared contribution, in every norm
it states, and the cases marked so must attain it. This is the sensitivity proof, run.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.tables.declaration import read_catalog
from discreet.tables.engines import duckdb as duckdb_engine
from discreet.tables.engines.duckdb import DuckDbEngine
from discreet.tables.engines.duckdb_sql import query
from tests.support.clinic import exact_columns, make_plan, visit, write_project, write_rows

BY_CLINIC = "SELECT clinic, COUNT(*), SUM(age), SUM(change), SUM(cost) FROM visits GROUP BY clinic"
TOTAL = "SELECT COUNT(*), SUM(age), SUM(change), SUM(cost) FROM visits"
BY_TWO = "SELECT clinic, urgent, COUNT(*), SUM(age) FROM visits GROUP BY clinic, urgent"

CROWD = [
    visit(
        f"p{i % 30}", "abcd"[i % 4], age=i % 100, cost=i % 11, change=i % 5 - 3, urgent=i % 2 == 0
    )
    for i in range(60)
]
EXTREME = {"age": 10**9, "change": -(10**9), "cost": 1e300, "urgent": True}
ONE_OF_THE_CROWD = [visit("p1", clinic, **EXTREME) for clinic in "abcd" for _ in range(4)]


@frozen
class Case:
    """A crowd, one more person, and a question."""

    name: str
    person: list[dict[str, Any]]
    sql: str = BY_CLINIC
    file_format: str = "parquet"
    is_nobody: bool = False
    attains: bool = False
    """Whether this person moves every aggregate by as much as is declared."""


EVERYWHERE = Case(
    "everywhere, all values at the clamp",
    [visit("new", clinic, **EXTREME) for clinic in "abcd" for _ in range(9)],
    attains=True,
)
EQUAL_ROWS = Case("equal rows only", [visit("new", "a", age=100, change=-10, cost=10)] * 100)
NOBODY = Case("nobody's rows", [visit(None, c, **EXTREME) for c in "abcd"] * 50, is_nobody=True)

CASES = [
    EVERYWHERE,
    EQUAL_ROWS,
    NOBODY,
    Case("everywhere, without groups", EVERYWHERE.person, TOTAL, attains=True),
    Case(
        "every pair of keys",
        [visit("new", c, age=999, urgent=u) for c in "abcd" for u in (True, False)] * 5,
        BY_TWO,
        attains=True,
    ),
    Case(
        "NaN, NULL and infinities",
        [visit("new", "b", cost=v, age=None) for v in (math.nan, None, math.inf, -math.inf)],
    ),
    Case(
        "outside the keys, and inside",
        [visit("new", "elsewhere", **EXTREME)] * 50 + [visit("new", "a", **EXTREME)],
    ),
    Case(
        "half of the rows filtered out",
        [visit("new", "abcd"[i % 4], age=i * 10) for i in range(40)],
        BY_CLINIC.replace("GROUP", "WHERE age < 35 OR cost > 2 GROUP"),
    ),
    Case(
        "text that is not a number",
        [visit("new", c, age="x", cost="1e999", change="-", urgent="?") for c in "abcd"] * 9,
        file_format="csv",
    ),
    Case(
        "a name full of quotes",
        [visit("o'\"né;--", c, **EXTREME) for c in "abcd"] * 3,
        attains=True,
    ),
    Case(
        "many rows with distinct values",
        [visit("new", "abcd"[i % 4], age=i, cost=i / 8, change=-i) for i in range(200)],
    ),
    Case("in no group at all", [visit("new", None, **EXTREME)] * 20, is_nobody=True),
]


def difference(folder: Path, case: Case, engine: Any) -> list[tuple[Contribution, Contribution]]:
    """Return, for each aggregate, what the person moved and what was declared."""
    write_project(folder, CROWD, file_format=case.file_format)
    plan = make_plan(read_catalog(folder), case.sql)
    without = exact_columns(engine, plan)
    write_rows(folder, [*CROWD, *case.person], case.file_format)
    with_person = exact_columns(engine, plan)
    moved = [abs(a - b) for a, b in zip(without, with_person, strict=True)]
    found = [
        Contribution(
            l0=int(np.count_nonzero(v)),
            linf=int(v.max()),
            l1=int(v.sum()),
            l2_squared=int((v * v).sum()),
        )
        for v in moved
    ]
    return list(zip(found, plan.contributions(), strict=True))


def check(folder: Path, case: Case) -> None:
    """Compare what the person moved with what was declared, and with nothing for nobody."""
    nothing = Contribution(l1=0)
    for moved, declared in difference(folder, case, DuckDbEngine()):
        limit = nothing if case.is_nobody else declared
        assert moved.is_within(limit), f"{moved} is not within {limit}"
        if case.attains:
            assert moved == declared


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_person_moves_no_more_than_declared(tmp_path, case):
    check(tmp_path, case)


def test_removing_any_one_of_the_crowd(tmp_path):
    """Also for people who share their groups with others, and with more rows than may count."""
    rows = CROWD + ONE_OF_THE_CROWD
    engine = DuckDbEngine()
    write_project(tmp_path, rows)
    plan = make_plan(read_catalog(tmp_path), BY_CLINIC)
    everybody = exact_columns(engine, plan)
    for person in sorted({row["person"] for row in rows})[:25]:
        write_rows(tmp_path, [row for row in rows if row["person"] != person])
        rest = exact_columns(engine, plan)
        for a, b, declared in zip(everybody, rest, plan.contributions(), strict=True):
            moved = Contribution(l0=int(np.count_nonzero(a - b)), linf=int(abs(a - b).max()))
            assert moved.is_within(declared)


# ---- Mutants: each breaks one rule of the plan, and the replay must see it.

MUTANTS = [
    ("the clamp is too wide", ", 0), 100) END AS v1", ", 0), 10000) END AS v1", EVERYWHERE),
    ("rows are not limited", "AND earlier IS DISTINCT FROM g", "", EVERYWHERE),
    ("groups are not limited", "group_rank <= 3", "TRUE", EVERYWHERE),
    (
        "ties are let in",
        "lag(g, 2)\n                    OVER (PARTITION BY u ORDER BY hg, g, hr, v0, v1, v2, v3)",
        "CASE WHEN rank() OVER (PARTITION BY u, g ORDER BY hr) > 2 THEN g END",
        EQUAL_ROWS,
    ),
    (
        "the limit depends on the other people",
        "group_rank <= 3",
        "group_rank <= (SELECT 1 + count(DISTINCT u) % 2 FROM hashed)",
        EVERYWHERE,
    ),
    (
        "rows of nobody count",
        "WHERE TRY_CAST(TRY(decode(c0)) AS VARCHAR) IS NOT NULL",
        "WHERE TRUE",
        NOBODY,
    ),
]


@pytest.mark.parametrize(("rule", "old", "new", "case"), MUTANTS, ids=[m[0] for m in MUTANTS])
def test_the_replay_catches_a_broken_rule(tmp_path, monkeypatch, rule, old, new, case):
    def broken(plan, relation, cells):
        sql = query(plan, relation, cells)
        assert old in sql, f"the mutant '{rule}' must change something"
        return sql.replace(old, new)

    monkeypatch.setattr(duckdb_engine, "query", broken)
    with pytest.raises(AssertionError, match="is not within"):
        check(tmp_path, case)
