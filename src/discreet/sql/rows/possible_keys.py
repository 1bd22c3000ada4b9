"""Possible keys: of the public keys of a question, those that its WHERE leaves.

A group that the text of the query rules out is no group of the answer, as in SQL: it must not be
the least of a list, nor count in a mean of the groups. Rows do not matter for that, and privacy
does not either: it is decided by declarations and the query, and the plan stays as it is.

Declarations are promises that data may break. A row whose value nobody declared is in no group of
the column itself, but may well be in one of ``CASE WHEN k = 'a' THEN 'A' ELSE 'other' END``. So a
computed group is ruled out only if no value could be in it, declared or not.
"""

import datetime
import math
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from itertools import product
from typing import Any

from discreet.sql.rows.undeclared import Cell, Value, beyond, group_of
from discreet.tables.column import ColumnType, DateRange, Key
from discreet.tables.expression import (
    Call,
    Expression,
    FieldValue,
    Literal,
    fields_in,
    measure,
    written_out,
)
from discreet.tables.functions.conditions import typed_conjuncts
from discreet.tables.functions.dates import TRUNCATIONS
from discreet.tables.functions.on_rows import NOT_TOLD, Elsewhere, value_of
from discreet.tables.functions.public_values import Enumeration
from discreet.tables.functions.rules import midnight
from discreet.tables.keyset import Keys
from discreet.tables.relations.relation import Field, Filter, Projection, Relation

MOST_CELLS = 10_000
"""How many values of one field are looked at; days or hours, if it has a range of them."""
MOST_NODES = 1_000
"""How large an expression may become that looks into sub-queries."""

PossibleKeys = tuple[frozenset[Key] | None, ...]
"""For each grouped expression the keys that are left, or None if all are."""

Groups = Callable[[], frozenset[Key] | None]
"""The public keys of a grouped expression, if it has any."""


def possible_keys(
    expressions: Sequence[Expression], relation: Relation, keys: Keys
) -> PossibleKeys:
    """Return the keys that conditions on the rows leave, as far as they can be told.

    What is looked at are conditions on the fields of a key, here and in sub-queries that choose
    rows and columns. For each value that their declarations allow it is worked out whether a
    condition is false; what is not known to be, is left.
    """
    conditions: list[Expression] = []
    found: list[Expression | None] = list(expressions)
    while isinstance(relation, Filter | Projection):
        if isinstance(relation, Filter):
            conditions += typed_conjuncts(relation.condition)
        else:
            values = relation.values
            inner = [_inside(condition, values) for condition in conditions]
            conditions = [condition for condition in inner if condition is not None]
            found = [None if key is None else _inside(key, values) for key in found]
        relation = relation.source
    fields, work = relation.fields(), Enumeration()
    return tuple(
        None if key is None else _left(key, conditions, fields, work, partial(keys.values, i))
        for i, key in enumerate(found)
    )


def _inside(expression: Expression, values: Sequence[Expression]) -> Expression | None:
    """Return an expression over the fields of a sub-query's own source, if it is small."""
    sizes = [measure(values[index])[1] for index in fields_in(expression)]
    is_small = measure(expression)[1] * max(sizes, default=1) <= MOST_NODES
    return written_out(expression, values) if is_small else None


def _left(
    key: Expression,
    conditions: Sequence[Expression],
    fields: Sequence[Field],
    work: Enumeration,
    groups: Groups,
) -> frozenset[Key] | None:
    places = sorted(fields_in(key))
    about = [one for one in conditions if fields_in(one) and fields_in(one) <= {*places}]
    used = [fields[place] for place in places]
    is_by_hour = _is_by_hour([key, *about]) and all(map(_has_few_hours, used))
    cells = [_cells(known, is_by_hour=is_by_hour) for known in used]
    allowed = [some for some in cells if some is not None]
    if not about or len(allowed) < len(cells):
        return None
    coarse = {place for place in places if _is_ranged(fields[place])}
    told = [one for one in about if _is_told(one, coarse, is_by_hour=is_by_hour)]
    told += [one for one in about if one not in told and _is_ordered(one, coarse)]
    if not isinstance(key, FieldValue):
        named = _named(used, [key, *told])
        allowed = [[*some, *beyond(f, named)] for f, some in zip(used, allowed, strict=True)]
    size = sum(measure(one)[1] for one in (key, *told)) * 2
    is_allowed = work.allows(math.prod(map(len, allowed)) * size)
    if not told or not is_allowed or not _is_told(key, coarse, is_by_hour=is_by_hour):
        return None
    rows = [dict(zip(places, row, strict=True)) for row in product(*allowed)]
    left = [row for row in rows if all(_may_hold(one, row) for one in told)]
    if len(left) == len(rows):
        return None
    values = {group_of(key, _ends(row)[0]) for row in left}
    return _by_groups(key, told, values, groups())


def _by_groups(
    key: Expression,
    conditions: Sequence[Expression],
    values: Set[Any],
    groups: frozenset[Key] | None,
) -> frozenset[Key] | None:
    """Return the keys that are left if rows may have some values of a key.

    Where it is not known which, a row may be in any group that conditions on the key alone leave.
    """
    known = {value for value in values if value is not None and not isinstance(value, Elsewhere)}
    elsewhere = [value for value in values if isinstance(value, Elsewhere)]
    if NOT_TOLD not in known and not elsewhere:
        return frozenset(known)
    if groups is None:
        return None
    if NOT_TOLD not in known:
        return frozenset(known.union(g for g in groups if any(one.has(g) for one in elsewhere)))
    inside = [_over_key(one, key) for one in conditions]
    whole = [one for one in inside if fields_in(one) == {_KEY}]
    left = frozenset(g for g in groups if all(_may_be(one, {_KEY: g}) for one in whole))
    return None if left == groups else left


_KEY = -1
"""The place of a key among the fields, where a condition looks at nothing else."""


def _over_key(expression: Expression, key: Expression) -> Expression:
    """Return an expression with a key as a field of its own."""
    if expression == key:
        return FieldValue(key.type, _KEY)
    if not isinstance(expression, Call):
        return expression
    parts = tuple(_over_key(part, key) for part in expression.arguments)
    return Call(expression.type, expression.function, parts)


def _ends(row: Mapping[int, Cell]) -> tuple[dict[int, Value], dict[int, Value]]:
    firsts = {place: cell[0] for place, cell in row.items()}
    return firsts, {place: cell[1] for place, cell in row.items()}


def _may_hold(condition: Expression, row: Mapping[int, Cell]) -> bool:
    """Tell whether a condition may be true: at one end of what a row stands for.

    What is told of a cell is the same in all of it; and what orders moments is true at an end if
    it is true anywhere.
    """
    return any(_may_be(condition, end) for end in _ends(row))


def _may_be(condition: Expression, row: Mapping[int, Value]) -> bool:
    return value_of(condition, row) in (True, NOT_TOLD)


def _named(used: Sequence[Field], expressions: Sequence[Expression]) -> dict[ColumnType, set[Key]]:
    """Return the values that declarations and the query have, by their types."""
    found: dict[ColumnType, set[Key]] = {}
    for known in used:
        found.setdefault(known.type, set()).update(known.keys or ())
    waiting = list(expressions)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Literal) and node.value is not None:
            found.setdefault(node.type, set()).add(node.value)
        waiting += node.arguments if isinstance(node, Call) else ()
    return found


# ---- Which values a field may have.


def _is_ranged(known: Field) -> bool:
    return known.keys is None and known.type is ColumnType.TIMESTAMP


def _has_few_hours(known: Field) -> bool:
    return not _is_ranged(known) or known.dates is None or known.dates.days * 24 <= MOST_CELLS


def _cells(known: Field, *, is_by_hour: bool) -> list[Cell] | None:
    """Return the values that the declaration of a field allows, if they are few; NULL is one."""
    values: Sequence[Key] | None = known.keys
    missing: list[Cell] = [(None, None)] if known.nullable else []
    if known.keys is None and known.type is ColumnType.BOOLEAN:
        values = (False, True)
    if values is not None:
        return [*((value, value) for value in values), *missing]
    if known.dates is None:
        return None
    if known.type is ColumnType.DATE and known.dates.days <= MOST_CELLS:
        return [*((day, day) for day in _days(known.dates)), *missing]
    size = known.dates.days * (24 if is_by_hour else 1)
    if known.type is not ColumnType.TIMESTAMP or size > MOST_CELLS:
        return None
    step = datetime.timedelta(hours=1 if is_by_hour else 24)
    first, tick = midnight(known.dates.first), datetime.timedelta(microseconds=1)
    moments = (first + i * step for i in range(size))
    return [*((moment, moment + (step - tick)) for moment in moments), *missing]


def _days(dates: DateRange) -> list[datetime.date]:
    return [dates.first + datetime.timedelta(days=i) for i in range(dates.days)]


# ---- What is the same in all of a day, or of an hour.

_ORDERS = ("<", "<=", ">", ">=")
_OF_DAYS = (
    "year", "quarter", "month", "week", "day", "day_of_week", "iso_day_of_week", "day_of_year",
)  # fmt: skip


def _is_by_hour(expressions: Sequence[Expression]) -> bool:
    """Tell whether any expression looks at the hour of a timestamp."""
    waiting = list(expressions)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call):
            if node.function == "hour" or Literal(ColumnType.TEXT, "hour") in node.arguments[:1]:
                return True
            waiting += node.arguments
    return False


def _is_told(expression: Expression, coarse: set[int], *, is_by_hour: bool) -> bool:
    """Tell whether an expression is the same for all moments of a cell."""
    if isinstance(expression, FieldValue):
        return expression.index not in coarse
    if not isinstance(expression, Call):
        return True
    is_whole = _is_of_cell(expression, is_by_hour=is_by_hour)
    return is_whole or all(
        _is_told(part, coarse, is_by_hour=is_by_hour) for part in expression.arguments
    )


def _is_of_cell(node: Call, *, is_by_hour: bool) -> bool:
    """Tell whether a function of a timestamp itself takes its day, or its hour."""
    if not isinstance(node.arguments[-1], FieldValue):
        return False
    if node.function == "date_trunc":
        units = ("hour", *TRUNCATIONS) if is_by_hour else TRUNCATIONS
        unit = node.arguments[0]
        return isinstance(unit, Literal) and unit.value in units
    is_day = node.function == "cast" and node.type is ColumnType.DATE
    return is_day or node.function in _OF_DAYS or (is_by_hour and node.function == "hour")


def _is_ordered(condition: Expression, coarse: set[int]) -> bool:
    """Tell whether a condition is a moment before or after another that the query has."""
    if not isinstance(condition, Call) or condition.function not in _ORDERS:
        return False
    sides = condition.arguments
    is_field = any(isinstance(one, FieldValue) and one.index in coarse for one in sides)
    return is_field and any(isinstance(one, Literal) for one in sides)
