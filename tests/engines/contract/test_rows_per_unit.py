"""A limit on all rows of a unit, in every engine: who is in, what moves, and what shares become."""

from itertools import islice

import numpy as np
import pytest
from attrs import evolve

from discreet.core.errors import Unsupported
from discreet.tables.catalog import Limits
from discreet.tables.lowered.lower import lower
from discreet.tables.lowered.plan import LoweredPlan
from discreet.tables.lowered.prove import contributions
from discreet.tables.lowered.rows import RowsOf, Sampled, Step
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumValues
from discreet.tables.plans.tighten import tighten
from tests.support.projects.dice import Dice
from tests.support.projects.lowered_mutants import LoweredMutant, on
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours_replay import first_failing, replay
from tests.support.projects.plan import plan_of
from tests.support.projects.random_catalogs import random_catalog
from tests.support.projects.small import CROWD, moved_by, small_catalog, small_world, visit
from tests.support.projects.world import World
from tests.support.random_sql.tree import random_plan

PROJECTS = 3
MANY = 10**6


def limited(plan: BoundedPlan, dice: Dice) -> BoundedPlan:
    """Return a plan with a limit on all rows of a unit, beside others that may be wide."""
    limits = Limits(
        rows_per_group=dice.pick((1, 2, 3, 50)),
        groups_per_unit=dice.pick((2, 3, 20)),
        rows_per_unit=dice.pick((1, 2, 3, 5, 8)),
    )
    return evolve(plan, limits=limits)


def ask(dice: Dice, world: World, _: MemoryEngine) -> tuple[str, BoundedPlan]:
    plan = limited(random_plan(dice, world.catalog), dice)
    return repr(plan), plan


def ask_counts(dice: Dice, world: World, engine: MemoryEngine) -> tuple[str, BoundedPlan]:
    """Return a plan of counts or sums in which the limit on all rows of a unit binds."""
    while True:
        text, plan = ask(dice, world, engine)
        summed = any(isinstance(part, CountRows | SumValues) for part in plan.aggregates)
        is_binding = plan.reach().rows_per_unit is not None and tighten(plan).limits == plan.limits
        if summed and is_binding and plan.limits.rows_per_unit in (2, 3):
            return text, plan


@pytest.mark.parametrize("number", range(PROJECTS))
def test_nobody_moves_more_than_is_declared(engine, number):
    assert len(list(replay(engine, number, ask, units=4))) == 20


def test_somebody_attains_the_bound(engine):
    """Five rows, two in each of two groups and one in a third: all norms at once."""
    catalog = small_catalog(rows_per_unit=5)
    world = evolve(CROWD, catalog=catalog)
    rows = [visit("new", where, cost=1e300, stay=-(10**9)) for where in "aabbc"]
    by_clinic = "SELECT clinic, COUNT(*), SUM(cost), SUM(stay) FROM visits GROUP BY clinic"
    assert all(part.is_attained() for part in moved_by(engine, world, by_clinic, visits=rows))
    crowded = [visit("new", where, diagnosis=f"n{i}") for where in "abcd" for i in range(30)]
    (moved,) = moved_by(
        engine, world, "SELECT clinic, COUNT(*) FROM visits GROUP BY clinic", visits=crowded
    )
    assert moved.found.l1 == 5


def limited_world(rows, most: int) -> World:
    """Return a world in which so many rows of a unit count, in whatever groups."""
    limits = dict.fromkeys(("rows_per_group", "groups_per_unit", "rows_per_unit"), most)
    return small_world((), rows, small_catalog(**limits))


def first_counts(engine: MemoryEngine, plan: BoundedPlan) -> list[int]:
    column = reveal(engine, plan).columns[0]
    assert isinstance(column, np.ndarray)
    return [int(count) for count in column]


def test_few_rows_all_count(engine):
    """Whoever has no more rows than the limit loses nothing to it."""
    rows = [visit(f"p{i}", where) for i in range(5) for where in "aaabbc"]
    world = small_world(
        (), rows, small_catalog(rows_per_group=6, groups_per_unit=6, rows_per_unit=6)
    )
    engine.tables = world.arrow()
    plan = plan_of("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic", world.catalog, engine)
    assert first_counts(engine, plan) == [15, 10, 5, 0]


def test_each_grouping_set_counts_as_many(engine):
    rows = [visit("p", where, diagnosis=f"d{i}") for where in "abcd" for i in range(9)]
    world = small_world(
        (), rows, small_catalog(rows_per_group=7, groups_per_unit=7, rows_per_unit=7)
    )
    engine.tables = world.arrow()
    sql = "SELECT clinic, COUNT(*) FROM visits GROUP BY ROLLUP (clinic)"
    *each, whole = first_counts(engine, plan_of(sql, world.catalog, engine))
    assert sum(each) == whole == 7


# ---- Broken twins.


def _in_all(change) -> LoweredMutant:
    def changed(node: Sampled) -> Sampled:
        return change(node) if node.rank == "place_in_all" else node

    return LoweredMutant(rule="", change=on(Sampled, changed))


def _after(node):
    """Let the limit choose pairs alone, and rows be those of the pairs: as if it came after."""
    is_drawn = isinstance(node, RowsOf) and isinstance(node.rows, Step)
    drawn = node.rows.rows if is_drawn else None
    return evolve(node, rows=drawn.source) if isinstance(drawn, Sampled) else node


def _by_group(node: Sampled) -> Sampled:
    group = tuple(name for name in node.content if name == "g" or name.startswith("k"))
    content = tuple(name for name in node.content if name not in group)
    return evolve(node, within=(*node.within, *group), content=content)


MUTANTS = {
    "not limited": _in_all(lambda node: evolve(node, most=MANY)),
    "one too many": _in_all(lambda node: evolve(node, most=node.most + 1)),
    "in each group instead of in all": _in_all(_by_group),
    "after the groups were chosen": LoweredMutant(rule="", change=_after),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_proof_refuses_a_broken_plan(name):
    dice, changed = Dice(3, label="rows of a unit"), 0
    catalog = random_catalog(dice, kinds=("person",))
    for _ in range(40):
        _, plan = ask_counts(dice, World(catalog=catalog, private={}, public={}), MemoryEngine({}))
        right = lower(plan)
        broken: LoweredPlan = MUTANTS[name].broken(right)
        if broken == right:
            continue
        changed += 1
        try:
            proved = contributions(broken)
        except Unsupported:
            continue
        assert proved != contributions(right)
    assert changed > 10


@pytest.mark.parametrize("name", MUTANTS)
def test_the_replay_catches_a_broken_plan_and_not_the_plan(
    under_test, engine, monkeypatch, name, soak
):
    """A usual run takes the two that are nearest to the plan; all are refused by the proof."""
    if not soak.active and name not in ("one too many", "in each group instead of in all"):
        return
    with monkeypatch.context() as patch:
        under_test.hand(patch, MUTANTS[name].broken)
        caught = first_failing(engine, ask_counts, kinds=("person",))
    assert caught is not None, f"'{name}' went unseen"
    number, cases = caught
    unbroken = replay(engine, number, ask_counts, kinds=("person",))
    assert len(list(islice(unbroken, cases))) == cases
