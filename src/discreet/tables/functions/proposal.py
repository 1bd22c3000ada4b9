"""How far an expression reaches if its columns keep to their declared ranges.

A proposed clamp, and a proposed range of days. Nothing rests on them.
"""

import datetime
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from discreet.tables.column import Bounds, ColumnType, DateRange
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import CALLED
from discreet.tables.functions.function import Without
from discreet.tables.functions.rules import NUMBERS, constant
from discreet.tables.functions.span import ONE, Span, to_bounds
from discreet.tables.relations.relation import Field


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
    if expression.type not in NUMBERS:
        return None
    span = _Reach(fields).span(expression)
    return None if span is None else to_bounds(span, expression.type)


def propose_dates(expression: Expression, fields: Sequence[Field]) -> DateRange | None:
    """Return a range of days from declared ranges, or None. Nothing rests on it.

    Example:
        >>> day = datetime.date(2024, 5, 17)
        >>> month = Literal(ColumnType.TEXT, "month")
        >>> trunc = Call(ColumnType.DATE, "date_trunc", (month, Literal(ColumnType.DATE, day)))
        >>> propose_dates(trunc, []).first
        datetime.date(2024, 5, 1)
    """
    return _Reach(fields).dates(expression)


def _one_day(literal: Literal) -> DateRange | None:
    day = literal.value.date() if isinstance(literal.value, datetime.datetime) else literal.value
    return DateRange(first=day, last=day) if isinstance(day, datetime.date) else None


_BOOLEAN_SPAN = Span(Fraction(0), ONE, ONE)


@frozen
class _Reach:
    """How far expressions over some fields reach."""

    fields: Sequence[Field]

    def span(self, expression: Expression) -> Span | None:
        if isinstance(expression, FieldValue):
            return self._field_span(expression)
        if isinstance(expression, Literal):
            value = constant(expression)
            return None if value is None else Span(value, value, Fraction(1, value.denominator))
        if not isinstance(expression, Call):
            return None
        if expression.type is ColumnType.BOOLEAN:
            return _BOOLEAN_SPAN
        function = CALLED.get(expression.function)
        if function is None or isinstance(function.span, Without):
            return None
        span = function.span(expression, self)
        return span if span is not None and span.is_sensible() else None

    def _field_span(self, expression: FieldValue) -> Span | None:
        known = self.fields[expression.index]
        if known.type is ColumnType.BOOLEAN:
            return _BOOLEAN_SPAN
        bounds = known.bounds
        return None if bounds is None else Span(bounds.lower, bounds.upper, bounds.step)

    def dates(self, expression: Expression) -> DateRange | None:
        if isinstance(expression, FieldValue):
            return self.fields[expression.index].dates
        if isinstance(expression, Literal):
            return _one_day(expression)
        function = CALLED.get(expression.function) if isinstance(expression, Call) else None
        if function is None or isinstance(function.dates, Without):
            return None
        assert isinstance(expression, Call)
        return function.dates(expression, self)
