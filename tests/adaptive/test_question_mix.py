"""Means, values and choices in one holdout: the promise, its constants, and what is refused."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.adaptive.guarantee import STEPS, gaussian_guarantee
from discreet.adaptive.holdout import Holdout
from discreet.adaptive.question_mix import MixedAnswers, QuestionMix, mixed_guarantee
from discreet.core.errors import InvalidArgument

MIX = QuestionMix(means=50, values=4, value_width=3, choices=6, candidates=9)


def promise(rows=300_000, mix=MIX, beta="0.05") -> Any:
    found = mixed_guarantee(rows=rows, mix=mix, beta=beta)
    assert found is not None
    return found


def test_every_question_costs_the_same():
    answers = promise().answers
    rho = float(answers.rho_each)
    spread = 1 / math.sqrt(2 * rho)
    assert math.sqrt(answers.mean_noise.sigma_squared) / STEPS == pytest.approx(spread, rel=1e-6)
    assert math.sqrt(answers.value_noise.sigma_squared) / STEPS == pytest.approx(
        3 * spread, rel=1e-5
    )
    # Of bounded range 2/s, so (2/s)²/8: a scale as large as the deviation costs as much.
    assert float(answers.choice.scale) / STEPS == pytest.approx(spread, rel=1e-6)


def test_constants_against_floats():
    """From the noise alone, by the closed forms; quantiles are those of a normal law."""
    found, rows = promise(), 300_000
    spread = 1 / math.sqrt(2 * float(found.answers.rho_each))
    kinds, part = found.alphas, 0.05 / 3
    alphas = found.answers.alphas(
        beta=Fraction(1, 20), sample_beta=Fraction(1, 10**5), delta=Fraction(1, 10**6)
    )
    epsilon = float(found.answers.stability(Fraction(1, 10**6)).epsilon)
    split = (math.sqrt(1e-5) + math.sqrt(2e-6)) ** 2 / part
    normal = spread / rows * stats.norm.isf(1e-5 / 50 / 2)
    assert float(alphas["means"]) == pytest.approx(
        normal + math.tanh(epsilon / 4) + split, rel=1e-3
    )
    gap = spread / rows * math.log(8 * 6 / 1e-5)
    assert float(alphas["choices"]) == pytest.approx(
        gap + 2 * (math.tanh(epsilon / 4) + split), rel=1e-3
    )
    rest = (math.sqrt(3e-5) + math.sqrt(12e-6 / (1 + math.exp(epsilon)))) ** 2 / part
    value = 3 * spread / rows * stats.norm.isf(1e-5 / 4 / 2)
    assert float(alphas["values"]) == pytest.approx(
        value + 3 * math.tanh(epsilon / 2) + rest, rel=1e-3
    )
    for kind in kinds:
        assert kinds[kind] <= max(alphas.values())


def test_the_loss_of_all_is_that_of_one_gaussian_at_least():
    """ρ adds up: the accounted loss is not below what as many Gaussian answers lose."""
    answers: MixedAnswers = promise().answers
    rho = 60 * float(answers.rho_each)
    delta = 1e-6
    found = float(answers.stability(Fraction(1, 10**6)).epsilon)
    assert found <= rho + 2 * math.sqrt(rho * math.log(1 / delta))
    only = MixedAnswers(rows=300_000, mix=QuestionMix(means=50), rho_each=answers.rho_each)
    assert found > float(only.stability(Fraction(1, 10**6)).epsilon)


def test_a_mix_of_means_is_near_the_promise_for_means():
    best = gaussian_guarantee(rows=300_000, questions=100, beta="0.05")
    assert best is not None
    found = promise(mix=QuestionMix(means=100)).alpha
    assert best.alpha * Fraction(99, 100) <= found <= best.alpha * Fraction(6, 5)


@pytest.mark.parametrize(
    "more",
    [
        {"means": 500},
        {"values": 40},
        {"value_width": 9},
        {"choices": 60},
        {"candidates": 10**6},
    ],
)
def test_more_of_anything_promises_less(more):
    kept: dict[str, Any] = {
        "means": 50,
        "values": 4,
        "value_width": 3,
        "choices": 6,
        "candidates": 9,
    }
    assert promise(mix=QuestionMix(**{**kept, **more})).alpha > promise().alpha


def held(rng, rows=None, mix=MIX, alpha="0.9"):
    holdout = Holdout(np.arange(60_000.0) / 60_000 if rows is None else rows, questions=mix)
    holdout._rng = rng
    return holdout


def test_answers_of_every_kind_are_near_the_truth(rng):
    holdout = held(rng)
    median = holdout.ask_value(np.median, sensitivity=2 / 60_000)
    assert median.low <= Fraction(1, 2) <= median.high
    assert abs(median.value - Fraction(1, 2)) < Fraction(1, 10)
    losses = [lambda row, at=at: abs(row - at) for at in (0.0, 0.5, 1.0)]
    best = holdout.ask_best(losses)
    # The losses are 1/2, 1/4 and 1/2; the noise of one is below 0.03 by far.
    assert best.place == 1
    assert best.excess < Fraction(1, 2)
    assert "worse than the best" in str(best)
    mean = holdout.ask(lambda rows: rows, is_batch=True)
    assert mean.low <= Fraction(1, 2) <= mean.high
    assert mean.high - mean.low < median.high - median.low
    assert holdout.left_by_kind == {"means": 49, "values": 3, "choices": 5}
    assert holdout.left == 57
    assert [one.number for one in holdout.transcript] == [1, 2, 3]


def test_a_choice_by_exact_minimum_overfits_and_the_noisy_one_does_not(rng):
    """Of 4,000 random losses the least on the sample looks better than any is."""
    random, rows = np.random.default_rng(8), 400
    losses = random.integers(0, 2, (4_000, rows)).astype(float)
    exact = losses.mean(axis=1)
    # The truth of each is a half; the least of 4,000 means of 400 is 3.5 deviations below.
    assert exact.min() < 0.5 - 3 * 0.025
    answers = MixedAnswers(
        rows=rows,
        mix=QuestionMix(choices=1, candidates=4_000),
        rho_each=Fraction(1, 20_000),
    )
    scores = -(losses.sum(axis=1) * STEPS).astype(np.int64)
    picked = [exact[answers.choice.select(scores, rng)] for _ in range(20)]
    # Twenty nearly uniform picks, with a deviation of 0.0056 of their mean: six of them.
    assert np.mean(picked) > 0.5 - 0.04


def test_what_is_refused_changes_nothing():
    holdout = Holdout(np.arange(60_000.0), questions=MIX)
    wrongs: tuple[tuple[Any, str], ...] = (
        (lambda: holdout.ask_value(np.median), "declared sensitivity"),
        (lambda: holdout.ask_value(np.median, sensitivity=0), "out of range"),
        (lambda: holdout.ask_value(np.median, sensitivity="0.001"), "out of range"),
        (lambda: holdout.ask_value(np.median, sensitivity=float("nan")), "nan"),
        (lambda: holdout.ask_value(np.median, sensitivity=1, low=1, high=1), "range is empty"),
        (lambda: holdout.ask_best([]), "number of choices"),
        (lambda: holdout.ask_best([lambda row: 0] * 10), "number of choices"),
        (lambda: Holdout(range(60_000), questions=5).ask_value(max, sensitivity=1), "means alone"),
        (lambda: Holdout(range(60_000), questions=5).ask_best([abs, abs]), "means alone"),
        (lambda: Holdout(range(100), questions=MIX), "too few"),
        (lambda: Holdout(range(60_000), questions=MIX, method="splitting"), "one method"),
        (
            lambda: Holdout(range(60_000), questions=MIX, training=range(9), overfits=3),
            "means alone",
        ),
        (QuestionMix, "no questions"),
        (lambda: QuestionMix(means=-1), "means"),
        (lambda: QuestionMix(values=1, value_width="0.5"), "width is too small"),
        (lambda: QuestionMix(choices=1, candidates=1), "nothing to choose"),
    )
    for wrong, said in wrongs:
        with pytest.raises(InvalidArgument, match=said):
            wrong()
    assert holdout.left == 60


def test_each_kind_has_a_budget_of_its_own(rng):
    mix = QuestionMix(means=2, values=1, choices=1, candidates=2)
    holdout = held(rng, mix=mix)
    failed = holdout.ask_value(lambda rows: rows.undefined, sensitivity=1 / 60_000)
    assert failed.low <= Fraction(1, 2) <= failed.high
    with pytest.raises(InvalidArgument, match="All questions were asked"):
        holdout.ask_value(np.mean, sensitivity=1 / 60_000)
    holdout.ask_best([lambda row: row])
    with pytest.raises(InvalidArgument, match="All questions were asked"):
        holdout.ask_best([lambda row: row])
    holdout.ask(lambda row: row)
    assert holdout.left_by_kind == {"means": 1, "values": 0, "choices": 0}
    with pytest.raises(InvalidArgument, match="No values were declared"):
        held(rng, mix=QuestionMix(means=2)).ask_value(np.mean, sensitivity=1 / 60_000)


def test_values_beyond_the_range(rng):
    holdout = held(rng, mix=QuestionMix(values=4))
    for value, low, high in ((math.inf, 0, 1), (-math.inf, 0, 1), (9e300, -5, 5)):
        answer = holdout.ask_value(lambda rows: value, sensitivity="1e-5", low=low, high=high)  # noqa: B023
        assert low <= answer.low <= answer.value <= answer.high <= high
