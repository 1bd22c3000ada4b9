"""Noise in two stages: its law without data, its price, its failures, and the thesis' numbers."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import EnclosedLaw
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.event_json import event_from_json
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.synthesis.one_way_marginals.two_stage_noise import TwoStageNoise
from discreet.synthesis.one_way_marginals.two_stage_shares import missed_weight
from tests.support.statistics.exact_tests import alpha, cells_p_value
from tests.support.statistics.numbered_rng import NumberedRng

SMALL = TwoStageNoise(dimension=2, first_variance=2, second_variance="1/2", rounds=2, temperature=2)
REACH = 12


def masses(variance: float) -> dict[int, float]:
    weights = {z: math.exp(-z * z / (2 * variance)) for z in range(-REACH, REACH + 1)}
    total = sum(weights.values())
    return {z: weight / total for z, weight in weights.items()}


def joint_law(noise: TwoStageNoise) -> dict[tuple[int, ...], float]:
    """Work out the law of two errors by summing over all that can happen in each round."""
    first, again = masses(float(noise.first_variance)), masses(float(noise.second_variance))
    law = {pair: first[pair[0]] * first[pair[1]] for pair in itertools.product(first, repeat=2)}
    for _ in range(noise.rounds):
        after: dict[tuple[int, ...], float] = dict.fromkeys(law, 0.0)
        for pair, mass in law.items():
            weights = [math.exp(abs(z) / float(noise.temperature)) for z in pair]
            for place in (0, 1):
                share = mass * weights[place] / sum(weights)
                for z, chance in again.items():
                    new = (z, pair[1]) if place == 0 else (pair[0], z)
                    after[new] += share * chance
        law = after
    return law


LAW = joint_law(SMALL)


def around(centre: tuple[int, int]) -> EnclosedLaw:
    slack = Fraction(1, 10**9)
    return EnclosedLaw(
        masses={
            (pair[0] + centre[0], pair[1] + centre[1]): (
                Fraction(mass) * (1 - slack),
                Fraction(mass) * (1 + slack),
            )
            for pair, mass in LAW.items()
            if mass > 1e-13
        },
        outside=Fraction(1, 10**9),
    )


def test_errors_have_their_law_without_any_data(rng):
    drawn = np.array([SMALL.errors(rng) for _ in range(700)])
    codes = 100 * drawn[:, 0] + drawn[:, 1]
    cells = {100 * a + b: LAW[a, b] for a, b in itertools.product(range(-2, 3), repeat=2)}
    level = alpha("synthesis/two stages", parts=2)
    assert cells_p_value(codes, cells) > level
    once = joint_law(
        TwoStageNoise(dimension=2, first_variance=2, second_variance="1/2", rounds=0, temperature=2)
    )
    cells = {100 * a + b: once[a, b] for a, b in itertools.product(range(-2, 3), repeat=2)}
    assert cells_p_value(codes, cells) < level, "the first stage alone is told apart"


def test_release_is_the_values_plus_errors_that_never_saw_them():
    """Two data sets and one stream of words: the same errors."""
    noise = TwoStageNoise(
        dimension=6, first_variance=400, second_variance=30, rounds=4, temperature=5
    )
    errors = [
        noise.release(values, NumberedRng(5)) - values
        for values in (np.zeros(6, dtype=np.int64), np.arange(6) * 10**12)
    ]
    assert (errors[0] == errors[1]).all()
    assert (errors[0] == noise.errors(NumberedRng(5))).all()


# ---------------------------------------------------------------- privacy


@pytest.mark.parametrize("centre", [(1, 1), (1, -1)])
def test_loss_is_never_below_the_truth(centre: tuple[int, int]):
    d_in = Contribution(linf=1, l2_squared=sum(step**2 for step in centre))
    claim = SMALL.loss(d_in)
    pair = LawPair(first=around((0, 0)), second=around(centre))
    assert verify(pair, claim).answer is not VerdictAnswer.BROKEN


def test_exact_law_catches_the_sensitivity_of_a_row():
    """A unit of three rows moves each number by three; the price of one row does not cover it."""
    claim = SMALL.loss(Contribution(linf=1, l2_squared=2))
    pair = LawPair(first=around((0, 0)), second=around((3, 3)))
    assert verify(pair, claim).answer is VerdictAnswer.BROKEN
    unit = SMALL.loss(Contribution(linf=3, l2_squared=18))
    assert verify(pair, unit).answer is not VerdictAnswer.BROKEN


def test_exact_law_catches_a_second_stage_that_is_not_paid():
    claim = DiscreteGaussian(sigma_squared=2).loss(Contribution(linf=3, l2_squared=9))
    pair = LawPair(first=around((0, 0)), second=around((3, 0)))
    assert verify(pair, claim).answer is VerdictAnswer.BROKEN


def test_event_is_the_sum_of_its_parts():
    """By hand: v/(2σ0²) + T(Δ²/(2σ1²) + (2Δ/temperature)²/8)."""
    d_in = Contribution(linf=3, l2_squared=18)
    noise = TwoStageNoise(
        dimension=4, first_variance=50, second_variance=20, rounds=7, temperature=12
    )
    by_hand = Fraction(18, 100) + 7 * (Fraction(9, 40) + Fraction(6, 12) ** 2 / 8)
    assert noise.loss(d_in) == Zcdp(rho=by_hand)
    event = noise.event(d_in)
    assert isinstance(event, ComposedEvent)
    assert event_from_json(event.to_json()) == event


# ---------------------------------------------------------------- the constants of the thesis


@pytest.mark.parametrize("dimension", [10**3, 10**6, 10**9])
def test_rho_of_figure_4_1(dimension: int):
    """ρ(αn)²/d is at most 64 lnln d + 32/ln² d + 64: 188, 232, 258 (choices at four times ours).

    Means of ±1 with a changed row: sums that move by 2, and t = αn.
    """
    reach = 10**9
    noise = TwoStageNoise.paper(dimension=dimension, accuracy=reach)
    log = math.log(dimension)
    assert noise.rounds == math.floor(2 * dimension / log**4)
    assert float(noise.first_variance) == pytest.approx(reach**2 / (32 * math.log(log)))
    d_in = Contribution(linf=2, l2_squared=4 * dimension)
    ours = float(noise.loss(d_in).rho) * reach**2 / dimension
    choices = noise.rounds * 2 * 4 / float(noise.temperature) ** 2 * reach**2 / dimension
    printed = ours + 3 * choices / 4
    parts = (4 * 16 * math.log(log), noise.rounds / dimension * 16 * log**2, choices)
    assert printed == pytest.approx(sum(parts), rel=1e-9)
    assert printed <= 64 * math.log(log) + 32 / log**2 + 64
    plain = 4 * math.log(2 * dimension / 0.05) / 1
    assert ours > 1.4 * plain, "plain Gaussian noise is better, whatever dimension fits in memory"


@pytest.mark.parametrize(("exponent", "printed"), [(6, 0.9985), (9, 0.943), (12, 0.0028)])
def test_the_printed_failure_says_nothing_and_the_binomial_tail_does(exponent: int, printed: float):
    dimension = 10**exponent
    log = math.log(dimension)
    assert math.exp(-2 * dimension / log**8) == pytest.approx(printed, abs=6e-4)
    noise = TwoStageNoise.paper(dimension=dimension, accuracy=10**6)
    bad = 2 * stats.norm.sf(math.sqrt(8 * math.log(log)))
    assert stats.binom.sf(noise.rounds, dimension, bad) < 1e-9
    assert noise.failure(10**6) < Fraction(1, 10**6)


def test_the_thesis_has_no_constants_for_few_numbers():
    for dimension, accuracy in ((2, 10), (15, 10), (1000, 0)):
        with pytest.raises(InvalidArgument, match="optimised"):
            TwoStageNoise.paper(dimension=dimension, accuracy=accuracy)


# ---------------------------------------------------------------- failures and the best shares


def test_failure_bounds_what_happens(rng):
    noise = TwoStageNoise(
        dimension=60, first_variance=100, second_variance=10, rounds=6, temperature=2
    )
    reach = int(noise.error_quantile("0.2"))
    assert noise.failure(reach) <= Fraction(1, 5) < noise.failure(reach - 1)
    largest = np.array([abs(noise.errors(rng)).max() for _ in range(100)])
    level = alpha("synthesis/two stages fail")
    failures = int((largest > reach).sum())
    assert stats.binom.sf(failures - 1, 100, 0.2) > level
    plain = int((largest > reach // 2).sum())
    assert stats.binom.sf(plain - 1, 100, 0.2) < level, "the check has power"


def test_without_rounds_it_is_plain_noise():
    plain = TwoStageNoise(
        dimension=50, first_variance=100, second_variance=1, rounds=0, temperature=1
    )
    histogram = NoisyHistogram(noise=DiscreteGaussian(sigma_squared=100), cells=50)
    assert plain.error_quantile("0.05") == histogram.radius("0.05")
    d_in = Contribution(linf=1, l2_squared=50)
    assert plain.loss(d_in) == histogram.noise.loss(d_in)


def test_weight_of_good_errors_is_rounded_up_and_near():
    for variance, rate, s, t in ((4.0, 0.5, 3, 5), (400.0, 0.3, 60, 80), (1e6, 0.002, 2000, 3000)):
        z = np.arange(-s, s + 1)
        far = np.arange(-20 * math.isqrt(int(variance)), 20 * math.isqrt(int(variance)) + 1)
        total = np.exp(-(far**2) / (2 * variance)).sum()
        truth = (np.exp(rate * (abs(z) - t - 1) - z**2 / (2 * variance))).sum() / total
        assert truth <= missed_weight(variance, rate, s, t) <= 1.05 * truth


@pytest.mark.parametrize(("columns", "gain"), [(100, 1.0), (20_000, 0.94)])
def test_the_best_shares_spend_the_price_and_never_lose(columns: int, gain: float):
    d_in = Contribution(linf=3, l2_squared=9 * columns)
    price = Zcdp(rho="0.02")
    noise = TwoStageNoise.optimised(dimension=columns, d_in=d_in, loss=price)
    spent = zcdp_loss([noise.event(d_in)])
    assert spent <= price
    assert float(spent.rho) > 0.0199
    plain = NoisyHistogram(
        noise=DiscreteGaussian.calibrate(d_in=d_in, loss=price), cells=columns
    ).radius("0.05")
    assert noise.error_quantile("0.05") <= gain * plain


def test_what_cannot_be_paid_is_refused(rng):
    d_in = Contribution(linf=1, l2_squared=10)
    wrong: Any = Pure(1)
    for loss in (Zcdp(rho=0), Zcdp(rho=1, xi=1), wrong):
        with pytest.raises(InvalidArgument, match="No noise fits"):
            TwoStageNoise.optimised(dimension=10, d_in=d_in, loss=loss)
    with pytest.raises(InvalidArgument, match="contribution above 0"):
        TwoStageNoise.optimised(dimension=10, d_in=Contribution(linf=0), loss=Zcdp(rho=1))
    with pytest.raises(InvalidArgument, match="another dimension"):
        SMALL.release(np.zeros(3, dtype=np.int64), rng)
