"""The leverage test on declared rows: no owner's word allows totals from which one row follows.

Linear releases of one table are looked at together, feature by feature: those of one version by the
parts of their split, and those of two versions by how many rows each is declared to have. All of it
is declared, so nothing is read.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from discreet.core.errors import RefusedQuery
from discreet.noiseless.leverage import GroupTotal, require_no_leverage, solve
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
    if new["statistic"] not in LINEAR:
        return
    names = {new["table"], *aliases}
    alike = [one for one in earlier if one["statistic"] in LINEAR and one["table"] in names]
    for feature in new["features"]:
        same = [one for one in alike if feature in one["features"] and one != new]
        _require_apart_versions(same, new)
        here = [one for one in same if _state(one) == _state(new)]
        _require_apart_parts([*here, new])


def _require_apart_versions(same: Sequence[Said], new: Said) -> None:
    """Look at the totals of the same rows in two versions, of which one has some rows more.

    The parts of a split that were published one by one are a total too: their sum.
    """
    there = [one for one in same if _state(one) != _state(new)]
    now = [new, *_added_up([*same, new], _state(new))]
    before = [*there, *(one for at in {*map(_state, there)} for one in _added_up(same, at))]
    for one, other in product(before, now):
        # A whole, and parts of as many rows: they are all parts.
        if one["parts"] == other["parts"] or not (one["parts"] and other["parts"]):
            _require_apart(one, other)


def _added_up(same: Sequence[Said], state: tuple[str, int]) -> Iterator[Said]:
    """Yield the sum of all parts of a split that were published one by one, if they are disjoint.

    What was published again is there once.
    """
    here = [one for one in same if _state(one) == state and one["split"]]
    for split in {one["split"] for one in here}:
        rows = {tuple(one["parts"]): one["rows"] for one in here if one["split"] == split}
        parts = [part for key in rows for part in key]
        if len(rows) > 1 and len({*parts}) == len(parts):
            table, version = state
            yield {
                "table": table,
                "data_version": version,
                "parts": sorted(parts),
                "rows": sum(rows.values()),
            }


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


def _require_apart_parts(said: Sequence[Said]) -> None:
    """Look at the totals of one version; those of two splits are left to composition."""
    splits = {one["split"] for one in said if one["split"]}
    if len(splits) > 1 or len(said) < 2:
        return
    parts = sorted({part for one in said for part in one["parts"]})
    atoms = [*parts, _REST]
    covered = [set(one["parts"]) if one["split"] else set(atoms) for one in said]
    sizes = _sizes(atoms, covered, [one["rows"] for one in said])
    totals = [
        GroupTotal.over(f"total {place}", sorted(groups & set(sizes)))
        for place, groups in enumerate(covered)
    ]
    require_no_leverage(totals, sizes)


def _sizes(
    atoms: Sequence[str], covered: Sequence[set[str]], rows: Sequence[int]
) -> dict[str, int]:
    """Return how many rows each group has, by what is declared; 1 where that does not follow.

    Groups that are always together are one, and a group of no rows is none.
    """
    together: dict[tuple[bool, ...], str] = {}
    for atom in atoms:
        within = tuple(atom in groups for groups in covered)
        if any(within):
            together.setdefault(within, atom)
    names = list(together.values())
    matrix = [[Fraction(name in groups) for name in names] for groups in covered]
    right = [Fraction(count) for count in rows]
    found: dict[str, int] = {}
    for place, name in enumerate(names):
        size = _determined(matrix, right, place)
        if size is None or size > 0:
            found[name] = 1 if size is None else int(size)
        elif size < 0:
            raise RefusedQuery(
                "The declared numbers of rows contradict one another",
                must="be of parts that are not larger than the whole",
            )
    return found


def _determined(
    matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction], place: int
) -> Fraction | None:
    """Return the one value that an unknown can have; None if there are several, or none."""
    count = len(matrix[0])
    unit = [Fraction(column == place) for column in range(count)]
    # The unknown is determined if it is a combination of the equations.
    transposed = [[row[column] for row in matrix] for column in range(count)]
    weights = solve(transposed, unit)
    if weights is None:
        return None
    return sum((w * value for w, value in zip(weights, right, strict=True)), start=Fraction(0))
