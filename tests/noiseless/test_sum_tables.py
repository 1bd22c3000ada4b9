"""The tables of the source, as printed where they are right, and as corrected."""

from fractions import Fraction

import pytest

from discreet.core.errors import InvalidArgument
from discreet.noiseless.laws.box_density import BoxDensity, uniform_rows
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.laws.parametric import NormalRows
from discreet.noiseless.sums.exact_sum import ExactSum
from discreet.noiseless.sums.known_law import known_law_delta
from discreet.noiseless.sums.source_bound import SourceBound
from discreet.noiseless.sums.uniform_sums import UniformSum, uniform_at

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("rows", "a", "epsilon", "delta"),
    [
        (100, 40, 0.6339, 6.83e-4),
        (100, 37, 0.8347, 8.18e-6),
        (1000, 460, 0.2425, 1.310e-5),
        (1000, 450, 0.3035, 4.82e-8),
        (10000, 4870, 0.07818, 6.95e-6),
        (10000, 4850, 0.09020, 2.12e-7),
        (10000, 4830, 0.1022, 4.07e-9),
    ],
)
def test_table_6_1(rows, a, epsilon, delta):
    found = SourceBound(rows, uniform_rows(0, 1).hidden()).at([a - HALF])
    assert float(found[0]) == pytest.approx(epsilon, rel=6e-4)
    assert float(found[1]) == pytest.approx(delta, rel=2e-3)


NORMAL = NormalRows(0, 1, clamps=("-2.5", "2.5"))
TABLE_6_2 = [
    (1000, "1", 175, "0.83", 0.986, 2.77e-5, 3.12e-5, 2.3e-8),
    (1000, "1.5", 125, "0.78", 0.904, 7.43e-7, 1.85e-6, 3.0e-11),
    (1000, "1.5", 130, "0.79", 0.775, 1.24e-5, 1.60e-5, 3.9e-9),
    (1000, "2", 56, "0.66", 0.829, 4.74e-5, 9.49e-5, 1.2e-9),
    (10000, "1.5", 1725, "0.93", 0.227, 3.69e-6, 4.16e-6, 4.9e-9),
    (10000, "1.5", 1690, "0.92", 0.273, 2.89e-8, 3.42e-8, 1.7e-11),
]


@pytest.mark.parametrize(("rows", "t", "a", "r", "epsilon", "printed", "delta", "mixed"), TABLE_6_2)
def test_table_6_2_by_the_theorem(rows, t, a, r, epsilon, printed, delta, mixed):
    hidden = NORMAL.box(t).hidden()
    found = SourceBound(rows, hidden).at([a], r)
    assert float(found[0]) == pytest.approx(epsilon, abs=6e-4)
    assert float(found[1]) == pytest.approx(delta, rel=4e-3)
    # What is printed lacks the factor 1 + e^ε of the failure.
    failure = SourceBound(rows, hidden)._failure(found[0], Fraction(r))
    without = float(found[1] - failure) + float(failure) / (
        1 + 2.718281828459045 ** float(found[0])
    )
    assert without == pytest.approx(printed, rel=6e-3)
    assert mixed < printed


@pytest.mark.parametrize("row", [TABLE_6_2[1], TABLE_6_2[4]])
def test_table_6_2_by_the_mixture(row):
    rows, t, a, r, _, _, delta, mixed = row
    epsilon = SourceBound(rows, NORMAL.box(t).hidden()).at([a], r)[0]
    found = list(ExactSum(NORMAL.box(t), rows=rows).deltas(epsilon).values())
    assert float(found[-1]) == pytest.approx(mixed, rel=0.12)
    assert found[-1] < found[0] < delta * 1.05


@pytest.mark.parametrize(
    ("rows", "a", "r", "epsilon", "printed", "delta"),
    [
        (1000, 400, "0.9", 0.669, 2.05e-8, 3.46e-8),
        (5000, 2270, "0.955", 0.295, 1.13e-8, 1.40e-8),
        (20000, 9500, "0.976", 0.160, 4.42e-10, 4.82e-10),
    ],
)
def test_table_6_3(rows, a, r, epsilon, printed, delta):
    # The mass is 1, where nothing can fail; the table has r below 1 and counts a failure.
    nearly = Hidden(1 - Fraction(1, 10**15), (None, None), (HALF, HALF))
    found = SourceBound(rows, nearly).at([a, a], r)
    assert float(found[0]) == pytest.approx(epsilon, abs=6e-4)
    assert float(found[1]) == pytest.approx(delta, rel=4e-3)
    check_the_slip(SourceBound(rows, nearly), [a, a], Fraction(r), printed)
    square = BoxDensity("1/4", box=((-1, 1), (-1, 1)), clamps=((-1, 1), (-1, 1)))
    assert SourceBound(rows, square.hidden()).delta(found[0]) < found[1]


def check_the_slip(bound, a, r, printed):
    """What is printed has the tails on the wrong side of a."""
    epsilon = bound.at(a, r)[0]
    wrong = bound._failure(epsilon, r)
    for place, (point, shift) in enumerate(zip(a, bound.hidden.shifts, strict=True)):
        law = UniformSum(bound._hidden_rows(r) - 1, bound.hidden.points[place])
        wrong += 2 * uniform_at(law, Fraction(point) - shift).below.high
    assert float(wrong) == pytest.approx(printed, rel=6e-3)


PRISM = BoxDensity("1/4", box=(("0.36", 1), ("-0.6", "0.6")), clamps=((0, 1), (-1, 1)))


@pytest.mark.parametrize(
    ("rows", "a", "r", "epsilon", "printed", "delta"),
    [
        (7500, 535, "0.82", 0.914, 9.30e-8, 1.47e-7),
        (10000, 740, "0.84", 0.801, 3.64e-8, 5.66e-8),
        (14000, 1082, "0.865", 0.676, 3.02e-8, 4.03e-8),
        (70000, 6113, "0.938", 0.293, 1.35e-8, 1.62e-8),
    ],
)
def test_table_6_4(rows, a, r, epsilon, printed, delta):
    bound = SourceBound(rows, PRISM.hidden())
    found = bound.at([a, a], r)
    assert float(found[0]) == pytest.approx(epsilon, abs=6e-4)
    assert float(found[1]) == pytest.approx(delta, rel=4e-3)
    check_the_slip(bound, [a, a], Fraction(r), printed)


def test_a_is_refused_where_the_source_prints_too_wide_a_range():
    bound = SourceBound(100, uniform_rows(0, 1).hidden())
    for a in (0, "0.5", 50, 99, 100):
        with pytest.raises(InvalidArgument, match="a is out of range"):
            bound.at([a])
    with pytest.raises(InvalidArgument):
        bound.at([40, 40])
    with pytest.raises(InvalidArgument):
        bound.at([40], r=0)


@pytest.mark.parametrize(
    ("epsilon", "delta", "within"),
    [("0.2", 1.77e-4, 4e-3), ("0.3", 1.97e-6, 4e-3), ("0.5", 3.4e-12, 0.02)],
)
def test_clipped_normal_rows_on_a_grid(epsilon, delta, within):
    law = NORMAL.on_grid("0.02")
    assert not law.is_log_concave  # for its atoms at the clamps, so all values are tried
    found = known_law_delta(law, 999, Fraction(epsilon))
    assert found is not None
    assert float(found) == pytest.approx(delta, rel=within)
