"""A random project, plans over it, and units that join and leave: so many cases at once."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pyarrow as pa
from attrs import frozen

from discreet.tables.catalog import Catalog
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.dice import Dice
from tests.support.projects.memory import Exact, MemoryEngine, reveal
from tests.support.projects.neighbours import Moved, check_neighbours
from tests.support.projects.people import extreme_unit, one_of_the_crowd, random_world
from tests.support.projects.random_catalogs import UNIT_KINDS, random_catalog
from tests.support.projects.world import World, with_rows, without_unit
from tests.support.random_sql.tree import random_plan

PLANS = 5
UNITS = 8

Question = tuple[str, BoundedPlan]
Ask = Callable[[Dice, World, MemoryEngine], Question]
"""Returns a question about a world: its text, and its plan."""


@frozen(kw_only=True)
class Neighbour:
    """The tables with one unit more or less."""

    name: str
    tables: dict[str, pa.Table]
    is_nobody: bool = False


@frozen(kw_only=True)
class Case:
    """One comparison that held."""

    text: str
    plan: BoundedPlan
    neighbour: str
    moved: tuple[Moved, ...]


def random_neighbour(dice: Dice, world: World) -> Neighbour:
    """Return the world with an extreme unit more, or with somebody less, or in another order."""
    if dice.chance(10):
        # Nobody comes or goes: the place of a row must have no influence at all.
        rows = {name: dice.shuffled(some) for name, some in world.private.items()}
        return Neighbour(name="another order of rows", tables=world.arrow(rows), is_nobody=True)
    unit = one_of_the_crowd(dice, world) if dice.chance(30) else None
    if unit is not None:
        return Neighbour(name="one of the crowd", tables=world.arrow(without_unit(world, unit)))
    extreme = extreme_unit(dice, world)
    return Neighbour(
        name=extreme.name,
        tables=world.arrow(with_rows(world, extreme.rows)),
        is_nobody=extreme.is_nobody,
    )


def replay(
    engine: MemoryEngine,
    number: int,
    ask: Ask,
    *,
    plans: int = PLANS,
    units: int = UNITS,
    kinds: tuple[str, ...] = UNIT_KINDS,
) -> Iterator[Case]:
    """Yield the cases of one random project; the number makes it the same project every time."""
    dice = Dice(number, label="neighbours")
    world = random_world(dice, random_catalog(dice, kinds=kinds))
    engine.tables = world.arrow()
    questions = [ask(dice, world, engine) for _ in range(plans)]
    before = [_seen(engine, number, question) for question in questions]
    for _ in range(units):
        neighbour = random_neighbour(dice, world)
        engine.tables = neighbour.tables
        for (text, plan), first in zip(questions, before, strict=True):
            second = _seen(engine, number, (text, plan))
            yield Case(
                text=text,
                plan=plan,
                neighbour=neighbour.name,
                moved=_checked(number, text, plan, first, second, neighbour),
            )


def _seen(engine: MemoryEngine, number: int, question: Question) -> Exact:
    text, plan = question
    try:
        return reveal(engine, plan)
    except Exception as error:
        raise AssertionError(f"project {number} fails with {error!r}:\n{text}") from error


def _checked(
    number: int, text: str, plan: BoundedPlan, first: Exact, second: Exact, neighbour: Any
) -> tuple[Moved, ...]:
    try:
        return tuple(check_neighbours(plan, first, second, is_nobody=neighbour.is_nobody))
    except AssertionError as error:
        raise AssertionError(
            f"{error}\nproject {number}, {neighbour.name}, limits {plan.limits}:\n{text}"
        ) from None


# ---- Plans in which something broken must show.

MOST_PROJECTS = 15
"""A mutant must be caught in so many projects of forty cases."""

TRIES = 2000


class Broken(Protocol):
    """A broken rule: in which plans and projects it can show."""

    @property
    def rule(self) -> str:
        """What is broken."""

    @property
    def fits(self) -> Callable[[BoundedPlan], bool]:
        """Which plans it can show in."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which kinds of units."""

    @property
    def seen_in(self) -> int:
        """The number of the project that is tried first: one in which it was seen before."""


def fitting(mutant: Broken) -> Ask:
    """Return what asks random plans in which the mutant can show."""

    def ask(dice: Dice, world: World, engine: MemoryEngine) -> Question:
        plan = fitting_plan(mutant, dice, world.catalog)
        return repr(plan), plan

    return ask


def fitting_plan(mutant: Broken, dice: Dice, catalog: Catalog) -> BoundedPlan:
    """Return a random plan in which the mutant can show."""
    for _ in range(TRIES):
        plan = random_plan(dice, catalog)
        if mutant.fits(plan):
            return plan
    raise ValueError(f"no plan fits the mutant '{mutant.rule}'")


def fitting_plans(mutant: Broken, count: int = 10) -> list[BoundedPlan]:
    """Return plans in which the mutant can show."""
    dice = Dice(0, label="mutants")
    catalog = random_catalog(dice, kinds=mutant.kinds)
    return [fitting_plan(mutant, dice, catalog) for _ in range(count)]


def first_caught(engine: MemoryEngine, mutant: Broken) -> tuple[int, int] | None:
    """Return the project and the number of its case in which the replay fails first, if any."""
    return first_failing(engine, fitting(mutant), kinds=mutant.kinds, seen_in=mutant.seen_in)


def first_failing(
    engine: MemoryEngine, ask: Ask, *, kinds: tuple[str, ...], seen_in: int = 0
) -> tuple[int, int] | None:
    """Return where the replay of some questions fails first: the project, and the case in it."""
    for number in sorted(range(MOST_PROJECTS), key=lambda number: number != seen_in):
        cases = 0
        try:
            for _ in replay(engine, number, ask, kinds=kinds):
                cases += 1
        except AssertionError as error:
            if "is not within" not in str(error):
                raise
            return number, cases + 1
    return None
