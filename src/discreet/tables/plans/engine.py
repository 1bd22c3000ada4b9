"""What an engine must offer, and the private integers that it returns."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from threading import Thread
from typing import Never, Protocol, TypeVar, overload

import numpy as np
from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.permit import Permit
from discreet.core.protocols import IntArray, Mechanism, Rng, Selector
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Key
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.relation import Relation

# ---- Private integers: the exact answers, which only a mechanism may look at.

KeyRow = tuple[Key | None, ...]

T = TypeVar("T", covariant=True)  # noqa: PLC0105 - types of a signature are called T here


class Chooser(Protocol):
    """A mechanism that makes one integer of many: a private quantile."""

    def release(self, values: IntArray, rng: Rng) -> int:
        """Return the chosen integer."""
        ...


class FoundKeys(Protocol):
    """The keys of the private groups that were found, in whatever form an engine returns them.

    One unit can have very many of them: so they are put in order without a look at each by itself,
    and rows are made for the groups that are shown.
    """

    def order(self) -> IntArray:
        """Return the numbers of the groups in the order of their keys, NULL last."""
        ...

    def rows(self, groups: Sequence[int]) -> tuple[KeyRow, ...]:
        """Return the keys of some groups, by their numbers."""
        ...

    def places(self, field: int, values: Sequence[Key]) -> IntArray:
        """Return for each group where in ``values`` its key of one field is, or -1: not in it."""
        ...


class Measurer(Protocol[T]):
    """What makes the counts of groups that are there public, without ever showing which are."""

    def release(self, keys: FoundKeys, counts: IntArray, rng: Rng) -> T:
        """Return what may be known."""
        ...


@frozen(repr=False, eq=False)
class Lists:
    """The values of each group, one after the other; group ``i`` ends before ``ends[i + 1]``."""

    values: IntArray
    ends: IntArray

    def of(self, group: int) -> IntArray:
        """Return the values of one group."""
        part: IntArray = self.values[self.ends[group] : self.ends[group + 1]]
        return part

    def take(self, groups: Sequence[int]) -> "Lists":
        """Return the lists of some groups."""
        parts = [self.of(group) for group in groups]
        ends = np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
        values = np.concatenate([np.empty(0, dtype=np.int64), *parts])
        return Lists(values, ends)


class ExactAggregates:
    """The exact integers of each aggregate, for each group. Private: never shown, never stored.

    There is no accessor: :meth:`randomise` hands an array to a mechanism and returns what comes
    out, and :meth:`select` lets a mechanism choose which groups may be known. Whoever holds the
    permit of an exact order gets them as they are. No repr of values, no length, no iteration, no
    pickle, no copy.
    """

    __slots__ = ("__columns", "__groups")

    def __init__(
        self,
        columns: tuple[IntArray | Lists, ...],
        groups: tuple[FoundKeys, IntArray] | None = None,
    ) -> None:
        """Hold the columns; with private keys also the groups found and how many units each has."""
        for column in columns:
            values = column.values if isinstance(column, Lists) else column
            if values.dtype != np.int64 or values.ndim != 1:
                raise InvalidArgument("Exact aggregates are one-dimensional 64-bit integers")
        self.__columns = columns
        self.__groups = groups

    @overload
    def randomise(self, index: int, mechanism: Mechanism, rng: Rng) -> IntArray: ...
    @overload
    def randomise(self, index: int, mechanism: Chooser, rng: Rng) -> IntArray: ...

    def randomise(self, index: int, mechanism: Mechanism | Chooser, rng: Rng) -> IntArray:
        """Return the aggregate at ``index`` after ``mechanism``: one integer for each group."""
        if self.__groups is not None:
            raise InvalidArgument("The groups are private", must="be selected first")
        column = self.__columns[index]
        if isinstance(column, Lists):
            groups = range(len(column.ends) - 1)
            chosen = [mechanism.release(column.of(group), rng) for group in groups]
            return np.array(chosen, dtype=np.int64)
        released = mechanism.release(column, rng)
        assert isinstance(released, np.ndarray)
        return released

    def choose(self, mechanism: Selector, rng: Rng) -> int:
        """Return the place of the aggregate that a mechanism chooses, of those of a single group.

        All of them are its scores, and only the place comes out.
        """
        if self.__groups is not None:
            raise InvalidArgument("The groups are private", must="be selected first")
        scores = [column for column in self.__columns if not isinstance(column, Lists)]
        if len(scores) != len(self.__columns) or any(len(column) != 1 for column in scores):
            raise InvalidArgument("A choice is between numbers", must="have one of each aggregate")
        return mechanism.select(np.concatenate(scores), rng)

    def select(
        self, mechanism: ThresholdedKeys, rng: Rng, *, most: int | None = None
    ) -> tuple[tuple[KeyRow, ...], IntArray, "ExactAggregates"]:
        """Return the groups to show, their noisy numbers of units, and the aggregates of them.

        If more than ``most`` are selected, those with the largest noisy numbers stay: that looks at
        what was let out alone. The groups come in the order of their keys, so their order tells
        nothing of their sizes.
        """
        if self.__groups is None:
            raise InvalidArgument("The groups are public", must="not be selected")
        keys, units = self.__groups
        order = keys.order()
        shown = _largest(mechanism.release(dict(enumerate(units[order].tolist())), rng), most)
        groups = order[list(shown)].tolist()
        columns = tuple(
            column.take(groups) if isinstance(column, Lists) else column[groups]
            for column in self.__columns
        )
        counts = np.array(list(shown.values()), dtype=np.int64)
        return keys.rows(groups), counts, ExactAggregates(columns)

    def measure(self, index: int, measurer: Measurer[T], rng: Rng) -> T:
        """Return what a mechanism makes of the groups that are there and the aggregate of each."""
        if self.__groups is None:
            raise InvalidArgument("The groups are public", must="not be measured as found")
        keys, _ = self.__groups
        column = self.__columns[index]
        assert not isinstance(column, Lists)
        return measurer.release(keys, column, rng)

    def certified(self, permit: Permit) -> tuple[IntArray, ...]:
        """Return the exact integers of public groups, to an order that the ledger has marked.

        Guarantee:
            The permit of a noisy order gets nothing: what leaves the gate unchanged has ended the
            worst-case claim of its id space before (:mod:`discreet.ledger.exact_claims`).
        """
        permit.require_exact()
        if self.__groups is not None:
            raise InvalidArgument("The groups are private", must="be public to be told exactly")
        return tuple(column.copy() for column in self.__columns if not isinstance(column, Lists))

    def __repr__(self) -> str:
        """Say that it is private, and nothing else."""
        return "ExactAggregates(private)"

    def __reduce__(self) -> Never:
        """Refuse to be pickled or copied."""
        raise TypeError("exact aggregates are private and cannot be stored or copied")


def _largest(counts: dict[int, int], most: int | None) -> dict[int, int]:
    """Return the largest of what a mechanism let out, in the order in which it came."""
    if most is None or len(counts) <= most:
        return counts
    kept = set(sorted(counts, key=lambda place: (-counts[place], place))[:most])
    return {place: count for place, count in counts.items() if place in kept}


class Engine(Protocol):
    """Runs bounded plans, with a permit that only the gate makes."""

    def require_source(self, table: Table | PublicTable) -> None:
        """Check that the source is there and has the declared columns, for its owner."""
        ...

    def require_present(self, table: Table | PublicTable) -> None:
        """Check what may be known before the gate: a public source, and a private file's presence.

        Nothing inside a private source may be looked at, not even its schema.
        """
        ...

    def require_runnable(self, plan: BoundedPlan) -> None:
        """Refuse a plan that fails on empty tables; look at declarations only."""
        ...

    def reading_once(
        self, plans: Sequence[BoundedPlan], permit: Permit
    ) -> AbstractContextManager[None]:
        """Read what several of these plans read once, for as long as this thread executes them."""
        ...

    def execute(self, plan: BoundedPlan, salt: bytes, permit: Permit) -> ExactAggregates:
        """Return the exact integers of the plan. Which rows are kept depends on the secret salt.

        The first thing is to ask the ``permit`` whether the plan was paid for.
        """
        ...

    def interrupt(self, thread: Thread) -> None:
        """Stop what a thread executes, and refuse to execute more for it."""
        ...

    def public_rows(self, relation: Relation) -> tuple[tuple[Key | None, ...], ...]:
        """Return the rows of a public relation, in the order of their values."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
