"""Rows that several plans read: the source is read once, and what came of it is held for them."""

import mmap
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve, frozen

from discreet.core import optional
from discreet.engines.duckdb.sources.opened import Batches, Opened
from discreet.tables.catalog import Table
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.scan import Scan


@frozen
class HeldRows:
    """The tables that are held, each with all columns that one of the plans uses.

    Guarantee:
        *A plan finds what it would find in the source.* What is held are the batches that the
        source gives, as they are: neither is a value cast nor is a row left out, and nothing about
        them is kept that an engine could use to skip some of them. They have more columns than one
        plan uses; how a row is read does not depend on which columns are.

        *Rows do not outlive their process.* They are in a file that has no name and that only this
        user could open: when the process ends, however it does, the system takes it away.
    """

    tables: tuple[tuple[Table, Opened], ...] = ()

    def find(self, table: Table) -> Opened | None:
        """Return the held rows of a table, if they are held."""
        return next((opened for held, opened in self.tables if held == table), None)


def read_often(plans: Sequence[BoundedPlan]) -> tuple[tuple[Table, frozenset[str]], ...]:
    """Return the private tables that are scanned more than once, and which columns are used."""
    scans = [scan for plan in plans for scan in plan.scans() if isinstance(scan, Scan)]
    tables: list[Table] = []
    used: list[list[frozenset[str]]] = []
    for scan in scans:
        if scan.table not in tables:
            tables.append(scan.table)
            used.append([])
        used[tables.index(scan.table)].append(scan.used())
    pairs = zip(tables, used, strict=True)
    return tuple((table, frozenset().union(*sets)) for table, sets in pairs if len(sets) > 1)


def hold(opened: Opened, go_on: Callable[[], None]) -> Opened | None:
    """Read a source from its first row to its last, and return what to read instead of it.

    If there is no room for it, return nothing: then it is read as often as it is scanned. Between
    two batches ``go_on`` may raise.
    """
    with suppress(OSError):
        batches = {name: _held(one, go_on) for name, one in opened.batches.items()}
        return evolve(opened, batches=batches)
    return None


def _held(batches: Batches, go_on: Callable[[], None]) -> Batches:
    arrow = optional.load("pyarrow")
    with tempfile.TemporaryFile() as file:
        with optional.load("pyarrow.ipc").new_file(file, batches.schema) as writer:
            for batch in batches.begin():
                go_on()
                writer.write_batch(batch)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    held = arrow.py_buffer(mapped)
    return Batches(schema=batches.schema, begin=lambda: _each(held))


def _each(held: Any) -> Iterator[Any]:
    arrow = optional.load("pyarrow")
    reader = optional.load("pyarrow.ipc").open_file(arrow.BufferReader(held))
    return (reader.get_batch(number) for number in range(reader.num_record_batches))
