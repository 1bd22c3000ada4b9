"""Totals give withheld cells away, exactly as far as all ways to fill them in say."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.reconstruction.withheld_cells import (
    CellTable,
    audit_cells,
    count_cells,
    read_cells,
)
from discreet.attacks.reconstruction.withhold_cells import withhold_more, withhold_small
from discreet.core.errors import InvalidArgument
from discreet.randomness.samplers import uniform_integers


@st.composite
def printed(draw) -> CellTable:
    height, width = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    counts = draw(st.lists(st.integers(0, 3), min_size=height * width, max_size=height * width))
    table = count_cells(
        [f"r{one}" for one in range(height)], [f"c{one}" for one in range(width)], counts
    )
    hide = st.booleans()
    cells = [[None if draw(hide) else one for one in row] for row in table.cells]
    often = st.sampled_from([False, False, True])
    return CellTable(
        rows=table.rows,
        columns=table.columns,
        cells=cells,
        row_totals=[None if draw(often) else one for one in table.row_totals],
        column_totals=[None if draw(often) else one for one in table.column_totals],
        total=None if draw(often) else table.total,
    )


def ways(table: CellTable, most: int):
    """All ways to fill in the withheld cells with counts up to a bound."""
    places = table.withheld
    for values in product(range(most + 1), repeat=len(places)):
        filled = np.array(table.with_cells(dict(zip(places, values, strict=True))).cells)
        is_met = [
            total is None or total == seen
            for total, seen in (
                *zip(table.row_totals, filled.sum(axis=1).tolist(), strict=True),
                *zip(table.column_totals, filled.sum(axis=0).tolist(), strict=True),
                (table.total, int(filled.sum())),
            )
        ]
        if all(is_met):
            yield values


@settings(max_examples=60)
@given(printed())
def test_ranges_are_what_enumeration_finds(table):
    """Counts go up to 9 or to the bound: nine cells of at most 3 each have sums up to 27."""
    ranges = audit_cells(table).ranges
    assert [one.place for one in ranges] == list(table.withheld)
    most = max([one.most for one in ranges if one.most is not None], default=0) + 1
    if (most + 1) ** len(ranges) > 20_000:
        return
    found = list(ways(table, most))
    for place, one in enumerate(ranges):
        seen = {values[place] for values in found}
        assert one.least == min(seen)
        if one.most is None:
            assert max(seen) == most
        else:
            assert seen == set(range(one.least, one.most + 1))


def test_a_small_cell_alone_is_its_total_less_the_others():
    table = count_cells(["a", "b", "c"], ["x", "y", "z"], [[2, 9, 8], [7, 1, 9], [8, 7, 6]])
    made = withhold_small(table, below=3)
    found = audit_cells(made.table)
    assert [(one.least, one.most) for one in found.ranges] == [(2, 2), (1, 1)]
    assert "2 of 2 withheld cells are known exactly" in str(found)
    assert "(D)" in str(made)


def test_complementary_cells_hide_it_and_an_insider_does_not_care(rng):
    """Of the first row and column one cell is small, so that there is one for whatever is drawn.

    An insider knows that one exactly, and of no other less than the public does.
    """
    counts = uniform_integers(30, (6, 5), rng)
    counts[0], counts[:, 0], counts[0, 0] = 20, 20, 3
    names = [f"r{one}" for one in range(6)], [f"c{one}" for one in range(5)]
    table = count_cells(*names, counts)
    made = withhold_more(table, below=6)
    found = audit_cells(made.table)
    ranges = {one.place: one for one in found.ranges}
    for place in made.small:
        least, most = ranges[place].least, ranges[place].most
        assert most is not None
        assert most - least >= 5
        assert least <= counts[place] <= most
    assert set(ranges) == {*made.small, *made.others}
    known = {place: int(counts[place]) for place in made.others}
    inside = audit_cells(made.table, known=known)
    left = [one.width or 0 for one in inside.ranges]
    assert sum(left) < sum(ranges[place].width or 0 for place in made.small)


def test_one_row_is_hidden_by_its_neighbours():
    table = CellTable(
        rows=["all"],
        columns=["x", "y", "z"],
        cells=[[1, 4, 30]],
        row_totals=[35],
        column_totals=[None] * 3,
        total=35,
    )
    made = withhold_more(table, below=3)
    assert made.others == ((0, 1),)
    assert audit_cells(made.table).ranges[0].most == 5


def test_a_table_without_totals_bounds_nothing():
    table = CellTable(
        rows=["a"], columns=["x"], cells=[[None]], row_totals=[None], column_totals=[None]
    )
    (one,) = audit_cells(table).ranges
    assert (one.least, one.most, one.width) == (0, None, None)
    assert "any" in str(audit_cells(table))
    whole = count_cells(["a"], ["x"], [[3]])
    assert str(audit_cells(whole)) == "No cell is withheld."


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [["", "x", "total"], ["a", "1", "1"]],
        [["", "x", "sum"], ["a", "1", "1"], ["total", "1", "1"]],
        [["", "x", "total"], ["a", "1"], ["total", "1", "1"]],
        [["", "x", "total"], ["a", "-1", "1"], ["total", "1", "1"]],
        [["", "x", "total"], ["a", "1.5", "1"], ["total", "1", "1"]],
        [["", "x", "x", "total"], ["a", "1", "1", "2"], ["total", "1", "1", "2"]],
    ],
)
def test_what_is_no_table_is_refused(lines):
    with pytest.raises(InvalidArgument):
        read_cells(lines)


@pytest.mark.parametrize("moved", [-1, 1, 5])
def test_a_table_with_noise_is_refused(moved):
    """One count of a whole table was changed: its totals contradict it."""
    lines = [["", "x", "y", "total"], ["a", "D", "4", "7"], ["b", "D", "D", "9"]]
    lines += [["total", str(8 + moved), "8", "16"]]
    with pytest.raises(InvalidArgument, match="contradict"):
        audit_cells(read_cells(lines))
    table = count_cells(["a"], ["x", "y"], [[4, 5]])
    with pytest.raises(InvalidArgument, match="contradict"):
        audit_cells(table.with_cells({(0, 0): 4 + moved, (0, 1): None}))


@pytest.mark.parametrize("size", [2**53 + 1, 2**63, 10**30])
def test_counts_beyond_floats_are_refused(size):
    """They agree with their totals, and floats would say that they do not."""
    with pytest.raises(InvalidArgument, match="too large"):
        read_cells([["", "x", "total"], ["a", "D", str(size)], ["total", str(size), str(size)]])


def test_bad_parameters_are_refused():
    table = count_cells(["a"], ["x"], [[1]])
    with pytest.raises(InvalidArgument, match="no such cell"):
        audit_cells(table, known={(0, 1): 3})
    with pytest.raises(InvalidArgument, match="cannot be hidden"):
        withhold_more(table, below=3)
    with pytest.raises(InvalidArgument, match="withheld already"):
        withhold_more(withhold_small(table, below=3).table, below=3)
    with pytest.raises(InvalidArgument, match="not whole"):
        CellTable(rows=["a"], columns=["x"], cells=[[1, 2]], row_totals=[3], column_totals=[1])
