"""Choices among values of one type."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from discreet.core.errors import RefusedQuery
from discreet.tables.arithmetic import enclosures, function_values
from discreet.tables.arithmetic.between import BetweenNumbers, of_case, of_nullif, of_one_type
from discreet.tables.arithmetic.function_values import ColumnFunction
from discreet.tables.column import ColumnType, DateRange
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.function import (
    BINARY,
    BY_FORM,
    Arguments,
    DatesRule,
    Function,
    Keys,
    KeysRule,
    Listing,
    PlainNode,
    Reach,
    SpanRule,
    Without,
)
from discreet.tables.functions.rules import (
    constant,
    convert,
    each_keys,
    is_null_literal,
    unify,
)
from discreet.tables.functions.span import Span, common_step, hull
from discreet.tables.functions.work import COPIED, Lengths, Steps, TextLength, guarded, plain

MOST_ARGUMENTS = 100
"""The most arguments of greatest and least."""

# ---- What it makes of arguments.


def _case(arguments: Arguments) -> Expression | None:
    """Check (condition, value, condition, value, ..., otherwise)."""
    if len(arguments) < 3 or len(arguments) % 2 == 0:
        return None
    conditions = [convert(argument, ColumnType.BOOLEAN) for argument in arguments[:-1:2]]
    values = unify((*arguments[1::2], arguments[-1]))
    if values is None:
        return None
    pairs: list[Expression] = []
    for condition, value in zip(conditions, values, strict=False):
        if condition is None:
            return None
        pairs += (condition, value)
    return Call(values[-1].type, "case", (*pairs, values[-1]))


def _if(arguments: Arguments) -> Expression | None:
    return _case(arguments) if len(arguments) == 3 else None


def _coalesce(arguments: Arguments) -> Expression | None:
    values = unify(arguments) if arguments else None
    if values is None or len(values) == 1:
        return values and values[0]
    return Call(values[0].type, "coalesce", values)


def _nullif(arguments: Arguments) -> Expression | None:
    both = unify(arguments) if len(arguments) == 2 else None
    return None if both is None else Call(both[0].type, "nullif", both)


# ---- What is known of one of several values.

_Values = Callable[[Call], Arguments]
"""Which arguments of a call its value can be."""


def _branches(node: Call) -> Arguments:
    return (*node.arguments[1::2], node.arguments[-1])


def _all(node: Call) -> Arguments:
    return node.arguments


def _first(node: Call) -> Arguments:
    return node.arguments[:1]


def _span_of(values: _Values) -> SpanRule:
    """Return the span of one of the values; NULL has none."""

    def rule(node: Call, reach: Reach) -> Span | None:
        given = [value for value in values(node) if not is_null_literal(value)]
        known = [span for value in given if (span := reach.span(value)) is not None]
        return hull(known) if known and len(known) == len(given) else None

    return rule


def _dates_of(values: _Values) -> DatesRule:
    """Return the range of one of the values; NULL is in none."""

    def rule(node: Call, reach: Reach) -> DateRange | None:
        given = [value for value in values(node) if not is_null_literal(value)]
        ranges = [r for value in given if (r := reach.dates(value)) is not None]
        if not ranges or len(ranges) < len(given):
            return None
        return DateRange(first=min(r.first for r in ranges), last=max(r.last for r in ranges))

    return rule


def _keys_of(values: _Values) -> KeysRule:
    """Return the keys of all values, each once."""

    def rule(node: Call, known: Listing) -> Keys | None:
        found = each_keys(values(node), known)
        if found is None or not known.allows(sum(map(len, found))):
            return None
        return tuple(dict.fromkeys(key for keys in found for key in keys))

    return rule


def _first_keys(node: Call, known: Listing) -> Keys | None:
    return known.keys(node.arguments[0])


_TEXT_LENGTH = TextLength(
    longest=lambda _, lengths: max(lengths),
    # Of several texts the longest is, on an average, as long as all of them together at most.
    usual=lambda _, lengths: sum(lengths),
)


_choice = partial(
    Function,
    on_keys=Without("its keys are those of the values that it chooses from"),
    length=_TEXT_LENGTH,
)


# ---- The greatest and the least.


def _extreme(name: str, node: str, value: ColumnFunction) -> Function:
    def build(arguments: Arguments) -> Expression | None:
        if len(arguments) > MOST_ARGUMENTS:
            raise RefusedQuery(
                f"{name} has too many arguments", must=f"have at most {MOST_ARGUMENTS}"
            )
        alike = unify(arguments) if arguments else None
        return None if alike is None else Call(alike[0].type, name, alike)

    return _choice(
        name=name,
        usage=f"{name}(x, y, ...), all of one type",
        written=(PlainNode(node, ("this", "expressions"), {"ignore_nulls": True}),),
        build=build,
        span=_extreme_span,
        dates=_dates_of(_all),
        keys=_keys_of(_all),
        work=_extreme_work,
        guards=guarded(0),
        between=BetweenNumbers(1, None, of_one_type, value),
    )


def _extreme_span(node: Call, reach: Reach) -> Span | None:
    """Return the span of greatest or least.

    It is one of the arguments, on the right side of every constant: constants are never NULL, so
    they are never skipped. That makes ``least(greatest(x, 0), 10)`` a clamp even of an unknown x.
    """
    reaches = [_ends(argument, reach) for argument in node.arguments]
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
    spans = [reach.span(argument) for argument in node.arguments]
    return Span(least[0], most[0], common_step([None if s is None else s.step for s in spans]))


def _ends(expression: Expression, reach: Reach) -> tuple[Fraction | None, Fraction | None]:
    """Return the lowest and the highest value, each if it is known."""
    span = reach.span(expression)
    if span is not None:
        return span.lower, span.upper
    arguments = expression.arguments if isinstance(expression, Call) else ()
    constants = [value for a in arguments if (value := constant(a)) is not None]
    if constants and isinstance(expression, Call) and expression.function == "greatest":
        return max(constants), None
    if constants and isinstance(expression, Call) and expression.function == "least":
        return None, min(constants)
    return None, None


def _extreme_work(node: Call, lengths: Lengths) -> Steps:
    """Return the work of comparing arguments; of two texts a copy of one is the result."""
    return plain(node, lengths) + Steps(COPIED * sum(lengths))


def _nullif_work(node: Call, lengths: Lengths) -> Steps:
    """Return the work of a guard that holds both arguments, and copies the first again."""
    return plain(node, lengths) + Steps(COPIED * (2 * lengths[0] + lengths[1]))


_AS_CASE = Without("what it builds is a CASE")

FUNCTIONS = (
    _choice(
        name="case",
        usage="CASE WHEN boolean THEN x ... ELSE y END",
        written=BY_FORM,
        build=_case,
        span=_span_of(_branches),
        dates=_dates_of(_branches),
        keys=_keys_of(_branches),
        work=plain,
        guards=guarded(0),
        between=BetweenNumbers(3, None, of_case, function_values.case),
    ),
    Function(
        name="if",
        usage="if(boolean, x, y)",
        written=BY_FORM,
        build=_if,
        span=_AS_CASE,
        dates=_AS_CASE,
        keys=_AS_CASE,
        on_keys=_AS_CASE,
        work=_AS_CASE,
        guards=_AS_CASE,
        length=_AS_CASE,
        between=_AS_CASE,
    ),
    _choice(
        name="coalesce",
        usage="coalesce(x, y, ...), all of one type",
        written=(PlainNode("Coalesce", ("this", "expressions")),),
        build=_coalesce,
        span=_span_of(_all),
        dates=_dates_of(_all),
        keys=_keys_of(_all),
        work=plain,
        guards=guarded(0),
        between=BetweenNumbers(1, None, of_one_type, function_values.first_known),
    ),
    _choice(
        name="nullif",
        usage="nullif(x, y), both of one type",
        written=(PlainNode("Nullif", BINARY),),
        build=_nullif,
        span=_span_of(_first),
        dates=_dates_of(_first),
        keys=_first_keys,
        work=_nullif_work,
        guards=guarded(1),
        between=BetweenNumbers(2, 2, of_nullif, function_values.null_if, enclosures.unless),
    ),
    _extreme("greatest", "Greatest", function_values.GREATEST),
    _extreme("least", "Least", function_values.LEAST),
)
