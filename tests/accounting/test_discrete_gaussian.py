"""The exact curve of the discrete Gaussian, against sums by other means."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.accountants import discrete_gaussian as curve
from discreet.accounting.accountants.zcdp import delta_of_zcdp, zcdp_loss
from discreet.accounting.tails.gaussian_tail import (
    _bernoulli,
    _corrections,
    by_integral,
    by_sum,
    gaussian_sum,
    gaussian_weights,
)
from discreet.accounting.tails.normal_tail import normal_tail_bounds, pi_bounds
from discreet.audit.divergence import delta as hockey_stick
from discreet.audit.laws import discrete_gaussian_law, product
from discreet.core.errors import InvalidArgument
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.core.numbers import exp_bounds

VARIANCES = st.fractions(min_value="1/10", max_value=60, max_denominator=20)
EPSILONS = st.fractions(min_value=0, max_value=6, max_denominator=50)


def meet(first, second) -> bool:
    return max(first[0], second[0]) <= min(first[1], second[1])


def test_pi_and_the_normal_tail():
    low, high = pi_bounds(180)
    digits = Fraction("3.14159265358979323846264338327950288419716939937510")
    assert low - Fraction(1, 10**49) < digits < high + Fraction(1, 10**49)
    for square in ("0", "1/100", "1", "9", "49", "225"):
        low, high = normal_tail_bounds(Fraction(square), 400)
        truth = 0.5 * math.erfc(math.sqrt(float(Fraction(square)) / 2))
        assert float(low) == pytest.approx(truth, rel=1e-12)
        assert 0 <= high - low <= Fraction(1, 2**400)
    assert normal_tail_bounds(Fraction(10**6), 100)[0] == 0
    with pytest.raises(InvalidArgument):
        normal_tail_bounds(Fraction(-1))


@pytest.mark.parametrize("variance", ["64", "999/7", "4096", "12345"])
def test_sums_and_integrals_agree(variance: str):
    """Two unrelated methods enclose the same number, to 45 digits."""
    sigma_squared = Fraction(variance)
    for start in (1, 5, 40, 200, 900):
        first, second = (m(sigma_squared, start, 150) for m in (by_sum, by_integral))
        assert meet(first, second)
        assert max(first[1] - first[0], second[1] - second[0]) < Fraction(1, 2**140)


def test_tails_far_out_are_found_in_a_moment():
    """So many corrections are needed that each must be worked out from the ones before, once."""
    first, second = (m(Fraction(4096), 2372, 2100) for m in (by_sum, by_integral))
    assert meet(first, second)


@pytest.mark.parametrize("variance", ["1/10", "1", "77/3", "4096"])
def test_each_weight_is_its_own_exponential(variance: str):
    sigma_squared = Fraction(variance)
    weights = gaussian_weights(sigma_squared, 128)
    one = 1 << 128
    for z in range(0, len(weights.low), max(1, len(weights.low) // 50)):
        low, high = exp_bounds(-Fraction(z * z) / (2 * sigma_squared), 200)
        assert Fraction(weights.low[z], one) <= high
        assert Fraction(weights.high[z], one) >= low
        assert weights.high[z] - weights.low[z] <= 2
    assert weights.beyond >= 0


@settings(max_examples=30)
@given(sigma_squared=VARIANCES, shift=st.integers(1, 4), epsilon=EPSILONS)
def test_one_entry_is_the_hockey_stick(sigma_squared: Fraction, shift: int, epsilon: Fraction):
    """The closed formula and the definition, summed outcome by outcome, meet."""
    radius = 14 * math.isqrt(int(sigma_squared) + 1) + shift + 4
    laws = [
        discrete_gaussian_law(sigma_squared, centre=centre, radius=radius) for centre in (0, shift)
    ]
    measured = hockey_stick(laws[1], laws[0], epsilon)
    assert meet(curve.delta_of_shift(sigma_squared, shift, epsilon), (measured.low, measured.high))


@pytest.mark.parametrize("shifts", [(1, 1), (2, 1), (1, -1)])
@pytest.mark.parametrize("epsilon", ["0", "1/2", "2"])
def test_several_entries_are_the_hockey_stick(shifts: tuple[int, int], epsilon: str):
    sigma_squared = Fraction(3, 2)
    laws = [
        product(*(discrete_gaussian_law(sigma_squared, centre=c, radius=18) for c in centres))
        for centres in ((0, 0), shifts)
    ]
    measured = hockey_stick(laws[1], laws[0], epsilon)
    found = curve.delta_of_shifts(sigma_squared, shifts, epsilon)
    assert meet(found, (measured.low, measured.high))


@given(sigma_squared=VARIANCES, epsilon=EPSILONS)
def test_delta_grows_with_the_shift_and_falls_with_epsilon(
    sigma_squared: Fraction, epsilon: Fraction
):
    deltas = [curve.delta_of_shift(sigma_squared, shift, epsilon) for shift in range(5)]
    assert all(a[0] <= b[1] for a, b in itertools.pairwise(deltas))
    later = curve.delta_of_shift(sigma_squared, 2, epsilon + Fraction(1, 10))
    assert later[0] <= deltas[2][1]


@settings(max_examples=25)
@given(
    sigma_squared=st.fractions(min_value="1/2", max_value=20, max_denominator=4),
    budget=st.integers(1, 9),
    epsilon=EPSILONS,
)
def test_no_allowed_shift_exceeds_the_maximum(
    sigma_squared: Fraction, budget: int, epsilon: Fraction
):
    """Every integer vector within the distance, dominated or not, is below the certified bound."""
    event = DiscreteGaussianEvent(sigma_squared=sigma_squared, distance_squared=budget)
    low, high = curve.delta(event, epsilon)
    assert low <= high
    for entries in range(1, 4):
        for shifts in itertools.combinations_with_replacement(range(1, 4), entries):
            if sum(s * s for s in shifts) <= budget:
                assert curve.delta_of_shifts(sigma_squared, shifts, epsilon)[0] <= high
    assert low <= delta_of_zcdp(zcdp_loss([event]), epsilon)


def test_norms_sharpen_the_maximum():
    wide = DiscreteGaussianEvent(sigma_squared=4, distance_squared=4)
    ones = DiscreteGaussianEvent(sigma_squared=4, distance_squared=4, largest=1)
    one = DiscreteGaussianEvent(sigma_squared=4, distance_squared=4, entries=1)
    assert curve.delta(ones, 1)[1] <= curve.delta(wide, 1)[1]
    assert curve.delta(one, 1) == curve.delta_of_shift(Fraction(4), 2, 1)
    assert curve.delta(one, 1)[1] <= curve.delta(wide, 1)[1]
    nothing = DiscreteGaussianEvent(sigma_squared=4, distance_squared="1/2")
    assert curve.delta(nothing, 0) == (Fraction(0), Fraction(0)), (
        "integers that move by less than 1 do not move"
    )


def test_vectors_that_cannot_be_enumerated_use_zcdp():
    event = DiscreteGaussianEvent(sigma_squared=10**6, distance_squared=1000)
    low, high = curve.delta(event, "1/2")
    assert high == delta_of_zcdp(zcdp_loss([event]), "1/2")
    assert low <= high


@pytest.mark.parametrize("target", ["1e-3", "1e-9"])
@pytest.mark.parametrize(
    "event",
    [
        DiscreteGaussianEvent(sigma_squared=10, distance_squared=1, entries=1),
        DiscreteGaussianEvent(sigma_squared=10**20, distance_squared=10**18, entries=1),
        DiscreteGaussianEvent(sigma_squared=10, distance_squared=3),
        DiscreteGaussianEvent(sigma_squared=10**6, distance_squared=10**4),
    ],
)
def test_epsilon_is_the_smallest_on_its_grid(event: DiscreteGaussianEvent, target: str):
    found = curve.epsilon(event, target)
    assert curve.delta(event, found)[1] <= Fraction(target)
    assert curve.delta(event, found - curve.EPSILON_STEP)[1] > Fraction(target)


def test_large_noise_is_nearly_continuous():
    """At σ = 10^10 the discrete and the continuous curve agree to nine digits, as they should."""
    low, high = curve.delta_of_shift(Fraction(10**20), 10**10, 1)
    continuous = 0.5 * math.erfc(0.5 / math.sqrt(2)) - math.e * 0.5 * math.erfc(1.5 / math.sqrt(2))
    assert float(low) == pytest.approx(continuous, rel=1e-8)
    assert high - low < Fraction(1, 2**60)


def test_sums_are_not_discrete_gaussian():
    """Two cells of variance 1/2 are not one cell of variance 1."""
    pair, one = gaussian_sum(Fraction(1, 2), (1, 1)), gaussian_sum(Fraction(1), (1,))
    assert not meet(pair.tail(1), one.tail(1))
    law = gaussian_sum(Fraction(2), (1, 2, 1))
    assert meet(law.tail(1), tuple(1 - end for end in reversed(law.tail(0))))


@pytest.mark.parametrize("bad", [-1, 1001, "x"])
def test_bad_epsilons_are_refused(bad):
    event = DiscreteGaussianEvent(sigma_squared=1, distance_squared=1)
    with pytest.raises(InvalidArgument):
        curve.delta(event, bad)


@pytest.mark.parametrize("bad", [0, 1, -1, 2])
def test_bad_deltas_are_refused(bad):
    event = DiscreteGaussianEvent(sigma_squared=1, distance_squared=1)
    with pytest.raises(InvalidArgument):
        curve.epsilon(event, bad)


@given(
    variance=VARIANCES,
    squared=st.integers(0, 100),
    entries=st.none() | st.integers(0, 40),
    largest=st.none() | st.integers(0, 5),
    epsilon=EPSILONS,
)
@settings(max_examples=50, deadline=None)
def test_the_upper_end_alone_is_that_of_both(variance, squared, entries, largest, epsilon):
    event = DiscreteGaussianEvent(
        sigma_squared=variance, distance_squared=squared, entries=entries, largest=largest
    )
    assert curve.upper_delta(event, epsilon) == curve.delta(event, epsilon)[1]


def test_the_upper_end_of_many_entries_takes_no_exact_tail(monkeypatch):
    """Far out in the tail an exact value takes minutes, and nothing would be made of it."""

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(curve, "gaussian_tail_bounds", never)
    event = DiscreteGaussianEvent(sigma_squared=17512, distance_squared=800, entries=200, largest=2)
    assert 0 < curve.epsilon(event, "1e-7") < Fraction(6, 5)


@pytest.mark.parametrize("variance", ["64", "999/7", "12345/2"])
def test_the_corrections_are_those_of_hermite_polynomials(variance: str):
    """Whole numbers give what fractions give by the recurrence in the docstring of the formula."""
    sigma_squared = Fraction(variance)
    for start in (1, 40, 900):
        before, now, total = Fraction(1), start / sigma_squared, Fraction(0)
        for n in range(1, 24):
            if n % 2:
                total += _bernoulli(n + 1) / math.factorial(n + 1) * now
            before, now = now, (start * now - n * before) / sigma_squared
        assert _corrections(12, start, sigma_squared) == total
