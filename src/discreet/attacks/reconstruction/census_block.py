"""Recovers the people of a block from its printed table, and proves whether they are the only ones.

Each number that is printed becomes a constraint on how many people of each kind there are. A
solver finds people who meet all of them, or proves that there are none.
"""

from collections.abc import Callable
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
class ReconstructedBlock:
    """The people of a block, as far as a printed table gives them away."""

    verdict: BlockVerdict
    people: tuple[PersonKind, ...]
    """People who meet the table; all that do, if the verdict is unique."""
    certain: tuple[PersonKind, ...]
    """Those of them who are in every block that meets it: proved one by one."""

    def __str__(self) -> str:
        """Return the verdict in a sentence, and the people."""
        said = {
            BlockVerdict.UNIQUE: "Exactly these people meet the table.",
            BlockVerdict.SEVERAL: "These people meet the table, and others do too.",
            BlockVerdict.IMPOSSIBLE: "Nobody meets the table: it is noisy, or wrong.",
            BlockVerdict.UNDECIDED: "The time was over before a proof was found.",
        }[self.verdict]
        sure = f" {len(self.certain)} of them are certain." if self.people else ""
        return "\n".join([said + sure, *map(str, self.people)])

    def to_json(self) -> dict[str, Any]:
        """Return the block for other programs."""
        return {
            "verdict": self.verdict.value,
            "people": [person.to_json() for person in self.people],
            "certain": [person.to_json() for person in self.certain],
        }


def reconstruct_block(
    table: PrintedTable, *, seconds: Number = 60, workers: int = 2
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
        The time is bounded by ``seconds`` for each of three stages: people, a proof that they are
        the only ones, and if not, who of them is certain. Beyond it the verdict is undecided. Seven
        people take seconds; of thirty, people who meet the table are found in less than a minute.
    """
    limit, count = exact(seconds), check.at_least_one(workers, "workers")
    if limit <= 0:
        raise InvalidArgument("seconds is out of range", must="be above 0", got=str(limit))
    model = _BlockModel(table)
    status, found = model.solve(limit, count)
    if status is _Status.NONE:
        return ReconstructedBlock(verdict=BlockVerdict.IMPOSSIBLE, people=(), certain=())
    if status is _Status.UNKNOWN:
        return ReconstructedBlock(verdict=BlockVerdict.UNDECIDED, people=(), certain=())
    people = _listed(found)
    if not table.is_met(people):
        raise UnexpectedError("attacks/reconstruction/census_block.py: a solution is none")
    status, _ = model.solve(limit, count, fewer_of=found)
    if status is _Status.NONE:
        return ReconstructedBlock(verdict=BlockVerdict.UNIQUE, people=people, certain=people)
    certain = {
        kind: model.least(kind, held, limit / len(people), count) for kind, held in found.items()
    }
    verdict = BlockVerdict.SEVERAL if status is _Status.FOUND else BlockVerdict.UNDECIDED
    return ReconstructedBlock(verdict=verdict, people=people, certain=_listed(certain))


def _listed(counts: dict[PersonKind, int]) -> tuple[PersonKind, ...]:
    listed = [kind for kind, count in counts.items() for _ in range(count)]
    return tuple(sorted(listed, key=lambda kind: (kind.age, kind.values)))


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
            self._model.add(total >= _up(line.count * least))
            self._model.add(total <= -_up(-line.count * most))
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

    def solve(
        self, seconds: Fraction, workers: int, fewer_of: dict[PersonKind, int] | None = None
    ) -> tuple[_Status, dict[PersonKind, int]]:
        """Return people who meet the table; with fewer of one of these kinds, if any are given."""
        model = self._model.clone()
        if fewer_of is not None:
            others = []
            for kind, count in fewer_of.items():
                is_fewer = model.new_bool_var("")
                held = self._held(kind, lambda it: model.get_int_var_from_proto_index(it.index))
                model.add(held <= count - 1).only_enforce_if(is_fewer)
                others.append(is_fewer)
            model.add_bool_or(others)
        solver = self._solver.CpSolver()
        solver.parameters.max_time_in_seconds = float(seconds)
        solver.parameters.num_workers = workers
        status = solver.solve(model)
        if status == self._solver.INFEASIBLE:
            return _Status.NONE, {}
        if status not in (self._solver.OPTIMAL, self._solver.FEASIBLE):
            return _Status.UNKNOWN, {}
        counts = {kind: self._held(kind, solver.value) for kind in self._kinds}
        return _Status.FOUND, {kind: count for kind, count in counts.items() if count}


def _up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
