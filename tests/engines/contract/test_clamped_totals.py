"""Totals that are clamped as a whole, in every engine: exact, bounded, whatever the rows hold."""

import math
from collections import defaultdict
from itertools import islice
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from discreet.core.errors import Unsupported
from discreet.tables.column import Bounds
from discreet.tables.lowered.lower import lower
from discreet.tables.lowered.plan import Answered, ClampedTotal, LoweredPlan
from discreet.tables.lowered.prove import contributions
from discreet.tables.lowered.rows import Copied, InSteps, Projected
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import WIDEST, SumTotals, SumValues
from tests.support.projects.dice import Dice
from tests.support.projects.lowered_mutants import LoweredMutant
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours_replay import first_failing, replay
from tests.support.projects.plan import plan_of
from tests.support.projects.random_catalogs import random_catalog
from tests.support.projects.small import (
    CROWD,
    first_exact,
    loose_world,
    moved_by,
    small_catalog,
    small_world,
    visit,
)
from tests.support.projects.world import World
from tests.support.random_sql.tree import random_plan

MANY = 10**6
WHOLE = "contribution_bounds_per_group"


def ask(dice: Dice, world: World, _: MemoryEngine) -> tuple[str, BoundedPlan]:
    """Return a random plan whose sums are of totals that are clamped as a whole."""
    while True:
        plan = random_plan(dice, world.catalog)
        parts = tuple(_whole(dice, part) for part in plan.aggregates)
        if parts != plan.aggregates:
            changed = evolve(plan, aggregates=tuple(dict.fromkeys(parts)))
            return repr(changed), changed


def _whole(dice: Dice, part: Any) -> Any:
    if not isinstance(part, SumValues):
        return part
    step = part.bounds.step
    wide = Bounds(lower=-WIDEST * step, upper=WIDEST * step, step=step)
    low = dice.pick((-40, -1, 0, 0, 3))
    whole = Bounds(lower=low * step, upper=(low + dice.pick((1, 7, 90))) * step, step=step)
    rows = part.bounds if dice.chance(50) else wide
    return SumTotals(value=part.value, where=part.where, rows=rows, bounds=whole)


@pytest.mark.parametrize("number", range(3))
def test_nobody_moves_more_than_is_declared(engine, number):
    assert len(list(replay(engine, number, ask, units=4))) == 20


def test_somebody_attains_the_bound(engine):
    """More rows than any limit lets count, in more groups: and all of them are in the totals."""
    sql = f"SELECT clinic, SUM(cost, {WHOLE} => (0, 25)), COUNT(*) FROM visits GROUP BY clinic"
    rows = [visit("new", where, cost=1e300) for where in "abcd" for _ in range(9)]
    assert all(part.is_attained() for part in moved_by(engine, CROWD, sql, visits=rows))


def totals(rows: list[Any], low: int, high: int) -> list[int]:
    """Return the sums of clamped totals of stays in each clinic, worked out here."""
    found: dict[Any, int] = defaultdict(int)
    for row in rows:
        if row[4] is not None:
            found[row[1], row[0]] += row[4]
    clamped = {pair: min(max(total, low), high) for pair, total in found.items()}
    return [sum(x for (where, _), x in clamped.items() if where == clinic) for clinic in "abcd"]


@pytest.mark.parametrize("ends", [(0, 20), (-5, 5), (3, 4), (-9, -7), (-(10**6), 10**6)])
def test_it_is_the_sum_of_clamped_totals_and_no_row_is_left_out(engine, ends):
    dice = Dice(7, label="totals")
    stays = (None, 0, 1, 4, -3, 2**40, -(2**40))
    rows = [
        visit(f"p{dice.below(9)}", "abcd"[dice.below(4)], stay=dice.pick(stays)) for _ in range(300)
    ]
    world = small_world((), rows, small_catalog(rows_per_group=1, groups_per_unit=4))
    # A written range of the value that holds all of them: nothing but the total is cut.
    value = f"CLAMP_TOTAL(CLAMP(stay, {-(2**41)}, {2**41}), {ends[0]}, {ends[1]})"
    sql = f"SELECT clinic, SUM({value}) FROM visits GROUP BY clinic"
    assert first_exact(engine, world, sql) == totals(rows, *ends)


def test_it_is_what_an_inner_total_says(engine):
    """One row for each person and clinic, with its total: the same numbers, and the same bound."""
    rows = [visit(f"p{i % 7}", "abcd"[i % 3], stay=i % 5 - 2) for i in range(80)]
    world = loose_world(visits=rows)
    whole = f"SELECT clinic, SUM(stay, {WHOLE} => (-3, 6)) FROM visits GROUP BY clinic"
    inner = (
        "SELECT clinic, SUM(CLAMP(total, -3, 6)) FROM (SELECT person, clinic, SUM(stay) AS total"
        " FROM visits GROUP BY person, clinic) GROUP BY clinic"
    )
    assert first_exact(engine, world, whole) == first_exact(engine, world, inner)


HOSTILE = [math.inf, -math.inf, math.nan, None, 1e308, -1e308, 5e-324, -0.0, 2.0**63, -(2.0**63)]


@pytest.mark.parametrize("value", HOSTILE, ids=str)
def test_hostile_values_stay_inside(engine, value):
    """With a range of the value or without: what one person adds is within the range of totals."""
    rows = [visit("new", "a", cost=value) for _ in range(50)]
    for what in ("cost", "cost * 2"):
        sql = f"SELECT SUM({what}, {WHOLE} => (-2, 25)) FROM visits"
        (moved,) = moved_by(engine, CROWD, sql, visits=rows)
        assert moved.found.bound("linf") <= moved.declared.bound("linf")


def test_the_largest_rows_overflow_nothing(engine):
    """As many of the largest values as are stored: the total saturates at its range."""
    rows = [visit("p", "a", stay=2**63 - 1) for _ in range(5000)]
    rows += [visit("q", "a", stay=-(2**63)) for _ in range(5000)]
    low, high = -(2**53), 2**53
    value = f"CLAMP_TOTAL(CLAMP(stay, {low}, {high}), {low}, {high - 1})"
    assert first_exact(engine, loose_world(visits=rows), f"SELECT SUM({value}) FROM visits") == [-1]


def test_groups_and_rows_of_a_unit_are_limited_as_ever(engine):
    rows = [visit("p", where, stay=4) for where in "abcd" for _ in range(5)]
    world = small_world((), rows, small_catalog(rows_per_group=1, groups_per_unit=2))
    sql = f"SELECT clinic, SUM(stay, {WHOLE} => (0, 50)) FROM visits GROUP BY clinic"
    assert sorted(first_exact(engine, world, sql)) == [0, 0, 20, 20]
    few = evolve(world, catalog=small_catalog(rows_per_group=6, groups_per_unit=6, rows_per_unit=6))
    assert sum(first_exact(engine, few, sql)) == 24


# ---- Broken twins.


def _totals(change: Any) -> LoweredMutant:
    def changed(node: Any) -> Any:
        if not isinstance(node, Answered):
            return node
        parts = [(n, change(t) if isinstance(t, ClampedTotal) else t) for n, t in node.totals]
        return evolve(node, totals=tuple(parts))

    return LoweredMutant(rule="", change=changed)


MUTANTS = {
    "totals are not clamped": _totals(lambda total: evolve(total, lower=-MANY, upper=MANY)),
    "one step too wide": _totals(
        lambda total: evolve(total, lower=total.lower - 1, upper=total.upper + 1)
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_proof_refuses_a_broken_plan(name):
    dice = Dice(3, label="totals")
    catalog = random_catalog(dice, kinds=("person",))
    for _ in range(20):
        _, plan = ask(dice, World(catalog=catalog, private={}, public={}), MemoryEngine({}))
        right = lower(plan)
        assert contributions(MUTANTS[name].broken(right)) != contributions(right)


def test_the_proof_refuses_totals_of_what_has_no_range(engine):
    engine.tables = CROWD.arrow()
    sql = f"SELECT SUM(stay, {WHOLE} => (0, 9)) FROM visits"
    right = lower(plan_of(sql, CROWD.catalog, engine))

    def raw(node: Any) -> Any:
        if not isinstance(node, Projected):
            return node
        values = [(n, Copied(n) if isinstance(v, InSteps) else v) for n, v in node.values]
        return evolve(node, values=tuple(values))

    broken: LoweredPlan = LoweredMutant(rule="", change=raw).broken(right)
    with pytest.raises(Unsupported, match="known range"):
        contributions(broken)


@pytest.mark.parametrize("name", MUTANTS)
def test_the_replay_catches_a_broken_plan_and_not_the_plan(under_test, engine, monkeypatch, name):
    with monkeypatch.context() as patch:
        under_test.hand(patch, MUTANTS[name].broken)
        caught = first_failing(engine, ask, kinds=("person",))
    assert caught is not None, f"'{name}' went unseen"
    number, cases = caught
    unbroken = replay(engine, number, ask, kinds=("person",))
    assert len(list(islice(unbroken, cases))) == cases


def test_without_a_value_a_unit_adds_nothing(engine):
    """Not even where the range of totals leaves out 0."""
    rows = [visit("p", "a", stay=None), visit("q", "a", stay=1)]
    plan = plan_of(
        f"SELECT SUM(stay, {WHOLE} => (3, 9)), SUM(CLAMP_TOTAL(stay, 3, 9)) FILTER (WHERE urgent)"
        " FROM visits",
        CROWD.catalog,
        engine,
    )
    engine.tables = loose_world(visits=rows).arrow()
    found = []
    for column in reveal(engine, plan).columns:
        assert isinstance(column, np.ndarray)
        found.append(int(column[0]))
    assert sorted(found) == [0, 3]
