"""A proposed clamp: how far an expression reaches if its columns keep to their declared ranges."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import singledispatch

from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.date_ranges import propose_dates
from discreet.tables.functions.number_spans import NUMBER_SPANS, constant
from discreet.tables.functions.span import Span, common_step, hull, to_bounds
from discreet.tables.relations.relation import Field

Fields = Sequence[Field]
Rule = Callable[[Call, Fields], Span | None]
_NUMBERS = (ColumnType.INTEGER, ColumnType.REAL)
_ONE = Fraction(1)


def propose_bounds(expression: Expression, fields: Sequence[Field]) -> Bounds | None:
    """Return a range and a step to clamp the expression to, or None if none can be derived.

    Guarantee:
        None for privacy: that rests on the clamp, whatever its ends are. If every column keeps to
        its declared range, a value lies within the proposed one up to half a step.

    Utility:
        Integers have step 1; sums have the common step of their parts, products the product of
        steps, roundings their own. Quotients, roots, logarithms and powers get the power of ten
        that is about 1/10,000 of the range.

    Example:
        >>> from discreet.tables.functions.call import call
        >>> age = FieldValue(ColumnType.INTEGER, 0)
        >>> known = [Field(name="age", type=age.type, bounds=Bounds(lower=0, upper=110))]
        >>> propose_bounds(call("*", [age, Literal(ColumnType.INTEGER, 12)]), known).upper
        Fraction(1320, 1)
    """
    if expression.type not in _NUMBERS:
        return None
    span = _span(expression, fields)
    return None if span is None else to_bounds(span, expression.type)


@singledispatch
def _span(expression: Expression, fields: Fields) -> Span | None:
    return None


@_span.register
def _(expression: FieldValue, fields: Fields) -> Span | None:
    known = fields[expression.index]
    if known.type is ColumnType.BOOLEAN:
        return Span(Fraction(0), _ONE, _ONE)
    bounds = known.bounds
    return None if bounds is None else Span(bounds.lower, bounds.upper, bounds.step)


@_span.register
def _(expression: Literal, fields: Fields) -> Span | None:
    value = constant(expression)
    return None if value is None else Span(value, value, Fraction(1, value.denominator))


@_span.register
def _(expression: Call, fields: Fields) -> Span | None:
    if expression.type is ColumnType.BOOLEAN:
        return Span(Fraction(0), _ONE, _ONE)
    rule = _RULES.get(expression.function, _of_numbers)
    span = rule(expression, fields)
    return span if span is not None and span.is_sensible() else None


def _of_numbers(node: Call, fields: Fields) -> Span | None:
    rule = NUMBER_SPANS.get(node.function)
    spans = [_span(argument, fields) for argument in node.arguments]
    known = [span for span in spans if span is not None]
    return None if rule is None or len(known) < len(spans) else rule(node, known)


def _choice(values: Sequence[Expression], fields: Fields) -> Span | None:
    """Return the span of one of the values; NULL has none."""
    given = [v for v in values if not (isinstance(v, Literal) and v.value is None)]
    known = [span for value in given if (span := _span(value, fields)) is not None]
    return hull(known) if known and len(known) == len(given) else None


def _case(node: Call, fields: Fields) -> Span | None:
    return _choice((*node.arguments[1::2], node.arguments[-1]), fields)


def _all(node: Call, fields: Fields) -> Span | None:
    return _choice(node.arguments, fields)


def _first(node: Call, fields: Fields) -> Span | None:
    return _span(node.arguments[0], fields)


def _extreme(node: Call, fields: Fields) -> Span | None:
    """Return the span of greatest or least.

    It is one of the arguments, on the right side of every constant: constants are never NULL, so
    they are never skipped. That makes ``least(greatest(x, 0), 10)`` a clamp even of an unknown x.
    """
    reaches = [_reach(argument, fields) for argument in node.arguments]
    constants = [value for a in node.arguments if (value := constant(a)) is not None]
    lowers = [lower for lower, _ in reaches if lower is not None]
    uppers = [upper for _, upper in reaches if upper is not None]
    least = [min(lowers)] if len(lowers) == len(reaches) else []
    most = [max(uppers)] if len(uppers) == len(reaches) else []
    if node.function == "greatest":
        least = [max(least + constants)] if least + constants else []
    else:
        most = [min(most + constants)] if most + constants else []
    if not least or not most or least > most:
        return None
    spans = [_span(argument, fields) for argument in node.arguments]
    return Span(least[0], most[0], common_step([None if s is None else s.step for s in spans]))


def _reach(expression: Expression, fields: Fields) -> tuple[Fraction | None, Fraction | None]:
    """Return the lowest and the highest value, each if it is known."""
    span = _span(expression, fields)
    if span is not None:
        return span.lower, span.upper
    arguments = expression.arguments if isinstance(expression, Call) else ()
    constants = [value for a in arguments if (value := constant(a)) is not None]
    if constants and isinstance(expression, Call) and expression.function == "greatest":
        return max(constants), None
    if constants and isinstance(expression, Call) and expression.function == "least":
        return None, min(constants)
    return None, None


def _clamp(node: Call, fields: Fields) -> Span | None:
    lower, upper, *steps = (constant(argument) for argument in node.arguments[1:])
    if lower is None or upper is None:
        return None
    if steps or node.type is ColumnType.INTEGER:
        return Span(lower, upper, steps[0] if steps else _ONE)
    inner = _span(node.arguments[0], fields)
    step = None if inner is None else inner.step
    is_on_grid = step is not None and all((end / step).denominator == 1 for end in (lower, upper))
    return Span(lower, upper, step if is_on_grid else None)


def _year(node: Call, fields: Fields) -> Span | None:
    days = propose_dates(node.arguments[0], fields)
    if days is None:
        return None
    return Span(Fraction(days.first.year), Fraction(days.last.year), _ONE)


def _days_between(node: Call, fields: Fields) -> Span | None:
    """Return the span of date - date; of numbers the rule is another."""
    if node.arguments[0].type is not ColumnType.DATE:
        return _of_numbers(node, fields)
    later, earlier = (propose_dates(argument, fields) for argument in node.arguments)
    if later is None or earlier is None:
        return None
    lower, upper = later.first - earlier.last, later.last - earlier.first
    return Span(Fraction(lower.days), Fraction(upper.days), _ONE)


_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def _difference(node: Call, fields: Fields) -> Span | None:
    unit, start, end = node.arguments
    first, last = propose_dates(start, fields), propose_dates(end, fields)
    if first is None or last is None or not isinstance(unit, Literal):
        return None
    if unit.value == "day":
        lower, upper = last.first - first.last, last.last - first.first
        return Span(Fraction(lower.days), Fraction(upper.days), _ONE)
    length = _MONTHS[str(unit.value)]
    lower_count = _periods(last.first, length) - _periods(first.last, length)
    upper_count = _periods(last.last, length) - _periods(first.first, length)
    return Span(Fraction(lower_count), Fraction(upper_count), _ONE)


def _periods(day: datetime.date, length: int) -> int:
    return (day.year * 12 + day.month - 1) // length


def _from(lower: int, upper: int) -> Rule:
    return lambda _, __: Span(Fraction(lower), Fraction(upper), _ONE)


def _width_bucket(node: Call, fields: Fields) -> Span | None:
    buckets = constant(node.arguments[3])
    return None if buckets is None else Span(Fraction(0), buckets + 1, _ONE)


_RULES: Mapping[str, Rule] = {
    "case": _case,
    "coalesce": _all,
    "nullif": _first,
    "greatest": _extreme,
    "least": _extreme,
    "clamp": _clamp,
    "-": _days_between,
    "date_diff": _difference,
    "width_bucket": _width_bucket,
    "sign": _from(-1, 1),
    "year": _year,
    "quarter": _from(1, 4),
    "month": _from(1, 12),
    "week": _from(1, 53),
    "day": _from(1, 31),
    "day_of_week": _from(0, 6),
    "iso_day_of_week": _from(1, 7),
    "day_of_year": _from(1, 366),
}
