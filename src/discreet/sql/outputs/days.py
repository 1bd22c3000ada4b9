"""Dates under MEDIAN, MIN and the like: counted as days from a first one, and shown as dates."""

import datetime
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import RefusedQuery, UndeclaredBound
from discreet.releases.estimates.estimate import Constant
from discreet.releases.view import ClampSource
from discreet.sql.outputs.clamp import Clamped
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.expression_text import expression_text
from discreet.tables.functions.call import call
from discreet.tables.functions.date_ranges import propose_dates
from discreet.tables.relations.relation import Field


@frozen
class Days:
    """The days from the first one of a public range on, and that first day."""

    count: Clamped
    first: datetime.date

    def start(self) -> Constant:
        """Return the first day, to which a number of days is added."""
        return Constant(ColumnType.DATE, self.first)


def in_days(value: Expression, fields: Sequence[Field]) -> Days:
    """Return a date as whole days from the first one that is declared (or proposed).

    Guarantee:
        As for a number: the engine moves the days into the range, so nothing rests on whether the
        range is true. The first day is public, so adding it again is post-processing.
    """
    known = propose_dates(value, fields)
    if known is None:
        raise _no_range(expression_text(value, fields))
    count = call("-", [value, Literal(ColumnType.DATE, known.first)])
    last = max(1, (known.last - known.first).days)  # a range of one day has a step too
    is_declared = isinstance(value, FieldValue)
    source = ClampSource.DECLARED if is_declared else ClampSource.PROPOSED
    bounds = Bounds(lower=Fraction(0), upper=Fraction(last))
    return Days(Clamped(count, bounds, source), known.first)


def _no_range(text: str) -> UndeclaredBound:
    days = f"CLAMP({text} - DATE '2025-01-01', 0, 364)"
    return UndeclaredBound(
        f"The range of {text} is not known",
        must="have a first and a last day, because the answer is chosen among the days between",
        next=f"Have min and max of the column declared, as min = 2025-01-01; or count the days"
        f" yourself: DATE '2025-01-01' + MEDIAN({days})",
    )


def not_a_sum(value: Expression, fields: Sequence[Field], function: str) -> RefusedQuery:
    """Return the refusal of a date where a number is added up."""
    known, text = propose_dates(value, fields), expression_text(value, fields)
    first = datetime.date(2025, 1, 1) if known is None else known.first
    days = f"{text} - DATE '{first}'"
    if known is None:
        days = f"CLAMP({days}, 0, 364)"
    return RefusedQuery(
        f"{text} is a date, not a number, and dates are not added up",
        must=f"be a number inside {function}",
        next=f"Write {function}({days}), which counts days; MEDIAN, QUANTILE, MIN and MAX take"
        " dates as they are",
    )
