"""What an engine must offer: it runs a bounded plan where the data is."""

from threading import Thread
from typing import Protocol

from discreet.core.permit import Permit
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Key
from discreet.tables.exact_aggregates import ExactAggregates
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.relation import Relation


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
