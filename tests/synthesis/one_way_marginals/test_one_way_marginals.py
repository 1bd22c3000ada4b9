"""One-way marginals: what a unit moves, what is estimated, and that no more depends on data."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.audit.finding import FindingKind, replay_audit
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import finite_law
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.one_way_marginals.one_way_marginals import OneWayMarginals
from discreet.synthesis.one_way_marginals.one_way_sums import MOST_ROWS, OneWaySums
from discreet.synthesis.one_way_marginals.row_sample import RowSample
from discreet.synthesis.one_way_marginals.two_stage_noise import TwoStageNoise
from tests.support.statistics.exact_tests import alpha, cells_p_value
from tests.support.statistics.numbered_rng import NumberedRng
from tests.synthesis.people import counted, some_people

SIZES = (2, 3, 2)
SUMS = OneWaySums(sizes=SIZES)
NOISES: dict[str, Any] = {
    "Laplace": DiscreteLaplace(scale=20),
    "Gauss": DiscreteGaussian(sigma_squared=90),
    "cube": LinfExponential(scale=4, dimension=SUMS.dimension),
    "two stages": TwoStageNoise(
        dimension=SUMS.dimension, first_variance=90, second_variance=20, rounds=3, temperature=9
    ),
}


def moved(first, second) -> Contribution:
    by = [abs(int(a) - int(b)) for a, b in zip(first, second, strict=True)]
    return Contribution(linf=max(by), l1=sum(by), l2_squared=sum(step**2 for step in by))


@pytest.mark.parametrize("weight", [0, 1, 3])
def test_a_unit_moves_no_more_than_is_said_and_a_row_is_not_a_unit(weight: int, rng):
    """The person with all rows alike moves each norm by exactly its bound."""
    sums = OneWaySums(sizes=SIZES, total_weight=weight)
    people = some_people(rng, SIZES, people=30, most=4)
    everyone = sums.of(counted(people, SIZES, most=4))
    for left_out in range(len(people)):
        others = people[:left_out] + people[left_out + 1 :]
        step = moved(everyone, sums.of(counted(others, SIZES, most=4)))
        assert step.is_within(sums.contribution(4))
    assert step == sums.contribution(4)
    assert not step.is_within(sums.contribution(1)), "the twin: the sensitivity of one row"


@pytest.mark.parametrize("name", NOISES)
def test_measurements_replay_with_people_of_many_rows(name: str, rng):
    people = some_people(rng, SIZES, people=20, most=3)
    data, neighbour = (counted(some, SIZES, most=3) for some in (people, people[:-1]))

    def run(rows, recorder, rows_per_unit=3):
        watched = recorder.watch(NOISES[name], d_in=SUMS.contribution(rows_per_unit))
        return SUMS.estimate(watched.release(SUMS.of(rows), recorder.rng))

    def of_rows(rows, recorder):
        return run(rows, recorder, rows_per_unit=1)

    assert replay_audit(run, data, neighbour, rng) == ()
    kinds = {finding.kind for finding in replay_audit(of_rows, data, neighbour, rng)}
    assert kinds == {FindingKind.CONTRIBUTION}
    method = OneWayMarginals(sums=SUMS, noise=NOISES[name])
    direct = NOISES[name].release(SUMS.of(data), NumberedRng(3))
    assert (method.measure(data, NumberedRng(3)) == direct).all()
    assert method.event(3) == NOISES[name].event(SUMS.contribution(3))


def test_a_release_that_divides_by_the_true_number_of_rows_does_not_replay(rng):
    """The twin of a public n: means leak how many rows there are."""
    people = some_people(rng, SIZES, people=20, most=3)
    data, neighbour = (counted(some, SIZES, most=3) for some in (people, people[:-1]))

    def means(rows, recorder):
        watched = recorder.watch(NOISES["Laplace"], d_in=SUMS.contribution(3))
        return watched.release(SUMS.of(rows), recorder.rng) / int(rows.counts.sum())

    kinds = {finding.kind for finding in replay_audit(means, data, neighbour, rng)}
    assert kinds == {FindingKind.RESULT}


@pytest.mark.parametrize(
    ("name", "loss"),
    [("Laplace", Pure("0.6")), ("Gauss", Zcdp(rho="36/180")), ("cube", Pure("0.75"))],
)
def test_the_loss_of_a_person_of_three_rows(name: str, loss):
    """By hand: l1 = 3(3 + 1), l2² = 9(3 + 1), linf = 3."""
    assert OneWayMarginals(sums=SUMS, noise=NOISES[name]).loss(rows_per_unit=3) == loss


# ---------------------------------------------------------------- estimates


@settings(max_examples=40)
@given(
    table=st.lists(st.integers(0, 40), min_size=12, max_size=12),
    errors=st.lists(st.integers(-9, 9), min_size=6, max_size=6),
    weight=st.sampled_from([1, 2]),
)
def test_counts_are_as_near_as_what_was_measured(table, errors, weight):
    sums = OneWaySums(sizes=SIZES, total_weight=weight)
    codes = np.array(list(np.ndindex(*SIZES)), dtype=np.int64)
    rows = CountedRows(SIZES, codes, np.array(table, dtype=np.int64))
    found = sums.estimate(sums.of(rows) + np.array(errors))
    assert min(part.min() for part in found) >= 0
    for column, part in enumerate(found):
        assert abs(part - rows.table([column])).max() <= max(map(abs, errors))
    exactly = sums.estimate(sums.of(rows))
    assert all((part == rows.table([c])).all() for c, part in enumerate(exactly))


def test_a_public_number_of_rows_is_asked_for_exactly_where_none_was_measured():
    unmeasured = OneWaySums(sizes=[2], total_weight=0)
    (counts,) = unmeasured.estimate(np.array([4]), rows=10)
    assert counts.tolist() == [3, 7]
    for sums, rows in ((unmeasured, None), (OneWaySums(sizes=[2]), 10)):
        with pytest.raises(InvalidArgument, match="from one place"):
            sums.estimate(np.zeros(sums.dimension, dtype=np.int64), rows=rows)


def test_huge_counts_do_not_wrap_around():
    sums = OneWaySums(sizes=[2], total_weight=1 << 20)
    rows = CountedRows((2,), np.array([[0], [1]]), np.array([2**61, 2**61]))
    assert sums.of(rows).tolist() == [0, MOST_ROWS]


@pytest.mark.parametrize(
    "bad",
    [
        lambda: OneWaySums(sizes=[]),
        lambda: OneWaySums(sizes=[2, 1]),
        lambda: OneWaySums(sizes=[2], total_weight=-1),
        lambda: OneWaySums(sizes=[2], total_weight=1 << 40),
        lambda: SUMS.contribution(0),
        lambda: SUMS.contribution("1/2"),
        lambda: SUMS.of(CountedRows((2,), np.zeros((0, 1), dtype=np.int64), np.zeros(0, int))),
        lambda: SUMS.estimate(np.zeros(3, dtype=np.int64)),
        lambda: OneWayMarginals(sums=SUMS, noise=LinfExponential(scale=4, dimension=2)),
        lambda: RowSample(sums=SUMS, rate=0),
        lambda: RowSample(sums=SUMS, rate=1),
    ],
)
def test_what_makes_no_sense_is_refused(bad):
    with pytest.raises(InvalidArgument):
        bad()


def test_nobody_is_measured_too(rng):
    nobody = counted([], SIZES, most=3)
    for noise in NOISES.values():
        measured = OneWayMarginals(sums=SUMS, noise=noise).measure(nobody, rng)
        assert measured.shape == (SUMS.dimension,)
        assert all(part.min() >= 0 for part in SUMS.estimate(measured))


# ---------------------------------------------------------------- the oracles of the thesis


@pytest.mark.parametrize(
    ("columns", "cube", "laplace"), [(10, 314, 1055), (100, 2340, 15151), (1000, 21052, 197560)]
)
def test_rows_needed_by_the_cube_and_by_laplace(columns: int, cube: int, laplace: int):
    """Means of ±1 within 0.1 at ε = 1, β = 0.05: a changed row moves each sum by 2.

    In steps of 1/1000 whole noise is as good as real noise. Theorem 4.1.2 as printed needs
    n >= 4d/(εα) for a chance of (2e)^-d; with that many it is (2/e)^d.
    """
    noise = LinfExponential(scale=2000, dimension=columns)
    assert float(noise.error_quantile("0.05")) / 1000 / 0.1 == pytest.approx(cube, abs=0.6)
    assert 20 * stats.gamma.isf(0.05, columns) == pytest.approx(cube, abs=0.6)
    one = -math.expm1(math.log(0.95) / columns)
    independent = DiscreteLaplace(scale=2000 * columns).error_quantile(Fraction(one))
    assert float(independent) / 1000 / 0.1 == pytest.approx(laplace, abs=0.7)
    assert stats.gamma.sf(2 * columns, columns) > (2 * math.e) ** -columns
    assert stats.gamma.sf(2 * columns, columns) <= (2 / math.e) ** columns


# ---------------------------------------------------------------- a sample of the rows


def sample_law(rows: int, rate: Fraction):
    return finite_law(
        {
            kept: math.comb(rows, kept) * rate**kept * (1 - rate) ** (rows - kept)
            for kept in range(rows + 1)
        }
    )


@pytest.mark.parametrize("rows_per_unit", [1, 2])
def test_a_sample_of_rows_meets_its_delta_and_no_less(rows_per_unit: int):
    """Where all others have the other value, a row that is kept is seen."""
    rate = Fraction(1, 10)
    event = RowSample(sums=SUMS, rate=rate).event(rows_per_unit)
    with_unit, without = sample_law(rows_per_unit, rate), sample_law(0, rate)
    pair = LawPair(first=with_unit, second=without)
    assert verify(pair, Approximate(0, event.delta)).answer is VerdictAnswer.HOLDS
    less = Approximate(0, event.delta * Fraction(999, 1000))
    assert verify(pair, less).answer is VerdictAnswer.BROKEN
    if rows_per_unit == 2:
        assert verify(pair, Approximate(0, rate)).answer is VerdictAnswer.BROKEN, "a row's δ"


def test_a_sample_of_rows_has_its_law(rng):
    rows = CountedRows((2,), np.array([[0], [1]]), np.array([2, 3]))
    sample = RowSample(sums=OneWaySums(sizes=[2]), rate="1/4")
    drawn = np.array([sample.measure(rows, rng) for _ in range(800)])
    kept = (drawn[:, 1] + drawn[:, 0]) // 2
    masses = {k: math.comb(3, k) * 0.25**k * 0.75 ** (3 - k) for k in range(4)}
    level = alpha("synthesis/sample of rows")
    assert cells_p_value(kept, masses) > level
    wrong = {k: math.comb(3, k) * 0.4**k * 0.6 ** (3 - k) for k in range(4)}
    assert cells_p_value(kept, wrong) < level, "the check has power"
    assert sample.estimate(np.array([1, 3]))[0].tolist() == [4, 8]
    assert "protects nobody" in sample.warning
