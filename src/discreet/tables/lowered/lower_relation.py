"""Lower a relation: each operator becomes rows in which the owner is a column like others."""

from collections.abc import Iterator, Sequence
from functools import singledispatch

from attrs import evolve, frozen

from discreet.core.errors import Unsupported
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, Literal, fields_in, moved
from discreet.tables.functions.conditions import typed_conjuncts
from discreet.tables.lowered.rows import (
    HASH,
    Copied,
    Different,
    Kept,
    Owned,
    Paired,
    Pairing,
    Projected,
    Read,
    Rows,
    Sampled,
    Together,
    Totalled,
    Value,
    Windowed,
    Worked,
    fields,
    owner_columns,
    unit_columns,
)
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import (
    Distinct,
    Filter,
    Projection,
    Relation,
    RowLimit,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerAggregate, Ranked, Ranking, Window

Places = Iterator[int]
"""The number of the next source: sources are opened in the order in which scans stand in a plan."""


@singledispatch
def lower_relation(relation: Relation, places: Places) -> Rows:
    """Return the rows of a relation: the owner's columns, then ``f0``, ``f1`` and so on."""
    raise Unsupported("This relation cannot be lowered", got=type(relation).__name__)


@lower_relation.register
def _(node: Scan, places: Places) -> Rows:
    read, unit = Read(scan=node, place=next(places)), unit_columns(node.owner())
    return read if node.table.unit.column is None else Owned(source=read, unit=unit)


@lower_relation.register
def _(node: PublicScan, places: Places) -> Rows:
    return Read(scan=node, place=next(places))


@lower_relation.register
def _(node: Filter, places: Places) -> Rows:
    source = lower_relation(node.source, places)
    return Kept(source=source, where=Worked(node.condition, fields(len(node.fields()))))


@lower_relation.register
def _(node: Projection, places: Places) -> Rows:
    source, cells = lower_relation(node.source, places), fields(len(node.source.fields()))
    values = [(f"f{i}", Worked(value, cells)) for i, value in enumerate(node.values)]
    return Projected(source=source, values=(*_copied(owner_columns(node.owner())), *values))


@lower_relation.register
def _(node: Distinct, places: Places) -> Rows:
    source = lower_relation(node.source, places)
    return Different(source=source, by=source.columns())


@lower_relation.register
def _(node: UnionAll, places: Places) -> Rows:
    return Together(parts=tuple(lower_relation(side, places) for side in node.inputs()))


@lower_relation.register
def _(node: InnerAggregate, places: Places) -> Rows:
    source, cells = lower_relation(node.source, places), fields(len(node.source.fields()))
    owner, keys = owner_columns(node.owner()), [cells[i] for i in node.keys]
    shown = [*zip(owner, owner, strict=True), *((f"f{i}", key) for i, key in enumerate(keys))]
    totals = [(f"f{len(keys) + i}", inner) for i, inner in enumerate(node.totals)]
    return Totalled(
        source=source,
        by=(*owner, *keys),
        keys=tuple(shown),
        totals=tuple(totals),
        cells=cells,
    )


@lower_relation.register
def _(node: Window, places: Places) -> Rows:
    source, cells = lower_relation(node.source, places), fields(len(node.source.fields()))
    within = [value for _, value in _copied(owner_columns(node.owner()))]
    by_place = isinstance(node.function, Ranked) and node.function.ranking not in (
        Ranking.RANK,
        Ranking.DENSE_RANK,
    )
    return Windowed(
        source=source,
        name=f"f{len(cells)}",
        function=node.function,
        within=(*within, *(Worked(value, cells) for value in node.partition)),
        order=node.order,
        ties=cells if by_place else (),
        cells=cells,
    )


@lower_relation.register
def _(node: RowLimit, places: Places) -> Rows:
    source, cells = lower_relation(node.source, places), fields(len(node.fields()))
    return Sampled(
        source=source,
        within=unit_columns(node.owner()),
        key=(HASH,),
        content=cells,
        most=node.rows,
        rank="place",
        size=(tuple(cells[i] for i in node.texts), node.characters) if node.texts else None,
    )


# ---- Pairs.


@lower_relation.register
def _(node: Join, places: Places) -> Rows:
    return _paired(node, Pairing.BOTH_OR_LEFT if node.keep_left else Pairing.BOTH, places)


@lower_relation.register
def _(node: Exists, places: Places) -> Rows:
    return _paired(node, Pairing.LEFT_WITHOUT if node.lacks else Pairing.LEFT_WITH, places)


def _paired(node: Join | Exists, pairing: Pairing, places: Places) -> Paired:
    """Return the pairs of two sides.

    With a private right, what one side alone tells becomes a column of that side, equal to one of
    the other: so each side can be worked on completely before the two meet, and all else is worked
    out for pairs of one owner only, as it is counted (:mod:`discreet.tables.plans.work`).
    """
    left, right = (lower_relation(side, places) for side in (node.left, node.right))
    before, after = len(node.left.fields()), len(node.right.fields())
    both = fields(before + after)
    shown = tuple(zip(fields(after, before), fields(after), strict=True))
    if node.right.owner() is None:
        asked = () if node.condition is None else (Worked(node.condition, both),)
        return Paired(left=left, right=right, pairing=pairing, asked=asked, shown=shown)
    parts = _Parts.of(node.condition, before)
    keys = [(name, name) for name in (f"e{i}" for i in range(len(parts.left)))]
    equal = [
        (_named(mine, name), _named(theirs, name))
        for (name, _), mine, theirs in zip(keys, parts.left, parts.right, strict=True)
    ]
    made = [key.type for key in parts.right if not isinstance(key, FieldValue)]
    return Paired(
        left=_side(left, parts.left, before),
        right=_side(right, parts.right, after),
        pairing=pairing,
        same=unit_columns(node.left.owner()),
        equal=tuple(equal),
        compared=tuple(Worked(part, both) for part in parts.compared),
        asked=tuple(Worked(part, both) for part in parts.rest),
        shown=shown,
        is_guarded=True,
        types=(*(field.type for field in node.right.fields()), *made),
    )


def _named(key: Expression, name: str) -> str:
    """Return the column of a key: a field has one already."""
    return f"f{key.index}" if isinstance(key, FieldValue) else name


def _side(rows: Rows, keys: Sequence[Expression], width: int) -> Rows:
    """Return the rows of one side, with its keys: those that are no fields as ``e0`` and so on."""
    made = [
        (f"e{i}", Worked(key, fields(width)))
        for i, key in enumerate(keys)
        if not isinstance(key, FieldValue)
    ]
    return Projected(source=rows, values=(*_copied(rows.columns()), *made))


def _copied(columns: Sequence[str]) -> tuple[tuple[str, Value], ...]:
    return tuple((name, Copied(name)) for name in columns)


_TRUE = Literal(ColumnType.BOOLEAN, True)


@frozen(kw_only=True)
class _Parts:
    """The parts of a condition: keys of both sides that must be equal, and what else is asked."""

    left: tuple[Expression, ...] = ()
    right: tuple[Expression, ...] = ()
    """Over the fields of the right alone."""
    compared: tuple[Expression, ...] = ()
    """Comparisons of a field of the left with one of the right."""
    rest: tuple[Expression, ...] = ()

    @staticmethod
    def of(condition: Expression | None, width: int) -> "_Parts":
        found = _Parts()
        for part in typed_conjuncts(condition):
            found = found.adding(part, width)
        return found

    def adding(self, part: Expression, width: int) -> "_Parts":
        """Return the parts with one more: what one side tells is a key, equal to TRUE."""
        sides = _sides(part, width)
        if sides == {"l"} or not sides:
            return self.with_keys(part, _TRUE)
        if sides == {"r"}:
            return self.with_keys(_TRUE, _of_right(part, width))
        if isinstance(part, Call) and part.function == "=":
            for here, there in (part.arguments, part.arguments[::-1]):
                if _sides(here, width) == {"l"} and _sides(there, width) == {"r"}:
                    return self.with_keys(here, _of_right(there, width))
        if _is_comparison(part):
            return evolve(self, compared=(*self.compared, part))
        return evolve(self, rest=(*self.rest, part))

    def with_keys(self, left: Expression, right: Expression) -> "_Parts":
        return evolve(self, left=(*self.left, left), right=(*self.right, right))


_COMPARISONS = ("<", "<=", ">", ">=", "<>")


def _is_comparison(part: Expression) -> bool:
    """Tell whether a condition compares two fields."""
    if not isinstance(part, Call) or part.function not in _COMPARISONS:
        return False
    return all(isinstance(side, FieldValue) for side in part.arguments)


def _sides(part: Expression, width: int) -> set[str]:
    return {"l" if index < width else "r" for index in fields_in(part)}


def _of_right(part: Expression, width: int) -> Expression:
    return moved(part, {index: index - width for index in fields_in(part)})
