"""What is sure of lowered rows, whatever the data: one rule for each kind of rows.

The rules that keep an answer private are checked here once, for every engine: rows are put
together only within one owner, and who is kept is chosen by a keyed hash of what a row holds.
"""

from collections.abc import Mapping
from functools import singledispatch
from itertools import pairwise

from attrs import evolve, field, frozen

from discreet.core.errors import Unsupported
from discreet.tables.lowered.rows import (
    HASH,
    Copied,
    Different,
    Grouped,
    InAnyGroup,
    InGroups,
    InSteps,
    Kept,
    Owned,
    Paired,
    Pairing,
    Projected,
    Read,
    Rows,
    RowsOf,
    Sampled,
    Step,
    Together,
    Totalled,
    Value,
    Windowed,
    Worked,
    unit_columns,
)
from discreet.tables.relations.relation import RowOwner, is_one_kind
from discreet.tables.relations.totals import Ranked, Ranking

Names = frozenset[str]


@frozen(kw_only=True)
class Facts:
    """What is sure of some rows, whatever the data."""

    unit: Names = frozenset()
    """The columns that say who owns a row; none if everybody may know the rows."""
    owner: RowOwner | None = None
    """What a unit is: only owners of one kind are ever compared."""
    is_owned: bool = True
    """Whether every row has an owner: if not, some have NULL there, and belong to nobody."""
    most: Mapping[Names, int] = field(factory=dict)
    """How many rows there can be that are alike in some columns. The hash is as good as a unit."""
    whole: Mapping[str, tuple[int, int | None]] = field(factory=dict)
    """The columns with whole numbers of a known range, NULL aside; None is without end."""
    counted: Mapping[str, int] = field(factory=dict)
    """Of columns with numbers of rows, how many all of them of one unit count, in one set."""
    summed: Names = frozenset()
    """The columns with whole numbers that were added up, so that nobody knows their range."""
    group: Names = frozenset()
    """The columns that say which group a row is in, if it is in one."""
    groups: Mapping[int, int | None] = field(factory=dict)
    """In how many groups of each grouping set one unit can be; None is without end."""
    numbers: tuple[range, ...] = ()
    """The numbers of the groups of each grouping set, if these are public."""

    def pair(self) -> Names:
        """Return the columns that tell one pair of a unit and a group from another."""
        return self.unit | self.group | {"s"}

    def only(self, columns: Names) -> "Facts":
        """Return what is still sure if the rows keep these columns as they are, and no others."""
        most = {key: count for key, count in self.most.items() if key <= columns}
        whole = {name: ends for name, ends in self.whole.items() if name in columns}
        counted = {name: count for name, count in self.counted.items() if name in columns}
        summed = self.summed & columns
        return evolve(self, most=most, whole=whole, counted=counted, summed=summed)


Known = dict[int, Facts]
"""What is sure of the rows that were looked at, by their identity: a step is read several times."""


def facts_of(rows: Rows, known: Known) -> Facts:
    """Return what is sure of some rows, and note it; refuse rows that break a rule."""
    if id(rows) not in known:
        made_of = [facts_of(part, known) for part in rows.inputs()]
        columns = rows.columns()
        require(len(set(columns)) == len(columns), rows, "no two columns may have one name")
        known[id(rows)] = _facts(rows, *made_of)
    return known[id(rows)]


@singledispatch
def _facts(rows: Rows, *_: Facts) -> Facts:
    raise unproved(rows, "nobody has said what is sure of these rows")


@_facts.register
def _(rows: Step, source: Facts) -> Facts:
    return source


@_facts.register
def _(rows: Read) -> Facts:
    owner = rows.scan.owner()
    unit = frozenset(unit_columns(owner))
    is_row = owner is not None and owner.unit.column is None
    most = {unit: 1} if is_row else {}
    return Facts(unit=unit, owner=owner, is_owned=owner is None or is_row, most=most)


@_facts.register
def _(rows: Owned, source: Facts) -> Facts:
    require(source.unit <= set(rows.unit), rows, "no part of the unit may be NULL")
    return evolve(source, is_owned=True)


@_facts.register
def _(rows: Kept, source: Facts) -> Facts:
    _require_columns(rows, rows.where)
    return source


@_facts.register
def _(rows: Projected, source: Facts) -> Facts:
    values = dict(rows.values)
    for name in _hidden(source):
        require(values.get(name) == Copied(name), rows, "the owner of a row must stay its owner")
    for name in _place(source):
        require(values.get(name) == Copied(name), rows, "the group of a row must stay its group")
    for value in values.values():
        _require_columns(rows, value)
    copied = frozenset(name for name, value in values.items() if value == Copied(name))
    clamped = {
        name: (value.bounds.lower_steps, value.bounds.upper_steps)
        for name, value in values.items()
        if isinstance(value, InSteps)
    }
    kept = source.only(copied)
    return evolve(kept, whole={**kept.whole, **clamped})


@_facts.register
def _(rows: Different, source: Facts) -> Facts:
    _require_owner(rows, source, rows.by)
    by = frozenset(rows.by)
    require(by >= set(rows.columns()), rows, "which of several rows is met must not matter")
    return evolve(source, most={**source.most, by - {HASH}: 1})


@_facts.register
def _(rows: Together, *parts: Facts) -> Facts:
    first = parts[0]
    for part, made_of in zip(rows.parts, parts, strict=True):
        _require_one_kind(rows, first, made_of)
        require(made_of.group == first.group, rows, "all rows must be in groups, or none")
        require(part.columns() == rows.columns(), rows, "all parts must have the same columns")
    if first.group:
        _require_apart(rows, parts)
    elif first.owner is not None:
        require(first.owner.unit.column is not None, rows, "a row must have an owner with a name")
    return Facts(
        unit=first.unit,
        owner=first.owner,
        is_owned=all(part.is_owned for part in parts),
        whole={
            n: ends for n, ends in first.whole.items() if all(p.whole.get(n) == ends for p in parts)
        },
        group=first.group,
        groups={number: most for part in parts for number, most in part.groups.items()},
        numbers=tuple(some for part in parts for some in part.numbers),
    )


def _require_apart(rows: Together, parts: tuple[Facts, ...]) -> None:
    """Check that the parts are of different grouping sets of the same rows, none twice."""
    sources = {id(part.source) for part in rows.parts if isinstance(part, InGroups)}
    is_one = len(sources) == 1 and all(isinstance(part, InGroups) for part in rows.parts)
    require(is_one, rows, "the parts must be grouping sets of the same rows")
    sets = [number for part in parts for number in part.groups]
    require(len(sets) == len(set(sets)), rows, "a grouping set must stand in one part alone")
    numbers = sorted((some for part in parts for some in part.numbers), key=lambda some: some.start)
    is_apart = all(first.stop <= second.start for first, second in pairwise(numbers))
    require(is_apart, rows, "groups of different sets must have different numbers")


@_facts.register
def _(rows: Paired, left: Facts, right: Facts) -> Facts:
    names = {name for name, _ in rows.shown}
    require(names.isdisjoint(rows.left.columns()), rows, "fields of the right must have new names")
    for condition in (*rows.compared, *rows.asked):
        known = {*rows.left.columns(), *names}
        require(known.issuperset(condition.columns), rows, "only known columns may be compared")
    require(not left.group and not right.group, rows, "rows must be paired before they are grouped")
    if right.unit:
        _require_one_kind(rows, left, right)
        is_named = right.owner is not None and right.owner.unit.column is not None
        require(is_named, rows, "a row must have an owner with a name")
        require(left.is_owned and right.is_owned, rows, "each row must have an owner")
        require(left.unit <= set(rows.same), rows, "two rows of a pair must have one owner")
        require(rows.is_guarded, rows, "no side may decide about the work on the other")
    if rows.pairing in (Pairing.LEFT_WITH, Pairing.LEFT_WITHOUT):
        return left.only(frozenset(rows.columns()))
    return Facts(unit=left.unit, owner=left.owner, is_owned=left.is_owned)


@_facts.register
def _(rows: Totalled, source: Facts) -> Facts:
    _require_owner(rows, source, rows.by)
    require(not source.group, rows, "rows must be totalled before they are grouped")
    shown = dict(rows.keys)
    for name in _hidden(source):
        require(shown.get(name) == name, rows, "the owner of a row must stay its owner")
    require(set(shown.values()) <= set(rows.by), rows, "what is shown must be the same in all rows")
    return Facts(unit=source.unit, owner=source.owner, is_owned=source.is_owned)


_ALIKE = (Ranking.RANK, Ranking.DENSE_RANK)
"""The rankings that are the same for rows that tie."""


@_facts.register
def _(rows: Windowed, source: Facts) -> Facts:
    within = [value.column for value in rows.within if isinstance(value, Copied)]
    _require_owner(rows, source, within)
    function = rows.function
    by_place = isinstance(function, Ranked) and function.ranking not in _ALIKE
    told_by = set(rows.ties) | _hidden(source)
    if by_place and source.unit:
        is_told = told_by >= set(rows.source.columns())
        require(is_told, rows, "rows that tie must be put in order by all that is in them")
    return source


@_facts.register
def _(rows: Sampled, source: Facts) -> Facts:
    _require_owner(rows, source, rows.within)
    within, content = frozenset(rows.within), frozenset(rows.content)
    columns = rows.source.columns()
    made = {rows.rank, "occurrence", "reached"}
    require(made.isdisjoint(columns), rows, "a place in the order must have a new name")
    is_content = within | content | {HASH} >= set(rows.key)
    require(is_content, rows, "what is hashed must be told apart by the order too")
    if rows.is_different:
        is_one = source.most.get((within | content) - {HASH}) == 1
        require(is_one, rows, "rows that are told apart by their content must differ in it")
    else:
        is_told = within | content | {HASH} >= set(columns)
        require(is_told, rows, "a row must be chosen by all that is in it")
    if rows.counted is not None:
        _require_counted(rows)
    groups = source.groups
    if source.group and within == source.unit | {"s"}:
        # So many rows of a unit, or pairs of it, are in no more groups.
        groups = {number: _smaller(count, rows.most) for number, count in groups.items()}
    key, known = within - {HASH}, dict(source.most)
    if rows.counted is not None and isinstance(rows.source, Different):
        # Where there is nothing to choose, rows that are alike may come as often as they are there.
        known.pop(frozenset(rows.source.by) - {HASH}, None)
    most = {**known, key: _smaller(known.get(key), rows.most)}
    return evolve(source, most=most, groups=groups)


def _require_counted(rows: Sampled) -> None:
    """Check that the pairs really say how many rows they have: they were counted on these rows."""
    source = rows.source.source if isinstance(rows.source, Different) else rows.source
    counting = _counting(source.pairs) if isinstance(source, RowsOf) else None
    require(
        isinstance(source, RowsOf)
        and counting is not None
        and rows.counted == "n"
        and counting.source == source.rows
        and set(counting.by) - {HASH} == set(source.pair) == set(rows.within),
        rows,
        "the number of rows must have been counted on these rows",
    )


def _counting(pairs: Rows) -> Grouped | None:
    """Return where the pairs were counted: below a choice among them."""
    while isinstance(pairs, Step | Sampled):
        pairs = pairs.rows if isinstance(pairs, Step) else pairs.source
    return pairs if isinstance(pairs, Grouped) else None


@_facts.register
def _(rows: InGroups, source: Facts) -> Facts:
    _require_hidden(rows, source, rows.kept)
    _require_known(rows, rows.source, (*rows.kept, *rows.on))
    kept, numbers = source.only(frozenset(rows.kept)), range(rows.first, rows.first + rows.size)
    groups = {rows.number: rows.size}
    return evolve(kept, group=frozenset({"g"}), groups=groups, numbers=(numbers,))


@_facts.register
def _(rows: InAnyGroup, source: Facts) -> Facts:
    _require_hidden(rows, source, rows.kept)
    _require_known(rows, rows.source, (*rows.kept, *rows.group, *dict(rows.allowed).values()))
    kept = source.only(frozenset({*rows.kept, *rows.group}))
    return evolve(kept, group=frozenset(rows.group), groups={0: None})


@_facts.register
def _(rows: Grouped, source: Facts) -> Facts:
    _require_owner(rows, source, rows.by)
    _require_known(rows, rows.source, (*rows.by, *rows.some))
    by = frozenset(rows.by) - {HASH}
    require(by == source.pair(), rows, "pairs must be of a unit and a group")
    for _, column, where in rows.sums:
        _require_known(rows, rows.source, (column, *(() if where is None else (where,))))
        _, upper = source.whole.get(column, (0, None))
        require(upper is not None, rows, "what is added up must be whole numbers of a known range")
    summed = frozenset(name for name, _, _ in rows.sums)
    in_all, groups = source.most.get(source.unit | {"s"}), source.groups
    if in_all is not None:
        # A pair has a row at least, so there are no more pairs of a unit.
        groups = {number: _smaller(count, in_all) for number, count in groups.items()}
    return evolve(
        source,
        most={by: 1},
        whole={"n": (0, None)},
        counted={} if in_all is None else {"n": in_all},
        summed=summed,
        groups=groups,
    )


@_facts.register
def _(rows: RowsOf, made_of: Facts, pairs: Facts) -> Facts:
    _require_hidden(rows, made_of, rows.shown)
    present = () if rows.present is None else (rows.present,)
    _require_known(rows, rows.rows, (*rows.shown, *rows.pair, *rows.where, *present))
    require(made_of.unit == pairs.unit, rows, "rows and pairs must be of the same owners")
    require(made_of.group == pairs.group, rows, "rows and pairs must be of the same groups")
    require(pairs.pair() == set(rows.pair), rows, "a row must be of a pair of its own")
    require(pairs.most.get(pairs.pair()) == 1, rows, "a pair must not be there twice")
    return evolve(made_of.only(frozenset(rows.shown)), groups=pairs.groups)


# ---- Refusals.


def _require_one_kind(rows: Rows, first: Facts, second: Facts) -> None:
    is_one = first.unit == second.unit
    if first.owner is not None and second.owner is not None:
        is_one = is_one and is_one_kind(first.owner, second.owner)
    require(is_one, rows, "both must have one kind of owner")


def _place(source: Facts) -> Names:
    """Return the columns that say in which group of which set a row is."""
    return source.group | {"s"} if source.group else frozenset()


def _require_owner(rows: Rows, source: Facts, columns: tuple[str, ...] | list[str]) -> None:
    is_one = source.unit <= set(columns)
    require(is_one, rows, "rows must be put together within one owner")
    require(source.is_owned, rows, "each row must have an owner")


def _require_hidden(rows: Rows, source: Facts, columns: tuple[str, ...]) -> None:
    require(_hidden(source) <= set(columns), rows, "the owner of a row must go on with it")


def _require_known(rows: Rows, source: Rows, columns: tuple[str, ...]) -> None:
    require(set(columns) <= set(source.columns()), rows, "columns must be known")


def _require_columns(rows: Kept | Projected, value: Value) -> None:
    columns = value.columns if isinstance(value, Worked) else (value.column,)
    known = rows.source.columns()
    require(set(columns) <= set(known), rows, "a value must be of one row alone")


def _hidden(source: Facts) -> Names:
    return source.unit | {HASH} if source.unit else frozenset()


def _smaller(first: int | None, second: int) -> int:
    return second if first is None else min(first, second)


def require(condition: bool, rows: Rows, rule: str) -> None:
    """Refuse rows that break a rule."""
    if not condition:
        raise unproved(rows, rule)


def unproved(rows: Rows, rule: str) -> Unsupported:
    """Return the refusal of rows that break a rule."""
    return Unsupported(
        "What one unit can move of this plan has no proof",
        must="keep every rule that proves it",
        got=f"{type(rows).__name__}, but {rule}",
        next="Nothing was charged. Please report the query: the fault is ours",
    )
