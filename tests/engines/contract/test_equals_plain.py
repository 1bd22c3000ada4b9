"""Where no limit and no clamp binds, an answer without noise is what plain DuckDB says.

The same text is run by both: by us from SQL to plan to integers to view, and by DuckDB over the
same tables. So every operator means what an analyst expects of it.
"""

import datetime
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from attrs import evolve

from discreet.core.errors import DiscreetError
from discreet.core.loss import Approximate
from discreet.curator.answer import prepare
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import randomise
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.tables.keyset import Keys, PrivateKeys, PublicKeys
from tests.support.projects.dice import Dice
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT, MemoryEngine, Reveal
from tests.support.projects.people import random_world
from tests.support.projects.priced_plans import answered_by
from tests.support.projects.random_catalogs import loose_catalog
from tests.support.projects.world import World
from tests.support.random_sql.query import Query, computed_query, plain_query

BATCHES = 6
PROJECTS = 10
SOAK_PROJECTS = 420
QUESTIONS = 6
TRIES = 60

Group = tuple[int, tuple[Any, ...]]
"""Which keys are rolled up, as DuckDB's GROUPING says it, and the keys."""

MACROS = (
    (
        "CREATE MACRO clamp(x, low, high, step) AS "
        "CASE WHEN x IS NOT NULL THEN least(greatest(x, low), high) END"
    ),
    (
        "CREATE MACRO width_bucket(x, low, high, n) AS CASE WHEN x < low THEN 0 "
        "WHEN x >= high THEN n + 1 ELSE CAST(floor((x - low) * n / (high - low)) AS BIGINT) + 1 END"
    ),
)
"""What DuckDB has no function for."""


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")
    for macro in MACROS:
        connection.execute(macro)
    yield connection
    connection.close()


def ours(
    engine: MemoryEngine, world: World, query: Query
) -> tuple[dict[Group, Any], Keys, set[Group]]:
    """Return the answer without noise, its keys, and the groups that WHERE rules out."""
    nothing: Any = None
    curator = Project(catalog=world.catalog, engine=engine, ledger=nothing, rng=nothing)
    terms = Terms.of(Approximate(100, "1e-6"))
    question, priced, _ = prepare(curator, query.sql, terms)
    plan = priced.plan
    see: Any = Reveal()
    seeing = answered_by(see, priced)
    noisy = randomise(engine.execute(plan, SALT, open_permit()), seeing, see)
    body = publish(noisy, priced)
    rows = evolve(question.view, possible=()).rows(body)
    shown, ruled_out = set(question.view.rows(body)), set[Group]()
    found: dict[Group, Any] = {}
    for row, which in zip(rows, noisy.sets, strict=True):
        count = len(query.keys)
        group = (_rolled_up(plan.keys, which, count), tuple(row[:count]))
        assert group not in found
        found[group] = row[count:]
        if row not in shown:
            ruled_out.add(group)
    return found, plan.keys, ruled_out


def _rolled_up(keys: Any, which: int, count: int) -> int:
    if not isinstance(keys, PublicKeys):
        return 0
    places = keys.sets[which].places
    return sum(1 << (count - 1 - place) for place in range(count) if place not in places)


def theirs(plain: duckdb.DuckDBPyConnection, query: Query) -> dict[Group, Any]:
    """Return what DuckDB answers."""
    count = len(query.keys)
    rows = plain.execute(query.in_duckdb).fetchall()
    return {(row[-1], tuple(row[:count])): row[count:-1] for row in rows}


def is_same(aggregate: str, mine: Any, other: Any) -> bool:
    """Compare two values; of an empty group DuckDB says NULL, and we say 0 or nothing."""
    if aggregate.startswith(("COUNT", "SUM")):
        return Fraction(mine) == Fraction(other if other is not None else 0)
    if other is None:
        return True
    return mine is not None and math.isclose(float(mine), float(other), rel_tol=1e-9, abs_tol=1e-6)


def compare(
    engine: MemoryEngine, plain: Any, world: World, query: Query, *, is_whole: bool = False
) -> int:
    """Compare both answers, and return in how many groups there was somebody.

    Of a query that is whole every group of DuckDB's is one of ours, unless its key is NULL.
    """
    mine, keys, ruled_out = ours(engine, world, query)
    known = {_as_key(group): row for group, row in theirs(plain, query).items()}
    assert ruled_out.isdisjoint(known), (ruled_out & set(known), query.sql)
    if is_whole:
        assert set(mine) >= {group for group in known if None not in group[1]}, query.sql
    if isinstance(keys, PrivateKeys):
        assert set(mine) == {group for group in known if _is_allowed(group, keys)}, query.sql
    for group, values in mine.items():
        expected = known.get(group, [None] * len(values))
        pairs = zip(query.aggregates, values, expected, strict=True)
        assert all(is_same(*pair) for pair in pairs), (group, values, expected, query.sql)
    return len(set(known) & set(mine))


def _is_allowed(group: Group, keys: PrivateKeys) -> bool:
    """Tell whether the keys that have public values have one of them: others are in no group."""
    pairs = zip(group[1], keys.allowed, strict=True)
    return all(allowed is None or key in allowed for key, allowed in pairs)


def _as_key(group: Group) -> Group:
    """Return a group of DuckDB's as we write it: whole numbers, and days without a time."""
    return group[0], tuple(_plain_key(key) for key in group[1])


def _plain_key(key: Any) -> Any:
    if isinstance(key, datetime.datetime):
        return key.date()
    return int(key) if isinstance(key, Decimal | float) else key


@pytest.mark.parametrize("batch", range(BATCHES))
def test_the_exact_answer_is_duckdbs(engine, plain, soak, pytestconfig, batch):
    projects = SOAK_PROJECTS if soak.active else PROJECTS
    first = (pytestconfig.getoption("--run-number") * BATCHES + batch) * projects
    compared = groups = 0
    for number in range(first, first + projects):
        dice = Dice(number, label="equals")
        world = random_world(dice, loose_catalog(dice), tame=True)
        engine.tables = world.arrow()
        for name, table in engine.tables.items():
            plain.register(name, table)
        asked = 0
        for _ in range(TRIES):
            query = plain_query(dice, world.catalog)
            try:
                groups += compare(engine, plain, world, query)
            except DiscreetError:
                continue
            except AssertionError as error:
                raise AssertionError(f"project {number}: {error}") from None
            asked += 1
            if asked == QUESTIONS:
                break
        compared += asked
    assert compared == projects * QUESTIONS
    assert groups > compared


COMPUTED_PROJECTS = 12
SOAK_COMPUTED_PROJECTS = 1_000


def test_computed_groups_are_duckdbs(engine, plain, soak, pytestconfig):
    """Also where rows have values that nobody declared, or met nothing in a LEFT JOIN."""
    projects = SOAK_COMPUTED_PROJECTS if soak.active else COMPUTED_PROJECTS
    first = pytestconfig.getoption("--run-number") * projects
    compared = groups = 0
    for number in range(first, first + projects):
        dice = Dice(number, label="computed")
        world = random_world(dice, loose_catalog(dice), tame=True)
        engine.tables = world.arrow()
        for name, table in engine.tables.items():
            plain.register(name, table)
        for _ in range(QUESTIONS):
            made = computed_query(dice, world.catalog)
            if made is None:
                continue
            query, is_whole = made
            try:
                groups += compare(engine, plain, world, query, is_whole=is_whole)
            except DiscreetError:
                continue
            except AssertionError as error:
                raise AssertionError(f"project {number}: {error}") from None
            compared += 1
    assert compared > projects
    assert groups > compared // 2
