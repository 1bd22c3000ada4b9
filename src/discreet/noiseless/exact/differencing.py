"""The leverage test on declared rows: no owner's word allows totals from which one row follows.

Linear releases of one table are looked at together, feature by feature: those of one version by the
parts of their split, and those of two versions by how many rows each is declared to have. A count
that a histogram shows is one of them. All of it
is declared, so nothing is read.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice, product
from math import comb
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.noiseless.exact.exact_feature import count_text
from discreet.noiseless.leverage import (
    GroupTotal,
    determined,
    dot,
    independent,
    orthogonal,
    require_no_leverage,
    solve,
)
from discreet.tables.exact_declaration import ExactKind

LINEAR = frozenset(kind.value for kind in (ExactKind.SUM, ExactKind.MEAN, ExactKind.COUNT))

_REST = "the other rows"

Said = Mapping[str, Any]
"""What was asserted for a release, or is about to be."""


def require_no_differencing(
    earlier: Sequence[Said], new: Said, aliases: Collection[str] = ()
) -> None:
    """Refuse a linear release beside earlier ones if a row could be computed from all of them.

    Tables among ``aliases`` have the same rows, or may have had them under another name. They are
    looked at as other versions of the table are.
    """
    names = {new["table"], *aliases}
    alike = [
        total for one in earlier if one["table"] in names and one != new for total in _totals(one)
    ]
    for now in _totals(new):
        looked_at: list[list[Said]] = []
        for feature in map(_measured, now["features"]):
            same = [
                one for one in alike if feature in map(_measured, one["features"]) and one != now
            ]
            if same not in looked_at:
                looked_at.append(same)
                _require_apart_from(same, now)


def _measured(feature: str) -> str:
    """Return of what it is: clamps, grids and counted values are left out.

    Clamps and grids change few rows. Counts of other values of a column are its counts as well: the
    noes of July tell with the yeses of June what somebody who came has.

    Example:
        >>> _measured("sum(score in 0..100 by 0.5)")
        'sum(score)'
        >>> _measured("sum((hours less 20) (score less 50) in 0..40 by 1 and 0..100 by 1)")
        'sum((hours) (score))'
        >>> _measured("count(passed in {true})") == _measured("count(passed in {false})")
        True
    """
    if (count := _COUNT.fullmatch(feature)) is not None:
        return f"count({count[1]})"
    return _CENTRE.sub(")", _RANGES.sub(")", feature))


_COUNT = re.compile(r"count\((.+?) in \{.*\}\)", re.DOTALL)
_RANGE = r"\S+\.\.\S+ by \S+"
_RANGES = re.compile(rf" in {_RANGE}(?: and {_RANGE})?\)$")
_CENTRE = re.compile(r" less [^ )]+\)")


def _totals(said: Said) -> Iterator[Said]:
    """Yield what is added up: all of it of the same rows, or each number of a part of its own.

    A count of a histogram is a total where it is shown, unless random rows were left out of it.
    """
    if said["statistic"] in LINEAR:
        yield said
    if "counted" in said and said["discards"] is None:
        yield {**said, "features": [count_text(said["counted"], [one]) for one in said["bins"]]}
    for one in said.get("totals", ()):
        yield {**said, "features": [one["of"]], "parts": [one["part"]]}


def _require_apart_from(same: Sequence[Said], new: Said) -> None:
    """Look at the totals of one feature, under one split at a time.

    What two splits tell together is left to composition.
    """
    splits = {one["split"] for one in (*same, new)} - {None}
    for split in sorted(splits) or [None]:
        among = [one for one in same if one["split"] in (None, split)]
        if new["split"] in (None, split):
            for before in _eras([one for one in among if _state(one) != _state(new)]):
                _require_apart_versions(before, among, new)
                _require_apart_if_unchanged(before, among, new)
            _require_apart_parts([*(one for one in among if _state(one) == _state(new)), new])


def _eras(earlier: Sequence[Said]) -> Iterator[Sequence[Said]]:
    """Yield what is added up together: the totals of each version, and one of every set of parts.

    The parts of a whole may have been published one a version; the newest of each come first.
    """
    states = dict.fromkeys(map(_state, earlier))
    for state in states:
        yield [one for one in earlier if _state(one) == state]
    kinds: dict[frozenset[str], list[Said]] = {}
    for one in reversed(earlier):
        kinds.setdefault(frozenset(one["parts"]), []).append(one)
    if len(states) > 1 and len(kinds) > 1:
        yield from islice(product(*kinds.values()), _MOST_ERAS)


_MOST_ERAS = 32
_ALL_SETS = 4
"""Of so many parts every set is looked at."""


def _require_apart_versions(before: Sequence[Said], same: Sequence[Said], new: Said) -> None:
    """Look at the totals of the same parts in two versions, of which one has some rows more.

    A total can be published, or follow from others: of a whole and a part, or of all parts. Rows
    that are in no part that is named are taken to be none, or all that a whole has more.
    """
    now = [*(one for one in same if _state(one) == _state(new)), new]
    parts = frozenset(part for one in (*before, *now) for part in one["parts"])
    meant = _sets_of(parts, [frozenset(one["parts"]) for one in (*before, *now)])
    found = [_following(totals, parts, meant) for totals in (before, now)]
    for (one, rows), (other, rows_now) in product(*(one.items() for one in found)):
        is_same = one - {_REST} == other - {_REST} or parts | {_REST} in (one, other)
        # If what both have has not changed, and one has a row more, that row is what is left. If
        # one has no rows beyond what both have, they are of the same parts.
        is_nearly = (one < other or other < one) and abs(rows_now - rows) <= 1
        if is_same or is_nearly:
            _require_apart({**before[0], "rows": rows}, {**new, "rows": rows_now})


def _sets_of(
    parts: frozenset[str], published: Sequence[frozenset[str]]
) -> frozenset[frozenset[str]]:
    """Return the sets of parts that are looked at, with the rows of no part and without them."""
    found = {frozenset({part}) for part in parts} | {parts, *published}
    found |= {parts - one for one in published}
    if len(parts) <= _ALL_SETS:
        sizes = range(1, len(parts) + 1)
        found |= {frozenset(one) for size in sizes for one in combinations(parts, size)}
    return frozenset(found | {one | {_REST} for one in found}) - {frozenset()}


def _following(
    totals: Sequence[Said], parts: frozenset[str], meant: Collection[frozenset[str]]
) -> dict[frozenset[str], int]:
    """Return how many rows each set of parts has whose total follows from some totals."""
    atoms = sorted(parts | {_REST})
    covered = [frozenset(one["parts"]) or frozenset(atoms) for one in totals]
    matrix = [[Fraction(atom in one) for atom in atoms] for one in covered]
    right = [Fraction(one["rows"]) for one in totals]
    sizes = {
        one: _determined(matrix, right, [Fraction(atom in one) for atom in atoms]) for one in meant
    }
    return {one: int(size) for one, size in sizes.items() if size is not None and size > 0}


def _require_apart(one: Said, new: Said) -> None:
    before, now = one["rows"], new["rows"]
    if before == now:
        raise RefusedQuery(
            f"Totals of {_words(one, new)} and {_words(new, one)} are declared to have equally "
            "many rows",
            must="differ in more than one row, or their totals tell what is in it",
            got=f"{now:,} rows each",
            next="Totals of one table from time to time are subtracted from one another. "
            "Publish the later one with noise",
        )
    totals = [
        GroupTotal.over(_words(one, new), _groups(before, before, now)),
        GroupTotal.over(_words(new, one), _groups(now, before, now)),
    ]
    kept = min(before, now)
    require_no_leverage(totals, {"both versions": kept, "one version": abs(now - before)})


def _state(said: Said) -> tuple[str, int]:
    return said["table"], said["data_version"]


def _words(said: Said, beside: Said) -> str:
    words = f"version {said['data_version']}"
    return words if said["table"] == beside["table"] else f"{said['table']} ({words})"


def _groups(rows: int, before: int, now: int) -> list[str]:
    return ["both versions", "one version"] if rows == max(before, now) else ["both versions"]


def _require_apart_if_unchanged(before: Sequence[Said], same: Sequence[Said], new: Said) -> None:
    """Look at totals of two versions as of one, where the declared numbers allow that they are.

    The total of a whole in June and that of a part in July tell what the rest is, if the part has
    not changed.
    """
    now = [*(one for one in same if _state(one) == _state(new)), new]
    newest = {frozenset(one["parts"]): one for one in (*before, *now)}
    _require_hidden(list(newest.values()), is_certain=False)


def _require_apart_parts(said: Sequence[Said]) -> None:
    """Look at the totals of one version, all of them of parts of one split or of all rows."""
    _require_hidden(said, is_certain=True)


def _require_hidden(said: Sequence[Said], *, is_certain: bool) -> None:
    """Refuse totals from which a row follows, whichever parts have no rows that may have none."""
    if len(said) < 2:
        return
    parts = sorted({part for one in said for part in one["parts"]})
    atoms = [*parts, _REST]
    covered = [set(one["parts"]) if one["split"] else set(atoms) for one in said]
    rows = [one["rows"] for one in said]
    sizes = _sizes(atoms, covered, rows)
    if sizes is None and is_certain:
        raise RefusedQuery(
            "The declared numbers of rows contradict one another",
            must="be of parts that are not larger than the whole",
        )
    if sizes is None or not (is_certain or _can_be(atoms, covered, rows)):
        return
    _require_no_leverage(sizes, covered)
    for there in _perhaps_alone(sizes, covered, rows):
        left = [groups & there for groups in covered]
        found = _sizes(sorted(there), left, rows)
        if found is not None and _can_be(sorted(there), left, rows):
            _require_no_leverage(found, left)


_MOST_FLATS = 3_000
"""So many sets of groups are tried to have no rows; more take minutes."""


def _perhaps_alone(
    sizes: Mapping[str, int | None], covered: Sequence[set[str]], rows: Sequence[int]
) -> Iterator[set[str]]:
    """Yield all sets of groups of which one may have a row that follows, if no other has rows.

    A row follows if its group's column (which totals have it) is not spanned by those of the other
    groups with rows. Then these are all in a hyperplane that it is not in, and one that is spanned
    by columns. Its normal y has a product with one of the column, and of the numbers of rows: they
    are the sum of the others, which it does not see, and of that one column.
    """
    columns = {name: [Fraction(name in groups) for groups in covered] for name in sizes}
    kept = independent([[column[at] for column in columns.values()] for at in range(len(covered))])
    columns = {name: [column[at] for at in kept] for name, column in columns.items()}
    right = [Fraction(rows[at]) for at in kept]
    known = [name for name, size in sizes.items() if size is not None]
    unknown = [name for name, size in sizes.items() if size is None]
    for one in (None, *(name for name in known if sizes[name] == 1)) if unknown else ():
        base = [columns[name] for name in known if name != one]
        more = len(kept) - 1 - len(independent(base))
        if more > 0 and comb(len(unknown), more) > _MOST_FLATS:
            raise RefusedQuery(
                "These totals overlap in too many ways to tell whether a row follows from them",
                must="be fewer, or of parts whose numbers of rows follow from what is declared",
                got=f"{len(unknown)} groups of rows of unknown size",
                next="Publish the parts themselves, or fewer totals of several parts",
            )
        for chosen in combinations(unknown, max(more, 0)) if more >= 0 else ():
            normal = orthogonal([*base, *(columns[name] for name in chosen)], len(kept))
            if normal is None:
                continue
            seen = {name: dot(normal, column) for name, column in columns.items()}
            flat = {name for name, value in seen.items() if not value}
            total = dot(normal, right)
            if total and flat.issuperset(name for name in known if name != one):
                alone = (name for name in (unknown if one is None else [one]))
                yield from (flat | {name} for name in alone if seen[name] == total)


def _require_no_leverage(sizes: Mapping[str, int | None], covered: Sequence[set[str]]) -> None:
    totals = [
        GroupTotal.over(f"total {place}", sorted(groups & set(sizes)))
        for place, groups in enumerate(covered)
    ]
    require_no_leverage(totals, {name: size or 1 for name, size in sizes.items()})


def _sizes(
    atoms: Sequence[str], covered: Sequence[set[str]], rows: Sequence[int]
) -> dict[str, int | None] | None:
    """Return how many rows each group has, by what is declared; None where that does not follow.

    Groups that are always together are one, and a group of no rows is none. If one would have fewer
    than none, there are no sizes.
    """
    together: dict[tuple[bool, ...], str] = {}
    for atom in atoms:
        within = tuple(atom in groups for groups in covered)
        if any(within):
            together.setdefault(within, atom)
    names = list(together.values())
    known = determined(_matrix(names, covered), [Fraction(count) for count in rows])
    if any(size < 0 for size in known.values()):
        return None
    found = {name: known.get(place) for place, name in enumerate(names)}
    return {name: None if size is None else int(size) for name, size in found.items() if size != 0}


def _matrix(atoms: Sequence[str], covered: Sequence[set[str]]) -> list[list[Fraction]]:
    return [[Fraction(atom in groups) for atom in atoms] for groups in covered]


def _can_be(atoms: Sequence[str], covered: Sequence[set[str]], rows: Sequence[int]) -> bool:
    """Tell whether there are sizes of groups with which every total has as many rows as it says."""
    return solve(_matrix(atoms, covered), [Fraction(count) for count in rows]) is not None


def _determined(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction], wanted: Sequence[Fraction]
) -> Fraction | None:
    """Return the one value that a sum of unknowns can have; None if there are several, or none."""
    # It is determined if it is a combination of the equations.
    transposed = [[row[column] for row in matrix] for column in range(len(wanted))]
    weights = solve(transposed, wanted)
    if weights is None:
        return None
    return sum((w * value for w, value in zip(weights, right, strict=True)), start=Fraction(0))
