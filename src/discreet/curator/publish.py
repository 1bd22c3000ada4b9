"""Publish: noisy integers to the body of a release, which is what the ledger keeps."""

import datetime
from functools import singledispatch
from typing import Any

from discreet.core.errors import Unsupported
from discreet.core.protocols import IntArray
from discreet.curator.noise import describe_noise
from discreet.curator.price import PricedPlan
from discreet.tables.aggregate import Aggregate, CountRows, SumColumn
from discreet.tables.column import Key

FORMAT = 1
"""The version of the body's layout; a reader refuses the ones that it does not know."""


def publish(noisy: tuple[IntArray, ...], priced: PricedPlan) -> dict[str, Any]:
    """Return the public body: keys, noisy values in whole steps, noise and cost."""
    plan = priced.plan
    described = zip(plan.aggregates, priced.mechanisms, noisy, strict=True)
    return {
        "format": FORMAT,
        "table": plan.table.name,
        "keys": {
            "columns": [column.name for column in plan.keys.columns],
            "rows": [[_key(value) for value in row] for row in plan.keys.rows],
        },
        "aggregates": [
            label(aggregate)
            | {
                "step": str(aggregate.step()),
                "noise": describe_noise(mechanism),
                "values": [int(value) for value in values],
            }
            for aggregate, mechanism, values in described
        ],
        "cost": priced.loss.to_json(),
    }


def _key(value: Key) -> str | int | bool:
    return value.isoformat() if isinstance(value, datetime.date) else value


@singledispatch
def label(aggregate: Aggregate) -> dict[str, str]:
    """Return what an aggregate is called."""
    raise Unsupported("This aggregate has no name", got=type(aggregate).__name__)


@label.register
def _(_: CountRows) -> dict[str, str]:
    return {"aggregate": "count"}


@label.register
def _(aggregate: SumColumn) -> dict[str, str]:
    return {"aggregate": "sum", "column": aggregate.column.name}
