"""COUNT and SUM: numbers that are shown as they are."""

from fractions import Fraction
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Estimate, SelectedOf
from discreet.sql.outputs.asked import Asked, require_condition
from discreet.sql.outputs.nodes import require_plain, unbracketed
from discreet.sql.outputs.output_scope import OutputScope
from discreet.tables.aggregate import CountDistinct, CountRows, CountUnits
from discreet.tables.column import ColumnType
from discreet.tables.expression import Expression, FieldValue
from discreet.tables.functions.call import call
from discreet.tables.sums import SumValues


def count(asked: Asked) -> Estimate:
    """Return COUNT(*), COUNT(x) or COUNT(DISTINCT x)."""
    require_plain(asked.node, "this", "big_int")
    inner = asked.node.this
    if inner is None or inner.key == "star":
        if inner is not None:
            require_plain(inner)
        return asked.total(CountRows(where=asked.where))
    if inner.key == "distinct":
        return _count_distinct(asked, inner)
    return asked.total(CountRows(where=asked.kept(asked.scope.row(inner))))


def _count_distinct(asked: Asked, distinct: Any) -> Estimate:
    require_plain(distinct, "expressions")
    if len(distinct.expressions) != 1 or distinct.expressions[0].key == "tuple":
        raise RefusedQuery(
            "COUNT(DISTINCT ...) takes one value",
            next="Where a row stands for a person in a period, COUNT(*) over"
            " SELECT DISTINCT person, period counts the pairs",
        )
    return _different(asked, unbracketed(distinct.expressions[0]))


def count_different(asked: Asked) -> Estimate:
    """Return APPROX_COUNT_DISTINCT(x), which is as good as COUNT(DISTINCT x) here."""
    require_plain(asked.node, "this")
    return _different(asked, asked.node.this)


def _different(asked: Asked, node: Any) -> Estimate:
    value = asked.scope.row(node)
    if _is_unit(value, asked.scope):
        return _units(asked)
    return asked.total(CountDistinct(value=value, where=asked.kept(value)))


def _units(asked: Asked) -> Estimate:
    """Return the number of units; of all those of private groups, it is the count that chose."""
    units = CountUnits(where=asked.where)
    if asked.where is not None or not asked.scope.has_private_keys:
        return asked.total(units)
    index = asked.book.index(units)
    return asked.book.ask(SelectedOf(ColumnType.INTEGER, index), {index: Fraction(1)})


def _is_unit(value: Expression, scope: OutputScope) -> bool:
    owner = scope.relation.owner()
    if owner is None or owner.unit.period is not None or not isinstance(value, FieldValue):
        return False
    return scope.relation.fields()[value.index].unit_part == 0


def count_if(asked: Asked) -> Estimate:
    """Return the number of rows for which a condition is true."""
    require_plain(asked.node, "this")
    condition = asked.scope.row(asked.node.this)
    require_condition(condition)
    where = condition if asked.where is None else call("and", [condition, asked.where])
    return asked.total(CountRows(where=where))


def total(asked: Asked) -> Estimate:
    """Return SUM(x), clamped."""
    require_plain(asked.node, "this")
    one = asked.number(asked.node.this)
    aggregate = SumValues(value=one.value, bounds=one.bounds, where=asked.kept(one.value))
    return asked.total(aggregate, one.source)
