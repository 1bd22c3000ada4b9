"""Keys: the groups of an answer, from declarations, from public tables, or privately selected."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import define, frozen

from discreet.core.errors import RefusedQuery
from discreet.core.unit_words import ONE_UNIT, UNITS
from discreet.sql.rows.fields import unit_part
from discreet.sql.rows.grouping import Grouping
from discreet.sql.rows.scope import PublicRows
from discreet.sql.syntax.options import GroupSelection
from discreet.tables.column import ColumnType, Key
from discreet.tables.expression import (
    Expression,
    FieldValue,
    Literal,
    fields_in,
    moved,
    written_out,
)
from discreet.tables.functions.public_values import (
    MOST_CHARACTERS,
    MOST_WORKED_OUT,
    Enumeration,
    public_keys,
)
from discreet.tables.keyset import (
    LARGEST_KEYSET,
    ONE_ROW,
    Keys,
    KeySet,
    PrivateKeys,
    PublicKeys,
    combine,
)
from discreet.tables.relations.relation import Distinct, Field, Projection, Relation
from discreet.tables.relations.totals import InnerAggregate, InnerTotal, Total


@frozen(kw_only=True)
class _Block:
    """Some of the grouped expressions whose values are public together, and their rows."""

    places: tuple[int, ...]
    rows: tuple[tuple[Key | None, ...], ...]
    """With NULL in some places; a key set has those that have none where it looks."""


def resolve_keys(
    grouping: Grouping,
    relation: Relation,
    fields: tuple[int, ...],
    *,
    public_rows: PublicRows,
    selection: GroupSelection | None,
    enumeration: Enumeration,
    takes_private: bool = True,
) -> Keys:
    """Return the groups: public ones if all grouped values are public, else privately selected.

    ``fields`` are where the grouped expressions stand in the relation of the question. Where
    private keys would be refused, whole numbers with a declared range have it as their keys.
    """
    if not grouping.keys:
        return ONE_ROW
    _require_countable(grouping)
    known = relation.fields()
    declared, cut = _declared(grouping.keys, known, enumeration)
    origins = _origins(grouping.keys, known)
    unknown = [i for i, keys in enumerate(declared) if keys is None and i not in origins]
    if unknown and _is_public(grouping, selection, takes_private=takes_private):
        found, also_cut = _declared(grouping.keys, known, enumeration.with_ranges())
        declared = [one or other for one, other in zip(declared, found, strict=True)]
        unknown, cut = [i for i in unknown if declared[i] is None], cut | also_cut
    if selection is not GroupSelection.LAPLACE_THRESHOLD and unknown and cut.issuperset(unknown):
        raise _too_many_values([grouping.names[i] for i in unknown])
    if selection is GroupSelection.LAPLACE_THRESHOLD or unknown:
        _require_one_set(grouping, unknown, selection)
        _refuse_single_people(grouping, relation)
        return PrivateKeys(fields=fields, allowed=tuple(declared))
    blocks = [
        _Block(places=(i,), rows=tuple((key,) for key in keys))
        for i, keys in enumerate(declared)
        if keys is not None and i not in origins
    ]
    blocks += _public_blocks(grouping.keys, known, origins, public_rows)
    blocks.sort(key=lambda block: block.places)  # the first grouped column varies slowest
    room = KeyRoom()
    sets = tuple(_key_set(places, blocks, room) for places in grouping.sets)
    return PublicKeys(fields=fields, sets=sets)


def _is_public(
    grouping: Grouping, selection: GroupSelection | None, *, takes_private: bool
) -> bool:
    """Tell whether a question takes no private keys: so that it is answered with public ones only.

    Wherever it takes them, ranges are for clamping alone, as they always were: the same question
    keeps its name, and its groups.
    """
    if selection is not None:
        return selection is GroupSelection.PUBLIC_GROUPS
    return not takes_private or len(grouping.sets) > 1 or len(grouping.sets[0]) < len(grouping.keys)


def _declared(
    keys: Sequence[Expression], fields: Sequence[Field], enumeration: Enumeration
) -> tuple[list[tuple[Key, ...] | None], set[int]]:
    """Return the public keys of each expression, and which have too many to be worked out."""
    found, cut = [], set()
    for i, key in enumerate(keys):
        enumeration.is_cut = False
        found.append(public_keys(key, fields, enumeration))
        if enumeration.is_cut:
            cut.add(i)
    return found, cut


def _too_many_values(names: Sequence[str]) -> RefusedQuery:
    return RefusedQuery(
        "The groups have too many public values to be worked out",
        must=f"take at most {MOST_WORKED_OUT:,} values of functions, of {MOST_CHARACTERS:,}"
        " characters in all",
        got=", ".join(names),
        next="Group by fewer or coarser values; or let groups be found among the rows, with"
        " OPTIONS(group_selection_strategy = LAPLACE_THRESHOLD) and a delta",
    )


def _require_countable(grouping: Grouping) -> None:
    for key, name in zip(grouping.keys, grouping.names, strict=True):
        if key.type is ColumnType.REAL:
            raise RefusedQuery(
                f"'{name}' is a real number, and groups of equal reals mean nothing",
                must="be text, integer, boolean, a date, a timestamp or a time",
                next="Group by width_bucket(value, 0, 100, 10), CAST(value AS INTEGER), or"
                " n // 10 of a whole number n",
            )


def _require_one_set(
    grouping: Grouping, unknown: Sequence[int], selection: GroupSelection | None
) -> None:
    names = ", ".join(grouping.names[i] for i in unknown)
    if len(grouping.sets) > 1 or len(grouping.sets[0]) < len(grouping.keys):
        raise RefusedQuery(
            "ROLLUP, CUBE and GROUPING SETS take public keys",
            must="group by columns with declared keys, or by columns of public tables",
            got=names,
            next="Ask for one grouping at a time",
        )
    if selection is GroupSelection.PUBLIC_GROUPS:
        raise RefusedQuery(
            "PUBLIC_GROUPS takes public keys",
            must="group by columns with declared keys, or by columns of public tables",
            got=names,
            next="Leave group_selection_strategy out, or have the keys declared",
        )


def _refuse_single_people(grouping: Grouping, relation: Relation) -> None:
    """Refuse groups that nobody could ever see: each would have the rows of one person alone.

    The period of a unit is no person, so its part of the key can be grouped by; and so can a part
    of what several columns name together.
    """
    owner = relation.owner()
    columns = () if owner is None else owner.unit.owner_columns()
    parts = {
        unit_part(key, relation): (name, relation.fields()[key.index].name)
        for key, name in zip(grouping.keys, grouping.names, strict=True)
        if isinstance(key, FieldValue)
    }
    if not columns or not parts.keys() >= set(range(len(columns))):
        return
    names, stored = zip(*(parts[place] for place in range(len(columns))), strict=True)
    named = f"'{names[0]}' names one" if len(names) == 1 else f"{' and '.join(names)} name one"
    written = stored[0] if len(stored) == 1 else f"({', '.join(stored)})"
    raise RefusedQuery(
        f"Groups of {ONE_UNIT} are never shown, and {named}",
        must=f"group by columns that many {UNITS} share",
        next=f"Write COUNT(DISTINCT {written}) for how many there are, or GROUP BY other columns",
    )


def _origins(keys: Sequence[Expression], fields: Sequence[Field]) -> dict[int, Relation]:
    """Return the public relation that each key is computed from, for those that have one."""
    found: dict[int, Relation] = {}
    for i, key in enumerate(keys):
        origins = [fields[index].origin for index in fields_in(key)]
        relations = [origin.relation for origin in origins if origin is not None]
        # The same table joined twice is two relations: a row of one is not a row of the other.
        is_one = all(relation is relations[0] for relation in relations)
        if relations and len(relations) == len(origins) and is_one:
            found[i] = relations[0]
    return found


def _public_blocks(
    keys: Sequence[Expression],
    fields: Sequence[Field],
    origins: dict[int, Relation],
    public_rows: PublicRows,
) -> list[_Block]:
    """Return a block for each public relation: the combinations of values that it has."""
    blocks = []
    for relation in {id(relation): relation for relation in origins.values()}.values():
        places = tuple(i for i, origin in origins.items() if origin is relation)
        values = tuple(_over_origin(keys[i], fields) for i in places)
        shape = tuple(Field(name=f"key_{i}", type=keys[i].type) for i in places)
        rows = public_rows(Distinct(source=Projection(source=relation, values=values, shape=shape)))
        if _may_lack([keys[i] for i in places], fields):
            rows = (*rows, *public_rows(_of_nothing(relation, values, shape)))
        blocks.append(_Block(places=places, rows=tuple(sorted(set(rows), key=_in_order))))
    return blocks


def _may_lack(keys: Sequence[Expression], fields: Sequence[Field]) -> bool:
    """Tell whether a row may have met no row of the public relation that its keys come from."""
    origins = (fields[index].origin for key in keys for index in fields_in(key))
    return any(origin is not None and origin.may_lack for origin in origins)


def _of_nothing(
    relation: Relation, values: Sequence[Expression], shape: tuple[Field, ...]
) -> Relation:
    """Return one row: what the values are where every field of a public relation is NULL."""
    counted = InnerTotal(total=Total.COUNT_ROWS, value=None)
    number = Field(name="rows", type=ColumnType.INTEGER)
    one = InnerAggregate(source=relation, keys=(), totals=(counted,), shape=(number,))
    missing = [Literal(known.type, None) for known in relation.fields()]
    nothing = tuple(written_out(value, missing) for value in values)
    return Projection(source=one, values=nothing, shape=shape)


def _in_order(row: tuple[Key | None, ...]) -> Any:
    """Return what rows are sorted by: their values, which have one type in each place."""
    return [(True,) if key is None else (False, key) for key in row]


def _over_origin(expression: Expression, fields: Sequence[Field]) -> Expression:
    origins = {index: fields[index].origin for index in fields_in(expression)}
    return moved(expression, {i: origin.index for i, origin in origins.items() if origin})


Rows = Sequence[tuple[Key | None, ...]]

MOST_CELLS = 5_000_000
"""How many cells the keys may have: combinations times grouped columns, with those looked at."""

MOST_KEY_CHARACTERS = 50_000_000
"""How many characters of text all keys may have together, written out for every group."""


@define(eq=False)
class KeyRoom:
    """What the combinations of keys of one question have taken, over all of its grouping sets.

    Guarantee:
        The sizes are multiplied before a combination is made, so that a refusal costs no more than
        looking at the single keys.
    """

    _groups: int = 0
    _cells: int = 0
    _characters: int = 0

    def look(self, rows: Rows, columns: int) -> None:
        """Count rows that are looked at for some of their columns."""
        self._cells += len(rows) * columns
        self._require()

    def take(self, parts: Sequence[Rows]) -> None:
        """Count all combinations of one row of each part."""
        size = math.prod(map(len, parts))
        self._groups += size
        self._cells += size * sum(len(rows[0]) for rows in parts if rows)
        self._characters += sum(_characters(rows) * (size // len(rows)) for rows in parts if rows)
        self._require()

    def _require(self) -> None:
        taken = (
            (self._groups, LARGEST_KEYSET, "groups"),
            (self._cells, MOST_CELLS, "cells (groups times grouped columns)"),
            (self._characters, MOST_KEY_CHARACTERS, "characters of text"),
        )
        for got, most, what in taken:
            if got > most:
                raise RefusedQuery(
                    "The public keys have too many combinations",
                    must=f"have at most {most:,} {what}, over all grouping sets",
                    got=f"{got:,}",
                    next="Group by fewer columns, or by coarser or shorter values",
                )


def _characters(rows: Rows) -> int:
    return sum(len(key) for row in rows for key in row if isinstance(key, str))


def _complete(rows: Iterable[tuple[Key | None, ...]]) -> tuple[tuple[Key, ...], ...]:
    """Return the rows without a NULL, each once: rows with one are in no group."""
    whole = (tuple(key for key in row if key is not None) for row in rows if None not in row)
    return tuple(dict.fromkeys(whole))


def _key_set(places: tuple[int, ...], blocks: Sequence[_Block], room: KeyRoom) -> KeySet:
    """Return the combinations of the blocks, for some of the grouped expressions, in order."""
    parts, order = [], []
    for block in blocks:
        inside = [i for i, place in enumerate(block.places) if place in places]
        if inside:
            room.look(block.rows, len(inside))
            parts.append(_complete(tuple(row[i] for i in inside) for row in block.rows))
            order += [block.places[i] for i in inside]
    turn = [order.index(place) for place in places]
    room.take(parts)
    rows = tuple(tuple(row[i] for i in turn) for row in combine(parts))
    return KeySet(places=places, rows=rows)
