"""The public keys of an expression: every value that it can have, by the declarations alone."""

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from itertools import product

from discreet.tables.column import ColumnType, DateRange, Key
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.date_ranges import propose_dates
from discreet.tables.functions.key_functions import KEY_FUNCTIONS, UNKNOWN, Mapped
from discreet.tables.functions.number_spans import constant
from discreet.tables.functions.periods import periods
from discreet.tables.keyset import LARGEST_KEYSET
from discreet.tables.relations.relation import Field

Fields = Sequence[Field]
Keys = tuple[Key, ...]
Rule = Callable[[Call, Fields], Keys | None]

MOST_VALUES = 10_000
"""The most days, or whole numbers of a clamp, that are taken for keys."""


def public_keys(expression: Expression, fields: Sequence[Field]) -> tuple[Key, ...] | None:
    """Return the public keys of an expression in order, or None if they are not known.

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
    keys = _keys(expression, fields)
    return keys or None


@singledispatch
def _keys(expression: Expression, fields: Fields) -> Keys | None:
    return None


@_keys.register
def _(expression: FieldValue, fields: Fields) -> Keys | None:
    known = fields[expression.index]
    if known.keys is not None:
        return known.keys
    if known.type is ColumnType.BOOLEAN:
        return (False, True)
    return None if known.dates is None else _days("day", known.dates)


@_keys.register
def _(expression: Literal, fields: Fields) -> Keys | None:
    if expression.value is None:
        return ()
    return None if expression.type is ColumnType.REAL else (expression.value,)


@_keys.register
def _(expression: Call, fields: Fields) -> Keys | None:
    if expression.type is ColumnType.BOOLEAN:
        return (False, True)
    if expression.type is ColumnType.REAL:
        return None
    rule = _RULES.get(expression.function, _mapped)
    return rule(expression, fields)


def _union(values: Sequence[Expression], fields: Fields) -> Keys | None:
    found = [_keys(value, fields) for value in values]
    known = [keys for keys in found if keys is not None]
    if len(known) < len(found):
        return None
    keys = tuple(dict.fromkeys(key for part in known for key in part))
    return keys if len(keys) <= LARGEST_KEYSET else None


def _case(node: Call, fields: Fields) -> Keys | None:
    return _union((*node.arguments[1::2], node.arguments[-1]), fields)


def _all(node: Call, fields: Fields) -> Keys | None:
    return _union(node.arguments, fields)


def _first(node: Call, fields: Fields) -> Keys | None:
    return _keys(node.arguments[0], fields)


def _from(lower: int, upper: int) -> Rule:
    return lambda _, __: tuple(range(lower, upper + 1))


def _width_bucket(node: Call, fields: Fields) -> Keys | None:
    buckets = constant(node.arguments[3])
    return None if buckets is None else tuple(range(int(buckets) + 2))


def _clamp(node: Call, fields: Fields) -> Keys | None:
    """Return all whole numbers of the range: the clamp is in the query, so no value is outside."""
    ends = [value for a in node.arguments[1:] if (value := constant(a)) is not None]
    step = int(ends[2]) if len(ends) == 3 else 1
    values = range(int(ends[0]), int(ends[1]) + 1, step)
    return tuple(values) if len(values) <= MOST_VALUES else None


def _days(unit: str, days: DateRange) -> Keys | None:
    return tuple(found) if (found := periods(unit, days, most=MOST_VALUES)) else None


def _truncate(node: Call, fields: Fields) -> Keys | None:
    days, unit = propose_dates(node.arguments[1], fields), node.arguments[0]
    if days is None or not isinstance(unit, Literal):
        return _mapped(node, fields)
    return _days(str(unit.value), days)


def _year(node: Call, fields: Fields) -> Keys | None:
    days = propose_dates(node.arguments[0], fields)
    if days is None:
        return _mapped(node, fields)
    return tuple(range(days.first.year, days.last.year + 1))


def _mapped(node: Call, fields: Fields) -> Keys | None:
    """Return the function of every combination of the arguments' keys, if it is done alike here."""
    return _function_of(node, [_keys(argument, fields) for argument in node.arguments])


def _concat(node: Call, fields: Fields) -> Keys | None:
    """Return the joins of the arguments' keys; concat takes NULL for no text."""
    found: list[Keys | None] = []
    for argument in node.arguments:
        keys = _keys(argument, fields)
        is_given = keys is None or not _may_be_null(argument, fields)
        found.append(keys if is_given else tuple(dict.fromkeys((*(keys or ()), ""))))
    return _function_of(node, found)


def _may_be_null(argument: Expression, fields: Fields) -> bool:
    if isinstance(argument, Literal):
        return argument.value is None
    if isinstance(argument, FieldValue):
        return fields[argument.index].nullable
    return not (isinstance(argument, Call) and argument.function == "concat")


def _function_of(node: Call, found: Sequence[Keys | None]) -> Keys | None:
    function = KEY_FUNCTIONS.get(node.function)
    known = [keys for keys in found if keys is not None]
    if function is None or len(known) < len(found):
        return None
    size = 1
    for keys in known:
        size *= len(keys)
    if size > LARGEST_KEYSET:
        return None
    values = dict.fromkeys(function(node, *keys) for keys in product(*known))
    if UNKNOWN in values:
        return None
    return tuple(v for v in values if v is not None and not isinstance(v, Mapped))


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
