"""MEDIAN, QUANTILE, PERCENTILE, MIN and MAX: values chosen near a rank."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.releases.estimates.estimate import Estimate, QuantileOf
from discreet.releases.estimates.functions import calculate
from discreet.sql.outputs.asked import Asked
from discreet.sql.outputs.clamp import Clamped
from discreet.sql.outputs.days import in_days
from discreet.sql.outputs.nodes import constant, require_plain, shown, unbracketed
from discreet.tables.aggregate import QuantileValues
from discreet.tables.column import ColumnType

MIN_SHARE, MEDIAN_SHARE, MAX_SHARE = Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)
"""What MIN, MEDIAN and MAX stand for: the extreme values themselves belong to single people."""


def _quantile(asked: Asked, node: Any, share: Fraction, stands_for: str) -> Estimate:
    value = asked.plain_row(node)
    if value.type is not ColumnType.DATE:
        return _chosen(asked, asked.number(node), share, stands_for)
    days = in_days(value, asked.scope.relation.fields())
    return calculate("+", days.start(), _chosen(asked, days.count, share, stands_for))


def _chosen(asked: Asked, one: Clamped, share: Fraction, stands_for: str) -> Estimate:
    aggregate = QuantileValues(
        value=one.value, bounds=one.bounds, quantile=share, where=asked.kept(one.value)
    )
    index = asked.book.index(aggregate, one.source)
    kind = ColumnType.INTEGER if one.bounds.step.denominator == 1 else ColumnType.REAL
    estimate = QuantileOf(kind, index, share, stands_for)
    return asked.book.ask(estimate, {index: Fraction(1)})


def at_share(share: Fraction, stands_for: str) -> Callable[[Asked], Estimate]:
    """Return how a function with a share of its own is made, such as MEDIAN."""

    def build(asked: Asked) -> Estimate:
        require_plain(asked.node, "this")
        return _quantile(asked, asked.node.this, share, stands_for)

    return build


def at_written(name: str) -> Callable[[Asked], Estimate]:
    """Return how a function with a written share is made; the parser calls it ``name``."""

    def build(asked: Asked) -> Estimate:
        require_plain(asked.node, "this", name)
        share = asked.node.args.get(name)
        if share is None:
            raise RefusedQuery(
                f"{shown(asked.node)} names no share",
                next="Write QUANTILE(x, 0.9), or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
            )
        return _quantile(asked, asked.node.this, read_share(share), "QUANTILE")

    return build


def within_group(asked: Asked) -> Estimate:
    """Return PERCENTILE_CONT(share) WITHIN GROUP (ORDER BY x)."""
    require_plain(asked.node, "this", "expression")
    inner, order = asked.node.this, asked.node.expression
    if inner.key not in ("percentilecont", "percentiledisc") or len(order.expressions) != 1:
        raise RefusedQuery(
            f"{shown(inner)} WITHIN GROUP is not supported",
            next="Write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
        )
    require_plain(inner, "this")
    ordered, share = order.expressions[0], read_share(inner.this)
    if ordered.args.get("desc"):
        share = 1 - share
    return _quantile(asked, ordered.this, share, "PERCENTILE")


_FINEST_SHARE = 2**20


def read_share(node: Any) -> Fraction:
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
