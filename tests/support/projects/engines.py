"""Every engine, over tables in memory: what the contract of engines is tried on.

An engine that is not in this table is not an engine of ours. It comes with a way to be given
tables, and with the module in which it calls :func:`~discreet.tables.lowered.lower.lower`, so that
a broken plan can be handed to it.
"""

from collections.abc import Callable
from types import ModuleType

import pytest
from attrs import frozen

from discreet.engines.duckdb import engine as duckdb_engine
from discreet.tables.lowered.lower import lower
from discreet.tables.lowered.plan import LoweredPlan
from tests.support.projects.memory import MemoryEngine


@frozen(kw_only=True)
class EngineUnderTest:
    """One engine."""

    make: Callable[[], MemoryEngine]
    lowering: ModuleType

    def hand(
        self, monkeypatch: pytest.MonkeyPatch, broken: Callable[[LoweredPlan], LoweredPlan]
    ) -> None:
        """Let the engine run broken plans instead of the proved ones."""
        monkeypatch.setattr(self.lowering, "lower", lambda plan: broken(lower(plan)))


ENGINES = {"duckdb": EngineUnderTest(make=MemoryEngine, lowering=duckdb_engine)}
