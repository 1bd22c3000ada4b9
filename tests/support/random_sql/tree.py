"""Random plans, built without SQL: every tree of operators, also ones that no query may ask for.

An engine must keep owners apart by itself. A query names the unit in its joins, so that an engine
that forgot the owner would go unseen; these trees do not.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from attrs import evolve

from discreet.tables.catalog import Catalog, Limits
from discreet.tables.column import Bounds, ColumnType, Key
from discreet.tables.expression import Expression, FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.functions.fine_grid import fine_grid
from discreet.tables.keyset import ONE_ROW, Keys, KeySet, PrivateKeys, PublicKeys, combine
from discreet.tables.plans.aggregate import (
    Aggregate,
    CountDistinct,
    CountRows,
    CountUnits,
    QuantileValues,
)
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.plans.sums import SumSquares, SumValues
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import (
    Distinct,
    Field,
    Filter,
    Projection,
    Relation,
    RowLimit,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import (
    InnerAggregate,
    InnerTotal,
    Ranked,
    Ranking,
    SortKey,
    Total,
    Window,
)
from tests.support.projects.dice import Dice

NUMBERS = (ColumnType.INTEGER, ColumnType.REAL)


def random_plan(dice: Dice, catalog: Catalog) -> BoundedPlan:
    """Return a plan over a random tree."""
    trees = Trees(dice, catalog)
    relation = trees.private(dice.between(0, 2))
    return BoundedPlan(
        relation=relation,
        keys=trees.keys(relation),
        limits=Limits(
            rows_per_group=dice.pick((1, 1, 2, 3, 50)), groups_per_unit=dice.pick((1, 2, 3, 20))
        ),
        aggregates=tuple(trees.aggregate(relation) for _ in range(dice.between(1, 3))),
    )


class Trees:
    """Builds random private relations, keys and aggregates."""

    def __init__(self, dice: Dice, catalog: Catalog) -> None:
        self._dice = dice
        self._catalog = catalog
        self._is_row = catalog.tables[0].unit.column is None

    def private(self, depth: int) -> Relation:
        """Return a private relation of at most so many operators on top of each other."""
        if depth <= 0:
            return Scan.of(self._dice.pick(self._catalog.tables))
        alone: list[Callable[[int], Relation]] = [
            self._filter,
            self._project,
            self._join_public,
            self._exists_public,
            self._distinct,
            self._inner_aggregate,
            self._window,
            self._row_limit,
        ]
        together: list[Callable[[int], Relation]] = [
            self._join,
            self._join,
            self._exists,
            self._exists,
            self._union,
        ]
        return self._dice.pick(alone if self._is_row else alone + together)(depth - 1)

    # ---- Expressions.

    def field(self, relation: Relation, *kinds: ColumnType) -> FieldValue | None:
        """Return a field of one of the kinds, if there is one."""
        fields = relation.fields()
        places = [i for i, field in enumerate(fields) if not kinds or field.type in kinds]
        if not places:
            return None
        place = self._dice.pick(places)
        return FieldValue(fields[place].type, place)

    def condition(self, *relations: Relation) -> Expression:
        """Return a condition over the fields of all the relations."""
        options: list[FieldValue] = []
        before = 0
        for relation in relations:
            found = self.field(relation)
            if found is not None:
                options.append(FieldValue(found.type, before + found.index))
            before += len(relation.fields())
        if len(options) == 2 and options[0].type is options[1].type:
            return call(self._dice.pick(("=", "<>", "<=")), tuple(options))
        if not options:
            return Literal(ColumnType.BOOLEAN, True)
        value = self._dice.pick(options)
        if value.type in NUMBERS:
            limit = Literal(ColumnType.INTEGER, self._dice.between(-3, 40))
            return call(self._dice.pick(("<", ">=", "<>")), (value, limit))
        return call("not", (call("is_null", (value,)),))

    # ---- Operators.

    def _filter(self, depth: int) -> Relation:
        source = self.private(depth)
        return Filter(source=source, condition=self.condition(source))

    def _row_limit(self, depth: int) -> Relation:
        source, rows = self.private(depth), self._dice.pick((1, 2, 3))
        fields = source.fields()
        texts = tuple(i for i, field in enumerate(fields) if field.type is ColumnType.TEXT)
        if rows < 3 or not texts:
            return RowLimit(source=source, rows=rows)
        return RowLimit(source=source, rows=40, texts=texts, characters=20)

    def _project(self, depth: int) -> Relation:
        source = self.private(depth)
        places = self._dice.some(range(len(source.fields())), 6)
        values: list[Expression] = [FieldValue(source.fields()[i].type, i) for i in places]
        shape = [source.fields()[i] for i in places]
        number = self.field(source, ColumnType.INTEGER)
        if number is not None:
            factor = Literal(ColumnType.INTEGER, 100)
            values.append(call("*", (number, factor)))
            # The bounds of the factor's column are left in place: a lie that must not matter.
            shape.append(evolve(source.fields()[number.index], name="times"))
        return Projection(source=source, values=tuple(values), shape=tuple(shape))

    def _public(self) -> Relation:
        return PublicScan.of(self._dice.pick(self._catalog.public_tables))

    def _join_public(self, depth: int) -> Relation:
        left, right = self.private(depth), self._public()
        return self._joined(left, right)

    def _joined(self, left: Relation, right: Relation) -> Relation:
        condition = None if self._dice.chance(40) else self.condition(left, right)
        return Join(left=left, right=right, condition=condition, keep_left=self._dice.chance(40))

    def _join(self, depth: int) -> Relation:
        return self._joined(self.private(depth), self.private(0))

    def _exists(self, depth: int) -> Relation:
        left, right = self.private(depth), self.private(depth)
        condition = None if self._dice.chance(50) else self.condition(left, right)
        return Exists(left=left, right=right, condition=condition, lacks=self._dice.chance(50))

    def _exists_public(self, depth: int) -> Relation:
        left, right = self.private(depth), self._public()
        return Exists(
            left=left,
            right=right,
            condition=self.condition(left, right),
            lacks=self._dice.chance(50),
        )

    def _distinct(self, depth: int) -> Relation:
        source = self.private(depth)
        places = self._dice.some(range(len(source.fields())), 2)
        return Distinct(source=_only(source, places))

    def _union(self, depth: int) -> Relation:
        first, second = self.private(depth), self.private(depth)
        pairs = [
            (i, j)
            for i, mine in enumerate(first.fields())
            for j, theirs in enumerate(second.fields())
            if mine.type is theirs.type
        ]
        chosen = self._dice.some(pairs, 5) if pairs else []
        return UnionAll(
            first=_only(first, [i for i, _ in chosen]), second=_only(second, [j for _, j in chosen])
        )

    def _inner_aggregate(self, depth: int) -> Relation:
        source = self.private(depth)
        keys = tuple(
            i
            for i in self._dice.some(range(len(source.fields())), 2)
            if source.fields()[i].type is not ColumnType.REAL
        )
        totals = [InnerTotal(total=Total.COUNT_ROWS, value=None)]
        totals += [self._inner(source) for _ in range(2)]
        shape = (
            *(source.fields()[i] for i in keys),
            *(Field(name=f"total{i}", type=part.type()) for i, part in enumerate(totals)),
        )
        return InnerAggregate(source=source, keys=keys, totals=tuple(totals), shape=shape)

    def _inner(self, source: Relation) -> InnerTotal:
        number = self.field(source, *NUMBERS)
        if number is None:
            return InnerTotal(total=Total.COUNT_ROWS, value=None)
        kind = self._dice.pick([t for t in Total if t is not Total.COUNT_ROWS])
        bounds = Bounds(lower=-100, upper=100, step=Fraction(1, 4))
        is_real = number.type is ColumnType.REAL
        if kind is Total.SUM:
            bounds = fine_grid(bounds)
        needed = is_real and kind in (Total.SUM, Total.AVERAGE)
        return InnerTotal(total=kind, value=number, bounds=bounds if needed else None)

    def _window(self, depth: int) -> Relation:
        source = self.private(depth)
        value = self.field(source)
        order = [SortKey(value=value, descending=self._dice.chance(50))] if value else []
        function: InnerTotal | Ranked = Ranked(ranking=Ranking.ROW_NUMBER)
        if self._dice.chance(25):
            function, order = self._inner(source), []
            if function.total is Total.COUNT_DISTINCT:
                function = InnerTotal(total=Total.COUNT_ROWS, value=None)
        elif self._dice.chance(60) and value is not None:
            ranking = self._dice.pick(tuple(Ranking))
            places = (Ranking.ROW_NUMBER, Ranking.RANK, Ranking.DENSE_RANK)
            function = Ranked(ranking=ranking, value=None if ranking in places else value)
        window = Window(
            source=source,
            function=function,
            partition=(),
            order=tuple(order),
            shape=Field(name="window", type=function.type()),
        )
        if function.type() is not ColumnType.INTEGER or self._dice.chance(40):
            return window
        new = FieldValue(ColumnType.INTEGER, len(source.fields()))
        one = Literal(ColumnType.INTEGER, 1)
        return Filter(source=window, condition=call(self._dice.pick(("=", ">")), (new, one)))

    # ---- Keys and aggregates.

    def keys(self, relation: Relation) -> Keys:
        """Return random keys: public ones in one set or several, private ones, or none."""
        fields = relation.fields()
        known = [i for i, field in enumerate(fields) if field.keys is not None]
        other = [i for i, field in enumerate(fields) if field.type is not ColumnType.REAL]
        if self._dice.chance(25) and other:
            places = tuple(self._dice.some(other, 2))
            return PrivateKeys(fields=places, allowed=tuple(fields[i].keys for i in places))
        if not known or self._dice.chance(25):
            return ONE_ROW
        places = tuple(self._dice.some(known, 2))
        sets = [tuple(range(len(places)))]
        if self._dice.chance(40):
            sets += self._dice.some([(), (0,), sets[0]], 3)
        return PublicKeys(
            fields=places,
            sets=tuple(KeySet(places=part, rows=_rows(fields, places, part)) for part in sets),
        )

    def aggregate(self, relation: Relation) -> Aggregate:
        """Return a random aggregate, with or without a condition."""
        where = self.condition(relation) if self._dice.chance(30) else None
        number = self.field(relation, *NUMBERS)
        anything = self.field(relation)
        if number is None or anything is None:
            return self._dice.pick((CountRows(where=where), CountUnits(where=where)))
        low = self._dice.pick((-4, 0, 1, 10))
        bounds = Bounds(lower=low, upper=low + self._dice.pick((1, 10, 100)), step=Fraction(1, 2))
        centre, offset = self._dice.pick(((0, 0), (low, 3), (low * 2 + 1, 1)))
        return self._dice.pick(
            (
                CountRows(where=where),
                CountUnits(where=where),
                CountDistinct(where=where, value=anything),
                SumValues(where=where, value=number, bounds=bounds, centre=centre),
                SumSquares(where=where, value=number, bounds=bounds, centre=centre, offset=offset),
                QuantileValues(where=where, value=number, bounds=bounds, quantile=Fraction(1, 2)),
            )
        )


def _only(source: Relation, places: Sequence[int]) -> Projection:
    fields = source.fields()
    return Projection(
        source=source,
        values=tuple(FieldValue(fields[i].type, i) for i in places),
        shape=tuple(fields[i] for i in places),
    )


def _rows(
    fields: Sequence[Field], places: Sequence[int], part: Sequence[int]
) -> tuple[tuple[Key, ...], ...]:
    blocks: list[list[tuple[Key, ...]]] = [
        [(key,) for key in fields[places[i]].keys or ()] for i in part
    ]
    return combine(blocks)
