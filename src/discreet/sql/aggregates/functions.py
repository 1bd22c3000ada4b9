"""The aggregate functions of SQL that we answer: what each is called, and how it is made.

What is an aggregate is asked here and nowhere else. A function that is made of the aggregates that
there are is one builder and one row of the table below.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import (
    Estimate,
    MeanOf,
    QuantileOf,
    SelectedOf,
)
from discreet.releases.estimates.functions import calculate
from discreet.sql.aggregates import pairs
from discreet.sql.aggregates.call import AggregateCall, OutputScope
from discreet.sql.aggregates.clamps import Clamped, in_days, unclamped
from discreet.sql.aggregates.spreads import variance_of
from discreet.sql.syntax.nodes import (
    Node,
    constant,
    function_name,
    is_a,
    is_set,
    part,
    require_plain_output,
    unbracketed,
    within,
)
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue
from discreet.tables.functions.conditions import as_condition, both
from discreet.tables.plans.aggregate import (
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
)
from discreet.tables.plans.sums import SumTotals, SumValues, middle

Build = Callable[[AggregateCall], Estimate]
"""How a call becomes an estimate, and asks for the aggregates that this is made of."""


# COUNT and SUM: numbers that are shown as they are.


def _count(call: AggregateCall) -> Estimate:
    """Return COUNT(*), COUNT(x) or COUNT(DISTINCT x)."""
    require_plain_output(call.node, "this", "big_int")
    inner = part(call.node, "this")
    if inner is None:
        return call.total(CountRows(where=call.where))
    if is_a(inner, "Star"):
        require_plain_output(inner)
        return call.total(CountRows(where=call.where))
    if not is_a(inner, "Distinct"):
        return call.total(CountRows(where=call.kept(call.scope.row(inner))))
    require_plain_output(inner, "expressions")
    if _are_unit(inner.expressions, call.scope):
        return _units(call)
    if len(inner.expressions) != 1 or is_a(inner.expressions[0], "Tuple"):
        raise RefusedQuery(
            "COUNT(DISTINCT ...) takes one value",
            next="Where a row stands for a pair of values, COUNT(*) over SELECT DISTINCT first,"
            " second counts the pairs",
        )
    return _different(call, unbracketed(inner.expressions[0]))


def _count_different(call: AggregateCall) -> Estimate:
    """Return APPROX_COUNT_DISTINCT(x), which is as good as COUNT(DISTINCT x) here."""
    return _different(call, call.argument())


def _different(call: AggregateCall, node: Node) -> Estimate:
    value = call.scope.row(node)
    if _is_unit(value, call.scope):
        return _units(call)
    return call.total(CountDistinct(value=value, where=call.kept(value)))


def _units(call: AggregateCall) -> Estimate:
    """Return the number of units; of all those of private groups, it is the count that chose."""
    units = CountUnits(where=call.where)
    if call.where is not None or not call.scope.has_private_keys:
        return call.total(units)
    index = call.asked.index(units)
    return call.asked.ask(SelectedOf(ColumnType.INTEGER, index), {index: Fraction(1)})


def _is_unit(value: Expression, scope: OutputScope) -> bool:
    return _name_unit([value], scope)


def _name_unit(values: Sequence[Expression], scope: OutputScope) -> bool:
    """Tell whether values are just the columns that name a unit, all of them, in any order."""
    owner, fields = scope.relation.owner(), scope.relation.fields()
    if owner is None or owner.unit.column is None or owner.unit.period is not None:
        return False
    parts = [fields[value.index].unit_part for value in values if isinstance(value, FieldValue)]
    return len(parts) == len(values) and {*parts} == {*range(len(owner.unit.owner_columns()))}


def _are_unit(nodes: Sequence[Node], scope: OutputScope) -> bool:
    """Tell whether COUNT(DISTINCT a, b), or (a, b) in brackets, counts units."""
    if len(nodes) == 1 and is_a(nodes[0], "Tuple"):
        require_plain_output(nodes[0], "expressions")
        nodes = nodes[0].expressions
    if len(nodes) < 2:
        return False
    return _name_unit([scope.row(unbracketed(node)) for node in nodes], scope)


def _count_if(call: AggregateCall) -> Estimate:
    """Return the number of rows for which a condition is true."""
    condition = as_condition(call.scope.row(call.argument()))
    where = condition if call.where is None else both([condition, call.where])
    return call.total(CountRows(where=where))


TOTAL = "CLAMP_TOTAL"
"""Inside SUM: each unit's total in a group is clamped, as a whole."""

_OF_TOTAL = 3


def _sum(call: AggregateCall) -> Estimate:
    inner = unbracketed(call.argument())
    if is_a(inner, "Anonymous") and function_name(inner) == TOTAL:
        return _sum_of_totals(call, inner)
    one = call.number(call.argument())
    aggregate = SumValues(value=one.value, bounds=one.bounds, where=call.kept(one.value))
    return call.total(aggregate, one.source)


def _sum_of_totals(call: AggregateCall, inner: Node) -> Estimate:
    if len(inner.expressions) != _OF_TOTAL:
        raise RefusedQuery(
            f"{TOTAL} takes a value and the range of its total",
            next=f"Write SUM({TOTAL}(x, 0, 500))",
        )
    node, *ends = inner.expressions
    one = call.total_number(node, [call.scope.row(end) for end in ends])
    aggregate = SumTotals(
        value=one.value, rows=one.rows, bounds=one.bounds, where=call.kept(one.value)
    )
    return call.total(aggregate, one.source)


# AVG, VAR and STDDEV: made of noisy sums about a public centre and a noisy count.

_HALF = Fraction(1, 2)


def _mean(call: AggregateCall) -> Estimate:
    one = call.number(call.argument())
    where, bounds = call.kept(one.value), one.bounds
    centred = SumValues(value=one.value, bounds=bounds, centre=middle(bounds), where=where)
    total = call.asked.index(centred, one.source)
    count = call.asked.index(CountRows(where=where))
    centre = middle(bounds) * bounds.step
    estimate = MeanOf(ColumnType.REAL, total, count, centre, bounds.lower, bounds.upper)
    return call.asked.ask(estimate, {total: _HALF, count: _HALF})


def _variance(freedom: int) -> Build:
    """Return how a variance is made: of a population (0), or of a sample (1)."""

    def build(call: AggregateCall) -> Estimate:
        one = call.number(call.argument())
        estimate = variance_of(call, one, call.kept(one.value), freedom)
        parts = (estimate.squares, Fraction(2, 9)), (estimate.total, Fraction(4, 9))
        return call.asked.ask(estimate, dict([*parts, (estimate.count, Fraction(3, 9))]))

    return build


def _deviation(freedom: int) -> Build:
    """Return how a standard deviation is made: the square root of the variance."""
    return lambda call: calculate("sqrt", _variance(freedom)(call))


# MEDIAN, QUANTILE, PERCENTILE, MIN and MAX: values chosen near a rank.

MIN_SHARE, MEDIAN_SHARE, MAX_SHARE = Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)
"""What MIN, MEDIAN and MAX stand for: the extreme values themselves belong to single people."""


def _quantile(call: AggregateCall, node: Node, share: Fraction, stands_for: str) -> Estimate:
    value = call.plain_row(unclamped(node))
    if value.type is not ColumnType.DATE:
        return _chosen(call, call.number(node), share, stands_for)
    days = in_days(value, call.scope.relation)
    return calculate("+", days.start(), _chosen(call, days.count, share, stands_for))


def _chosen(call: AggregateCall, one: Clamped, share: Fraction, stands_for: str) -> Estimate:
    aggregate = QuantileValues(
        value=one.value, bounds=one.bounds, quantile=share, where=call.kept(one.value)
    )
    index = call.asked.index(aggregate, one.source)
    kind = ColumnType.INTEGER if one.bounds.step.denominator == 1 else ColumnType.REAL
    estimate = QuantileOf(kind, index, share, stands_for)
    return call.asked.ask(estimate, {index: Fraction(1)})


def _at_share(share: Fraction, stands_for: str) -> Build:
    """Return how a function with a share of its own is made, such as MEDIAN."""
    return lambda call: _quantile(call, call.argument(), share, stands_for)


def _at_written(name: str) -> Build:
    """Return how a function with a written share is made; the parser calls it ``name``."""

    def build(call: AggregateCall) -> Estimate:
        require_plain_output(call.node, "this", name)
        share = part(call.node, name)
        if share is None:
            raise RefusedQuery(
                f"{function_name(call.node)} names no share",
                next="Write QUANTILE(x, 0.9), or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
            )
        return _quantile(call, call.node.this, _share(share), "QUANTILE")

    return build


def _within_group(call: AggregateCall) -> Estimate:
    """Return PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY x)."""
    require_plain_output(call.node, "this", "expression")
    inner, order = call.node.this, call.node.expression
    if not is_a(inner, "PercentileCont", "PercentileDisc") or len(order.expressions) != 1:
        raise RefusedQuery(
            f"{function_name(inner)} WITHIN GROUP is not supported",
            next="Write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
        )
    require_plain_output(inner, "this")
    ordered, share = order.expressions[0], _share(inner.this)
    if is_set(ordered, "desc"):
        share = 1 - share
    return _quantile(call, ordered.this, share, "PERCENTILE")


_FINEST_SHARE = 2**20


def _share(node: Node) -> Fraction:
    """Return the share of a quantile, which must be a number of the query between 0 and 1."""
    found = constant(unbracketed(node))
    share = found.value if found is not None and isinstance(found.value, Fraction) else None
    if share is None or not 0 <= share <= 1 or share.denominator > _FINEST_SHARE:
        raise RefusedQuery(
            "The share of a quantile cannot be used",
            must="be a number between 0 and 1 that is written in the query, of few digits",
            next="Write QUANTILE(x, 0.9); for several shares write it several times",
        )
    return share


@frozen
class AggregateFunction:
    """An aggregate function of SQL: how it is written, how it is read, and how it is made."""

    names: tuple[str, ...]
    """What it is called in SQL. The first name is the one that messages use."""
    kinds: tuple[str, ...]
    """What the parser calls its nodes: nothing if it does not know the function."""
    build: Build
    takes_number: bool = True
    """Whether its first argument is a number, which bounds can clamp."""
    is_listed: bool = True
    """Whether a message that lists the functions has it: not if it is another way to write one."""


AGGREGATES = (
    AggregateFunction(("COUNT",), ("count",), _count, takes_number=False),
    AggregateFunction(("COUNT_IF",), ("countif",), _count_if, takes_number=False, is_listed=False),
    AggregateFunction(
        ("APPROX_COUNT_DISTINCT",),
        ("approxdistinct",),
        _count_different,
        takes_number=False,
        is_listed=False,
    ),
    AggregateFunction(("SUM",), ("sum",), _sum),
    AggregateFunction(("AVG", "MEAN"), ("avg",), _mean),
    AggregateFunction(("VAR_POP",), ("variancepop",), _variance(0)),
    AggregateFunction(("VAR_SAMP", "VARIANCE"), ("variance",), _variance(1)),
    AggregateFunction(("STDDEV_POP",), ("stddevpop",), _deviation(0)),
    AggregateFunction(("STDDEV_SAMP", "STDDEV"), ("stddevsamp", "stddev"), _deviation(1)),
    AggregateFunction(("CORR",), ("corr",), pairs.correlation, takes_number=False),
    AggregateFunction(("COVAR_POP",), ("covarpop",), pairs.covariance(0), takes_number=False),
    AggregateFunction(("COVAR_SAMP",), ("covarsamp",), pairs.covariance(1), takes_number=False),
    AggregateFunction(("REGR_SLOPE",), ("regrslope",), pairs.slope, takes_number=False),
    AggregateFunction(("MEDIAN",), ("median",), _at_share(MEDIAN_SHARE, "MEDIAN")),
    AggregateFunction(
        ("QUANTILE", "APPROX_QUANTILE"), ("quantile", "approxquantile"), _at_written("quantile")
    ),
    AggregateFunction(
        ("PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE_CONT", "QUANTILE_DISC"),
        ("percentilecont", "percentiledisc"),
        _at_written("expression"),
        is_listed=False,
    ),
    AggregateFunction((), ("withingroup",), _within_group, is_listed=False),
    AggregateFunction(("MIN",), ("min",), _at_share(MIN_SHARE, "MIN")),
    AggregateFunction(("MAX",), ("max",), _at_share(MAX_SHARE, "MAX")),
)
"""The aggregate functions, in the order in which messages list them."""

_BY_KIND = {kind: function for function in AGGREGATES for kind in function.kinds}
_BY_NAME = {name: function for function in AGGREGATES for name in function.names}
_LISTED = [function.names[0] for function in AGGREGATES if function.is_listed]

SUPPORTED = f"{', '.join(_LISTED[:-1])} and {_LISTED[-1]}"


def aggregate_function(node: Node) -> AggregateFunction | None:
    """Return the aggregate function that a node calls, if we answer it."""
    if is_a(node, "Anonymous"):
        return _BY_NAME.get(node.name.upper())
    return _BY_KIND.get(node.key)


def aggregate_name(node: Node) -> str:
    """Return the first name of the aggregate function that a node calls; nothing if it is none."""
    function = aggregate_function(node)
    return function.names[0] if function is not None and function.names else ""


def is_aggregate_name(name: str) -> bool:
    """Tell whether an aggregate function is called so."""
    return name.upper() in _BY_NAME


def takes_number(name: str) -> bool:
    """Tell whether the first argument of a function is a number that can be clamped."""
    function = _BY_NAME.get(name.upper())
    return function is not None and function.takes_number


def is_aggregate(node: Node) -> bool:
    """Tell whether a node calls an aggregate function, whether or not we answer it.

    What may stand around a call is none itself: FILTER, WITHIN GROUP and IGNORE NULLS.
    """
    is_named = is_a(node, "Anonymous") and is_aggregate_name(node.name)
    return is_named or is_a(node, "AggFunc")


def has_aggregate(node: Node) -> bool:
    """Tell whether an aggregate function is called in a node, sub-queries left out."""
    return any(is_aggregate(inner) for inner in within(node))


def is_of_answer(node: Node) -> bool:
    """Tell whether an aggregate or a window stands in a node, so that it is no value of one row."""
    return any(is_aggregate(inner) or is_a(inner, "Window", "Filter") for inner in node.walk())
