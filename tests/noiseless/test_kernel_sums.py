"""Kernels of density: what is certified beside exact enumeration, and integrals of 60 digits."""

from fractions import Fraction
from math import exp

import pytest
from mpmath import mp, mpf

import discreet
from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.asserted_laws import PublicEnds, row_law
from discreet.noiseless.advisor.law_text import read_law
from discreet.noiseless.laws.grid_law import DiscreteLaw
from discreet.noiseless.laws.kernel_density import LaplaceKernel, NormalKernel
from discreet.noiseless.sums.exact_sum import ExactSum
from discreet.noiseless.sums.kernel_sums import cell_delta, kernel_delta
from tests.noiseless.finite_sums import divergence, sum_law

NORMAL = NormalKernel("0.39", base=(-3, 3), scale=1, clamps=(-3, 3))
LAPLACE = LaplaceKernel("0.5", base=(-3, 3), scale=1, clamps=(-3, 3))


def number(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def normal(x):
    return mp.exp(-x * x / 2)


def laplace(x):
    return mp.exp(-abs(x))


@pytest.mark.parametrize(("law", "curve"), [(NORMAL, normal), (LAPLACE, laplace)])
def test_mass_box_and_cells_are_below_the_kernel(law, curve):
    with mp.workdps(60):
        area = mp.quad(curve, [-3, 0, 3]) * number(law.peak)
        assert area * (1 - mpf("1e-15")) < number(law.mass) <= area
        box = law.box()
        (low, high), height = box.box[0], number(box.density)
        assert -low == high <= 3
        assert height <= curve(number(high)) * number(law.peak) < height * (1 + mpf("1e-9"))
        for rows in (1, 10**6, 10**15):
            cells = law.cells(rows)
            count = len(cells.law.weights) // 2
            assert cells.law.weights == cells.law.weights[::-1]
            assert cells.width * count <= 3
            for place, weight in enumerate(cells.law.weights[count:], start=1):
                density = number(cells.mass * weight / cells.width)
                top = curve(number(cells.width * place)) * number(law.peak)
                assert top * (1 - mpf("1e-9")) < density <= top


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("shift", [1, 3, 9])
def test_cells_beside_the_enumeration_of_all_outcomes(epsilon, shift):
    cells = NormalKernel("0.3", base=(-2, 2), scale=1, clamps=(-2, 2)).cells(10**15)
    assert len(cells.law.weights) == 8
    for count in (1, 2, 4):
        true = divergence(sum_law(cells.law.weights, count), shift, float(epsilon))
        found = float(cell_delta(cells.law, count, shift, epsilon))
        assert true <= found <= true * (1 + 1e-8) + 1e-12


def whole(kind, area) -> NormalKernel | LaplaceKernel:
    """Return a law that is as good as all kernel."""
    peak = Fraction(int(mp.floor(mpf(2) ** 80 / area)), 1 << 80)
    return kind(peak, base=(-3, 3), scale=1, clamps=(-3, 3))


def two_normal(y):
    """The density of the sum of two rows, but for a factor."""
    return mp.exp(-y * y / 4) * mp.sqrt(mp.pi) * mp.erf(3 - abs(y) / 2) if abs(y) < 6 else mpf(0)


def two_laplace(y):
    far = abs(y)
    if far >= 6:
        return mpf(0)
    return mp.exp(-far) * (1 + far - mp.exp(2 * (far - 3)) if far <= 3 else 6 - far)


def true_delta(density, end, epsilon, shift):
    """Return the divergence of a density on [-end, end] from its shifted copy, by quadrature."""
    factor = mp.exp(mpf(epsilon))
    start = shift - end
    ends = (start + mpf("0.001"), end - mpf("0.001"))
    edge = mp.findroot(
        lambda y: mp.log(density(y)) - mp.log(density(y - shift)) - mpf(epsilon),
        ends,
        solver="anderson",
    )

    def below(until):
        kinks = [-end, -end / 2, mpf(0), end / 2]
        return mp.quad(density, [*(one for one in kinks if one < until), until])

    return below(edge) - factor * below(edge - shift)


@pytest.mark.parametrize("epsilon", ["0.3", "1.5"])
@pytest.mark.parametrize(
    ("kind", "curve", "two"),
    [(NormalKernel, normal, two_normal), (LaplaceKernel, laplace, two_laplace)],
)
def test_few_rows_beside_integrals_of_60_digits(kind, curve, two, epsilon):
    """The simulator inserts 0 where the row is 3, and one or two other rows hide it."""
    with mp.workdps(60):
        area = mp.quad(curve, [-3, 0, 3])
        law = whole(kind, area)
        alone = true_delta(curve, mpf(3), epsilon, mpf(3)) / area
        both = true_delta(two, mpf(6), epsilon, mpf(3)) / area**2
        for rows, true in ((2, alone), (3, both)):
            found = number(kernel_delta(law, rows, Fraction(epsilon)))
            assert true <= found < true + mpf("0.02")


def test_what_is_no_kernel_may_be_anything():
    """An atom in place of the rest: a row that is there tells all."""
    law = NormalKernel("0.2", base=(-3, 3), scale=1, clamps=(-3, 3))
    found = kernel_delta(law, 2, Fraction(1))
    alone = cell_delta(law.cells(2).law, 1, len(law.cells(2).law.weights) // 2, Fraction(1))
    assert found >= (1 - law.mass) + law.mass * alone * Fraction(99, 100)


@pytest.mark.parametrize("law", [NORMAL, LAPLACE])
def test_a_kernel_hides_more_than_its_largest_box(law):
    assert ExactSum(law, rows=300).delta("0.5") < ExactSum(law.box(), rows=300).delta("0.5") / 2


def test_a_window_that_is_too_wide_hides_nothing():
    assert cell_delta(DiscreteLaw(["1/4"] * 4), 10**14, 2, Fraction(40)) == 1


def test_scale_does_not_matter():
    wide = NormalKernel("0.0039", base=(100, 700), scale=100, clamps=(100, 700))
    assert ExactSum(wide, rows=50).deltas(1) == ExactSum(NORMAL, rows=50).deltas(1)
    assert exp(-1) > ExactSum(wide, rows=50).delta(1)


@pytest.mark.parametrize("kind", ["normal_kernel", "laplace_kernel"])
def test_kernels_are_written_as_other_laws_are(kind):
    ends = (Fraction(0), Fraction(100))
    law = row_law(read_law(f"{kind}(0.035, 20, 80, 10)"), PublicEnds(ends))
    assert "curve of height 0.035 and scale 10 over [20, 80]" in law.words()
    with pytest.raises(InvalidArgument, match="no form on a grid"):
        row_law(read_law(f"{kind}(0.035, 20, 80, 10)"), PublicEnds(ends, Fraction(1)))
    with pytest.raises(InvalidArgument, match="so much density"):
        row_law(read_law(f"{kind}(0.06, 20, 80, 10)"), PublicEnds(ends))
    with pytest.raises(InvalidArgument, match="come with a range"):
        row_law(read_law(f"{kind}(0.035, 20, 80, 10)"), PublicEnds())


def test_a_kernel_is_certified():
    said = {"rows": 12, "range": (0, 10), "epsilon": 3, "delta": "0.4"}
    found = discreet.certify("mean", law="normal_kernel(0.39, 2, 8, 1)", **said)
    text = " ".join(str(found).split())
    assert found.may_publish
    assert "density of at least a normal curve of height 0.39 and scale 1" in text
    assert "Peak of the kernel" in text
