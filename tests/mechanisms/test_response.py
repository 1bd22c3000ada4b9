"""Randomised responses: exact laws, unbiased estimators, exact variances."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.exponential_sum import exp
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import EnclosedLaw, ExactLaw, OutputLaw, finite_law
from discreet.audit.verdict import VerdictAnswer, pure_epsilon, verify, worst_delta
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.response.approximate_response import ApproximateResponse
from discreet.mechanisms.response.categorical_response import CategoricalResponse, binary_response
from discreet.mechanisms.response.sign_of_gaussian import SignOfGaussian
from discreet.mechanisms.response.two_coin_response import TwoCoinResponse
from tests.support.statistics.exact_tests import alpha, cells_p_value

PEOPLE = 40_000


def two_coin_law(value: int, truth: Fraction, yes: Fraction) -> ExactLaw:
    says_yes = truth * value + (1 - truth) * yes
    return finite_law({1: says_yes, 0: 1 - says_yes})


def categorical_law(value: int, epsilon: Fraction, categories: int) -> ExactLaw:
    return ExactLaw({j: exp(epsilon) if j == value else 1 for j in range(categories)})


def approximate_law(bit: int, epsilon: Fraction, delta: Fraction) -> ExactLaw:
    whole = exp(epsilon) + 1
    return ExactLaw({bit + 2: delta * whole, bit: (1 - delta) * exp(epsilon), 1 - bit: 1 - delta})


def sign_law(value: int, sigma: float) -> EnclosedLaw:
    tells = Fraction(0.5 * (1 + math.erf(1 / sigma / math.sqrt(2))))
    slack = Fraction(1, 10**12)
    masses = {value: (tells - slack, tells + slack), -value: (1 - tells - slack, 1 - tells + slack)}
    return EnclosedLaw(masses=masses, outside=Fraction(0))


CASES: list[tuple[object, int, int, object]] = [
    (TwoCoinResponse(), 0, 1, lambda v: two_coin_law(v, Fraction(1, 2), Fraction(1, 2))),
    (
        TwoCoinResponse(truth="1/3", yes="1/5"),
        0,
        1,
        lambda v: two_coin_law(v, Fraction(1, 3), Fraction(1, 5)),
    ),
    (binary_response("3/2"), 0, 1, lambda v: categorical_law(v, Fraction(3, 2), 2)),
    (
        CategoricalResponse(epsilon=1, categories=5),
        1,
        4,
        lambda v: categorical_law(v, Fraction(1), 5),
    ),
    (
        ApproximateResponse(epsilon=1, delta="0.05"),
        0,
        1,
        lambda v: approximate_law(v, Fraction(1), Fraction(1, 20)),
    ),
    (SignOfGaussian(sigma_squared=2), -1, 1, lambda v: sign_law(v, math.sqrt(2))),
]
NAMES = ["two fair coins", "two coins", "binary", "categorical", "approximate", "sign"]


@pytest.mark.parametrize(("response", "first", "second", "law"), CASES, ids=NAMES)
def test_loss_is_never_below_the_truth(response, first: int, second: int, law):
    pair = LawPair(first=law(first), second=law(second))
    if isinstance(response, SignOfGaussian):
        assert verify(pair, response.pure_loss()).answer is not VerdictAnswer.BROKEN
        measured = pure_epsilon(pair)
        assert measured.low - Fraction(1, 10**9) <= response.pure_loss().epsilon
        assert verify(pair, response.loss()).answer is not VerdictAnswer.BROKEN
        return
    assert verify(pair, response.loss()).answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize(("response", "first", "second", "law"), CASES[:4], ids=NAMES[:4])
def test_pure_loss_is_tight(response, first: int, second: int, law):
    pair = LawPair(first=law(first), second=law(second))
    below = Pure(response.loss().epsilon * Fraction(999_999, 1_000_000))
    assert verify(pair, below).answer is VerdictAnswer.BROKEN


def test_two_fair_coins_cost_ln_3():
    assert float(TwoCoinResponse().loss().epsilon) == pytest.approx(math.log(3), rel=1e-14)
    assert TwoCoinResponse(truth=0).loss() == Pure(0)


@given(epsilon=st.fractions(0, 5, max_denominator=50), delta=st.fractions(0, "9/10"))
def test_complete_mechanism_has_exactly_its_delta(epsilon: Fraction, delta: Fraction):
    """The hockey-stick divergence at ε is δ, no more and no less."""
    pair = LawPair(
        first=approximate_law(0, epsilon, delta), second=approximate_law(1, epsilon, delta)
    )
    measured = worst_delta(pair, epsilon)
    assert measured.low <= delta <= measured.high
    assert measured.high - measured.low < Fraction(1, 2**80)
    assert ApproximateResponse(epsilon=epsilon, delta=delta).loss().delta == delta


@pytest.mark.parametrize(("response", "first", "second", "law"), CASES, ids=NAMES)
def test_reports_have_the_stated_law(response, first: int, second: int, law, rng):
    level = alpha("mechanisms/responses", parts=2 * len(CASES))
    for value in (first, second):
        reports = response.randomise_all(np.full(PEOPLE, value), rng)
        assert reports.dtype == np.int64
        exact_law: OutputLaw = law(value)
        if isinstance(exact_law, ExactLaw):
            low, _ = exact_law.total.bounds()
            cells = {o: weight.bounds()[0] / low for o, weight in exact_law.weights.items()}
        else:
            cells = {o: (ends[0] + ends[1]) / 2 for o, ends in exact_law.masses.items()}
        assert cells_p_value(reports, cells) > level
        other = dict(zip(cells, np.roll(list(cells.values()), 1), strict=True))
        assert cells_p_value(reports, other) < level, "the check has power"
        assert int(response.randomise(value, rng)) in cells


def moments(law: dict[int, Fraction], estimate) -> tuple[Fraction, Fraction]:
    """Mean and variance of the estimate from one report, by summing over reports."""
    mean = sum((p * estimate(np.array([o])) for o, p in law.items()), Fraction(0))
    square = sum((p * estimate(np.array([o])) ** 2 for o, p in law.items()), Fraction(0))
    return mean, square - mean**2


@pytest.mark.parametrize("held", [0, 1])
@pytest.mark.parametrize(("truth", "yes"), [("1/2", "1/2"), ("1/3", "1/5"), ("9/10", "3/4")])
def test_two_coin_estimator_is_exact(truth: str, yes: str, held: int):
    response = TwoCoinResponse(truth=truth, yes=yes)
    law = two_coin_law(held, response.truth, response.yes)
    masses = {outcome: weight.terms[Fraction(0)] for outcome, weight in law.weights.items()}
    mean, variance = moments(masses, response.estimate)
    assert mean == held
    assert variance == response.variance(1, share=Fraction(held))


def test_two_coin_variances_of_the_source():
    """4 q (1 - q) / n with q = 1/4 + p/2, for a random sample: the fixed one plus p (1 - p) / n."""
    for share in (Fraction(0), Fraction(1, 3), Fraction(1)):
        q = Fraction(1, 4) + share / 2
        sampled = TwoCoinResponse().variance(7, share=share) + share * (1 - share) / 7
        assert sampled == 4 * q * (1 - q) / 7
    assert TwoCoinResponse().variance(100) == Fraction(3, 400)


@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_binary_estimator_and_variance(epsilon: str):
    response = binary_response(epsilon)
    e = math.exp(float(Fraction(epsilon)))
    assert float(response.variance(10)) == pytest.approx(e / (10 * (e - 1) ** 2), rel=1e-12)
    one, zero = (response.estimate(np.array([report]))[1] for report in (1, 0))
    assert float(one) == pytest.approx((e + 1) / (e - 1) - 1 / (e - 1), rel=1e-12)
    assert float(zero) == pytest.approx(-1 / (e - 1), rel=1e-12)


@pytest.mark.parametrize("categories", [2, 3, 10])
def test_categorical_estimator_is_unbiased(categories: int):
    response = CategoricalResponse(epsilon="3/4", categories=categories)
    tells = response.truth_bounds(192)[0]
    lies = (1 - tells) / (categories - 1)
    for held in (0, categories - 1):
        law = {j: tells if j == held else lies for j in range(categories)}
        for target in range(categories):
            mean, variance = moments(law, lambda r: response.estimate(r)[target])  # noqa: B023
            assert mean == (held == target)
            claimed = response.variance(1, share=Fraction(held == target))
            assert variance <= claimed <= variance * (1 + Fraction(1, 2**60))


def test_approximate_estimator_is_unbiased():
    response = ApproximateResponse(epsilon="1/2", delta="1/5")
    tells = response.truth_bounds(192)[0]
    rest = Fraction(4, 5)
    for bit in (0, 1):
        law = {bit + 2: Fraction(1, 5), bit: rest * tells, 1 - bit: rest * (1 - tells)}
        mean, variance = moments(law, response.estimate)
        assert mean == bit
        assert variance <= response.variance(1) <= variance * (1 + Fraction(1, 2**60))


def test_sign_estimator_is_unbiased():
    response = SignOfGaussian(sigma_squared=3)
    tells = response.truth_bounds(192)[0]
    for held in (-1, 1):
        mean, variance = moments({held: tells, -held: 1 - tells}, response.estimate)
        assert mean == held
        assert variance == response.variance(1)
    lead = 2 * float(tells) - 1
    assert lead == pytest.approx(math.erf(1 / math.sqrt(3) / math.sqrt(2)), rel=1e-12)


def test_estimates_of_a_crowd_are_near_the_truth(rng):
    """One report moves the estimate by at most width / n: Hoeffding's inequality."""
    level = alpha("mechanisms/crowd", parts=3)
    share = Fraction(3, 10)
    people = np.repeat([1, 0], [PEOPLE * 3 // 10, PEOPLE * 7 // 10])
    two, binary = TwoCoinResponse(), binary_response(1)
    both = ApproximateResponse(epsilon=1, delta="0.1")
    found = [
        two.estimate(two.randomise_all(people, rng)),
        both.estimate(both.randomise_all(people, rng)),
        binary.estimate(binary.randomise_all(people, rng))[1],
    ]
    wide = (math.e + 1) / (math.e - 1)
    for estimate, width in zip(found, (2.0, wide, wide), strict=True):
        reach = width * math.sqrt(math.log(2 / level) / (2 * PEOPLE))
        assert abs(float(estimate - share)) < reach < 0.1


def test_responses_look_at_the_value_only_at_the_end():
    """The words used, and so the offsets, are the same whatever people hold."""

    class Counting:
        def __init__(self) -> None:
            self.asked: list[int] = []
            self.stock = np.arange(1, 5000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            self.place = 0

        def words(self, count: int) -> np.ndarray:
            self.asked.append(count)
            self.place += count
            return self.stock[self.place - count : self.place].copy()

    for response, first, second, _ in CASES:
        asked = []
        for value in (first, second):
            counting = Counting()
            response.randomise_all(np.full(100, value), counting)  # type: ignore[attr-defined]
            asked.append(counting.asked)
        assert asked[0] == asked[1]


def test_sign_of_gaussian_is_calibrated_by_two_over_rho():
    assert SignOfGaussian.calibrate(loss=Zcdp(rho="1/8")).sigma_squared == 16
