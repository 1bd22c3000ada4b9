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
from discreet.tables.functions.conditions import typed_conjuncts
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.functions.rules import constant
from discreet.tables.functions.span import ONE, common_step
from discreet.tables.plans.aggregate import Aggregate, CountRows
from discreet.tables.plans.expression_text import expression_text
from discreet.tables.plans.sums import SumTotals, SumValues
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.made_from import MadePart, is_column, made_from, parts_of
from discreet.tables.relations.relation import Field, OneSource, Projection, Relation
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Total, Window

Sourced = Iterable[tuple[Aggregate, ClampSource | None]]
"""Aggregates, each with who chose its clamp."""


def remarks(asked: Sourced, relation: Relation) -> tuple[str, ...]:
    """Return that values are clamped below an aggregate's own clamp."""
    # A product of two values, whose own aggregates are there too, has a grid but no such source.
    plain = [
        aggregate
        for aggregate, clamp in asked
        if clamp is not None or not isinstance(aggregate, SumValues)
    ]
    return (*_on_inner_clamps(plain, relation), *_on_inner_ranges(relation))


def ranges(asked: Sourced, relation: Relation) -> tuple[Bounds | None, ...]:
    """Return the clamp of each aggregate that can move a value.

    One that follows from constants and other clamps alone does not.
    """
    fields = _Undeclared().fields(relation)
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


@frozen
class _Undeclared:
    """Which ranges fields have even if no declared one is true, each relation looked at once."""

    _known: dict[int, tuple[Field, ...]] = field(factory=dict)

    def fields(self, relation: Relation) -> tuple[Field, ...]:
        place = id(relation)
        if place not in self._known:
            plain = tuple(evolve(one, bounds=None, dates=None) for one in relation.fields())
            pairs = zip(plain, self._ranges(relation), strict=False)
            given = tuple(evolve(one, bounds=bounds) for one, bounds in pairs)
            self._known[place] = (*given, *plain[len(given) :])
        return self._known[place]

    def _ranges(self, relation: Relation) -> list[Bounds | None]:
        """Return the ranges of the first fields; what a ranking adds behind them has none."""
        if not isinstance(relation, OneSource | Join | Exists):
            return []
        below = tuple(one for source in relation.inputs() for one in self.fields(source))
        if isinstance(relation, Projection):
            return [propose_bounds(value, below) for value in relation.values]
        if isinstance(relation, InnerAggregate):
            keys = [below[place].bounds for place in relation.keys]
            return [*keys, *(_undeclared_total(one, below) for one in relation.totals)]
        known = [one.bounds for one in below]
        if isinstance(relation, Window) and isinstance(relation.function, InnerTotal):
            known.append(_undeclared_total(relation.function, below))
        return known


def _undeclared_total(total: InnerTotal, below: Sequence[Field]) -> Bounds | None:
    """Return where a total lies in any case: a mean within its own clamp, an extreme as its values.

    How far sums and counts reach depends on the number of rows.
    """
    if total.value is None:
        return None
    if total.total is Total.AVERAGE:
        return total.bounds or propose_bounds(total.value, below)
    is_one_of_them = total.total in (Total.MINIMUM, Total.MAXIMUM)
    return propose_bounds(total.value, below) if is_one_of_them else None


# ---- Clamps that are part of the question.


def _on_inner_clamps(aggregates: Iterable[Aggregate], relation: Relation) -> list[str]:
    looked_at = [(relation, one.looked_at) for one in aggregates if one.looked_at is not None]
    added_up = [
        (source, one.value)
        for source, one in _all_inner_totals(relation)
        if one.value is not None and one.total in _MOVED_BY_CLAMPS
    ]
    found = list(
        dict.fromkeys(
            expression_text(call, part.relation.fields())
            for source, value in (*looked_at, *added_up)
            for part in parts_of(source, value)
            for call in _clamps_in(part.value)
        )
    )
    if not found:
        return []
    are = "is" if len(found) == 1 else "are"
    return [f"{_listed(found)} {are} part of the question: numbers are about clamped values"]


_MOVED_BY_CLAMPS = (Total.SUM, Total.AVERAGE, Total.MINIMUM, Total.MAXIMUM)


def _on_inner_ranges(relation: Relation) -> list[str]:
    """Return which values are moved into a range before they are added up below the aggregate.

    What is done with such a total does not matter: a condition on it decides by what it came to.
    That they are rounded too is not worth a word
    (:func:`~discreet.tables.functions.fine_grid.fine_grid`).
    """
    found = dict[str, None]()
    for source, value, grid in moved_inside(relation):
        whose = ClampSource.DECLARED if is_column(source, value) else ClampSource.PROPOSED
        found[
            f"{expression_text(value, source.fields())} outside {short(grid.lower)} to"
            f" {short(grid.upper)} ({whose.value}) counts as the nearer end where it is added up"
            " inside of the question, which no interval shows"
        ] = None
    return list(found)


def moved_inside(relation: Relation) -> Iterator[tuple[Relation, Expression, Bounds]]:
    """Return the values that a total below the aggregate moves into a range, if one is outside.

    Each is over the fields of the relation that it comes with. One that is within its range by
    constants and clamps alone is not moved.
    """
    undeclared = _Undeclared()
    for source, one in _all_inner_totals(relation):
        value, grid = one.value, one.bounds
        if value is None or grid is None or _is_within(value, undeclared.fields(source), grid):
            continue
        yield source, value, grid


def _all_inner_totals(relation: Relation) -> Iterator[tuple[Relation, InnerTotal]]:
    """Return the totals below an aggregate, wherever they are, each with what it is over."""
    waiting = [relation]
    while waiting:
        node = waiting.pop()
        waiting += node.inputs()
        for one in _inner_totals(node):
            yield node.inputs()[0], one


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
    every, grids, found = list(asked), _Grids(), list[Rounded | None]()
    for aggregate, clamp in every:
        value, grid = aggregate.looked_at, aggregate.grid
        if value is None or grid is None or grids.is_on(relation, value, grid.step):
            found.append(None)
        else:
            rounded = Rounded(
                text=expression_text(value, relation.fields()),
                step=grid.step,
                most=grid.step / 2 + grid.largest_steps * grid.step * _FLOAT,
                is_summed=isinstance(aggregate, SumValues | SumTotals),
                is_countable=isinstance(aggregate, SumValues),
                is_told=clamp is not None or not isinstance(aggregate, SumValues),
                counted=_counted([one for one, _ in every], aggregate),
            )
            found.append(rounded)
    return tuple(found)


def _counted(every: Sequence[Aggregate], aggregate: Aggregate) -> int | None:
    """Return the place of a count of at least the rows that a sum is over, and of few others.

    That is one whose conditions are all among those of the sum: of such counts, the one with the
    most. A total that is clamped as a whole is over rows that no count counts.
    """
    if not isinstance(aggregate, SumValues):
        return None
    own = set(typed_conjuncts(aggregate.where))
    counts = {
        i: set(typed_conjuncts(one.where))
        for i, one in enumerate(every)
        if isinstance(one, CountRows)
    }
    wide = {i: len(conditions) for i, conditions in counts.items() if conditions <= own}
    return max(wide, key=wide.__getitem__, default=None)


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
        last = constant(call.arguments[-1])
        if call.function == "round" and last is not None:
            return Fraction(10) ** -int(last)
        if call.function == "clamp" and len(call.arguments) == _WITH_STEP:
            return last
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


_WITH_STEP = 4
"""How many arguments CLAMP has if it rounds as well, the last of which is the step."""

_WHOLE = {"floor", "ceil", "trunc", "sign"}
_SAME_GRID = {
    "+", "-", "neg", "abs", "case", "coalesce", "greatest", "least", "nullif", "cast", "clamp"
}  # fmt: skip
"""Functions whose value is on a grid that all of their numbers are on."""


def _is_null(value: Expression) -> bool:
    return isinstance(value, Literal) and value.value is None
