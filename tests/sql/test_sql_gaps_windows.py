"""Windows over the rows of an answer have the values that plain DuckDB gives them."""

from fractions import Fraction

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.releases.estimates.estimate import KeyOf, WindowOf
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.windows import with_windows
from discreet.tables.arithmetic.columns import scalars
from discreet.tables.column import ColumnType

PART, ORDER, VALUE, ROW = (KeyOf(ColumnType.INTEGER, place) for place in range(4))
SMALL = st.none() | st.integers(-2, 3)
ROWS = st.lists(st.tuples(st.sampled_from([1, 2, None]), SMALL, SMALL), min_size=1, max_size=12)

FUNCTIONS = {
    "sum": "SUM(v)",
    "avg": "AVG(v)",
    "count": "COUNT(v)",
    "min": "MIN(v)",
    "max": "MAX(v)",
    "row_number": "ROW_NUMBER()",
    "rank": "RANK()",
    "dense_rank": "DENSE_RANK()",
    "lag": "LAG(v, 2)",
    "lead": "LEAD(v, 2)",
    "first_value": "FIRST_VALUE(v)",
}
RANKS = ("row_number", "rank", "dense_rank")
FRAMES = {
    None: "",
    (None, None): "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    (1, 0): "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    (None, 2): "ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING",
    (0, 1): "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING",
}
FRAMED = ("sum", "avg", "count", "min", "max", "first_value")
UNTIED = ("row_number", "lag", "lead", "first_value")
"""Among equals, plain DuckDB takes the rows in any order: for these it would show, as in frames."""

CASES = [
    (name, frame, has_ties)
    for name in FUNCTIONS
    for frame in FRAMES
    for has_ties in (False, True)
    if frame is None or (name in FRAMED and not has_ties)
    if not (has_ties and name in UNTIED)
]


@pytest.fixture(scope="module")
def plain():
    connection = duckdb.connect()
    yield connection
    connection.close()


@pytest.mark.parametrize(("name", "frame", "has_ties"), CASES)
@pytest.mark.parametrize("down", [False, True])
def test_a_window_is_duckdbs(plain, name, frame, down, has_ties):
    last = () if has_ties else ((ROW, False),)
    window = WindowOf(
        ColumnType.REAL,
        function=name,
        argument=None if name in RANKS else VALUE,
        partition=(PART,),
        order=((ORDER, down), *last),
        rows=frame,
        offset=2,
    )
    order = f"o {'DESC' if down else 'ASC'} NULLS LAST{'' if has_ties else ', i'}"
    over = f"OVER (PARTITION BY p ORDER BY {order} {FRAMES[frame]})"

    @settings(max_examples=12, deadline=None)
    @given(rows=ROWS)
    def check(rows):
        numbered = [(*row, i) for i, row in enumerate(rows)]
        groups = Groups(
            size=len(rows),
            keys=tuple(map(list, zip(*numbered, strict=True))),
            places=((0, 1, 2, 3),),
            sets=np.zeros(len(rows), dtype=np.int64),
            values=(),
        )
        found = scalars(with_windows(groups, [window]).windows[window].values)
        values = ", ".join(
            "(" + ", ".join("NULL::INT" if cell is None else f"{cell}::INT" for cell in row) + ")"
            for row in numbered
        )
        expected = plain.execute(
            f"SELECT {FUNCTIONS[name]} {over} FROM (VALUES {values}) AS t(p, o, v, i) ORDER BY i"
        ).fetchall()
        assert list(map(_rounded, found)) == [_rounded(value) for (value,) in expected]

    check()


def _rounded(value):
    return None if value is None else round(float(Fraction(value)), 9)


def test_values_go_along_when_rows_are_taken():
    groups = Groups(
        size=3,
        keys=([1, 1, 2], [3, 2, 1], [5, 6, 7], [0, 1, 2]),
        places=((0, 1, 2, 3),),
        sets=np.zeros(3, dtype=np.int64),
        values=(),
    )
    total = WindowOf(ColumnType.INTEGER, "sum", VALUE)
    taken = with_windows(groups, [total]).take(np.array([2, 0]))
    assert scalars(taken.windows[total].values) == [18, 18]
