"""What a holdout of a table promises: in floats, by levels, and against what is told elsewhere."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.adaptive.gated.gated_promise import COUNT_PART, GatedAnswers
from discreet.core.loss import Approximate, ApproximateZcdp, GaussianDp, Pure, Zcdp

BETA = Fraction(1, 20)


def answers(price: Any = None, cap: Any = None, questions=10) -> GatedAnswers:
    return GatedAnswers.with_price(
        questions=questions,
        beta=BETA,
        price=Pure("0.2") if price is None else price,
        cap=Pure(3) if cap is None else cap,
    )


def pure_reach(epsilon, questions, people, besides=0.0, beta=0.05 / 2):
    """Return the promise of Laplace noise by its closed form, with the best part of β."""
    each = epsilon / (questions + 1)
    best = 1.0
    for part in np.geomspace(1e-6, 0.3, 400) * beta:
        noise = math.log(questions / part) / each
        count = math.log(1 / (beta * float(COUNT_PART))) / each
        tilt = math.tanh((questions * each + 2 * besides) / 4)
        split = part / (beta * (1 - float(COUNT_PART)))
        best = min(best, (noise + count) / people + tilt + split)
    return best


@pytest.mark.parametrize("people", [5_000, 50_000, 500_000])
@pytest.mark.parametrize("questions", [1, 10])
def test_promises_against_closed_forms(people, questions):
    """Never less than the theorem at its best, and at most a twentieth more.

    With few questions the pure loss is the best one; a δ can only help.
    """
    found = float(answers(questions=questions).reach(people, None))
    wanted = pure_reach(0.2, questions, people)
    assert found <= wanted * 1.05
    if questions == 1:
        assert found >= wanted * (1 - 1e-3)


def test_what_is_told_besides_counts_twice():
    """Level by level: the ceiling is doubled, for a person who is replaced, and β is halved."""
    one = answers(questions=1)
    for besides, level in (("0.02", 1), ("0.026", 2), ("0.1", 3), ("0.11", 4)):
        assert one.level(Pure(besides)) == level
        ceiling = 0.2 / 8 * 2 ** (level - 1)
        wanted = pure_reach(0.2, 1, 10**5, ceiling, 0.05 / 2 ** (level + 1))
        found = float(one.reach(10**5, Pure(besides)))
        assert wanted * (1 - 1e-3) <= found <= wanted * 1.05
    assert one.level(Pure(0)) == 0
    assert one.level(Pure(10**15)) is None
    assert one.reach(10**9, Pure(10**15)) == 1
    assert one.reach(0, None) == 1


@pytest.mark.parametrize(
    ("price", "cap", "besides"),
    [
        (Pure("0.2"), Approximate(3, "1e-6"), Approximate("0.01", "1e-10")),
        (Zcdp("0.002"), Zcdp(1), Zcdp("0.0001")),
        (Zcdp("0.002"), ApproximateZcdp(1, "1e-6"), ApproximateZcdp("0.0001", "1e-10")),
        (Zcdp("0.002"), GaussianDp(1), GaussianDp("0.0001")),
        (Pure("0.05"), Zcdp(1), Zcdp("0.00001")),
    ],
)
def test_every_budget_has_its_promise(price, cap, besides):
    found = answers(price, cap)
    alone, beside = found.reach(10**5, None), found.reach(10**5, besides)
    assert 0 < alone < beside < Fraction(1, 2)
    more = found.reach(10**5, besides * 16)
    assert more > beside
    assert found.reach(10**7, None) < alone


def test_levels_share_beta():
    """The chances of all levels together are no more than β."""
    found = answers()
    assert sum(found._level_beta(level) for level in range(60)) <= BETA


def overfitted(people, elsewhere, scale, random):
    """Return how much the last question exceeds its truth on the sample.

    Random questions are asked elsewhere, with Laplace noise of a scale; the last one agrees with
    all that deviated. The truth of each is a half.
    """
    coins = random.integers(0, 2, (elsewhere, people)).astype(np.float32)
    told = coins.sum(axis=1) + random.laplace(0, scale, elsewhere) - people / 2
    votes = np.sign(told) @ (coins - 0.5)
    return float((votes > 0).mean() - 0.5)


def test_an_analyst_who_learns_elsewhere_is_inside_only_if_that_is_counted():
    """The broken twin forgets what others were told: its interval is too short.

    4,000 questions elsewhere, at ε = 1/20 each, are 200 together. 2,000 people; the excess is
    about Φ(√(2k/(πn(1 + 4σ²/n)))) - 1/2 = 0.26, with σ² = 2·20².
    """
    random, people = np.random.default_rng(5), 2_000
    excess = [overfitted(people, 4_000, 20, random) for _ in range(5)]
    one = answers(Pure("0.4"), Pure(1_000), questions=1)
    twin = one.reach(people, None)
    honest = one.reach(people, Pure(200))
    noise = float(one.noise.spread) / 2**20 / people
    assert min(excess) - 5 * noise > float(twin)
    assert max(excess) < float(min(Fraction(1), honest))
