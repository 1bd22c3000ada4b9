"""What is sure of lowered rows, whatever the data: one rule for each kind of rows.

The rules that keep an answer private are checked here once, for every engine: rows are put
together only within one owner, and who is kept is chosen by a keyed hash of what a row holds.
"""

from collections.abc import Mapping
from functools import singledispatch

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
from discreet.tables.relations.totals import Ranked, Ranking

Names = frozenset[str]


@frozen(kw_only=True)
class Facts:
    """What is sure of some rows, whatever the data."""

    unit: Names = frozenset()
    """The columns that say who owns a row; none if everybody may know the rows."""
    is_owned: bool = True
    """Whether every row has an owner: if not, some have NULL there, and belong to nobody."""
    most: Mapping[Names, int] = field(factory=dict)
    """How many rows there can be that are alike in some columns. The hash is as good as a unit."""
    whole: Mapping[str, tuple[int, int | None]] = field(factory=dict)
    """The columns with whole numbers of a known range, NULL aside; None is without end."""
    group: Names = frozenset()
    """The columns that say which group a row is in, if it is in one."""
    groups: Mapping[int, int | None] = field(factory=dict)
    """In how many groups of each grouping set one unit can be; None is without end."""

    def pair(self) -> Names:
        """Return the columns that tell one pair of a unit and a group from another."""
        return self.unit | self.group | {"s"}

    def only(self, columns: Names) -> "Facts":
        """Return what is still sure if the rows keep these columns as they are, and no others."""
        most = {key: count for key, count in self.most.items() if key <= columns}
        whole = {name: ends for name, ends in self.whole.items() if name in columns}
        return evolve(self, most=most, whole=whole)


Known = dict[int, Facts]
"""What is sure of the rows that were looked at, by their identity: a step is read several times."""


def facts_of(rows: Rows, known: Known) -> Facts:
    """Return what is sure of some rows, and note it; refuse rows that break a rule."""
    if id(rows) not in known:
        made_of = [facts_of(part, known) for part in rows.inputs()]
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
    return Facts(unit=unit, is_owned=owner is None or is_row, most={unit: 1} if is_row else {})


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
        require(made_of.unit == first.unit, rows, "all rows must be of one kind of owner")
        require(made_of.group == first.group, rows, "all rows must be in groups, or none")
        require(part.columns() == rows.columns(), rows, "all parts must have the same columns")
    sets = [number for part in parts for number in part.groups]
    require(len(sets) == len(set(sets)), rows, "a grouping set must stand in one part alone")
    return Facts(
        unit=first.unit,
        is_owned=all(part.is_owned for part in parts),
        whole={
            n: ends for n, ends in first.whole.items() if all(p.whole.get(n) == ends for p in parts)
        },
        group=first.group,
        groups={number: most for part in parts for number, most in part.groups.items()},
    )


@_facts.register
def _(rows: Paired, left: Facts, right: Facts) -> Facts:
    for condition in (*rows.compared, *rows.asked):
        known = {*rows.left.columns(), *(name for name, _ in rows.shown)}
        require(known.issuperset(condition.columns), rows, "only known columns may be compared")
    if right.unit:
        require(left.unit == right.unit, rows, "both sides must have one kind of owner")
        require(left.is_owned and right.is_owned, rows, "each row must have an owner")
        require(left.unit <= set(rows.same), rows, "two rows of a pair must have one owner")
        require(rows.is_guarded, rows, "no side may decide about the work on the other")
    if rows.pairing in (Pairing.LEFT_WITH, Pairing.LEFT_WITHOUT):
        return left.only(frozenset(rows.columns()))
    return Facts(unit=left.unit, is_owned=left.is_owned)


@_facts.register
def _(rows: Totalled, source: Facts) -> Facts:
    _require_owner(rows, source, rows.by)
    shown = dict(rows.keys)
    for name in _hidden(source):
        require(shown.get(name) == name, rows, "the owner of a row must stay its owner")
    require(set(shown.values()) <= set(rows.by), rows, "what is shown must be the same in all rows")
    return Facts(unit=source.unit, is_owned=source.is_owned)


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
    if rows.is_different:
        is_one = source.most.get((within | content) - {HASH}) == 1
        require(is_one, rows, "rows that are told apart by their content must differ in it")
    else:
        is_told = within | content | set(rows.key) >= set(rows.source.columns())
        require(is_told, rows, "a row must be chosen by all that is in it")
    if rows.counted is not None:
        _require_counted(rows)
    groups = source.groups
    if content == source.group and within == source.unit | {"s"}:
        groups = {number: _smaller(count, rows.most) for number, count in groups.items()}
    key = within - {HASH}
    most = {**source.most, key: _smaller(source.most.get(key), rows.most)}
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
    groups = {rows.number: rows.size}
    return evolve(source.only(frozenset(rows.kept)), group=frozenset({"g"}), groups=groups)


@_facts.register
def _(rows: InAnyGroup, source: Facts) -> Facts:
    _require_hidden(rows, source, rows.kept)
    kept = source.only(frozenset({*rows.kept, *rows.group}))
    return evolve(kept, group=frozenset(rows.group), groups={0: None})


@_facts.register
def _(rows: Grouped, source: Facts) -> Facts:
    _require_owner(rows, source, rows.by)
    by = frozenset(rows.by) - {HASH}
    require(by == source.pair(), rows, "pairs must be of a unit and a group")
    return evolve(source, most={by: 1}, whole={"n": (0, None)})


@_facts.register
def _(rows: RowsOf, made_of: Facts, pairs: Facts) -> Facts:
    _require_hidden(rows, made_of, rows.shown)
    require(made_of.unit == pairs.unit, rows, "rows and pairs must be of the same owners")
    require(made_of.group == pairs.group, rows, "rows and pairs must be of the same groups")
    require(pairs.pair() == set(rows.pair), rows, "a row must be of a pair of its own")
    return evolve(made_of.only(frozenset(rows.shown)), groups=pairs.groups)


# ---- Refusals.


def _require_owner(rows: Rows, source: Facts, columns: tuple[str, ...] | list[str]) -> None:
    is_one = source.unit <= set(columns)
    require(is_one, rows, "rows must be put together within one owner")
    require(source.is_owned, rows, "each row must have an owner")


def _require_hidden(rows: Rows, source: Facts, columns: tuple[str, ...]) -> None:
    require(_hidden(source) <= set(columns), rows, "the owner of a row must go on with it")


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
