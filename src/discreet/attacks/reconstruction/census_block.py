"""Recovers the people of a block from its printed table, and proves whether they are the only ones.

Each number that is printed becomes a constraint on how many people of each kind there are. A
solver finds people who meet all of them, or proves that there are none.
"""

import math
from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.attacks.reconstruction.printed_table import (
    PeopleGroup,
    PersonKind,
    PrintedStatistic,
    PrintedTable,
    Where,
)
from discreet.core import check, optional
from discreet.core.errors import InvalidArgument, UnexpectedError
from discreet.core.numbers import Number, exact

MOST_SECONDS = 10**7
"""Four months: as long as a stage may take."""


class BlockVerdict(Enum):
    """What is proved about the people of a block."""

    UNIQUE = "unique"
    """Exactly these people meet the table."""
    SEVERAL = "several"
    """These people do, and others do too."""
    IMPOSSIBLE = "impossible"
    """Nobody does: the table is noisy, or wrong."""
    UNDECIDED = "undecided"
    """The time was over. If there are people, they meet the table."""


@frozen(kw_only=True)
class BlockCell:
    """How many people of a group every block has that meets the table: proved bounds."""

    name: str
    least: int
    most: int

    @property
    def is_fixed(self) -> bool:
        """Whether the number is proved."""
        return self.least == self.most

    def __str__(self) -> str:
        """Return the name and what is proved."""
        count = str(self.least) if self.is_fixed else f"{self.least} to {self.most}"
        return f"{self.name}: {count}"


@frozen(kw_only=True)
class ReconstructedBlock:
    """The people of a block, as far as a printed table gives them away."""

    verdict: BlockVerdict
    people: tuple[PersonKind, ...]
    """People who meet the table; all that do, if the verdict is unique."""
    certain: tuple[PersonKind, ...]
    """Those of them who are in every block that meets it: proved one by one."""
    cells: tuple[BlockCell, ...] = ()
    """Numbers that are not printed: those that are withheld, and of each combination of values."""

    def __str__(self) -> str:
        """Return the verdict in a sentence, and the people."""
        said = {
            BlockVerdict.UNIQUE: "Exactly these people meet the table.",
            BlockVerdict.SEVERAL: "These people meet the table, and others do too.",
            BlockVerdict.IMPOSSIBLE: "Nobody meets the table: it is noisy, or wrong.",
            BlockVerdict.UNDECIDED: "The time was over before a proof was found.",
        }[self.verdict]
        sure = f" {len(self.certain)} of them are certain." if self.people else ""
        shown = "\n".join([said + sure, *map(str, self.people)])
        if self.verdict is BlockVerdict.UNIQUE or not self.cells:
            return shown
        fixed = sum(cell.is_fixed for cell in self.cells)
        head = f"{fixed} of {len(self.cells)} numbers that are not printed are proved."
        return "\n".join([shown, "", head, *map(str, self.cells)])

    def to_json(self) -> dict[str, Any]:
        """Return the block for other programs."""
        return {
            "verdict": self.verdict.value,
            "people": [person.to_json() for person in self.people],
            "certain": [person.to_json() for person in self.certain],
            "cells": [
                {"name": cell.name, "least": cell.least, "most": cell.most} for cell in self.cells
            ],
        }


def reconstruct_block(
    table: PrintedTable,
    *,
    seconds: Number = 60,
    workers: int = 4,
    on_step: Callable[[int, int], None] | None = None,
) -> ReconstructedBlock:
    """Return the people who meet a printed table, and whether they are the only ones.

    Guarantee:
        The unknowns are how many people there are with some values and of some age or younger, so
        two solutions are two different sets of people, and the order of people plays no part.
        Counts and sums of ages are linear in them.
        A median is an order statistic: with an odd count fewer than half are younger and fewer
        than half are older than it; with an even one the two middle ages add up to twice the
        median, and one boolean for each pair of such ages says that it is the middle. So a
        solution is a block that meets the table, and each such block is a solution. People who are
        found are checked again in exact numbers. That there are no others, or none at all, is what
        the solver proved by integer arithmetic [GAM19].

    Assumes:
        The table is printed as it says: medians exactly, means rounded to their step. Withheld
        numbers are not used at all, whatever the reason is for which they are.

    Utility:
        The time is bounded by ``seconds`` for each of four stages: people, a proof that they are
        the only ones, and if not, who of them is certain, and the least and the greatest number of
        people in each cell that is not printed. Beyond it the verdict is undecided, and bounds are
        as far as they were proved. Seven people take seconds; of thirty, people who meet the table
        are found in less than a minute.
    """
    tell = on_step or (lambda done, total: None)
    limit, count = exact(seconds), check.at_least_one(workers, "workers")
    if not 0 < limit <= MOST_SECONDS:
        raise InvalidArgument(
            "seconds is out of range",
            must=f"be above 0, and at most {MOST_SECONDS:,}",
            got=str(seconds),
        )
    model = _BlockModel(table)
    status, found = model.solve(limit, count)
    tell(1, 4)
    if status is _Status.NONE:
        return ReconstructedBlock(verdict=BlockVerdict.IMPOSSIBLE, people=(), certain=())
    if status is _Status.UNKNOWN:
        return ReconstructedBlock(
            verdict=BlockVerdict.UNDECIDED, people=(), certain=(), cells=model.cells(limit, count)
        )
    people = _listed(found)
    if not table.is_met(people):
        raise UnexpectedError("attacks/reconstruction/census_block.py: a solution is none")
    status, others = model.solve_again(limit, count, found)
    tell(2, 4)
    if status is _Status.NONE:
        return ReconstructedBlock(
            verdict=BlockVerdict.UNIQUE,
            people=people,
            certain=people,
            cells=model.cells_of(people),
        )
    # Nobody is certain of whom there are fewer among the others.
    both = {kind: min(held, others.get(kind, 0)) for kind, held in found.items()}
    asked = both if status is _Status.FOUND else found
    each = limit / max(1, sum(asked.values()))
    certain = {kind: model.least(kind, held, each, count) for kind, held in asked.items()}
    tell(3, 4)
    cells = model.cells(limit, count)
    tell(4, 4)
    verdict = BlockVerdict.SEVERAL if status is _Status.FOUND else BlockVerdict.UNDECIDED
    return ReconstructedBlock(verdict=verdict, people=people, certain=_listed(certain), cells=cells)


def _listed(counts: dict[PersonKind, int]) -> tuple[PersonKind, ...]:
    listed = [kind for kind, count in counts.items() for _ in range(count)]
    return tuple(sorted(listed, key=lambda kind: (kind.age, kind.values)))


def _label(values: Where) -> str:
    return ", ".join(value for _, value in values)


class _Status(Enum):
    FOUND = 1
    NONE = 2
    UNKNOWN = 3


class _BlockModel:
    """The constraints of one table. Each solution is a block that meets it.

    The unknowns are, for each combination of values, how many people are of each age or younger:
    the numbers that medians speak of. How many are of one age is the difference of two of them.
    """

    def __init__(self, table: PrintedTable) -> None:
        self._solver = optional.load("ortools.sat.python.cp_model")
        self._model = self._solver.CpModel()
        self._ages = table.ages
        self._kinds = table.kinds()
        self._upto: dict[Where, list[Any]] = {}
        for kind in self._kinds:
            self._upto.setdefault(kind.values, [])
        low, high = table.ages
        for values, upto in self._upto.items():
            allowed = {kind.age for kind in self._kinds if kind.values == values}
            before: Any = 0
            for age in range(low, high + 1):
                upto.append(self._model.new_int_var(0, table.people, ""))
                is_free = age in allowed
                self._model.add(upto[-1] >= before if is_free else upto[-1] == before)
                before = upto[-1]
        for line in table.statistics:
            self._add(line)
        self._people = table.people
        withheld = [(line.name, line.group) for line in table.statistics if line.count is None]
        of_all = [(_label(values), PeopleGroup(where=values)) for values in self._upto if values]
        # Two cells may have one name, of a line and of a combination.
        self._groups = tuple(dict.fromkeys([*withheld, *of_all]))

    def cells_of(self, people: Sequence[PersonKind]) -> tuple[BlockCell, ...]:
        """Return the cells of people who are the only ones."""
        counts = [(name, sum(map(group.holds, people))) for name, group in self._groups]
        return tuple(BlockCell(name=name, least=it, most=it) for name, it in counts)

    def cells(self, seconds: Fraction, workers: int) -> tuple[BlockCell, ...]:
        """Return the bounds of every cell that is not printed, as far as they are proved."""
        each = seconds / max(1, 2 * len(self._groups))
        found = []
        for name, group in self._groups:
            held = self._younger(group, self._ages[1])
            least = self._least_of(held, each, workers)
            others = self._least_of(self._people - held, each, workers)
            found.append(BlockCell(name=name, least=least, most=self._people - others))
        return tuple(found)

    def _least_of(self, goal: Any, seconds: Fraction, workers: int) -> int:
        """Return a number that the goal is proved not to fall below; the least, given time.

        The goal is a number of people. A solver that had no time to prove anything says 0: of
        people that is true, and of no other goal.
        """
        model = self._model.clone()
        model.minimize(goal)
        solver = self._solve(model, seconds, workers)[1]
        bound = solver.best_objective_bound
        return max(0, math.ceil(bound - 1e-6)) if math.isfinite(bound) else 0

    def _younger(self, group: PeopleGroup, age: int) -> Any:
        """Return how many of a group are of this age or younger."""
        low, high = self._ages
        last = min(age, high if group.oldest is None else group.oldest)
        first = low if group.youngest is None else max(low, group.youngest)
        if last < first:
            return 0
        parts = [upto for values, upto in self._upto.items() if group.fits(values)]
        ends = self._solver.LinearExpr.sum([upto[last - low] for upto in parts])
        if first == low:
            return ends
        return ends - self._solver.LinearExpr.sum([upto[first - 1 - low] for upto in parts])

    def _add(self, line: PrintedStatistic) -> None:
        if line.count is None:
            return
        low, high = self._ages
        self._model.add(self._younger(line.group, high) == line.count)
        if line.mean is not None:
            # Ages add up to the highest times the people, less one for each year that one lacks.
            lacking = sum(self._younger(line.group, age) for age in range(low, high))
            total = high * line.count - lacking
            least, most = line.mean - line.mean_step / 2, line.mean + line.mean_step / 2
            ends = _up(line.count * least), -_up(-line.count * most)
            # No total is below 0 or above the highest, and the solver has no numbers far beyond.
            first, last = (max(-1, min(end, high * line.count + 1)) for end in ends)
            self._model.add(total >= first)
            self._model.add(total <= last)
        if line.median is not None:
            self._add_median(line.group, line.median, line.count)

    def _add_median(self, group: PeopleGroup, median: Fraction, count: int) -> None:
        """Say which ages the two middle people have; with an odd count they are one person."""
        low, high = self._ages
        lower, upper = (count + 1) // 2, count // 2 + 1
        chosen = []
        for age in range(low, high + 1):
            other = 2 * median - age
            if other.denominator != 1 or not age <= other <= high:
                continue
            if lower == upper and other != age:
                continue
            middle = self._model.new_bool_var("")
            for rank, at in ((lower, age), (upper, int(other))):
                # The person of this rank has this age: so many are no older, fewer are younger.
                self._model.add(self._younger(group, at) >= rank).only_enforce_if(middle)
                self._model.add(self._younger(group, at - 1) <= rank - 1).only_enforce_if(middle)
            chosen.append(middle)
        # Of no booleans none is true: then no ages have this median.
        self._model.add_exactly_one(chosen)

    def _held(self, kind: PersonKind, value: Callable[[Any], Any]) -> Any:
        """Return how many people of a kind there are, of what ``value`` makes of the unknowns."""
        place, upto = kind.age - self._ages[0], self._upto[kind.values]
        return value(upto[place]) - (value(upto[place - 1]) if place else 0)

    def least(self, kind: PersonKind, held: int, seconds: Fraction, workers: int) -> int:
        """Return how many people of a kind every block has, as far as it is proved."""
        for fewer in range(1, held + 1):
            status, _ = self.solve(seconds, workers, fewer_of={kind: fewer})
            if status is not _Status.NONE:
                return fewer - 1
        return held

    def _solve(self, model: Any, seconds: Fraction, workers: int) -> tuple[Any, Any]:
        solver = self._solver.CpSolver()
        solver.parameters.max_time_in_seconds = float(seconds)
        solver.parameters.num_workers = workers
        return solver.solve(model), solver

    def solve(
        self, seconds: Fraction, workers: int, fewer_of: dict[PersonKind, int] | None = None
    ) -> tuple[_Status, dict[PersonKind, int]]:
        """Return people who meet the table; with fewer of one of these kinds, if any are given."""
        model = self._model.clone()
        if fewer_of is not None:
            model.add_bool_or(self._fewer(model, fewer_of))
        status, solver = self._solve(model, seconds, workers)
        if status == self._solver.INFEASIBLE:
            return _Status.NONE, {}
        if status not in (self._solver.OPTIMAL, self._solver.FEASIBLE):
            return _Status.UNKNOWN, {}
        return _Status.FOUND, self._counts(solver)

    def solve_again(
        self, seconds: Fraction, workers: int, found: dict[PersonKind, int]
    ) -> tuple[_Status, dict[PersonKind, int]]:
        """Return other people who meet the table: with fewer of a kind than those that were found.

        The solver begins with those, and looks for others near them: that is much quicker than to
        begin anew. Nobody else does if the most kinds of which there are fewer are none.
        """
        model = self._model.clone()
        for values, upto in self._upto.items():
            so_far = 0
            for age, variable in enumerate(upto, start=self._ages[0]):
                so_far += found.get(PersonKind(age=age, values=values), 0)
                model.add_hint(model.get_int_var_from_proto_index(variable.index), so_far)
        fewer = self._fewer(model, found)
        for is_fewer in fewer:
            model.add_hint(is_fewer, 0)
        is_other = model.new_bool_var("")
        model.add(is_other <= self._solver.LinearExpr.sum(fewer))
        model.maximize(is_other)
        status, solver = self._solve(model, seconds, workers)
        if status not in (self._solver.OPTIMAL, self._solver.FEASIBLE):
            return _Status.UNKNOWN, {}
        if solver.value(is_other):
            return _Status.FOUND, self._counts(solver)
        return (_Status.NONE if status == self._solver.OPTIMAL else _Status.UNKNOWN), {}

    def _fewer(self, model: Any, counts: dict[PersonKind, int]) -> list[Any]:
        """Return a boolean for each kind, which may be true if there are fewer people of it."""
        found = []
        for kind, count in counts.items():
            is_fewer = model.new_bool_var("")
            held = self._held(kind, lambda it: model.get_int_var_from_proto_index(it.index))
            model.add(held <= count - 1).only_enforce_if(is_fewer)
            found.append(is_fewer)
        return found

    def _counts(self, solver: Any) -> dict[PersonKind, int]:
        counts = {kind: self._held(kind, solver.value) for kind in self._kinds}
        return {kind: count for kind, count in counts.items() if count}


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
