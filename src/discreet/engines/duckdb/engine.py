"""The embedded engine: DuckDB reads the sources where they are and returns integers."""

import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
from attrs import evolve

from discreet.core import optional
from discreet.core.arrow_arrays import integers_of
from discreet.core.canonical import digest
from discreet.core.errors import AnswerFailed, RefusedQuery, Unsupported
from discreet.core.interrupts import Uninterrupted
from discreet.core.permit import Permit
from discreet.core.protocols import IntArray
from discreet.engines.duckdb.arrow_keys import (
    ArrowKeys,
    key_values,
    keys_relation,
    values_relation,
)
from discreet.engines.duckdb.databases import Databases
from discreet.engines.duckdb.render.rows import query, select
from discreet.engines.duckdb.sources.declared_values import SQL_TYPES
from discreet.engines.duckdb.sources.examine import held_apart, require_public, require_source
from discreet.engines.duckdb.sources.held_rows import HeldRows, hold, read_often
from discreet.engines.duckdb.sources.open_source import open_source, require_present
from discreet.engines.duckdb.sources.opened import Opened
from discreet.engines.duckdb.time_limit import LONGEST_PUBLIC, held_to, stop
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Key
from discreet.tables.keyset import LARGEST_KEYSET, PublicKeys
from discreet.tables.lowered.lower import lower
from discreet.tables.lowered.lower_relation import lower_relation
from discreet.tables.lowered.plan import UNITS, LoweredPlan
from discreet.tables.plans.aggregate import QuantileValues
from discreet.tables.plans.engine import ExactAggregates, Lists
from discreet.tables.plans.plan import BoundedPlan, scans_of
from discreet.tables.plans.take_sides import settled
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import PublicScan, Scan

_TRIES = 100

MOST_RUNNABLE = 10_000
"""How many plans are remembered that have run on empty tables."""

MOST_WRITTEN = 1_000_000
"""How many characters a query may have when it is written out. An engine takes about a second and
half a gibibyte to read as many, which no limit of its memory counts."""

MOST_LOWERED = 16
"""How many plans are kept as they are run, between being tried on empty tables and being run."""


class DuckDbEngine:
    """Runs bounded plans with in-memory databases of DuckDB over files, one for each plan.

    Guarantee:
        No public table is read from a file of one of the ``private`` tables, which is looked at
        each time that it is read (:mod:`discreet.engines.duckdb.sources.examine`).
    """

    def __init__(
        self,
        *,
        private: Iterable[Table] = (),
        reader: Callable[[Table | PublicTable, frozenset[str], str], Opened] = open_source,
        **settings: object,
    ) -> None:
        self._databases = Databases(**settings)
        self._reader = reader
        _ignore_copies()
        self._private = tuple(private)
        self._runnable: set[str] = set()
        """The digests of plans that have run on empty tables: they do so every time."""
        self._lowered: dict[int, tuple[BoundedPlan, LoweredPlan]] = {}
        """The newest plans that were tried, each beside what is run for it, by their identity."""
        self._running: weakref.WeakKeyDictionary[threading.Thread, Any]
        self._running = weakref.WeakKeyDictionary()
        self._stopped: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._held: weakref.WeakKeyDictionary[threading.Thread, HeldRows]
        self._held = weakref.WeakKeyDictionary()

    def require_source(self, table: Table | PublicTable) -> None:
        """Check that the source is there and has the declared columns; look at names and types."""
        require_source(table)

    def require_present(self, table: Table | PublicTable) -> None:
        """Check what may be known before the gate; of a private source nothing is opened."""
        if isinstance(table, PublicTable):
            require_public(table, self._private)
            require_source(table)
        else:
            require_present(table)

    def require_runnable(self, plan: BoundedPlan) -> None:
        """Refuse a plan that fails on empty tables: it would fail on all data, behind the gate.

        Nothing but declarations is looked at: tables and keys have their types and no rows.
        """
        # What reads rows is loaded before the charge, so that no time behind it tells of that.
        optional.load("pyarrow.compute")
        lowered = lower(plan)
        if len(self._lowered) >= MOST_LOWERED:
            self._lowered.clear()
        self._lowered[id(plan)] = (plan, lowered)
        sql = query(lowered, [_nothing(scan) for scan in plan.scans()])
        _require_short(sql)
        name = digest([sql, [plan.relation.fields()[i].type.value for i in plan.keys.fields]])
        if name in self._runnable:
            return
        is_over = threading.Event()
        try:
            # The engine would turn an interrupt into an error of its own, as if the plan failed.
            with (
                Uninterrupted(),
                self._databases.lent() as cursor,
                held_to(LONGEST_PUBLIC, cursor, is_over),
            ):
                _register_keys(cursor, plan, are_empty=True)
                found = _answer(cursor, sql, plan, salt="")
                # As far as it goes behind the gate, also for what libraries import on their way.
                _aggregates(found, plan)
        except optional.load("duckdb").Error:
            raise _not_in_time() if is_over.is_set() else _not_runnable() from None
        if len(self._runnable) >= MOST_RUNNABLE:
            self._runnable.clear()
        self._runnable.add(name)

    @contextmanager
    def reading_once(self, plans: Sequence[BoundedPlan], permit: Permit) -> Iterator[None]:
        """Hold the rows that more than one scan of the plans reads, while they are executed."""
        permit.require_open()
        thread = threading.current_thread()
        try:
            self._held[thread] = self._hold(read_often(plans))
            yield
        finally:
            self._held.pop(thread, None)

    def _hold(self, tables: Iterable[tuple[Table, frozenset[str]]]) -> HeldRows:
        found = []
        for number, (table, used) in enumerate(tables):
            held = hold(self._reader(table, used, f"held{number}"), self._go_on)
            if held is not None:
                found.append((table, held))
        return HeldRows(tuple(found))

    def _go_on(self) -> None:
        if threading.current_thread() in self._stopped:
            raise AnswerFailed

    def execute(self, plan: BoundedPlan, salt: bytes, permit: Permit) -> ExactAggregates:
        """Run the plan and return the exact integers of each group."""
        permit.require_open()
        self._go_on()
        thread = threading.current_thread()
        public = [scan.table for scan in plan.scans() if isinstance(scan, PublicScan)]
        try:
            with self._databases.lent() as cursor, held_apart(public, self._private):
                self._running[thread] = cursor
                opened = self._open(cursor, plan.scans())
                _register_keys(cursor, plan)
                sql = query(self._as_tried(plan), opened)
                self._go_on()
                found = _answer(cursor, sql, plan, salt=salt.hex())
        finally:
            self._running.pop(thread, None)
        return _aggregates(found, plan)

    def _as_tried(self, plan: BoundedPlan) -> LoweredPlan:
        """Return what is run for a plan: what was tried, unless it was long ago."""
        _, lowered = self._lowered.pop(id(plan), (plan, None))
        return lower(plan) if lowered is None else lowered

    def interrupt(self, thread: threading.Thread) -> None:
        """Stop the plan that a thread runs, and refuse to run another for it."""
        self._stopped.add(thread)
        cursor = self._running.get(thread)
        if cursor is not None:
            stop(cursor)

    def public_rows(self, relation: Relation) -> tuple[tuple[Key | None, ...], ...]:
        """Return the rows of a public relation, in the order of their values."""
        tables = [scan.table for scan in scans_of(relation) if isinstance(scan, PublicScan)]
        if len(tables) < len(scans_of(relation)):
            raise Unsupported("Only public tables can be read outside the gate")
        with held_apart(tables, self._private):
            found = self._read_public(tables, relation)
        if len(found) > LARGEST_KEYSET:
            raise _too_large()
        return tuple(zip(*(key_values(column) for column in found.columns), strict=True))

    def _read_public(self, tables: Iterable[PublicTable], relation: Relation) -> Any:
        for table in tables:
            self.require_source(table)
        try:
            with (
                Uninterrupted(),
                self._databases.lent() as cursor,
                held_to(LONGEST_PUBLIC, cursor, threading.Event()),
            ):
                return self._public_rows(cursor, settled(relation))
        except optional.load("duckdb").Error:
            raise _too_large() from None

    def _public_rows(self, cursor: Any, relation: Relation) -> Any:
        opened = self._open(cursor, scans_of(relation))
        found = select(lower_relation(relation, count()), opened)
        _require_short(found)
        rows = f"SELECT * FROM ({found}) LIMIT {LARGEST_KEYSET + 1}"
        return cursor.sql(f"SELECT * FROM ({rows}) ORDER BY ALL").to_arrow_table()

    def _open(self, cursor: Any, scans: tuple[Scan | PublicScan, ...]) -> list[Opened]:
        """Open the source of each scan under a name of its own; a table can be read twice."""
        found = []
        held = self._held.get(threading.current_thread(), HeldRows())
        for number, scan in enumerate(scans):
            opened = held.find(scan.table) if isinstance(scan, Scan) else None
            opened = opened or self._reader(scan.table, scan.used(), f"source{number}")
            for relation, batches in opened.batches.items():
                cursor.register(relation, batches)
            found.append(opened)
        return found

    def close(self) -> None:
        """Close the databases and remove what they left on disk."""
        self._databases.close()


Found = Mapping[str, Any]
"""The columns of an answer: of NumPy, or of Arrow where they hold more than integers."""


def _answer(cursor: Any, sql: str, plan: BoundedPlan, *, salt: str) -> Found:
    """Run a query at once; as a relation it would be read and bound twice.

    On a small table that takes as long as to run it. DuckDB warns that it copies the rows of the
    answer to Arrow, one for each group: that takes no time to speak of if it has to be.
    """
    cursor.execute(sql, {"salt": salt})
    has_lists = any(isinstance(one, QuantileValues) for one in plan.aggregates)
    if isinstance(plan.keys, PublicKeys) and not has_lists:
        columns: Found = cursor.fetchnumpy()
        return columns
    found = _arrow(cursor)
    return dict(zip(found.column_names, found.columns, strict=True))


def _arrow(cursor: Any) -> Any:
    """Return the rows of a cursor, whatever is made of warnings: behind the gate it would fail."""
    for _ in range(_TRIES):
        try:
            return cursor.to_arrow_table()
        except UserWarning:
            # It comes before anything is fetched. The filter stays: putting back what was there
            # before would undo what other threads have changed meanwhile.
            _ignore_copies()
    return cursor.to_arrow_table()


def _ignore_copies() -> None:
    warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)


def _not_runnable() -> RefusedQuery:
    return RefusedQuery(
        "The engine cannot run this query, whatever the data are",
        next="Write it in another way; nothing was charged",
    )


def _require_short(sql: str) -> None:
    """Refuse what says much with few words: the engine keeps every part of it, for no charge."""
    if len(sql) > MOST_WRITTEN:
        raise RefusedQuery(
            "The query is too long for the engine when it is written out",
            must=f"have at most {MOST_WRITTEN:,} characters there",
            got=f"{len(sql):,}",
            next="Nothing was charged. Use width_bucket less often or with fewer buckets, or work"
            " out what is said several times in a sub-query",
        )


def _not_in_time() -> RefusedQuery:
    return RefusedQuery(
        "The query could not be tried on empty tables in time",
        must=f"take at most {LONGEST_PUBLIC} s there",
        next="Nothing was charged. Ask again when the machine is less busy, or ask for less",
    )


def _too_large() -> RefusedQuery:
    return RefusedQuery(
        "The public tables of this query make too many rows",
        must=f"be worked out in {LONGEST_PUBLIC} s, and give at most {LARGEST_KEYSET:,} keys",
        next="Join public tables on equalities, and group by fewer of their columns",
    )


def _nothing(scan: Scan | PublicScan) -> Opened:
    """Return a source with the declared columns of a scan and no rows."""
    names = {name: f"c{i}" for i, name in enumerate(sorted(scan.used()))}
    cells = [
        f"CAST(NULL AS {SQL_TYPES[scan.table.column(name).type]}) AS {cell}"
        for name, cell in names.items()
    ]
    return Opened(relation=f"(SELECT {', '.join(cells) or '1'} WHERE FALSE)", cells=names)


def _register_keys(cursor: Any, plan: BoundedPlan, *, are_empty: bool = False) -> None:
    kinds = [plan.relation.fields()[i].type for i in plan.keys.fields]
    if isinstance(plan.keys, PublicKeys):
        first = 0
        for number, keyset in enumerate(plan.keys.sets):
            if keyset.places or len(keyset.rows) != 1:  # else all rows are in one group
                tried = evolve(keyset, rows=()) if are_empty else keyset
                cursor.register(f"keys{number}", keys_relation(tried, kinds, first))
            first += len(keyset.rows)
        return
    for number, values in enumerate(plan.keys.allowed):
        if values is not None:
            some = () if are_empty else values
            cursor.register(f"allowed{number}", values_relation(some, kinds[number]))


def _aggregates(found: Found, plan: BoundedPlan) -> ExactAggregates:
    if isinstance(plan.keys, PublicKeys):
        return _by_public_keys(found, plan, plan.keys.size())
    return _by_private_keys(found, plan)


def _by_public_keys(found: Found, plan: BoundedPlan, size: int) -> ExactAggregates:
    """Put the groups that were found in their places; the others have nobody in them."""
    group = _integers(found["g"])
    columns: list[Any] = []
    for i, aggregate in enumerate(plan.aggregates):
        if isinstance(aggregate, QuantileValues):
            place = np.full(size, len(group), dtype=np.int64)
            place[group] = np.arange(len(group))
            columns.append(_lists(found[f"a{i}"]).take(place.tolist()))
            continue
        column = np.zeros(size, dtype=np.int64)
        column[group] = _integers(found[f"a{i}"])
        columns.append(column)
    return ExactAggregates(tuple(columns))


def _by_private_keys(found: Found, plan: BoundedPlan) -> ExactAggregates:
    keys = ArrowKeys(tuple(found[f"k{n}"] for n in range(len(plan.keys.fields))))
    columns = tuple(
        _lists(found[f"a{i}"])
        if isinstance(aggregate, QuantileValues)
        else _integers(found[f"a{i}"])
        for i, aggregate in enumerate(plan.aggregates)
    )
    return ExactAggregates(columns, (keys, _integers(found[UNITS])))


def _integers(column: Any) -> IntArray:
    """Return a column that holds 64-bit integers and nothing else: no cast may change a value."""
    if isinstance(column, np.ndarray):
        if column.dtype != np.int64 or isinstance(column, np.ma.MaskedArray):
            raise Unsupported("An engine returns 64-bit integers", got=str(column.dtype))
        return column
    if column.type != optional.load("pyarrow").int64() or column.null_count:
        raise Unsupported("An engine returns 64-bit integers", got=str(column.type))
    return integers_of(column)


def _lists(column: Any) -> Lists:
    """Return the lists of a column, and one that is empty after the last: NULL is empty too."""
    lists = column.combine_chunks()
    lengths = integers_of(lists.value_lengths())
    ends = np.cumsum([0, *lengths, 0], dtype=np.int64)
    return Lists(_integers(lists.flatten()), ends)
