"""Mutants: each breaks one rule that keeps answers private, and the replay must see it.

The plans are trees that no query could ask for: their joins name no unit, so that an engine that
forgets the owner is not saved by the query.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.sources.opened import Opened
from discreet.tables.plans.plan import BoundedPlan
from tests.support.neighbours_replay import Question, replay
from tests.support.project_memory import MemoryEngine
from tests.support.project_random import random_catalog
from tests.support.random_data_dice import Dice
from tests.support.random_data_people import random_world
from tests.support.random_data_world import World
from tests.support.random_query_tree import random_plan
from tests.support.sql_mutants import MUTANTS, Mutant

MOST_PROJECTS = 15
"""A mutant must be caught in so many projects of forty cases."""

TRIES = 2000


@pytest.fixture(scope="module")
def engine() -> Iterator[MemoryEngine]:
    engine = MemoryEngine()
    yield engine
    engine.close()


def asking(mutant: Mutant):
    """Return what asks random plans in which the mutant can show."""

    def ask(dice: Dice, world: World, engine: MemoryEngine) -> Question:
        for _ in range(TRIES):
            plan = random_plan(dice, world.catalog)
            if mutant.fits(plan):
                return repr(plan), plan
        raise ValueError(f"no plan fits the mutant '{mutant.rule}'")

    return ask


def some_plans(mutant: Mutant, engine: MemoryEngine) -> list[BoundedPlan]:
    """Return plans in which the mutant can show."""
    dice = Dice(0, label="mutants")
    world = random_world(dice, random_catalog(dice, kinds=mutant.kinds))
    return [asking(mutant)(dice, world, engine)[1] for _ in range(10)]


def rendered(plan: BoundedPlan) -> str:
    """Return the SQL of a plan, as the engine now writes it."""
    sources = [
        Opened(relation=f"source{i}", cells={c.name: c.name for c in scan.table.columns})
        for i, scan in enumerate(plan.scans())
    ]
    query: Any = vars(engine_module)["query"]
    return str(query(plan, iter(sources)))


def first_caught(engine: MemoryEngine, mutant: Mutant) -> tuple[int, int] | None:
    """Return the project and the number of its case in which the replay fails first, if any."""
    for number in sorted(range(MOST_PROJECTS), key=lambda number: number != mutant.seen_in):
        cases = 0
        try:
            for _ in replay(engine, number, asking(mutant), kinds=mutant.kinds):
                cases += 1
        except AssertionError as error:
            if "is not within" not in str(error):
                raise
            return number, cases + 1
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_the_replay_catches_a_broken_rule_and_not_the_rule(engine, monkeypatch, mutant):
    """What catches a mutant is the mutant: the same plans and people, unbroken, are not accused."""
    plans = some_plans(mutant, engine)
    right = [rendered(plan) for plan in plans]
    claims = [plan.contributions() for plan in plans]
    with monkeypatch.context() as broken:
        mutant.apply(broken)
        assert (right != [rendered(plan) for plan in plans]) == mutant.changes_sql
        assert (claims == [plan.contributions() for plan in plans]) == mutant.changes_sql
        caught = first_caught(engine, mutant)
    assert caught is not None, f"'{mutant.rule}' went unseen"
    number, cases = caught
    unbroken = replay(engine, number, asking(mutant), kinds=mutant.kinds)
    assert len(list(islice(unbroken, cases))) == cases
