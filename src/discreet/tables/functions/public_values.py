"""The public keys of an expression: every value that it can have, by the declarations alone."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import product

from attrs import frozen

from discreet.tables.column import ColumnType, DateRange, Key
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.date_ranges import propose_dates
from discreet.tables.functions.enumeration import Enumeration, Keys
from discreet.tables.functions.key_functions import KEY_FUNCTIONS, Mapped, Result
from discreet.tables.functions.number_spans import constant
from discreet.tables.functions.periods import periods
from discreet.tables.relations.relation import Computed, Field, OnBothSides

Made = Computed | OnBothSides


@frozen
class _Known:
    """The fields that an expression is over, and what enumerating keys has cost so far."""

    fields: Sequence[Field]
    enumeration: Enumeration


Rule = Callable[[Call, _Known], Keys | None]

MOST_VALUES = 10_000
"""The most days, or whole numbers of a clamp, that are taken for keys."""


def public_keys(
    expression: Expression, fields: Sequence[Field], enumeration: Enumeration | None = None
) -> tuple[Key, ...] | None:
    """Return the public keys of an expression in order, or None if they are not known.

    The expressions of one question share an ``enumeration``, so that all of them together are
    little work; it says whether some keys are not known only because they are too many.

    Guarantee:
        They come from the declarations and the query, never from rows; rows whose value is not
        among them are in no group. So privacy does not depend on their being right.

    Assumes:
        For its use: columns with declared keys have no other values, or rows that do may be left
        out. Bounds of a number are no keys, because they are for clamping what lies outside.

    Example:
        >>> from discreet.tables.functions.call import call
        >>> urgent = FieldValue(ColumnType.BOOLEAN, 0)
        >>> known = [Field(name="urgent", type=urgent.type)]
        >>> yes, no = Literal(ColumnType.TEXT, "now"), Literal(ColumnType.TEXT, "later")
        >>> public_keys(call("case", [urgent, yes, no]), known)
        ('now', 'later')
    """
    return _keys(expression, _Known(fields, enumeration or Enumeration())) or None


@singledispatch
def _keys(expression: Expression, known: _Known) -> Keys | None:
    return None


@_keys.register
def _(expression: FieldValue, known: _Known) -> Keys | None:
    field = known.fields[expression.index]
    keys = _own(field, known)
    if keys is not None:
        return keys
    if field.type is ColumnType.BOOLEAN:
        return (False, True)
    return None if field.dates is None else _days("day", field.dates, known)


def _own(field: Field, known: _Known) -> Keys | None:
    """Return the keys that are declared for a field, or that follow from how it is made."""
    if field.keys is not None or field.made is None:
        return field.keys
    made = field.made
    return known.enumeration.once(made, lambda: _of_made(made, known.enumeration))


def _of_made(made: Made, enumeration: Enumeration) -> Keys | None:
    if isinstance(made, Computed):
        return public_keys(made.value, made.fields, enumeration)
    first, second = (_own(side, _Known((), enumeration)) for side in (made.first, made.second))
    return first if first == second else None


@_keys.register
def _(expression: Literal, known: _Known) -> Keys | None:
    if expression.value is None:
        return ()
    return None if expression.type is ColumnType.REAL else (expression.value,)


@_keys.register
def _(expression: Call, known: _Known) -> Keys | None:
    if expression.type is ColumnType.BOOLEAN:
        return (False, True)
    if expression.type is ColumnType.REAL:
        return None
    rule = _RULES.get(expression.function, _mapped)
    return rule(expression, known)


def _each(values: Sequence[Expression], known: _Known) -> list[Keys] | None:
    """Return the keys of each value; None as soon as those of one are not known."""
    found = []
    for value in values:
        keys = _keys(value, known)
        if keys is None:
            return None
        found.append(keys)
    return found


def _union(values: Sequence[Expression], known: _Known) -> Keys | None:
    found = _each(values, known)
    if found is None or not known.enumeration.allows(sum(map(len, found))):
        return None
    return tuple(dict.fromkeys(key for keys in found for key in keys))


def _case(node: Call, known: _Known) -> Keys | None:
    return _union((*node.arguments[1::2], node.arguments[-1]), known)


def _all(node: Call, known: _Known) -> Keys | None:
    return _union(node.arguments, known)


def _first(node: Call, known: _Known) -> Keys | None:
    return _keys(node.arguments[0], known)


def _listed(values: Sequence[Key], known: _Known) -> Keys | None:
    return tuple(values) if known.enumeration.allows(len(values)) else None


def _from(lower: int, upper: int) -> Rule:
    return lambda _, known: _listed(range(lower, upper + 1), known)


def _width_bucket(node: Call, known: _Known) -> Keys | None:
    buckets = constant(node.arguments[3])
    return None if buckets is None else _listed(range(int(buckets) + 2), known)


def _clamp(node: Call, known: _Known) -> Keys | None:
    """Return all whole numbers of the range: the clamp is in the query, so no value is outside."""
    ends = [value for a in node.arguments[1:] if (value := constant(a)) is not None]
    step = int(ends[2]) if len(ends) == 3 else 1
    values = range(int(ends[0]), int(ends[1]) + 1, step)
    return _listed(values, known) if len(values) <= MOST_VALUES else None


def _days(unit: str, days: DateRange, known: _Known) -> Keys | None:
    found = periods(unit, days, most=MOST_VALUES)
    return _listed(found, known) if found else None


def _truncate(node: Call, known: _Known) -> Keys | None:
    days, unit = propose_dates(node.arguments[1], known.fields), node.arguments[0]
    if days is None or not isinstance(unit, Literal):
        return _mapped(node, known)
    return _days(str(unit.value), days, known)


def _year(node: Call, known: _Known) -> Keys | None:
    days = propose_dates(node.arguments[0], known.fields)
    if days is None:
        return _mapped(node, known)
    return _listed(range(days.first.year, days.last.year + 1), known)


def _mapped(node: Call, known: _Known) -> Keys | None:
    """Return the function of every combination of the arguments' keys, if it is done alike here."""
    return _function_of(node, _each(node.arguments, known), known)


def _concat(node: Call, known: _Known) -> Keys | None:
    """Return the joins of the arguments' keys; concat takes NULL for no text."""
    found = _each(node.arguments, known)
    if found is None:
        return None
    with_nothing = [
        tuple(dict.fromkeys((*keys, ""))) if _may_be_null(argument, known) else keys
        for argument, keys in zip(node.arguments, found, strict=True)
    ]
    return _function_of(node, with_nothing, known)


def _may_be_null(argument: Expression, known: _Known) -> bool:
    if isinstance(argument, Literal):
        return argument.value is None
    if isinstance(argument, FieldValue):
        return known.fields[argument.index].nullable
    return not (isinstance(argument, Call) and argument.function == "concat")


def _function_of(node: Call, found: Sequence[Keys] | None, known: _Known) -> Keys | None:
    function = KEY_FUNCTIONS.get(node.function)
    if function is None or found is None:
        return None
    if not known.enumeration.allows(math.prod(map(len, found))):
        return None
    values = _worked_out((function(node, *keys) for keys in product(*found)), known.enumeration)
    return None if values is None else tuple(values)


def _worked_out(results: Iterable[Result], enumeration: Enumeration) -> dict[Key, None] | None:
    """Return the keys among some results, each once; None if one is unknown or they are long."""
    values: dict[Key, None] = {}
    for value in results:
        if isinstance(value, Mapped):
            return None
        if value is None or value in values:
            continue
        if isinstance(value, str) and not enumeration.holds(value):
            return None
        values[value] = None
    return values


_RULES: Mapping[str, Rule] = {
    "case": _case,
    "coalesce": _all,
    "nullif": _first,
    "greatest": _all,
    "least": _all,
    "clamp": _clamp,
    "width_bucket": _width_bucket,
    "concat": _concat,
    "sign": _from(-1, 1),
    "date_trunc": _truncate,
    "year": _year,
    "quarter": _from(1, 4),
    "month": _from(1, 12),
    "week": _from(1, 53),
    "day": _from(1, 31),
    "day_of_week": _from(0, 6),
    "iso_day_of_week": _from(1, 7),
    "day_of_year": _from(1, 366),
}
