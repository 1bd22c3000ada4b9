"""What an engine must offer: it runs a bounded plan where the data is."""

from typing import Protocol

from discreet.tables.catalog import Table
from discreet.tables.exact_aggregates import ExactAggregates
from discreet.tables.plan import BoundedPlan


class Engine(Protocol):
    """Runs bounded plans. Only the gate calls ``execute``."""

    def require_source(self, table: Table) -> None:
        """Check that the source is there and has the declared columns; look at names only."""
        ...

    def execute(self, plan: BoundedPlan, salt: bytes) -> ExactAggregates:
        """Return the exact integers of the plan. Which rows are kept depends on the secret salt."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
