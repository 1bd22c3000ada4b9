"""The clamp directly below an aggregate, of a number or of a date."""

import datetime
from collections.abc import Callable, Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import InvalidArgument, RefusedQuery, UndeclaredBound
from discreet.releases.estimates.estimate import Constant
from discreet.releases.view import ClampSource
from discreet.sql.syntax.nodes import Node, is_a, unbracketed
from discreet.tables.column import Bounds, ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.proposal import propose_bounds, propose_dates
from discreet.tables.functions.rules import constant_number
from discreet.tables.plans.expression_text import expression_text
from discreet.tables.plans.sums import LARGEST_ROOT, WIDEST
from discreet.tables.relations.made_from import is_column
from discreet.tables.relations.relation import Field, Relation

_FINE = 10**6
"""How many steps a range that the query writes has at least, if it gives no step."""


@frozen
class Clamped:
    """A value, and the public range and grid that it is moved into."""

    value: Expression
    bounds: Bounds
    source: ClampSource


ChooseBounds = Callable[[Relation, Expression, bool], Bounds | None]
"""Returns the bounds that are chosen for a value of a relation, if any are; the last argument tells
whether the query asks for it."""


def nothing_chosen(relation: Relation, value: Expression, is_asked: bool) -> Bounds | None:
    """Return that no bounds are chosen: there is no profile here, or no price, to choose by."""
    return None


def unclamped(node: Node) -> Node:
    """Return the value of ``CLAMP(value)``, whose bounds are to be chosen; else the node itself."""
    inner = unbracketed(node)
    is_clamp = is_a(inner, "Anonymous") and inner.name.upper() == "CLAMP"
    return inner.expressions[0] if is_clamp and len(inner.expressions) == 1 else node


def require_chosen(value: Expression, fields: Sequence[Field], chosen: Bounds | None) -> Clamped:
    """Return a number with the bounds that are chosen for it, or say what is missing."""
    text = expression_text(value, fields)
    if chosen is None:
        raise RefusedQuery(
            f"The bounds of {text} can be chosen only from a profile of its values",
            must="be those of a column of one table that has such a profile, for the data as they"
            " are now, in a question with an epsilon or a rho of its own",
            got="no profile, or one in which no unit stands out from the noise",
            next=f"Have the owner run discreet profile with --value {text}, or if there is one,"
            f" a --fresh one at a higher price; or write CLAMP({text}, 0, 100) with the range that"
            " you expect",
        )
    return Clamped(value, chosen, ClampSource.CHOSEN)


def clamped(value: Expression, relation: Relation) -> Clamped:
    """Return a number with the clamp that the query writes, or else the declared or proposed one.

    Guarantee:
        Sensitivity rests on these bounds alone, and the engine moves every value into them. So it
        does not matter for privacy whether a declared or proposed range is true.
    """
    fields = relation.fields()
    if isinstance(value, Call) and value.function == "clamp":
        inner = value.arguments[0]
        return Clamped(inner, _written(value, fields), ClampSource.WRITTEN)
    declared = _declared(value, fields)
    if declared is not None:
        return Clamped(value, declared, _whose(value, relation))
    proposed = propose_bounds(value, fields)
    if proposed is not None:
        return Clamped(value, proposed, ClampSource.PROPOSED)
    text = expression_text(value, fields)
    raise UndeclaredBound(
        f"The range of {text} is not known",
        must="have a lowest and a highest value, because one row could move the answer without"
        " limit",
        next=f"Write CLAMP({text}, 0, 100) with the range that you expect, or have min and max of"
        " the column declared",
    )


def _whose(value: Expression, relation: Relation) -> ClampSource:
    """Return who chose the range of a field: nobody declares one of what a sub-query computes."""
    return ClampSource.DECLARED if is_column(relation, value) else ClampSource.PROPOSED


def _declared(value: Expression, fields: Sequence[Field]) -> Bounds | None:
    return fields[value.index].bounds if isinstance(value, FieldValue) else None


def _written(call: Call, fields: Sequence[Field]) -> Bounds:
    value, *limits = call.arguments
    lower, upper, *step = (constant_number(limit, "range of CLAMP") for limit in limits)
    try:
        if step:
            return Bounds(lower=lower, upper=upper, step=step[0])
        return Bounds(lower=lower, upper=upper, step=_step(value, lower, upper, fields))
    except InvalidArgument as error:
        raise RefusedQuery(
            f"The range of CLAMP cannot be used: {error.what}",
            must=error.must,
            got=error.got,
            next=error.next or "Write CLAMP(value, lowest, highest, step)",
        ) from None


def _step(value: Expression, lower: Fraction, upper: Fraction, fields: Sequence[Field]) -> Fraction:
    """Return the declared step, 1 for whole numbers, or a power of ten that is fine enough."""
    declared = _declared(value, fields)
    candidates = [declared.step] if declared else []
    if value.type is ColumnType.INTEGER:
        candidates.append(Fraction(1))
    for step in candidates:
        if all((end / step).denominator == 1 for end in (lower, upper)):
            return step
    step = Fraction(1)
    while upper - lower >= step * _FINE * 10:
        step *= 10
    while upper - lower < step * _FINE and upper > lower:
        step /= 10
    while any((end / step).denominator != 1 for end in (lower, upper)) and step > _FINEST:
        step /= 10
    return step


_FINEST = Fraction(10) ** -300


@frozen
class TotalInRange:
    """A value whose total is clamped as a whole: the range of a row, and that of the total."""

    value: Expression
    rows: Bounds
    bounds: Bounds
    source: ClampSource | None


def clamped_total(
    value: Expression, ends: Sequence[Expression], relation: Relation
) -> TotalInRange:
    """Return a number with the range of its total, on the grid of its rows.

    A range of the value itself holds for each row, as it does in a plain sum. Without one a row
    may be anything: the total has a range, and that is what a unit is held to.
    """
    lower, upper = (constant_number(end, "range of CLAMP_TOTAL") for end in ends)
    try:
        one = clamped(value, relation)
    except UndeclaredBound:
        one = None
    try:
        step = _step(value, lower, upper, relation.fields()) if one is None else one.bounds.step
        bounds = Bounds(lower=lower, upper=upper, step=step)
        if one is not None:
            return TotalInRange(one.value, one.bounds, bounds, one.source)
        wide = Bounds(lower=-WIDEST * step, upper=WIDEST * step, step=step)
        return TotalInRange(value, wide, bounds, None)
    except InvalidArgument as error:
        raise RefusedQuery(
            f"The range of CLAMP_TOTAL cannot be used: {error.what}",
            must=error.must,
            got=error.got,
            next="Write CLAMP_TOTAL(CLAMP(value, lowest, highest, step), lowest, highest) with a"
            " step that fits both",
        ) from None


def coarse(bounds: Bounds) -> Bounds:
    """Return bounds with a step so long that squares of distances from the middle stay small.

    Both ends go outwards to the longer step; bounds that are short enough stay as they are.

    Example:
        >>> coarse(Bounds(lower=0, upper=2**19)).step, coarse(Bounds(lower=0, upper=100)).step
        (Fraction(5, 1), Fraction(1, 1))
    """
    steps = bounds.upper_steps - bounds.lower_steps
    if steps <= 2 * (LARGEST_ROOT - 2):
        return bounds
    longer = -(-steps // (2 * (LARGEST_ROOT - 2)))
    return Bounds(
        lower=bounds.lower_steps // longer * longer * bounds.step,
        upper=-(-bounds.upper_steps // longer) * longer * bounds.step,
        step=bounds.step * longer,
    )


@frozen
class Days:
    """The days from the first one of a public range on, and that first day."""

    count: Clamped
    first: datetime.date

    def start(self) -> Constant:
        """Return the first day, to which a number of days is added."""
        return Constant(ColumnType.DATE, self.first)


def in_days(value: Expression, relation: Relation) -> Days:
    """Return a date as whole days from the first one that is declared (or proposed).

    Guarantee:
        As for a number: the engine moves the days into the range, so nothing rests on whether the
        range is true. The first day is public, so adding it again is post-processing.
    """
    fields = relation.fields()
    known = propose_dates(value, fields)
    if known is None:
        raise _no_range(expression_text(value, fields))
    count = call("-", [value, Literal(ColumnType.DATE, known.first)])
    last = max(1, (known.last - known.first).days)  # a range of one day has a step too
    bounds = Bounds(lower=Fraction(0), upper=Fraction(last))
    return Days(Clamped(count, bounds, _whose(value, relation)), known.first)


def _no_range(text: str) -> UndeclaredBound:
    days = f"CLAMP({text} - DATE '2025-01-01', 0, 364)"
    return UndeclaredBound(
        f"The range of {text} is not known",
        must="have a first and a last day, because the answer is chosen among the days between",
        next=f"Have min and max of the column declared, as min = 2025-01-01; or count the days"
        f" yourself: DATE '2025-01-01' + MEDIAN({days})",
    )


def not_of_moments(value: Expression, fields: Sequence[Field], function: str) -> RefusedQuery:
    """Return the refusal of a timestamp or a time of day where a number is asked for."""
    known, text = propose_dates(value, fields), expression_text(value, fields)
    first = datetime.date(2025, 1, 1) if known is None else known.first
    minutes = f"date_diff('minute', TIME '00:00:00', {text})"
    days = ""
    if value.type is ColumnType.TIMESTAMP:
        minutes = f"date_diff('minute', TIMESTAMP '{first} 00:00:00', {text})"
        days = f"; MEDIAN, QUANTILE, MIN and MAX take CAST({text} AS DATE)"
    if known is None and days:
        minutes = f"CLAMP({minutes}, 0, 525600)"
    return RefusedQuery(
        f"{text} is a {value.type.value}, not a number",
        must=f"be a number inside {function}",
        next=f"Write {function}({minutes}), which counts minutes{days}",
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
