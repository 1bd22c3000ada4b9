"""Neighbour replay by the thousand: random declarations, data, queries and people.

The exact aggregates of a query with and without one unit differ by no more than its plan says, in
every norm. Each project has a number, from which it can be made again: a failure names it.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import DiscreetError
from discreet.tables.keyset import PrivateKeys, PublicKeys
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import Relation
from tests.support.projects.dice import Dice
from tests.support.projects.memory import Exact, MemoryEngine, reveal
from tests.support.projects.neighbours_replay import PLANS, UNITS, Question, replay
from tests.support.projects.people import random_world
from tests.support.projects.plan import plan_of
from tests.support.projects.random_catalogs import random_catalog
from tests.support.projects.small import CROWD, FIRST_DAY
from tests.support.projects.world import World
from tests.support.random_sql.query import random_query
from tests.support.random_sql.tree import random_plan
from tests.support.statistics.numbered_rng import NumberedRng

BATCHES = 10
PROJECTS = 3
"""Of each batch; with five plans and eight people each that is 1,200 cases."""

SOAK_PROJECTS = 250
"""Of each batch of the long run: 100,000 cases."""

TRIES = 60


def ask_sql(dice: Dice, world: World, engine: MemoryEngine) -> Question:
    """Return a random query that is not refused, and its plan."""
    for _ in range(TRIES):
        sql = random_query(dice, world.catalog).sql
        try:
            plan = plan_of(sql, world.catalog, engine)
            plan.contributions()
            return sql, plan
        except DiscreetError:
            continue
    raise AssertionError("nearly every query is refused")


def ask_tree(dice: Dice, world: World, engine: MemoryEngine) -> Question:
    """Return a plan that no query has to ask for."""
    plan = random_plan(dice, world.catalog)
    return repr(plan), plan


@pytest.mark.parametrize("batch", range(BATCHES))
def test_one_unit_moves_no_more_than_declared(engine, soak, pytestconfig, batch):
    projects = SOAK_PROJECTS if soak.active else PROJECTS
    first = (pytestconfig.getoption("--run-number") * BATCHES + batch) * projects
    ask = ask_tree if batch % 5 == 0 else ask_sql
    cases = sum(len(list(replay(engine, number, ask))) for number in range(first, first + projects))
    assert cases == projects * PLANS * UNITS


# ---- The grammar reaches everything that the replay is about.


def kinds_in(plan: BoundedPlan) -> Iterator[str]:
    """Name all that a plan is made of."""
    yield from (type(aggregate).__name__ for aggregate in plan.aggregates)
    yield from ("with a condition" for a in plan.aggregates if a.where is not None)
    keys = plan.keys
    yield type(keys).__name__ if keys.fields else "no keys"
    if isinstance(keys, PublicKeys) and len(keys.sets) > 1:
        yield "grouping sets"
    yield from (_kind(node) for node in _nodes(plan.relation))


def _nodes(relation: Relation) -> Iterator[Relation]:
    yield relation
    for part in relation.inputs():
        yield from _nodes(part)


def _kind(node: Relation) -> str:
    name = type(node).__name__
    if isinstance(node, Join | Exists):
        name += " private" if node.right.owner() is not None else " public"
    if isinstance(node, Join) and node.keep_left:
        name += " left"
    if isinstance(node, Exists) and node.lacks:
        name += " lacking"
    return name


EVERYTHING = {
    *("Scan", "PublicScan", "Filter", "Projection", "Distinct", "UnionAll", "InnerAggregate"),
    "RowLimit",
    *("Window", "Join public", "Join public left", "Join private", "Join private left"),
    *("Exists public", "Exists public lacking", "Exists private", "Exists private lacking"),
    *("CountRows", "CountUnits", "CountDistinct", "SumValues", "SumSquares", "QuantileValues"),
    *("with a condition", "no keys", "PublicKeys", "PrivateKeys", "grouping sets"),
}


def test_the_grammar_reaches_everything(engine):
    found: Counter[str] = Counter()
    refused = total = 0
    for number in range(60):
        dice = Dice(number, label="grammar")
        world = random_world(dice, random_catalog(dice))
        engine.tables = world.arrow()
        for _ in range(10):
            total += 1
            try:
                plan = plan_of(random_query(dice, world.catalog).sql, world.catalog, engine)
            except DiscreetError:
                refused += 1
                continue
            found.update(set(kinds_in(plan)))
    assert set(found) >= EVERYTHING, EVERYTHING - set(found)
    assert min(found[kind] for kind in EVERYTHING) >= 3, found
    assert refused < total / 2
    assert PrivateKeys.__name__ in found


# ---- Many rows, many threads: the same integers, whatever the order.

ROWS = 300_000
BATCH = 20_000
QUESTIONS = (
    (
        "SELECT clinic, COUNT(*), SUM(cost), MEDIAN(stay), COUNT(DISTINCT diagnosis) FROM visits "
        "GROUP BY clinic"
    ),
    "SELECT diagnosis, SUM(cost), COUNT(DISTINCT person) FROM visits GROUP BY diagnosis",
    (
        "SELECT clinic, COUNT(*), SUM(clamp(n, 0, 20)), SUM(clamp(mean, 0, 10, 0.25)) FROM "
        "(SELECT person, clinic, COUNT(*) AS n, AVG(cost) AS mean FROM visits "
        "GROUP BY person, clinic) AS t GROUP BY clinic"
    ),
    (
        "SELECT clinic, SUM(cost) FROM (SELECT person, clinic, cost, ROW_NUMBER() OVER "
        "(PARTITION BY person ORDER BY clinic) AS place FROM visits) AS t WHERE place <= 2 "
        "GROUP BY clinic"
    ),
    (
        "SELECT v.clinic, COUNT(*) FROM visits AS v JOIN (SELECT DISTINCT person, urgent "
        "FROM visits) AS w ON v.person = w.person GROUP BY ROLLUP (v.clinic)"
    ),
)


def many_visits(rng: NumberedRng) -> pa.Table:
    """Return many visits of many people, with ties."""
    words = [(rng.words(ROWS) >> np.uint64(8)).astype(np.int64) for _ in range(6)]
    columns = {
        "person": [f"p{i}" for i in (words[0] % (ROWS // 6)).tolist()],
        "clinic": ["abcdx"[i] for i in (words[1] % 5).tolist()],
        "diagnosis": [f"d{i}" for i in (words[2] % 50).tolist()],
        "cost": words[3] % 60 / 4,
        "stay": words[4] % 20 - 12,
        "urgent": words[5] % 2 == 0,
        "day": [FIRST_DAY] * ROWS,
    }
    return pa.table(columns)


def test_neither_threads_nor_order_change_anything(engine, rng):
    visits = many_visits(rng)
    order = np.argsort(rng.words(ROWS))
    engine.tables = CROWD.arrow() | {"visits": visits.combine_chunks()}
    plans = [plan_of(sql, CROWD.catalog, engine) for sql in QUESTIONS]
    alone = [reveal(engine, plan) for plan in plans]
    crowded = MemoryEngine(CROWD.arrow() | {"visits": cut(visits.take(order))}, threads=4)
    for sql, plan, first in zip(QUESTIONS, plans, alone, strict=True):
        for _ in range(2):
            assert_alike(first, reveal(crowded, plan), sql)
    crowded.close()


def cut(table: pa.Table) -> pa.Table:
    """Return the table in many batches, for many threads."""
    return pa.Table.from_batches(table.combine_chunks().to_batches(max_chunksize=BATCH))


def assert_alike(first: Exact, second: Exact, sql: str) -> None:
    """Assert that two results are the same, in the same order."""
    assert first.keys == second.keys, sql
    for a, b in zip(first.columns, second.columns, strict=True):
        assert list(a) == list(b), sql
