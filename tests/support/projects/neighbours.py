"""Neighbour replay: what one unit moved, against what the plan says that it can move."""

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.protocols import IntArray
from discreet.tables.plans.plan import BoundedPlan
from tests.support.projects.memory import Column, Exact


@frozen(kw_only=True)
class Moved:
    """What one unit moved of one aggregate, and the most that was declared."""

    aggregate: str
    found: Contribution
    declared: Contribution

    def is_attained(self) -> bool:
        """Tell whether the unit moved as much as it can, in every norm."""
        return self.found == self.declared


def check_neighbours(
    plan: BoundedPlan, first: Exact, second: Exact, *, is_nobody: bool = False
) -> list[Moved]:
    """Return what was moved, after asserting that it is within what was declared."""
    moved = list(compare(plan, first, second))
    for part in moved:
        limit = Contribution(l1=0) if is_nobody else part.declared
        assert part.found.is_within(limit), f"{part.aggregate}: {part.found} is not within {limit}"
    if first.keys is not None:
        _check_groups(plan, first, second, 0 if is_nobody else plan.limits.groups_per_unit)
    return moved


def compare(plan: BoundedPlan, first: Exact, second: Exact) -> Iterator[Moved]:
    """Compare each aggregate of two neighbouring results."""
    names = [type(aggregate).__name__ for aggregate in plan.aggregates]
    for name, declared, a, b in zip(
        names, plan.contributions(), first.columns, second.columns, strict=True
    ):
        changes = _changes(_by_group(first, a), _by_group(second, b))
        yield Moved(aggregate=name, found=_norms(changes), declared=declared)


def _check_groups(plan: BoundedPlan, first: Exact, second: Exact, most: int) -> None:
    """Private keys: the groups differ only in the unit's kept ones, and it counts once in each."""
    assert first.keys is not None
    assert second.keys is not None
    assert first.units is not None
    assert second.units is not None
    appeared = set(first.keys) ^ set(second.keys)
    assert len(appeared) <= most, f"groups appear: {len(appeared)} is not within {most}"
    changes = _changes(_by_group(first, first.units), _by_group(second, second.units))
    found, declared = _norms(changes), Contribution(l0=most, linf=1)
    assert found.is_within(declared), f"units of groups: {found} is not within {declared}"
    fewest = min((*first.units, *second.units), default=1)
    assert fewest >= 1, f"units of a group: {fewest} is not within 1 and more"


def _by_group(exact: Exact, column: Column | IntArray) -> dict[Hashable, Any]:
    groups = range(len(column)) if exact.keys is None else exact.keys
    assert len(groups) == len(column), "the shape is not within what the keys say"
    assert len(set(groups)) == len(groups), "a group is there twice"
    return dict(zip(groups, column, strict=True))


def _changes(first: dict[Hashable, Any], second: dict[Hashable, Any]) -> list[int]:
    """Return by how much each group changed: for lists, how many values came or went."""
    changes = []
    for group in {**first, **second}:
        a, b = first.get(group), second.get(group)
        if isinstance(a if a is not None else b, dict):
            a, b = a or {}, b or {}
            changes.append(sum(abs(a.get(v, 0) - b.get(v, 0)) for v in {**a, **b}))
        else:
            changes.append(abs(int(a or 0) - int(b or 0)))
    return changes


def _norms(changes: list[int]) -> Contribution:
    return Contribution(
        l0=int(np.count_nonzero(changes)),
        linf=max(changes, default=0),
        l1=sum(changes),
        l2_squared=sum(change * change for change in changes),
    )


Check = Callable[[BoundedPlan, Exact, Exact], list[Moved]]
