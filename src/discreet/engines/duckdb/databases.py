"""The databases of the embedded engine: one for each plan, kept for the next if nothing failed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.core import optional
from discreet.engines.duckdb.sources.progress import show_no_progress
from discreet.engines.duckdb.spill_folder import SpillFolder

MOST_MEMORY = "25%"
"""The share of the machine's memory that one plan may use; what does not fit goes to disk."""

MOST_IDLE = 4
"""How many databases wait for the next plan: opening one takes longer than a small plan."""

STAYING = frozenset(
    {
        "aggregate_function_rewriter",
        "aggregate_reuse",
        "column_lifetime",
        "common_aggregate",
        "common_subexpressions",
        "compressed_materialization",
        "cte_inlining",
        "deliminator",
        "distinct_aggregate_rewrite",
        "duplicate_groups",
        "expression_rewriter",
        "grouping_sets",
        "in_clause",
        "materialized_cte",
        "redundant_order_keys",
        "regex_range",
        "reorder_filter",
        "statistics_propagation",
        "top_n",
        "top_n_window_elimination",
        "unnest_rewriter",
        "unused_columns",
        "window_rewriter",
    }
)
"""The optimizers of DuckDB that change how something is computed, and leave where it is computed.

All others are switched off, those of later versions too: they move conditions and values below or
above a join, exchange its sides, or let one side tell the other which rows to leave out. What is
computed for one person's rows would then depend on whose rows are on the other side. The plan puts
conditions where they belong (:mod:`discreet.tables.plans.take_sides`)."""


class Databases:
    """In-memory databases, each lent to one plan at a time.

    Guarantee:
        *No failure is seen by another question.* Some errors of DuckDB invalidate the whole
        database in which they happen, for every connection to it. A database is lent to one plan at
        a time, and is thrown away after any error, whatever it was. So a plan that fails cannot
        make another fail, at the same time or later, in its own id space or in another.

    What does not fit in memory goes to a folder that only this user can read; each database has one
    of its own, and all are removed when they are closed, or by the next process if this one is
    killed (:mod:`discreet.engines.duckdb.spill_folder`).
    """

    def __init__(self, **settings: object) -> None:
        self._spill = SpillFolder()
        self._settings = settings
        self._lock = threading.Lock()
        self._idle: list[Any] = []
        self._lent = 0
        self._is_closed = False

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """Lend a connection to a database that nobody else uses."""
        with self._lock:
            self._lent += 1
            database = self._idle.pop() if self._idle else None
        try:
            database = database or self._opened()
            with database.cursor() as cursor:
                yield cursor
        except BaseException:
            self._give_back(database, is_sound=False)
            raise
        self._give_back(database, is_sound=True)

    def _give_back(self, database: Any, *, is_sound: bool) -> None:
        with self._lock:
            if is_sound and not self._is_closed and len(self._idle) < MOST_IDLE:
                self._idle.append(database)
                database = None
        if database is not None:
            database.close()
        with self._lock:
            self._lent -= 1
            is_last = self._is_closed and not self._lent
        if is_last:
            self._spill.remove()

    def close(self) -> None:
        """Close the databases that wait, and remove what they left on disk.

        What is lent stays: somebody may have left an answer that is still under way. The last one
        that is given back removes what is on disk.
        """
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
            is_last = not self._lent
        for database in idle:
            database.close()
        if is_last:
            self._spill.remove()

    def _opened(self) -> Any:
        settings = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": MOST_MEMORY,
            "temp_directory": self._spill.room(),
            # Texts of a result in one piece may be longer than 2 GiB: whether they are is private.
            "arrow_large_buffer_size": True,
        }
        database = optional.load("duckdb").connect(":memory:", config=settings | self._settings)
        show_no_progress(database)
        known = database.execute("SELECT name FROM duckdb_optimizers()").fetchall()
        moving = sorted(name for (name,) in known if name not in STAYING)
        database.execute(f"SET disabled_optimizers = '{','.join(moving)}'")
        return database
