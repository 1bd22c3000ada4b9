"""Joins: two scopes become one, and the relation below has one owner."""

from collections.abc import Sequence

from attrs import evolve

from discreet.core.errors import RefusedQuery, UnknownColumn, UnknownTable
from discreet.sql.rows.fields import require_same_unit
from discreet.sql.rows.scope import Name, PublicRows, Scope, require_few_tables
from discreet.sql.syntax.nodes import Node, conjuncts, is_a, listed, part, require_plain, word
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, fields_in
from discreet.tables.functions.call import call
from discreet.tables.functions.conditions import both, shifted, typed_conjuncts
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import Field, Projection, Relation
from discreet.tables.relations.scan import PublicScan
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Total

_INNER, _LEFT, _RIGHT = "JOIN", "LEFT JOIN", "RIGHT JOIN"
_SEMI, _ANTI = "SEMI JOIN", "ANTI JOIN"
_KINDS = {
    ("", ""): _INNER,
    ("", "INNER"): _INNER,
    ("", "CROSS"): _INNER,
    ("LEFT", ""): _LEFT,
    ("LEFT", "OUTER"): _LEFT,
    ("RIGHT", ""): _RIGHT,
    ("RIGHT", "OUTER"): _RIGHT,
    ("", "SEMI"): _SEMI,
    ("LEFT", "SEMI"): _SEMI,
    ("", "ANTI"): _ANTI,
    ("LEFT", "ANTI"): _ANTI,
}


def joined(left: Scope, right: Scope, node: Node, where: Sequence[Node]) -> Scope:
    """Return the scope of a join. ``where`` has the parts of the WHERE clause, for joins by comma.

    A public table that stands first is put second, which means the same for an inner join; and so
    is the first table of a RIGHT JOIN, which then is a LEFT JOIN. Names stay in their order.
    """
    kind = _kind(node)
    _require_different_names(left, right)
    is_swapped = kind == _RIGHT or _is_private_second(left, right)
    if _is_private_second(left, right) and kind not in (_INNER, _RIGHT):
        raise _public_decides(left, right, kind)
    if kind == _RIGHT and _is_private_second(right, left):
        raise _public_decides(right, left, kind)
    first, second = (right, left) if is_swapped else (left, right)
    join = Join(left=first.relation, right=second.relation, condition=None)
    sides = _side_by_side(left, right, join, is_swapped=is_swapped)
    scope = Scope(relation=join, names=(*sides[0].names, *sides[1].names))
    using = _using(node, *sides)
    condition = both(_conditions(node, using, scope, where))
    rewrite = "Add to ON (with the names of the tables in front)"
    require_same_unit(join.left, join.right, condition, where=kind, rewrite=rewrite)
    if kind in (_SEMI, _ANTI):
        lacks = kind == _ANTI
        exists = Exists(left=join.left, right=join.right, condition=condition, lacks=lacks)
        return left.over(require_few_tables(exists))
    whole = evolve(join, condition=condition, keep_left=kind in (_LEFT, _RIGHT))
    names = _merged(scope.names, using, shows_right=kind == _RIGHT)
    return Scope(relation=require_few_tables(whole), names=names)


def _is_private_second(first: Scope, second: Scope) -> bool:
    return first.relation.owner() is None and second.relation.owner() is not None


def _kind(node: Node) -> str:
    require_plain(node, "this", "side", "kind", "on", "using", "method")
    method = word(node, "method")
    if method:
        raise RefusedQuery(
            f"{method} JOIN is not supported",
            next="Write JOIN ... USING (column) with the columns that are to be equal",
        )
    words = (word(node, "side"), word(node, "kind"))
    if words not in _KINDS:
        raise _unsupported(words)
    return _KINDS[words]


def _unsupported(words: tuple[str, str]) -> RefusedQuery:
    if words[0] == "FULL":
        return RefusedQuery(
            "FULL JOIN is not supported",
            must="preserve the rows of one side at most, and that a private one",
            next="Write private LEFT JOIN public. Of two private tables add the rest: (SELECT ..."
            " FROM a LEFT JOIN b ON ...) UNION ALL (SELECT ... FROM b ANTI JOIN a ON ...)",
        )
    return RefusedQuery(
        f"{' '.join(filter(None, words))} JOIN is not supported",
        must="be JOIN, LEFT JOIN, RIGHT JOIN, CROSS JOIN, SEMI JOIN or ANTI JOIN",
        next="Write b SEMI JOIN a instead of a RIGHT SEMI JOIN b" if words[0] == "RIGHT" else "",
    )


def _require_different_names(left: Scope, right: Scope) -> None:
    taken = {name.lower() for name in left.tables}
    for name in right.tables:
        if name.lower() in taken:
            raise RefusedQuery(
                f"Two tables in FROM are called '{name}'", next=f"Write {name} AS other"
            )


def _public_decides(left: Scope, right: Scope, kind: str) -> RefusedQuery:
    public, private = left.tables[0], right.tables[0]
    if kind in (_LEFT, _RIGHT):
        return RefusedQuery(
            "A public table is the preserved side of an outer join",
            must="have the private table preserved, or an inner join",
            next=(
                f"Write FROM {private} LEFT JOIN {public}, or JOIN; "
                f"grouped by columns of {public}, groups without rows appear anyway"
            ),
        )
    return RefusedQuery(
        "Rows of a public table are chosen by a private one",
        must="have the private table first",
        next=f"Write FROM {private} {kind} {public}",
    )


def _side_by_side(
    left: Scope, right: Scope, join: Join, *, is_swapped: bool
) -> tuple[Scope, Scope]:
    """Return the names of each side, over the fields of the join."""
    widths = [len(side.relation.fields()) for side in (left, right)]
    moves = (widths[1], 0) if is_swapped else (0, widths[0])
    first, second = (
        tuple(evolve(name, index=name.index + move) for name in side.names)
        for side, move in zip((left, right), moves, strict=True)
    )
    return Scope(relation=join, names=first), Scope(relation=join, names=second)


Using = tuple[tuple[Name, Name], ...]
"""The columns of USING: each as it is on the left and on the right."""


def _using(node: Node, left: Scope, right: Scope) -> Using:
    found = []
    for identifier in listed(node, "using"):
        if not is_a(identifier, "Identifier", "Column"):
            raise RefusedQuery("USING takes plain columns")
        column = identifier.name
        found.append((left.name("", column), right.name("", column)))
    return tuple(found)


def _conditions(node: Node, using: Using, scope: Scope, where: Sequence[Node]) -> list[Expression]:
    on = part(node, "on")
    if on is not None:
        return [scope.condition(part) for part in conjuncts(on)]
    if using:
        return [call("=", tuple(_value(scope, name) for name in pair)) for pair in using]
    return _by_comma(scope, where)


def _value(scope: Scope, name: Name) -> Expression:
    return FieldValue(scope.field(name.index).type, name.index)


def _by_comma(scope: Scope, where: Sequence[Node]) -> list[Expression]:
    """Return the equalities of WHERE that concern both sides: they are what the join is about."""
    assert isinstance(scope.relation, Join)
    width, found = len(scope.relation.left.fields()), []
    for node in where:
        if not is_a(node, "EQ"):
            continue
        try:
            condition = scope.condition(node)
        except (RefusedQuery, UnknownColumn, UnknownTable):
            continue  # of another join, or refused when WHERE itself is resolved
        used = fields_in(condition)
        if used and min(used) < width <= max(used):
            found.append(condition)
    return found


def _merged(names: tuple[Name, ...], using: Using, *, shows_right: bool) -> tuple[Name, ...]:
    """Return the names after USING: its columns are found once, where the left ones stand.

    Their value is that of the preserved side: after a RIGHT JOIN that of the right.
    """
    found: list[Name] = []
    hidden = {name for pair in using for name in (pair if shows_right else pair[1:])}
    shown = dict(using) if shows_right else {}
    for name in names:
        if name in shown:
            found.append(evolve(shown[name], table="", column=name.column))
        found.append(evolve(name, is_merged=True) if name in hidden else name)
    return tuple(found)


_NUMBER = Field(name="partners", type=ColumnType.INTEGER)


def with_partners(relation: Relation, public_rows: PublicRows) -> Relation:
    """Return the relation with what public data says of work noted in it.

    Where a public side is paired that is the number of partners, and where a public table is read
    the length of its texts.
    """
    if isinstance(relation, PublicScan):
        return _with_lengths(relation, public_rows)
    parts = {
        name: with_partners(value, public_rows)
        for name in ("source", "first", "second", "left", "right")
        if isinstance(value := getattr(relation, name, None), Relation)
    }
    found = evolve(relation, **parts) if parts else relation
    if not isinstance(found, Join | Exists) or found.owner() is None:
        return found
    if found.right.owner() is not None:
        return found
    return evolve(found, partners=most_partners(found, public_rows))


def _with_lengths(scan: PublicScan, public_rows: PublicRows) -> PublicScan:
    """Return the scan with the number of characters of the longest text of each column."""
    kinds = [column.type for column in scan.columns]
    texts = [i for i, kind in enumerate(kinds) if kind is ColumnType.TEXT]
    if not texts:
        return scan
    longest = tuple(
        InnerTotal(total=Total.MAXIMUM, value=call("length", (FieldValue(kinds[i], i),)))
        for i in texts
    )
    found = InnerAggregate(source=scan, keys=(), totals=longest, shape=(_NUMBER,) * len(texts))
    (numbers,) = public_rows(found)
    names = (scan.columns[i].name for i in texts)
    known = ((name, int(str(n or 0))) for name, n in zip(names, numbers, strict=True))
    return evolve(scan, longest=tuple(known))


def most_partners(join: Join | Exists, public_rows: PublicRows) -> int:
    """Return a number of public rows that no private row meets more of.

    Only equalities count: rows of the right that are alike in what must be equal to something of
    the left can all meet the same row.
    """
    keys = _keys_of_right(join)
    shape = tuple(Field(name=f"k{i}", type=key.type) for i, key in enumerate(keys))
    counted = InnerTotal(total=Total.COUNT_ROWS, value=None)
    groups = InnerAggregate(
        source=Projection(source=join.right, values=tuple(keys), shape=shape),
        keys=tuple(range(len(keys))),
        totals=(counted,),
        shape=(*shape, _NUMBER),
    )
    number = FieldValue(ColumnType.INTEGER, len(keys))
    largest = InnerTotal(total=Total.MAXIMUM, value=number)
    most = InnerAggregate(source=groups, keys=(), totals=(largest,), shape=(_NUMBER,))
    ((count,),) = public_rows(most)
    return 0 if count is None else int(str(count))


def _keys_of_right(join: Join | Exists) -> list[Expression]:
    """Return the expressions of the right that the condition says equal something of the left."""
    width = len(join.left.fields())
    found = []
    for one in typed_conjuncts(join.condition):
        if isinstance(one, Call) and one.function == "=":
            for here, there in (one.arguments, one.arguments[::-1]):
                is_left = all(index < width for index in fields_in(here))
                is_right = bool(fields_in(there)) and min(fields_in(there)) >= width
                if is_left and is_right:
                    found.append(shifted(there, -width))
    return found
