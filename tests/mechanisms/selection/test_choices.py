"""Choices by scores: exact laws on both neighbours, the samplers, and the accountants."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.renyi import renyi_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.accounting.accounting_question import account
from discreet.audit.divergence import delta, renyi_divergence
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import enclosed
from discreet.audit.verdict import VerdictAnswer, pure_epsilon, verify
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.laplace_noisy_max import LaplaceNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.report_noisy_max import MaxNoise, report_noisy_max
from discreet.mechanisms.selection.scores import Scores
from discreet.mechanisms.selection.top_k import TopK
from tests.mechanisms.selection.laws import (
    exponential_law,
    exponential_noise_law,
    laplace_law,
    margin_law,
    pair,
    permutation_law,
    top_k_law,
)
from tests.randomness.scripted_rng import SilentRng
from tests.support.statistics.exact_tests import alpha, cells_p_value

ONE = Contribution(linf=1)
SCALE = Fraction(3, 2)
CHOICES: dict[Any, Any] = {
    ExponentialMechanism: exponential_law,
    PermuteAndFlip: exponential_noise_law,
    LaplaceNoisyMax: laplace_law,
}
NEIGHBOURS = [
    (Scores.GENERAL, [0, 0, 0], [1, -1, -1]),
    (Scores.GENERAL, [4, 0, -3, 2], [3, 1, -2, 1]),
    (Scores.GENERAL, [0, 9], [1, 8]),
    (Scores.MONOTONE, [0, 0, 0], [1, 0, 0]),
    (Scores.MONOTONE, [0, 0, 0], [0, 1, 1]),
    (Scores.MONOTONE, [4, 0, -3, 2], [5, 0, -2, 3]),
]
SAMPLES = 12_000


@pytest.mark.parametrize("kind", CHOICES)
@pytest.mark.parametrize(("scores", "first", "second"), NEIGHBOURS, ids=str)
def test_loss_is_never_below_the_truth(kind, scores: Scores, first, second):
    mechanism = kind(scale=SCALE, scores=scores)
    loss, laws = mechanism.loss(ONE), pair(CHOICES[kind], first, second, SCALE)
    assert verify(laws, loss).answer is VerdictAnswer.HOLDS
    assert verify(laws, zcdp_loss([mechanism.event(ONE)])).answer is not VerdictAnswer.BROKEN
    for epsilon in (Fraction(1, 10), loss.epsilon / 2):
        stated = account(mechanism.event(ONE), epsilon=epsilon).loss
        assert isinstance(stated, Approximate)
        for p, q in laws.directions():
            assert delta(p, q, epsilon).low <= stated.delta


@given(
    moves=st.lists(st.tuples(st.integers(-6, 6), st.integers(-1, 1)), min_size=2, max_size=4),
    scale=st.fractions(min_value="1/4", max_value=5, max_denominator=4),
    is_monotone=st.booleans(),
)
def test_no_neighbours_break_the_exact_laws(moves, scale: Fraction, is_monotone: bool):
    scores = Scores.MONOTONE if is_monotone else Scores.GENERAL
    first = [score for score, _ in moves]
    second = [score + (abs(move) if is_monotone else move) for score, move in moves]
    for kind in (ExponentialMechanism, PermuteAndFlip):
        loss = kind(scale=scale, scores=scores).loss(ONE)
        assert verify(pair(CHOICES[kind], first, second, scale), loss).answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize("order", [2, 4, 16])
@pytest.mark.parametrize(("scores", "first", "second"), NEIGHBOURS, ids=str)
def test_the_exponential_mechanism_has_an_eighth(order: int, scores: Scores, first, second):
    """Every Rényi divergence is at most α ε²/8; half of that would be broken somewhere."""
    event = ExponentialMechanism(scale=SCALE, scores=scores).event(ONE)
    laws = pair(exponential_law, first, second, SCALE)
    for p, q in laws.directions():
        assert renyi_divergence(p, q, order).high <= order * pure_loss([event]).epsilon ** 2 / 8


def test_an_eighth_is_almost_reached():
    laws = pair(exponential_law, [0, 0], [1, -1], 50)
    claimed = zcdp_loss([ExponentialMechanism(scale=50).event(ONE)]).rho
    assert renyi_divergence(laws.first, laws.second, 2).low > 2 * claimed * Fraction(99, 100)


@pytest.mark.parametrize("kind", CHOICES)
def test_losses_are_almost_reached(kind):
    """One candidate against many: the stated ε is within a tenth of the truth."""
    first, second = [30, *[0] * 5], [29, *[1] * 5]
    laws = pair(CHOICES[kind], first, second, SCALE)
    assert pure_epsilon(laws).low > kind(scale=SCALE).loss(ONE).epsilon * Fraction(9, 10)


@pytest.mark.parametrize("scores", [[0], [0, 0], [3, 1, -4, 3], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_permute_and_flip_is_the_argmax_with_exponential_noise(scores, scale):
    orders, integral = permutation_law(scores, scale), exponential_noise_law(scores, scale)
    assert orders.weights == integral.weights
    assert orders.total == integral.total == 1


@pytest.mark.parametrize("kind", CHOICES)
def test_sampler_has_the_law(kind, rng):
    scores = [3, 0, -2, 4]
    mechanism = kind(scale=SCALE)
    sample = np.array([mechanism.select(np.array(scores), rng) for _ in range(SAMPLES)])
    share = alpha("selection/sampler", parts=len(CHOICES))

    def p_value(scale: Fraction) -> float:
        masses = enclosed(CHOICES[kind](scores, scale)).masses
        cells = {i: masses[i if kind is not LaplaceNoisyMax else (i,)][0] for i in range(4)}
        return cells_p_value(sample, {i: float(mass) for i, mass in cells.items()})

    assert p_value(SCALE) > share
    assert p_value(SCALE * Fraction(7, 10)) < share
    assert p_value(SCALE * Fraction(14, 10)) < share


def test_margin_has_the_law(rng):
    scores = [1, 0, 1]
    mechanism = LaplaceNoisyMax(scale=1)
    sample = []
    for _ in range(SAMPLES):
        winner, margin = mechanism.select_with_margin(np.array(scores), rng)
        sample.append(4 * winner + min(margin, 3))
    masses = margin_law(scores, 1).masses
    cells = {4 * i + h: float(low) for (i, h), (low, _) in masses.items()}
    assert cells_p_value(np.array(sample), cells) > alpha("selection/margin")


@pytest.mark.parametrize(("scores", "first", "second"), NEIGHBOURS, ids=str)
def test_margin_is_free(scores: Scores, first, second):
    loss = LaplaceNoisyMax(scale=SCALE, scores=scores).loss(ONE)
    assert verify(pair(margin_law, first, second, SCALE), loss).answer is VerdictAnswer.HOLDS


def test_top_k_is_peeling(rng):
    scores, count = [2, 0, 1, -1], 2
    top = TopK(scale=SCALE, count=count)
    picks = [top.select(np.array(scores), rng).tolist() for _ in range(SAMPLES)]
    assert all(len(set(pick)) == count for pick in picks)
    sample = np.array([4 * first + second for first, second in picks])
    masses = top_k_law(scores, SCALE, count).masses
    cells = {4 * first + second: float(low) for (first, second), (low, _) in masses.items()}
    assert cells_p_value(sample, cells) > alpha("selection/top-k")


@pytest.mark.parametrize(("scores", "first", "second"), NEIGHBOURS, ids=str)
def test_top_k_loss_holds(scores: Scores, first, second):
    count = min(2, len(first))
    laws = LawPair(first=top_k_law(first, SCALE, count), second=top_k_law(second, SCALE, count))
    top = TopK(scale=SCALE, count=count, scores=scores)
    assert verify(laws, top.loss(ONE)).answer is VerdictAnswer.HOLDS
    claimed = zcdp_loss([top.event(ONE)])
    assert claimed.rho == count * (top.loss(ONE).epsilon / count) ** 2 / 8
    assert verify(laws, claimed).answer is not VerdictAnswer.BROKEN


# ---------------------------------------------------------------- events and accountants


@pytest.mark.parametrize("kind", CHOICES)
def test_prices(kind):
    general, monotone = kind(scale=4), kind(scale=4, scores=Scores.MONOTONE)
    assert general.loss(ONE) == Pure("1/2")
    assert monotone.loss(ONE) == Pure("1/4")
    assert general.loss(Contribution(linf=3)) == Pure("3/2")
    eighth = 8 if kind is ExponentialMechanism else 2
    assert zcdp_loss([general.event(ONE)]) == Zcdp(rho=Fraction(1, 4) / eighth)
    assert approximate_loss([general.event(ONE)]) == Approximate("1/2", 0)
    curve = renyi_loss([general.event(ONE)]).curve
    assert curve.upper(Fraction(2)) <= 2 * Fraction(1, 4) / eighth
    assert event_from_json(general.event(ONE).to_json()) == general.event(ONE)


@pytest.mark.parametrize("kind", CHOICES)
@pytest.mark.parametrize("scores", Scores)
def test_calibrate_spends_exactly(kind, scores: Scores):
    for epsilon in ("1/10", "1", "3"):
        mechanism = kind.calibrate(d_in=ONE, loss=Pure(epsilon), scores=scores)
        assert mechanism.loss(ONE) == Pure(epsilon)


def test_calibrate_to_zcdp_never_overspends():
    for rho in ("1/100", "1/8", "2/3"):
        mechanism = ExponentialMechanism.calibrate(d_in=ONE, loss=Zcdp(rho=rho))
        spent = zcdp_loss([mechanism.event(ONE)]).rho
        assert Fraction(rho) * (1 - Fraction(1, 10**9)) < spent <= Fraction(rho)
        top = TopK.calibrate(d_in=ONE, loss=Zcdp(rho=rho), count=7)
        assert zcdp_loss([top.event(ONE)]).rho <= Fraction(rho)
    assert TopK.calibrate(d_in=ONE, loss=Pure(1), count=7).loss(ONE) == Pure(1)


def test_bounded_range_composes_better_than_pure():
    many = ExponentialMechanism(scale=20).event(ONE) * 100
    same = PermuteAndFlip(scale=20).event(ONE) * 100
    losses = [account(event, delta="1e-6").loss for event in (many, same)]
    assert losses[0] <= losses[1]
    assert losses[0] != losses[1]


def test_monotone_scores_are_refused_if_a_unit_is_changed():
    changed = Contribution(linf=1, metric=Metric.CHANGE_ONE)
    for kind in CHOICES:
        with pytest.raises(Unsupported):
            kind(scale=1, scores=Scores.MONOTONE).event(changed)
        assert kind(scale=1).event(changed).metric is Metric.CHANGE_ONE


def test_report_noisy_max_by_noise():
    kinds = [type(report_noisy_max(noise, scale=2)) for noise in MaxNoise]
    assert kinds == [ExponentialMechanism, PermuteAndFlip, LaplaceNoisyMax]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("kind", CHOICES)
@pytest.mark.parametrize("scores", [np.array([0.5]), np.zeros((2, 2), dtype=np.int64)])
def test_bad_scores_are_refused_before_a_word_is_drawn(kind, scores):
    with pytest.raises(InvalidArgument):
        kind(scale=1).select(scores, SilentRng())


@pytest.mark.parametrize("kind", [*CHOICES, lambda scale: TopK(scale=scale, count=1)])
@pytest.mark.parametrize("scale", [0, -1, float("nan"), "x"])
def test_bad_scales_are_refused(kind, scale):
    with pytest.raises(InvalidArgument):
        kind(scale=scale)


def test_bad_numbers_are_refused():
    with pytest.raises(InvalidArgument):
        TopK(scale=1, count=3).select(np.array([1, 2]), SilentRng())
    with pytest.raises(InvalidArgument):
        LaplaceNoisyMax(scale=1).select_with_margin(np.array([1]), SilentRng())
    with pytest.raises(InvalidArgument):
        ExponentialMechanism(scale=1).error_quantile("1/2", candidates=2, best=3)
    with pytest.raises(InvalidArgument):
        ExponentialMechanism.calibrate(d_in=Contribution(linf=0), loss=Pure(1))
    with pytest.raises(Unsupported):
        ExponentialMechanism(scale=1).event(Contribution(l0=1))


def test_errors_quote_no_score():
    scores = np.array([2**62 + 12345, 777])
    with pytest.raises(InvalidArgument) as error:
        LaplaceNoisyMax(scale=1).select(scores, SilentRng())
    assert "777" not in str(error.value)
    assert str(2**62 + 12345) not in str(error.value)
