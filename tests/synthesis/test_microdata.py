"""Points and sums without negative counts: the five methods, their errors, and their twins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from discreet.audit.finding import FindingKind, replay_audit
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import discrete_laplace_law, product, push_forward
from discreet.audit.sampling import audit_outputs
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.synthesis.microdata.clamped_points import ClampedPoints
from discreet.synthesis.microdata.noise_maxima import noise_maxima
from discreet.synthesis.microdata.points_with_sum import PointsWithSum
from discreet.synthesis.microdata.uncertainty import least_point_error, rehearsed_errors
from discreet.synthesis.microdata.uncertainty_picture import (
    easy_table,
    five_methods,
    hard_table,
    uncertainty_picture,
)
from tests.support.statistics.exact_tests import alpha, binomial_p_value
from tests.support.statistics.numbered_rng import NumberedRng

# ---------------------------------------------------------------- an oracle for the errors


class HardTable:
    r"""The exact law of the error :math:`t_1 - x_1` on the table :math:`(x_1, 0, \dots, 0)`.

    With noises ``z`` the weight of the first point is at least :math:`x_1 + u > 0` exactly if
    :math:`S(c) + u \le z_*` for :math:`c = z_1 - u` and :math:`S(c) = \sum_{i \ge 2}
    \max(0, z_i - c)`: the threshold is at most ``c`` if what is above ``c`` fits into the sum. So
    everything follows from the laws of sums, which are powers of a polynomial.
    """

    REACH, DEGREE = 50, 128
    STEPS = np.arange(-20, 80)
    """Twice the errors ``u`` that are looked at."""

    def __init__(self, points: int, scale: float) -> None:
        q = math.exp(-1 / scale)
        values = np.arange(-self.REACH, self.REACH + 1)
        masses = (1 - q) / (1 + q) * q ** np.abs(values)
        tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
        thresholds = np.arange(2 * values[0] - self.STEPS[-1], 2 * values[-1] - self.STEPS[0] + 1)
        base = np.zeros((thresholds.size, self.DEGREE + 1))
        above = np.clip(2 * values - thresholds[:, None], 0, self.DEGREE)
        np.add.at(base, (np.arange(thresholds.size)[:, None], above), masses)
        laws = self.power(base[:, :-1], points - 1)
        # The law of twice S(c) against the chance that the sum's noise has room for it.
        wanted = (np.arange(self.DEGREE) + self.STEPS[:, None] + 1) // 2
        room = tails[np.clip(wanted + self.REACH, 0, tails.size - 1)] @ laws.T
        places = 2 * values - self.STEPS[:, None] - thresholds[0]
        self.tails = np.take_along_axis(room, places, axis=1) @ masses

    def power(self, base: np.ndarray, exponent: int) -> np.ndarray:
        found = np.zeros_like(base)
        found[:, 0] = 1.0
        while exponent:
            found = self.times(found, base) if exponent & 1 else found
            base, exponent = self.times(base, base), exponent >> 1
        return found

    def times(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        size = 2 * self.DEGREE
        found = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)
        return np.maximum(found[:, : self.DEGREE], 0.0)

    def at_least(self, error: int) -> float:
        """P[t_1 - x_1 >= u], if x_1 + u > 0."""
        return float(self.tails[2 * error - self.STEPS[0]])

    def square(self, first: float) -> float:
        """E (t_1 - x_1)^2 for any x_1, by the trapezoid rule in steps of one half."""
        fine = np.linspace(-first, self.STEPS[-1] / 2, 4000)
        values = 2 * fine * np.interp(fine, self.STEPS / 2, self.tails)
        return first**2 + float(((values[1:] + values[:-1]) / 2 * np.diff(fine)).sum())


STATED = {4: 1.7, 16: 5.7, 64: 14.2, 256: 27.7, 1024: 45.7}
"""The point error on the hard table at ε = 1, with continuous noise, as was stated."""


@pytest.mark.parametrize("points", STATED)
def test_point_errors_on_the_hard_table_are_as_stated(points):
    """The law of ours is exact; theirs was sampled, and continuous noise has 2 % more variance."""
    method = PointsWithSum.calibrate(loss=Pure(1), points=points, rows_per_unit=1)
    assert method.noise == DiscreteLaplace(scale=2)
    error = HardTable(points, 2.0).square(math.log(points))
    assert error == pytest.approx(STATED[points], rel=0.06)
    assert error <= method.point_error()


@pytest.mark.parametrize("points", [4, 64])
def test_weights_have_the_law_of_the_oracle(points, soak):
    """Exact binomial tests of how often the error reaches a step; half the noise is caught."""
    share = alpha("synthesis/points_with_sum/hard", parts=10)
    table = hard_table(points)
    trials = soak.cases(1_000)
    method = PointsWithSum.calibrate(loss=Pure(1), points=points, rows_per_unit=1)
    twin = evolve(method, noise=DiscreteLaplace(scale=1))
    rng = NumberedRng(points, label="hard table")
    steps = [int(-table[0]) + 1, 0, 1, 3, 6]
    oracle = HardTable(points, 2.0)
    chances = [oracle.at_least(step) for step in steps]
    for one, is_sound in ((method, True), (twin, False)):
        errors = [one.weights(one.measure(table, rng))[0] - table[0] for _ in range(trials)]
        values = [
            binomial_p_value(sum(e >= step - 1e-9 for e in errors), trials, chance)
            for step, chance in zip(steps, chances, strict=True)
        ]
        assert (min(values) > share) is is_sound


@pytest.mark.parametrize("points", [2, 10, 1000])
def test_largest_noises_are_as_lemma_9_4_says(points):
    """With a fine grid discrete noise is nearly continuous; the printed square is too small."""
    scale, log = 400, math.log(points)
    found = noise_maxima(DiscreteLaplace(scale=scale), points)
    assert found.size / scale <= log + 1
    assert found.square / scale**2 <= log**2 + 2 * log + 2
    harmonic = sum(1 / k for k in range(1, points + 1))
    assert found.size / scale == pytest.approx(harmonic, rel=0.01)
    if points >= 10:
        assert found.square / scale**2 > log + 2 * log + 2
    gauss = noise_maxima(DiscreteGaussian(sigma_squared=scale**2), points)
    assert gauss.square / scale**2 <= 2 * log + 2
    assert gauss.size / scale <= math.sqrt(2 * log + 2)


def test_one_noise_has_its_variance():
    assert noise_maxima(DiscreteGaussian(sigma_squared=9), 1).square == pytest.approx(9)
    q = math.exp(-1 / 2)
    for bound in (1, 5, 4000):
        noise = TruncatedGeometric(scale=2, bound=bound)
        values = np.arange(-400, 401)
        law = (1 - q) / (1 + q) * q ** np.abs(values)
        expected = float(law @ np.clip(values, -bound, bound) ** 2)
        assert noise_maxima(noise, 1).square == pytest.approx(expected)


def test_bounds_on_the_threshold_hold_on_every_draw(soak):
    r"""Lemma 9.5: min z - |z_*| <= γ <= max z + |z_*|, and the weights add up to the noisy sum."""
    for number in range(soak.cases(60)):
        rng = NumberedRng(number, label="threshold")
        table = [hard_table(9), easy_table(9), np.zeros(9, dtype=np.int64)][number % 3]
        method = list(five_methods(9, "1/3").values())[1::2][number % 2]
        assert isinstance(method, PointsWithSum)
        measured = method.measure(table, rng)
        noise = measured[:-1] - table
        at_sum = abs(int(measured[-1]) - int(table.sum()))
        threshold = method.threshold(measured)
        assert int(noise.min()) - at_sum <= threshold <= int(noise.max()) + at_sum
        weights, total = method.weights(measured), max(0, int(measured[-1]))
        assert weights.sum() == pytest.approx(total)
        whole = method.estimate(measured)
        assert whole.sum() == total
        assert whole.min() >= 0
        assert np.abs(whole - weights).max() < 1


def test_errors_of_a_rehearsal_are_ordered():
    """On the easy table points have the noise's variance; the outlier error is larger."""
    for name, method in five_methods(8, 1).items():
        errors = rehearsed_errors(method, easy_table(8), draws=40, rng=NumberedRng(3, label=name))
        assert errors.per_query <= errors.outlier
    with pytest.raises(InvalidArgument):
        rehearsed_errors(method, easy_table(8), draws=0, rng=NumberedRng(0))


# ---------------------------------------------------------------- the lower bound


@pytest.mark.parametrize("points", [10**3, 10**6, 10**12])
def test_the_lower_bound_is_at_least_its_explicit_forms(points):
    for epsilon in (0.1, 1.0):
        size = math.sqrt(least_point_error(epsilon=epsilon, sum_error=0, points=points))
        assert size >= math.log((points - 1) / 28) / (6 * epsilon) - 1e-9
        far = 50 / epsilon
        size = math.sqrt(least_point_error(epsilon=epsilon, sum_error=far**2, points=points))
        explicit = (math.log((points - 1) / (24 * epsilon * far + 4)) - 2) / (4 * epsilon)
        assert size >= explicit - 1e-9


def test_our_methods_respect_the_lower_bound():
    """Inequality 1 of Theorem 9.3, with the error that ours has on the hard table."""
    for points in (16, 1024):
        method = PointsWithSum.calibrate(loss=Pure(1), points=points, rows_per_unit=1)
        bound = least_point_error(epsilon=1, sum_error=method.sum_error(), points=points)
        assert bound <= HardTable(points, 2.0).square(math.log(points))
        assert bound <= method.point_error()
    assert least_point_error(epsilon=1, sum_error=8, points=10**9, delta=0.1) < least_point_error(
        epsilon=1, sum_error=8, points=10**9
    )
    with pytest.raises(InvalidArgument):
        least_point_error(epsilon=0, sum_error=1, points=5)


# ---------------------------------------------------------------- the loss


@pytest.mark.parametrize("rows", [1, 4])
def test_the_five_losses_are_spent_exactly(rows):
    for kind in (ClampedPoints, PointsWithSum):
        for loss in (Pure("1/3"), Zcdp(rho="1/8")):
            method = kind.calibrate(loss=loss, points=7, rows_per_unit=rows)
            assert method.loss(rows_per_unit=rows) == loss
    points = ClampedPoints.calibrate(loss=Pure("1/3"), points=7, rows_per_unit=rows)
    both = PointsWithSum.calibrate(loss=Pure("1/3"), points=7, rows_per_unit=rows)
    assert points.noise == DiscreteLaplace(scale=3 * rows)
    assert both.noise == DiscreteLaplace(scale=6 * rows)
    both = PointsWithSum.calibrate(loss=Zcdp(rho="1/8"), points=7, rows_per_unit=rows)
    assert both.noise == DiscreteGaussian(sigma_squared=8 * rows**2)
    target = Approximate("1/2", "1e-6")
    cut = PointsWithSum.calibrate(loss=target, points=7, rows_per_unit=rows)
    spent = cut.loss(rows_per_unit=rows)
    assert isinstance(spent, Approximate)
    assert isinstance(cut.noise, TruncatedGeometric)
    assert spent <= target
    if rows == 1:
        printed = math.ceil(4 * math.log(4 / 1e-6) + 1)
        assert cut.noise.bound <= math.ceil(4 * math.log(2 / 1e-6) + 1) < printed
    with pytest.raises(InvalidArgument):
        ClampedPoints.calibrate(loss=Pure(1), points=7, rows_per_unit=0)


def scale_of(method: ClampedPoints | PointsWithSum) -> Fraction:
    assert isinstance(method.noise, DiscreteLaplace)
    return method.noise.scale


def clamped(scale, centre: int):
    law = discrete_laplace_law(scale, centre=centre, window=(-12, 16))
    return push_forward(law, lambda value: max(0, value))


@pytest.mark.parametrize("rows", [1, 2])
def test_clamped_points_hold_by_enumeration_and_the_printed_noise_does_not(rows):
    """A unit with all its rows at one point; the twin DGeo(1/ε) has scale ε."""
    loss = Pure("1/2")
    scale = scale_of(ClampedPoints.calibrate(loss=loss, points=1, rows_per_unit=rows))
    for start in (0, 3):
        pair = LawPair(first=clamped(scale, start), second=clamped(scale, start + rows))
        assert verify(pair, loss).answer is VerdictAnswer.HOLDS
        twin = LawPair(first=clamped("1/2", start), second=clamped("1/2", start + rows))
        assert verify(twin, loss).answer is VerdictAnswer.BROKEN


def test_enumeration_catches_noise_that_only_adds():
    """Twin: x + max(0, noise), as printed, tells that x is at most what is shown."""

    def printed(centre: int):
        law = discrete_laplace_law(2, centre=0, window=(-12, 16))
        return push_forward(law, lambda noise: min(centre + max(0, noise), 15))

    pair = LawPair(first=printed(3), second=printed(4))
    assert verify(pair, Pure(1000)).answer is VerdictAnswer.BROKEN
    assert verify(LawPair(first=clamped(2, 3), second=clamped(2, 4)), Pure("1/2")).answer is (
        VerdictAnswer.HOLDS
    )


def test_points_with_sum_hold_by_enumeration_and_half_the_noise_does_not():
    """All of two noisy numbers (one point and the sum): a row moves both. Twin: scale 1/ε."""
    loss = Pure(1)
    scale = scale_of(PointsWithSum.calibrate(loss=loss, points=1, rows_per_unit=1))
    for noise, answer in ((scale, VerdictAnswer.HOLDS), (1, VerdictAnswer.BROKEN)):
        laws = [
            product(*(discrete_laplace_law(noise, centre=c, window=(-4, 7)) for c in (x, x)))
            for x in (2, 3)
        ]
        assert verify(LawPair(first=laws[0], second=laws[1]), loss).answer is answer


def test_samples_refute_the_sensitivity_of_a_row(soak):
    """A unit has 8 rows; noise for one row is no ε = 1/2. False alarms: one in 10^9 audits."""
    share = alpha("synthesis/points_with_sum/rows")
    table, neighbour = np.array([9, 0, 1]), np.array([17, 0, 1])
    rng = NumberedRng(5, label="rows of a unit")
    trials = soak.cases(300)
    for rows, is_sound in ((8, True), (1, False)):
        method = PointsWithSum.calibrate(loss=Pure("1/2"), points=3, rows_per_unit=rows)
        drawn = [
            np.array([method.estimate(method.measure(one, rng)) for _ in range(trials)])
            for one in (table, neighbour)
        ]
        result = audit_outputs(drawn[0], drawn[1], confidence=1 - Fraction(share))
        assert (result.epsilon_lower <= Fraction(1, 2)) is is_sound


@pytest.mark.parametrize("kind", [ClampedPoints, PointsWithSum])
def test_measured_numbers_move_as_the_event_says(kind):
    table = np.array([5, 0, 0, 2])

    def run(limit):
        method = kind.calibrate(loss=Pure(1), points=4, rows_per_unit=3)

        def measured(counts, recorder):
            noise = recorder.watch(method.noise, d_in=method.contribution(limit))
            held = evolve(method, noise=noise)
            return held.estimate(held.measure(counts, recorder.rng))

        return measured

    for added in ([3, 0, 0, 0], [1, 0, 1, 1], [0, 2, 0, 0]):
        assert replay_audit(run(3), table, table + added, NumberedRng(1)) == ()
    found = replay_audit(run(1), table, table + np.array([3, 0, 0, 0]), NumberedRng(1))
    assert {one.kind for one in found} == {FindingKind.CONTRIBUTION}


def test_replay_catches_a_sum_that_is_not_noisy():
    """Twin: the points are made to add up to the true number of rows."""
    method = PointsWithSum.calibrate(loss=Pure(1), points=3, rows_per_unit=1)

    def twin(counts, recorder):
        noise = recorder.watch(method.noise, d_in=method.contribution(1))
        measured = evolve(method, noise=noise).measure(counts, recorder.rng)
        return method.estimate(np.append(measured[:-1], counts.sum()))

    found = replay_audit(twin, np.array([50, 60, 70]), np.array([50, 61, 70]), NumberedRng(1))
    assert FindingKind.RESULT in {one.kind for one in found}


def test_wrong_shapes_are_refused_and_quote_no_count():
    method = ClampedPoints.calibrate(loss=Pure(1), points=3, rows_per_unit=1)
    with pytest.raises(InvalidArgument) as caught:
        method.measure(np.array([777, 888]), NumberedRng(0))
    assert "777" not in str(caught.value)


def test_the_picture_has_four_panels():
    figure = uncertainty_picture(sizes=(4, 8), draws=1, rng=NumberedRng(0))
    assert [len(axes.lines) for axes in figure.axes] == [5, 5, 5, 5]
