"""Totals of overlapping parts, and of parts in several versions: is a row ever what is left?"""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import RefusedQuery
from discreet.noiseless.exact.differencing import require_no_differencing
from discreet.noiseless.leverage import solve


def total(parts, rows, version=1):
    """Return what is said of the total of some parts, or of all rows if none are named."""
    return {
        "statistic": "sum",
        "table": "exams",
        "data_version": version,
        "features": ["sum(x)"],
        "split": "campus" if parts else None,
        "parts": sorted(parts),
        "rows": rows,
    }


@pytest.mark.parametrize(
    ("earlier", "new"),
    [
        # c and the rows of no part are one row together, whichever of them it is.
        ([total("ab", 30), total("bc", 21)], total("", 31)),
        ([total("bc", 8), total("ab", 6)], total("", 13)),
        # The part has not changed as far as anybody knows, and then the rest was one row.
        ([total("ab", 21)], total("b", 20, version=3)),
        ([total("b", 20)], total("ab", 21, version=2)),
        ([total("", 24), total("c", 3, version=2)], total("bc", 4)),
        ([total("ab", 4), total("a", 3, version=2)], total("", 6, version=2)),
        ([total("b", 4, version=2), total("a", 3, version=2)], total("ac", 4)),
        # The same where another part has changed: b and the rest had 11 rows, and the rest has 10.
        ([total("", 21), total("a", 10), total("ab", 18, version=2)], total("", 28, version=2)),
        ([total("b", 3, version=2), total("a", 10, version=2)], total("ab", 11)),
        # The other rows are one if b and c, which are always together, have none.
        ([total("bcde", 20), total("abc", 2), total("bcf", 2)], total("", 25)),
        ([total("abcde", 21)], total("bef", 22)),
        # Seven groups of unknown sizes: e is one row if a, d and those of no part have none.
        ([total("ab", 2), total("", 43), total("acef", 41), total("abef", 23)], total("bcde", 23)),
        # If c had no rows in June, one came to b.
        ([total("bc", 20)], total("b", 21, version=2)),
        ([total("bc", 20, version=2)], total("b", 20)),
    ],
)
def test_one_row_that_is_left_is_found(earlier, new):
    with pytest.raises(RefusedQuery, match=r"otals tell what (a row|is in it)"):
        require_no_differencing(earlier, new)


@pytest.mark.parametrize(
    ("earlier", "new"),
    [
        ([total("ab", 30), total("bc", 30)], total("", 60)),
        ([total("a", 900), total("b", 900)], total("ab", 2000)),
        ([total("ab", 40)], total("b", 20, version=2)),
        ([total("a", 20), total("ab", 50)], total("a", 30, version=2)),
    ],
)
def test_where_nothing_is_left_alone_nothing_is_refused(earlier, new):
    require_no_differencing(earlier, new)


def publish(said):
    for place, one in enumerate(said):
        require_no_differencing(said[:place], one)


def test_totals_that_overlap_in_too_many_ways_are_refused():
    parts = [f"part {number:02}" for number in range(17)]
    waves = [[one for at, one in enumerate(parts) if at >> bit & 1] for bit in range(5)]
    waves += [[one for at, one in enumerate(parts) if at % width == 0] for width in (3, 5, 7)]
    said = [total(wave, 1000 + 37 * place) for place, wave in enumerate(waves)]
    with pytest.raises(RefusedQuery, match="overlap in too many ways"):
        publish(said)


PARTS = ("a", "b", "c", "d", "e", "f")
SIZES = st.fixed_dictionaries({one: st.sampled_from([0, 1, 2, 20]) for one in (*PARTS, "rest")})
COVERS = st.lists(st.sets(st.sampled_from(PARTS)), min_size=2, max_size=6)


@given(SIZES, COVERS)
def test_what_one_version_is_allowed_to_publish_never_tells_a_row(sizes, covers):
    there = [one for one, size in sizes.items() if size]
    allowed: list[dict[str, object]] = []
    table: list[list[Fraction]] = []
    for parts in covers:
        covered = [one for one in there if one in parts or not parts]
        rows = sum(sizes[one] for one in covered)
        if rows < 2:  # its own certificate refuses that
            continue
        said = total(parts, rows)
        try:
            require_no_differencing(allowed, said)
        except RefusedQuery:
            continue
        allowed.append(said)
        table.append([Fraction(one in covered) for one in there])
    if len(allowed) < 2:
        return
    columns = [list(column) for column in zip(*table, strict=True)]
    for place, one in enumerate(there):
        alone = [Fraction(other == place) for other in range(len(there))]
        assert sizes[one] > 1 or solve(columns, alone) is None
