"""How many rows each operator of the engine passed on when it ran a plan: exact, and not timed."""

import json
from typing import Any

from discreet.engines.duckdb import engine as engine_module
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.duckdb.render.rows import query
from discreet.tables.lowered.lower import lower
from discreet.tables.plans.plan import BoundedPlan

Operators = list[tuple[str, int]]
"""The name of each operator and its rows, from the last one down to the scans."""


def operator_rows(plan: BoundedPlan) -> Operators:
    """Run a plan as the engine does, and return what its profile says."""
    engine = DuckDbEngine(threads=1)
    try:
        with engine._databases.lent() as cursor:
            opened = engine._open(cursor, plan.scans())
            engine_module._register_keys(cursor, plan)
            sql = query(lower(plan), opened)
            explained = f"EXPLAIN (ANALYZE, FORMAT json) {sql}"
            ((_, profile),) = cursor.execute(explained, {"salt": "00"}).fetchall()
    finally:
        engine.close()
    return list(_operators(json.loads(profile)["operator"]))


def _operators(node: Any) -> Operators:
    found = []
    for part in node if isinstance(node, list) else [node]:
        found.append((part["type"], part["intermediate_rows"]))
        for child in part.get("children", []):
            found += _operators(child)
    return found
