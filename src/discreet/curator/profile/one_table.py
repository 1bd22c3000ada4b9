"""The one table that a relation is about: its rows of a unit, its columns, and its counts."""

from attrs import evolve

from discreet.tables.catalog import Table
from discreet.tables.column import Bounds, Column
from discreet.tables.expression import FieldValue
from discreet.tables.functions.proposal import propose_bounds
from discreet.tables.relations.join import Exists, Join
from discreet.tables.relations.relation import (
    Distinct,
    Field,
    Filter,
    OneSource,
    Projection,
    Relation,
    RowLimit,
    UnionAll,
)
from discreet.tables.relations.scan import PublicScan, Scan
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Total


def only_table(relation: Relation) -> Table | None:
    """Return the table whose rows of a unit are at least as many as those of the relation.

    Filters, totals and windows add no rows to a unit. A join adds none if each row meets at most
    one partner: by the keys of a public table, or because a unit has one row there, as declared.
    """
    found = bounding(relation)
    if found is None:
        return None
    table, looked_at = found
    most = table.most_rows_per_unit
    is_cut = looked_at is not None and (most is None or looked_at < most)
    return None if is_cut else table


Bounding = tuple[Table, int | None]
"""A table, and how many rows of a unit are looked at if that is limited."""


def bounding(relation: Relation) -> Bounding | None:
    """Return the table, and how many rows of it are looked at, whether or not they are enough."""
    match relation:
        case Scan():
            return relation.table, None
        case RowLimit(texts=()):
            return _limited(bounding(relation.source), relation.rows)
        case RowLimit():
            return None  # it ends when characters run out, however few rows there are
        case OneSource():
            return bounding(relation.source)
        case Exists():
            return bounding(relation.left)
        case Join():
            return _joined(relation)
        case _:
            return None


def _joined(relation: Join) -> Bounding | None:
    if relation.right.owner() is None:
        return bounding(relation.left) if relation.partners in (0, 1) else None
    left, right = bounding(relation.left), bounding(relation.right)
    if left is None or right is None:
        return None
    # A row on the left that meets nobody is kept by LEFT JOIN: then its unit has no row there.
    pairs = ((left, right),) if relation.keep_left else ((left, right), (right, left))
    for one, other in pairs:
        if other[0].most_rows_per_unit == 1:
            return _limited(one, other[1])
    return None


def _limited(found: Bounding | None, rows: int | None) -> Bounding | None:
    if found is None or rows is None:
        return found
    return found[0], rows if found[1] is None else min(rows, found[1])


def column_of(relation: Relation, index: int) -> Column | None:
    """Return the column of the table that a field of a relation is, if it is one unchanged."""
    while isinstance(relation, OneSource):
        if isinstance(relation, Projection):
            value = relation.values[index]
            if not isinstance(value, FieldValue):
                return None
            index = value.index
        elif isinstance(relation, InnerAggregate):
            if index >= len(relation.keys):
                return None
            index = relation.keys[index]
        elif index >= len(relation.source.fields()):
            return None  # what a window adds
        relation = relation.source
    return relation.columns[index] if isinstance(relation, Scan) else None


def known_fields(relation: Relation) -> tuple[Field, ...]:
    """Return the fields of a relation, with ranges of what counts the rows of a unit.

    Of a count nobody declares a range. But it counts no more rows than a unit is declared to have.
    """
    if isinstance(relation, InnerAggregate):
        below = known_fields(relation.source)
        table = only_table(relation.source)
        most = None if table is None else table.most_rows_per_unit
        counted = relation.shape[len(relation.keys) :]
        pairs = zip(counted, relation.totals, strict=True)
        keys = zip(relation.shape, (below[index] for index in relation.keys), strict=False)
        return (
            *(_with_bounds(field, known.bounds) for field, known in keys),
            *(_with_bounds(field, _count_bounds(total, most)) for field, total in pairs),
        )
    if isinstance(relation, Projection):
        below = known_fields(relation.source)
        pairs_of = zip(relation.shape, relation.values, strict=True)
        return tuple(
            field if field.bounds else _with_bounds(field, propose_bounds(value, below))
            for field, value in pairs_of
        )
    if not isinstance(relation, OneSource | Join | Exists):
        return relation.fields()
    found = [field for source in relation.inputs() for field in known_fields(source)]
    pairs_below = zip(relation.fields(), found, strict=False)
    given = tuple(_with_bounds(field, known.bounds) for field, known in pairs_below)
    return (*given, *relation.fields()[len(given) :])


def _with_bounds(field: Field, bounds: Bounds | None) -> Field:
    return field if field.bounds is not None or bounds is None else evolve(field, bounds=bounds)


_COUNTS = {Total.COUNT_ROWS: 1, Total.COUNT: 0, Total.COUNT_DISTINCT: 0}
"""The totals that count, and how much they are at least."""


def _count_bounds(total: InnerTotal, most: int | None) -> Bounds | None:
    least = _COUNTS.get(total.total)
    if least is None or most is None:
        return None
    return Bounds(lower=least, upper=max(most, least + 1))


def looks_at_all(relation: Relation) -> bool:
    """Tell whether no row is overlooked where work is limited, by what is declared.

    Whether somebody has a row at all is the same if only some of their rows are looked at.
    """
    if isinstance(relation, Exists) and relation.condition is None:
        right = relation.right
        is_any = isinstance(right, RowLimit) and not right.texts and right.owner() is not None
        asked = right.inputs() if is_any else (right,)
        return all(map(looks_at_all, (relation.left, *asked)))
    if isinstance(relation, RowLimit):
        found = None if relation.texts else bounding(relation.source)
        most = None if found is None else found[0].most_rows_per_unit
        if most is None or most > relation.rows:
            return False
    return all(map(looks_at_all, relation.inputs()))


def is_monotone(relation: Relation) -> bool:
    """Tell whether fewer rows of a source can only mean fewer rows of the relation."""
    kept = isinstance(relation, Scan | PublicScan | Filter | Projection | Distinct | RowLimit)
    paired = isinstance(relation, Join) and not relation.keep_left
    found = isinstance(relation, Exists) and not relation.lacks
    is_one = kept or paired or found or isinstance(relation, UnionAll)
    return is_one and all(map(is_monotone, relation.inputs()))


def to_profile(table: Table, column: str | None = None) -> str:
    """Return how an owner has a table measured: in Python, if it is only there, else by a command.

    The owner of data frames has no project that a command could open.
    """
    if table.source.frame is None:
        value = "" if column is None else f" --value {column}"
        return f"discreet profile {table.name}{value}"
    values = "" if column is None else f" with values of {column}"
    return f'owner.profile("{table.name}"){values}'
