"""Contain: bound the work that one owner can cause, by limits below all that is dear or pairs rows.

A join looks at many pairs for few rows, joins can be nested, and an expression can be made dear. An
analyst chooses how often, and for whom. So the work of one owner is counted before anything is read
(:mod:`discreet.tables.plans.work`), and held to public numbers: for one stored row, and for all
rows of an owner behind limits. Where pairs are made there are always limits; where one row could
take too long there are limits as well. What no limit makes small enough is refused.
"""

import math
from collections.abc import Callable, Iterator

from attrs import evolve, field, frozen

from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import ONE_UNIT
from discreet.tables.expression import Call, Expression
from discreet.tables.functions.call import call
from discreet.tables.plans.bill import Work
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.work import Meter
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import Filter, Relation, RowLimit
from discreet.tables.relations.scan import Scan

MOST_PAIRS = 1_000_000
"""How many pairs of rows of one owner a plan looks at, in all of its joins together."""

USUAL_TEXT = 100
"""A text that can have more characters is long. Behind limits, the long texts of a row have so many
on an average."""

MOST = Work(of_a_row=1_000_000, of_stored_texts=10_000_000, of_a_unit=1_000_000_000)
"""How many steps one owner may cause: for each stored row, of which it may have any number; to copy
the texts that are stored in one, if they are as long as they may be; and behind limits, in all."""

MOST_SHARING_A_ROW, MOST_SHARING_A_UNIT = 20, 250
"""Among how many plans of one answer the bounds are divided: for a stored row, which each of them
reads, and behind limits. More add to the work, as they add to all time; with a smaller share there
would be no room for a join of two rows."""


def contain(plan: BoundedPlan, *, sharing: int = 1) -> BoundedPlan:
    """Return the plan with limits below what pairs rows, and below what is dear for one row.

    ``sharing`` plans make up one answer.

    Guarantee:
        The work of one owner, as :func:`~discreet.tables.plans.work.work` counts it, is at most
        ``MOST``, or the share of one plan in it. The limits are owner-local operators, so the
        relation stays owner-local, and what one unit can move is bounded above it as before.
        Public relations stay as they are.
    """
    joins = [node for node in _nodes(plan.relation) if _multiplies(node)]
    most = MOST_PAIRS // max(1, len(joins))
    least = max([1, *(_partners(join, most) for join in joins)])
    of_a_unit = MOST.shared(min(sharing, MOST_SHARING_A_UNIT)).of_a_unit
    limits = _Limits(evolve(MOST.shared(min(sharing, MOST_SHARING_A_ROW)), of_a_unit=of_a_unit))
    widest = evolve(plan, relation=limits.below(plan.relation, most))
    if (found := limits.meter.work(widest)).is_within(limits.most):
        return widest
    is_dear = not evolve(found, of_a_unit=0).is_within(limits.most)
    relation = limits.above_cheap(plan.relation) if is_dear else plan.relation

    def limited(pairs: int) -> BoundedPlan:
        return evolve(plan, relation=limits.below(relation, pairs))

    if not (found := limits.meter.work(limited(least))).is_within(limits.most):
        raise _too_much(found, limits.most)
    while most - least > 1 + least // 1000:
        middle = math.isqrt(least * most) if most > 2 * least else (least + most) // 2
        fits = limits.meter.work(limited(middle)).is_within(limits.most)
        least, most = (middle, most) if fits else (least, middle)
    return limited(least)


def row_limits(relation: Relation) -> tuple[RowLimit, ...]:
    """Return the limits that stand in a relation."""
    return tuple(node for node in _nodes(relation) if isinstance(node, RowLimit))


def rows_let_through(relation: Relation) -> int | None:
    """Return how many rows of an owner limits leave at least, if it has so many; None: all."""
    meter = Meter()
    return min((_let_through(limit, meter) for limit in row_limits(relation)), default=None)


def _let_through(limit: RowLimit, meter: Meter) -> int:
    """Return how many rows a limit leaves, even if texts are as long as they may be."""
    values = meter.passed(limit.source).fields
    longest = sum(values[place].longest for place in limit.texts)
    return min(limit.rows, limit.characters // longest) if longest else limit.rows


def _nodes(relation: Relation) -> Iterator[Relation]:
    """Yield the private operators of a relation."""
    if relation.owner() is not None:
        yield relation
        for part in relation.inputs():
            yield from _nodes(part)


def _multiplies(relation: Relation) -> bool:
    """Tell whether one row can have several partners."""
    if not isinstance(relation, Join | Exists):
        return False
    is_public = relation.right.owner() is None
    return not is_public or relation.partners is None or relation.partners > 1


def _partners(relation: Relation, most: int) -> int:
    """Return how many public rows one private row can meet, or refuse if they are too many."""
    if not isinstance(relation, Join | Exists) or relation.right.owner() is not None:
        return 1
    if relation.partners is None or relation.partners > most:
        raise RefusedQuery(
            "One private row would meet too many rows of a public table",
            must=f"meet at most {most:,} in this join",
            got="" if relation.partners is None else f"{relation.partners:,}",
            next="Join on an equality with a column that tells the public rows apart",
        )
    return relation.partners


def _too_much(found: Work, most: Work) -> RefusedQuery:
    bounds = (
        (found.of_a_row, most.of_a_row, "for one row"),
        (found.of_stored_texts, most.of_stored_texts, "to copy the texts of one row"),
        (found.of_a_unit, most.of_a_unit, f"for {ONE_UNIT}"),
    )
    got, bound, what = next(bound for bound in bounds if bound[0] > bound[1])
    return RefusedQuery(
        f"The query could be too much work for the rows of {ONE_UNIT}",
        must=f"take at most {bound:,} steps {what}",
        got=f"{got:,}",
        next="Look at parts of long texts, as left(text, 100); use patterns with fewer _, or join"
        " and repeat less",
    )


@frozen
class _Limits:
    """Puts limits into relations: below what pairs rows, and above what is cheap for one row."""

    most: Work
    meter: Meter = field(factory=Meter)

    def below(self, relation: Relation, pairs: int, rows: int | None = None) -> Relation:
        """Return a relation that looks at so many pairs in each join.

        More than ``rows`` rows of one owner are not needed of it. A limit that stands in it already
        is from :meth:`above_cheap`, and gets its number here, or is smaller and stays.
        """
        rows = pairs if rows is None else rows
        if relation.owner() is None:
            return relation
        if isinstance(relation, RowLimit):
            return self._limit(relation.source, min(rows, relation.rows))
        if isinstance(relation, Join | Exists):
            return self._paired(relation, pairs, rows)
        return _over(relation, lambda part: self.below(part, pairs, rows))

    def _paired(self, relation: Join | Exists, pairs: int, rows: int) -> Join | Exists:
        if not _multiplies(relation):
            return evolve(relation, left=self.below(relation.left, pairs, rows))
        most = math.isqrt(pairs)
        if relation.right.owner() is None:
            most = pairs // (relation.partners or 1)
        left, right = (
            self._limit(self.below(side, pairs, min(rows, most)), most)
            for side in (relation.left, relation.right)
        )
        return evolve(relation, left=left, right=right)

    def _limit(self, relation: Relation, rows: int) -> Relation:
        """Return so many rows of each owner, and of long texts so many characters."""
        if relation.owner() is None:
            return relation
        if isinstance(relation, RowLimit):
            return self._limit(relation.source, min(rows, relation.rows))
        rows = _plain(rows)
        values = self.meter.passed(relation).fields
        texts = tuple(i for i, value in enumerate(values) if value.longest > USUAL_TEXT)
        longest = sum(values[i].longest for i in texts)
        characters = max(longest, rows * USUAL_TEXT) if texts else 0
        return RowLimit(source=relation, rows=rows, texts=texts, characters=characters)

    def above_cheap(self, relation: Relation) -> Relation:
        """Return a relation with a limit on each largest part that is cheap for one stored row.

        The parts share what one row may take: a row may be read by all of them.
        """
        scans = sum(isinstance(node, Scan) for node in _nodes(relation))
        return self._above_cheap(relation, scans)

    def _above_cheap(self, relation: Relation, scans: int) -> Relation:
        if relation.owner() is None:
            return relation
        if not any(_multiplies(node) for node in _nodes(relation)):
            is_cheap = self._is_cheap(relation, scans)
            if is_cheap and not self.meter.passed(relation).rows.stored:
                return relation
            limited = self._limit(relation, MOST_PAIRS)
            if isinstance(relation, Scan) or self._is_cheap(limited, scans):
                return limited
        if isinstance(relation, Filter):
            relation = self._cheap_first(relation, scans)
        return _over(relation, lambda part: self._above_cheap(part, scans))

    def _is_cheap(self, relation: Relation, scans: int) -> bool:
        work = self.meter.passed(relation).bill.work()
        return evolve(work, of_a_unit=0).is_within(self.most.shared(scans))

    def _cheap_first(self, relation: Filter, scans: int) -> Filter:
        """Return the conditions of a filter, the cheap ones below: they come before a limit."""
        source, condition = relation.source, relation.condition
        if not isinstance(condition, Call) or condition.function != "and":
            return relation
        cheap: list[Expression] = []
        dear: list[Expression] = []
        for part in condition.arguments:
            is_cheap = self._is_cheap(Filter(source=source, condition=part), scans)
            (cheap if is_cheap else dear).append(part)
        if not cheap or not dear:
            return relation
        return Filter(source=Filter(source=source, condition=_all(cheap)), condition=_all(dear))


def _plain(rows: int) -> int:
    """Return a number of rows that is easily read: of a large one, its first two digits.

    Example:
        >>> _plain(99), _plain(1_000), _plain(187_763)
        (99, 1000, 180000)
    """
    unit: int = 10 ** max(0, len(str(rows)) - 2)
    return rows // unit * unit


def _over(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """Return a relation over other ones; the same, if they are."""
    parts = {
        name: (value, change(value))
        for name in ("source", "first", "second", "left", "right")
        if isinstance(value := getattr(relation, name, None), Relation)
    }
    changed = {name: after for name, (before, after) in parts.items() if after is not before}
    return evolve(relation, **changed) if changed else relation


def _all(conditions: list[Expression]) -> Expression:
    return conditions[0] if len(conditions) == 1 else call("and", conditions)
