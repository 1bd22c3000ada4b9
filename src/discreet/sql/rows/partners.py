"""Partners: how many rows of a public table one private row can meet. Public data alone says it."""

from attrs import evolve

from discreet.sql.rows.conditions import shifted, typed_conjuncts
from discreet.sql.rows.context import PublicRows
from discreet.tables.column import ColumnType
from discreet.tables.expression import Call, Expression, FieldValue, fields_in
from discreet.tables.functions.call import call
from discreet.tables.relations.exists import Exists
from discreet.tables.relations.inner_aggregate import InnerAggregate, InnerTotal, Total
from discreet.tables.relations.join import Join
from discreet.tables.relations.project import Project
from discreet.tables.relations.relation import Field, Relation
from discreet.tables.relations.scan import PublicScan

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
        source=Project(source=join.right, values=tuple(keys), shape=shape),
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
    for part in typed_conjuncts(join.condition):
        if isinstance(part, Call) and part.function == "=":
            for here, there in (part.arguments, part.arguments[::-1]):
                is_left = all(index < width for index in fields_in(here))
                is_right = bool(fields_in(there)) and min(fields_in(there)) >= width
                if is_left and is_right:
                    found.append(shifted(there, -width))
    return found
