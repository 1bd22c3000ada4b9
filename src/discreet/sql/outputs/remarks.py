"""Remarks: what a plan does to values besides what is asked, in sentences for whoever reads it.

Everything here is made of the plan alone, which is public.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from attrs import evolve, field, frozen

from discreet.core.loss import short
from discreet.releases.rounding import Rounded, Roundings
from discreet.releases.view import ClampSource
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.functions.rules import constant
from discreet.tables.functions.span import ONE, common_step
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.plans.expression_text import expression_text
from discreet.tables.plans.sums import SumTotals, SumValues
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.made_from import MadePart, made_from, parts_of
from discreet.tables.relations.relation import Field, OneSource, Projection, Relation
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Total, Window

Sourced = Iterable[tuple[Aggregate, ClampSource | None]]
"""Aggregates, each with who chose its clamp."""


def remarks(asked: Sourced, relation: Relation) -> tuple[str, ...]:
    """Return that values are clamped below an aggregate's own clamp, or put on a grid there."""
    # A product of two values, whose own aggregates are there too, has a grid but no such source.
    plain = [
        aggregate
        for aggregate, clamp in asked
        if clamp is not None or not isinstance(aggregate, SumValues)
    ]
    return (*_on_inner_clamps(plain, relation), *_on_inner_grids(relation))


def ranges(asked: Sourced, relation: Relation) -> tuple[Bounds | None, ...]:
    """Return the clamp of each aggregate that can move a value.

    One that follows from constants and other clamps alone does not.
    """
    fields = _undeclared(relation)
    return tuple(
        None
        if value is None or (clamp is ClampSource.PROPOSED and _is_within(value, fields, grid))
        else grid
        for aggregate, clamp in asked
        for value, grid in ((aggregate.looked_at, aggregate.grid),)
    )


def _is_within(value: Expression, fields: Sequence[Field], grid: Bounds | None) -> bool:
    found = propose_bounds(value, fields)
    if found is None or grid is None:
        return False
    return grid.lower <= found.lower and found.upper <= grid.upper


def _undeclared(relation: Relation) -> tuple[Field, ...]:
    """Return the fields with the ranges that they have even if no declared one is true."""
    plain = tuple(evolve(one, bounds=None, dates=None) for one in relation.fields())
    if isinstance(relation, Projection):
        below = _undeclared(relation.source)
        pairs = zip(plain, relation.values, strict=True)
        return tuple(evolve(one, bounds=propose_bounds(value, below)) for one, value in pairs)
    is_passed_on = isinstance(relation, OneSource) and not isinstance(relation, InnerAggregate)
    if not is_passed_on and not isinstance(relation, Join | Exists):
        return plain
    known = [one.bounds for source in relation.inputs() for one in _undeclared(source)]
    added = plain[len(known) :]  # by a window
    pairs_below = zip(plain, known, strict=False)
    return (*(evolve(one, bounds=bounds) for one, bounds in pairs_below), *added)


# ---- Clamps that are part of the question.


def _on_inner_clamps(aggregates: Iterable[Aggregate], relation: Relation) -> list[str]:
    found = list(
        dict.fromkeys(
            expression_text(call, part.relation.fields())
            for aggregate in aggregates
            if aggregate.looked_at is not None
            for part in parts_of(relation, aggregate.looked_at)
            for call in _clamps_in(part.value)
        )
    )
    if not found:
        return []
    are = "is" if len(found) == 1 else "are"
    return [f"{_listed(found)} {are} part of the question: numbers are about clamped values"]


def _on_inner_grids(relation: Relation) -> list[str]:
    """Return which values are moved and rounded before they are added up below the aggregate.

    What is done with such a total does not matter: a condition on it decides by what it came to.
    """
    grids, found = _Grids(), dict[str, None]()
    waiting = [relation]
    while waiting:
        node = waiting.pop()
        waiting += node.inputs()
        for one in _inner_totals(node):
            source, value, grid = node.inputs()[0], one.value, one.bounds
            if value is None or grid is None or grids.is_on(source, value, grid.step):
                continue
            text, low, high = expression_text(value, source.fields()), grid.lower, grid.upper
            found[
                f"{text} is moved into {short(low)} to {short(high)} and rounded to steps of"
                f" {short(grid.step)} before it is added up for each unit, which no interval shows"
            ] = None
    return list(found)


def _inner_totals(node: Relation) -> tuple[InnerTotal, ...]:
    if isinstance(node, InnerAggregate):
        return node.totals
    if isinstance(node, Window) and isinstance(node.function, InnerTotal):
        return (node.function,)
    return ()


def _clamps_in(value: Expression) -> Iterator[Call]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call):
            waiting += node.arguments
            if node.function == "clamp":
                yield node


def _listed(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


# ---- Rounding to a grid.


_FLOAT = Fraction(1, 2**51)
"""By how much of its size floating point moves a value at most, when it is put into steps."""


def roundings(asked: Sourced, relation: Relation) -> Roundings:
    """Return how the value of each aggregate is rounded; None if it is surely on its grid."""
    grids, found = _Grids(), list[Rounded | None]()
    for aggregate, clamp in asked:
        value, grid = aggregate.looked_at, aggregate.grid
        is_plain = clamp is not None or not isinstance(aggregate, SumValues)
        if not is_plain or value is None or grid is None or grids.is_on(relation, value, grid.step):
            found.append(None)
        else:
            rounded = Rounded(
                text=expression_text(value, relation.fields()),
                step=grid.step,
                most=grid.step / 2 + grid.largest_steps * grid.step * _FLOAT,
                is_summed=isinstance(aggregate, SumValues | SumTotals),
            )
            found.append(rounded)
    return tuple(found)


@frozen
class _Grids:
    """On which grids values surely are, each field of a relation looked at once."""

    _known: dict[tuple[int, int], Fraction | None] = field(factory=dict)

    def is_on(self, relation: Relation, value: Expression, step: Fraction) -> bool:
        found = self._of(relation, value)
        return found is not None and (found / step).denominator == 1

    def _of(self, relation: Relation, value: Expression) -> Fraction | None:
        """Return a step of which a value surely is a whole number, or None."""
        if value.type is not ColumnType.REAL:
            return ONE  # whole numbers; of what is no number nothing is rounded
        if isinstance(value, FieldValue):
            return self._of_field(relation, value.index)
        if isinstance(value, Literal):
            number = constant(value)
            return None if number is None else Fraction(1, number.denominator)
        return self._of_call(relation, value) if isinstance(value, Call) else None

    def _of_field(self, relation: Relation, index: int) -> Fraction | None:
        place = id(relation), index
        if place not in self._known:
            steps = [self._of_part(part) for part in made_from(relation, index)]
            self._known[place] = common_step(steps) if steps else None
        return self._known[place]

    def _of_part(self, part: MadePart) -> Fraction | None:
        function = part.function
        if isinstance(function, InnerTotal):
            if function.total is Total.AVERAGE:
                return None
            if function.bounds is not None:
                return function.bounds.step  # summed on this grid
        return self._of(part.relation, part.value)

    def _of_call(self, relation: Relation, call: Call) -> Fraction | None:
        if call.function in _WHOLE:
            return ONE
        digits = constant(call.arguments[-1])
        if call.function == "round" and digits is not None:
            return Fraction(10) ** -int(digits)
        if call.function not in {"*", *_SAME_GRID}:
            return None
        values = [one for one in call.arguments if one.type is not ColumnType.BOOLEAN]
        steps = [self._of(relation, one) for one in values if not _is_null(one)]
        if call.function != "*":
            return common_step(steps) if steps else None
        first, *others = steps
        for step in others:
            first = None if first is None or step is None else first * step
        return first


_WHOLE = {"floor", "ceil", "trunc", "sign"}
_SAME_GRID = {
    "+", "-", "neg", "abs", "case", "coalesce", "greatest", "least", "nullif", "cast", "clamp"
}  # fmt: skip
"""Functions whose value is on a grid that all of their numbers are on."""


def _is_null(value: Expression) -> bool:
    return isinstance(value, Literal) and value.value is None
