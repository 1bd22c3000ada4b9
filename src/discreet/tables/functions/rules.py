"""Rules that several functions share: conversions, constants, spans and keys."""

import datetime
import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.core.errors import RefusedQuery
from discreet.core.numbers import exact
from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import Call, Expression, Literal
from discreet.tables.functions.function import (
    Arguments,
    Build,
    Keys,
    KeysRule,
    Listing,
    Reach,
    SpanRule,
)
from discreet.tables.functions.span import ONE, Span

NUMBERS = (ColumnType.INTEGER, ColumnType.REAL)

# ---- The conversions that SQL makes without being asked, and the type that several values share.


def convert(argument: Expression, wanted: ColumnType) -> Expression | None:
    """Return the argument as ``wanted``, or None if that needs a cast.

    Integers become real, a date its midnight, NULL becomes anything, and a text in the query that
    reads as a date, a timestamp or a time becomes one.

    Example:
        >>> convert(Literal(ColumnType.INTEGER, 3), ColumnType.REAL)
        Literal(type=<ColumnType.REAL: 'real'>, value='3')
    """
    if is_null_literal(argument):
        return Literal(wanted, None)
    if argument.type is wanted:
        return argument
    rule = _CONVERSIONS.get((argument.type, wanted))
    return None if rule is None else rule(argument)


def is_null_literal(argument: Expression) -> bool:
    """Tell whether this is NULL as written in the query: it has no type of its own."""
    return isinstance(argument, Literal) and argument.value is None


def _integer_to_real(argument: Expression) -> Expression:
    if isinstance(argument, Literal):
        return Literal(ColumnType.REAL, str(argument.value))
    return Call(ColumnType.REAL, "cast", (argument,))


def _text_to_date(argument: Expression) -> Expression | None:
    return read_date(str(argument.value)) if isinstance(argument, Literal) else None


def read_date(text: str) -> Literal | None:
    """Return a text as a date of the form 2024-01-31, or None if it is not one.

    Example:
        >>> read_date("2024-01-31"), read_date("20240131")
        (Literal(type=<ColumnType.DATE: 'date'>, value=datetime.date(2024, 1, 31)), None)
    """
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        return None
    return Literal(ColumnType.DATE, day) if day.isoformat() == text else None


def _date_to_timestamp(argument: Expression) -> Expression:
    if isinstance(argument, Literal) and isinstance(argument.value, datetime.date):
        return Literal(ColumnType.TIMESTAMP, midnight(argument.value))
    return Call(ColumnType.TIMESTAMP, "cast", (argument,))


def midnight(day: datetime.date) -> datetime.datetime:
    """Return the first moment of a day.

    Example:
        >>> midnight(datetime.date(2024, 1, 31))
        datetime.datetime(2024, 1, 31, 0, 0)
    """
    return datetime.datetime.combine(day, datetime.time())


def _text_to_timestamp(argument: Expression) -> Expression | None:
    return read_timestamp(str(argument.value)) if isinstance(argument, Literal) else None


def _text_to_time(argument: Expression) -> Expression | None:
    return read_time(str(argument.value)) if isinstance(argument, Literal) else None


CLOCK_FORM = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
TIMESTAMP_FORM = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([ T]{CLOCK_FORM})?"
"""How a time and a timestamp are written in a query, and in a text that it casts."""


def read_timestamp(text: str) -> Literal | None:
    """Return a text as a timestamp of the form 2024-01-31 10:00:00, or None if it is not one.

    Seconds and their fraction, or all of the time, may be left out. There is no offset.

    Example:
        >>> read_timestamp("2024-01-31 10:00").value, read_timestamp("2024-01-31 10:00Z")
        (datetime.datetime(2024, 1, 31, 10, 0), None)
    """
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return Literal(ColumnType.TIMESTAMP, moment) if re.fullmatch(TIMESTAMP_FORM, text) else None


def read_time(text: str) -> Literal | None:
    """Return a text as a time of the form 10:00:00, or None if it is not one.

    Example:
        >>> read_time("10:00").value, read_time("24:00")
        (datetime.time(10, 0), None)
    """
    if not re.fullmatch(CLOCK_FORM, text):
        return None
    return Literal(ColumnType.TIME, datetime.time.fromisoformat(text))


_CONVERSIONS: dict[tuple[ColumnType, ColumnType], Callable[[Expression], Expression | None]] = {
    (ColumnType.INTEGER, ColumnType.REAL): _integer_to_real,
    (ColumnType.TEXT, ColumnType.DATE): _text_to_date,
    (ColumnType.TEXT, ColumnType.TIMESTAMP): _text_to_timestamp,
    (ColumnType.TEXT, ColumnType.TIME): _text_to_time,
    (ColumnType.DATE, ColumnType.TIMESTAMP): _date_to_timestamp,
}


def first_fit(argument: Expression, kinds: Sequence[ColumnType]) -> Expression | None:
    """Return the argument as it is if its type is one of ``kinds``, else as the first it can be."""
    if argument.type in kinds and not is_null_literal(argument):
        return argument
    converted = (convert(argument, kind) for kind in kinds)
    return next((value for value in converted if value is not None), None)


def unify(arguments: Sequence[Expression]) -> tuple[Expression, ...] | None:
    """Return the arguments as the one type that they share, or None if they share none.

    Example:
        >>> one, half = Literal(ColumnType.INTEGER, 1), Literal(ColumnType.REAL, "1/2")
        >>> [argument.type.value for argument in unify((one, half))]
        ['real', 'real']
    """
    typed = dict.fromkeys(a.type for a in arguments if not is_null_literal(a))
    for wanted in typed or {ColumnType.TEXT: None}:
        converted = [convert(argument, wanted) for argument in arguments]
        fitting = tuple(value for value in converted if value is not None)
        if len(fitting) == len(arguments):
            return fitting
    return None


def numbers(arguments: Arguments) -> Arguments | None:
    """Return the arguments as numbers of one type, integers if all are, or None."""
    alike = unify(arguments)
    if alike is None or alike[0].type in NUMBERS:
        return alike
    as_integers = tuple(c for a in arguments if (c := convert(a, ColumnType.INTEGER)) is not None)
    return as_integers if len(as_integers) == len(arguments) else None


# ---- What a function makes of arguments.


def fixed(name: str, types: Sequence[Sequence[ColumnType]], result: ColumnType) -> Build:
    """Return the rule of one result type: each place takes the first of its types that fits."""

    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) != len(types):
            return None
        return call_of(
            name, result, [first_fit(a, t) for a, t in zip(arguments, types, strict=True)]
        )

    return build


def call_of(
    name: str, result: ColumnType, arguments: Sequence[Expression | None]
) -> Expression | None:
    """Return the call, or None if an argument did not fit."""
    given = tuple(argument for argument in arguments if argument is not None)
    return Call(result, name, given) if len(given) == len(arguments) else None


# ---- Arguments that must be constants of the query: a meaning or a limit rests on them.


def constant(argument: Expression) -> Fraction | None:
    """Return the value of a number that is written in the query, or None."""
    if not isinstance(argument, Literal) or argument.value is None:
        return None
    return exact(str(argument.value)) if argument.type in NUMBERS else None


def constant_integer(argument: Expression, what: str, *, least: int, most: int) -> int:
    """Return the value of an integer constant between ``least`` and ``most``, or refuse.

    Example:
        >>> constant_integer(Literal(ColumnType.INTEGER, 2), "digits of round", least=0, most=15)
        2
    """
    value = argument.value if isinstance(argument, Literal) else None
    if argument.type is not ColumnType.INTEGER or not isinstance(value, int):
        raise _must_be(what, f"a whole number from {least} to {most}, written in the query")
    if not least <= value <= most:
        raise RefusedQuery(
            f"The {what} is out of range", must=f"be {least} to {most}", got=str(value)
        )
    return value


def constant_number(argument: Expression, what: str) -> Fraction:
    """Return the exact value of a number that is written in the query, or refuse."""
    value = argument.value if isinstance(argument, Literal) else None
    if argument.type not in NUMBERS or value is None:
        raise _must_be(what, "a number that is written in the query")
    return exact(str(value))


def constant_text(argument: Expression, what: str) -> str:
    """Return the value of a text that is written in the query, or refuse."""
    value = argument.value if isinstance(argument, Literal) else None
    if not isinstance(value, str) or argument.type is not ColumnType.TEXT:
        raise _must_be(what, "a text that is written in the query")
    return value


def _must_be(what: str, must: str) -> RefusedQuery:
    return RefusedQuery(f"The {what} is not a constant", must=f"be {must}")


# ---- How far a function reaches.


def of_spans(rule: Callable[[Call, Sequence[Span]], Span | None]) -> SpanRule:
    """Return the span of a function of numbers, from those of all its arguments."""

    def of(node: Call, reach: Reach) -> Span | None:
        spans = [reach.span(argument) for argument in node.arguments]
        known = [span for span in spans if span is not None]
        return None if len(known) < len(spans) else rule(node, known)

    return of


def span_from(lower: int, upper: int) -> SpanRule:
    """Return the span of whole numbers that the arguments have no part in."""
    return lambda _, __: Span(Fraction(lower), Fraction(upper), ONE)


# ---- Which keys a function has.

MOST_LISTED = 10_000
"""The most days, or whole numbers of a clamp, that are taken for keys."""


def of_each(node: Call, known: Listing) -> Keys | None:
    """Return the function of every combination of the arguments' keys, if it is done alike here."""
    return known.mapped(node, each_keys(node.arguments, known))


def each_keys(values: Sequence[Expression], known: Listing) -> list[Keys] | None:
    """Return the keys of each value; None as soon as those of one are not known."""
    found = []
    for value in values:
        keys = known.keys(value)
        if keys is None:
            return None
        found.append(keys)
    return found


def listed(values: Sequence[Key], known: Listing) -> Keys | None:
    """Return the values as keys, or None if they are too many."""
    return tuple(values) if known.allows(len(values)) else None


def keys_from(lower: int, upper: int) -> KeysRule:
    """Return the keys that are whole numbers, which the arguments have no part in."""
    return lambda _, known: listed(range(lower, upper + 1), known)
