"""Broken twins of lowered plans: each breaks one rule that keeps an answer private, in any engine.

Each must be refused by the proof, and, where nobody asks for one, be seen by the replay of
neighbours.
"""

from collections.abc import Callable
from typing import Any

import attrs
from attrs import evolve, field, frozen

from discreet.tables.column import Bounds
from discreet.tables.keyset import PrivateKeys
from discreet.tables.lowered.plan import Answered, CappedTotal, LoweredPlan
from discreet.tables.lowered.rows import (
    Copied,
    Different,
    InSteps,
    Owned,
    Paired,
    Projected,
    Rows,
    Sampled,
    Step,
    Totalled,
    Windowed,
)
from discreet.tables.plans.aggregate import Aggregate, CountDistinct, CountRows, QuantileValues
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumSquares, SumValues
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import Distinct, Relation
from discreet.tables.relations.totals import Ranked, Window

Change = Callable[[Any], Any]
"""Returns a node as it should not be, or as it is."""

MANY = 10**6


@frozen(kw_only=True)
class LoweredMutant:
    """One broken rule, and the plans in which it must show."""

    rule: str
    change: Change
    fits: Callable[[BoundedPlan], bool] = field(default=lambda _: True)
    """Which plans the mutant can show in."""
    kinds: tuple[str, ...] = ("person",)
    seen_in: int = 0
    """The number of the project that is tried first: one in which it was seen before."""

    def broken(self, plan: LoweredPlan) -> LoweredPlan:
        """Return the plan with the rule broken, wherever it stands."""
        known: dict[int, Any] = {}
        return evolve(plan, parts=tuple(_changed(part, self.change, known) for part in plan.parts))


def _changed(node: Any, change: Change, known: dict[int, Any]) -> Any:
    """Return a node over changed ones, itself changed; what is read twice stays one."""
    if id(node) not in known:
        parts = {a.name: getattr(node, a.name) for a in attrs.fields(type(node))}
        below = {
            name: _below(value, change, known)
            for name, value in parts.items()
            if isinstance(value, Rows) or name == "parts"
        }
        known[id(node)] = change(evolve(node, **below))
    return known[id(node)]


def _below(value: Any, change: Change, known: dict[int, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_changed(part, change, known) for part in value)
    return _changed(value, change, known)


def on(kind: type[Rows], change: Change) -> Change:
    """Return a change of one kind of rows, where they are private."""

    def changed(node: Any) -> Any:
        is_one = isinstance(node, kind) and "u" in node.columns()
        return change(node) if is_one else node

    return changed


# ---- Which plans.


def nodes(relation: Relation) -> list[Relation]:
    """Return a relation and all that it reads."""
    return [relation, *(node for part in relation.inputs() for node in nodes(part))]


def has(kind: type, when: Callable[[Any], bool] = lambda _: True) -> Callable[[BoundedPlan], bool]:
    """Tell whether a plan has such an operator."""
    return lambda plan: any(isinstance(n, kind) and when(n) for n in nodes(plan.relation))


def sums(kind: type[Aggregate]) -> Callable[[BoundedPlan], bool]:
    """Tell whether a plan has such an aggregate."""
    return lambda plan: any(isinstance(a, kind) for a in plan.aggregates)


def is_private(node: Any) -> bool:
    """Tell whether the right side of a join is private."""
    return node.right.owner() is not None


def is_summed(plan: BoundedPlan) -> bool:
    """Tell whether a plan adds up values."""
    return sums(SumValues)(plan) or sums(SumSquares)(plan)


def by_row(plan: BoundedPlan) -> bool:
    """Tell whether a plan looks at single rows."""
    return is_summed(plan) or sums(QuantileValues)(plan)


def is_counted(plan: BoundedPlan) -> bool:
    """Tell whether a plan counts rows by their pairs."""
    return any(isinstance(a, CountRows) and a.where is None for a in plan.aggregates)


def is_choosing(plan: BoundedPlan) -> bool:
    """Tell whether units have to choose among groups."""
    return plan.limits.groups_per_unit == 1 and plan.keys.fields != ()


# ---- Changes.


def _of_all_owners(node: Paired) -> Paired:
    """Forget the owner; the row that is nobody's would be everybody's partner, so it goes too."""
    return evolve(node, same=(), is_guarded=False) if node.same else node


def _without_owner(node: Windowed) -> Windowed:
    hidden = (Copied("u"), Copied("p"), Copied("h"))
    return evolve(node, within=tuple(value for value in node.within if value not in hidden))


def _own_fields(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in columns if name not in ("u", "p", "h"))


def _wider(node: Projected, bounds: Callable[[Bounds], Bounds]) -> Projected:
    values = [
        (name, evolve(value, bounds=bounds(value.bounds)) if isinstance(value, InSteps) else value)
        for name, value in node.values
    ]
    return evolve(node, values=tuple(values))


def _unclamped(bounds: Bounds) -> Bounds:
    wide = MANY * bounds.step
    return Bounds(lower=-wide, upper=wide, step=bounds.step)


def _one_step_more(bounds: Bounds) -> Bounds:
    step = bounds.step
    return Bounds(lower=bounds.lower - step, upper=bounds.upper + step, step=step)


def _sampled(rank: str, most: Callable[[int], int], *, counted: bool = True) -> Change:
    def change(node: Sampled) -> Sampled:
        is_one = node.rank == rank and (node.counted is not None) == counted
        return evolve(node, most=most(node.most)) if is_one else node

    return on(Sampled, change)


def _uncapped(node: Any) -> Any:
    if not isinstance(node, Answered):
        return node
    totals = [
        (name, evolve(total, most=MANY) if isinstance(total, CappedTotal) else total)
        for name, total in node.totals
    ]
    return evolve(node, totals=tuple(totals))


def _not_kept(node: Any) -> Any:
    """Let the kept pairs be all pairs."""
    is_kept = isinstance(node, Step) and node.name == "kept" and isinstance(node.rows, Sampled)
    return evolve(node, rows=node.rows.source) if is_kept else node


def _of_one_part(node: Totalled) -> Totalled:
    return evolve(node, by=tuple(name for name in node.by if name != "p"))


MUTANTS = [
    LoweredMutant(
        rule="a join of two private tables forgets the owner",
        change=on(Paired, _of_all_owners),
        fits=has(Join, is_private),
    ),
    LoweredMutant(
        rule="a join of two private tables forgets the period",
        change=on(Paired, lambda node: evolve(node, same=node.same[:1])),
        fits=has(Join, is_private),
        kinds=("period",),
        seen_in=2,
    ),
    LoweredMutant(
        rule="a semi-join forgets the owner",
        change=on(Paired, _of_all_owners),
        fits=has(Exists, lambda node: is_private(node) and not node.lacks and node.condition),
    ),
    LoweredMutant(
        rule="an anti-join forgets the owner",
        change=on(Paired, _of_all_owners),
        fits=has(Exists, lambda node: is_private(node) and node.lacks),
        seen_in=2,
    ),
    LoweredMutant(
        rule="distinct rows of all owners together",
        change=on(
            Different,
            lambda node: (
                node
                if any(name.startswith("v") for name in node.by)
                else evolve(node, by=_own_fields(node.by))
            ),
        ),
        fits=has(Distinct, lambda node: len(node.fields()) > 0),
        seen_in=5,
    ),
    LoweredMutant(
        rule="a window over all owners together",
        change=on(Windowed, _without_owner),
        fits=has(Window),
    ),
    LoweredMutant(
        rule="rows that tie in a window are in the order of the file",
        change=on(Windowed, lambda node: evolve(node, ties=())),
        fits=has(Window, lambda node: isinstance(node.function, Ranked)),
        seen_in=4,
    ),
    LoweredMutant(rule="rows of nobody count", change=on(Owned, lambda n: n.source), seen_in=3),
    LoweredMutant(
        rule="values are not clamped",
        change=on(Projected, lambda node: _wider(node, _unclamped)),
        fits=is_summed,
    ),
    LoweredMutant(
        rule="the clamp is one step too wide",
        change=on(Projected, lambda node: _wider(node, _one_step_more)),
        fits=is_summed,
    ),
    LoweredMutant(
        rule="one row too many", change=_sampled("place", lambda most: most + 1), fits=by_row
    ),
    LoweredMutant(
        rule="rows are not limited", change=_sampled("place", lambda _: MANY), fits=by_row
    ),
    LoweredMutant(rule="rows are counted without their limit", change=_uncapped, fits=is_counted),
    LoweredMutant(
        rule="distinct values are not limited",
        change=_sampled("d", lambda _: MANY),
        fits=sums(CountDistinct),
    ),
    LoweredMutant(
        rule="groups are not limited",
        change=_sampled("group_rank", lambda _: MANY, counted=False),
        fits=is_choosing,
    ),
    LoweredMutant(
        rule="one group too many",
        change=_sampled("group_rank", lambda most: most + 1, counted=False),
        fits=is_choosing,
    ),
    LoweredMutant(
        rule="keys are selected from pairs that were not kept",
        change=_not_kept,
        fits=lambda plan: isinstance(plan.keys, PrivateKeys) and is_choosing(plan),
    ),
]
