"""What so few people say of a population: the bound, the law that it is below, and an attack."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from discreet.adaptive.guarantee import fixed_guarantee, guarantees
from discreet.core.loss import Pure
from discreet.planner.bounds.sampling import Sampling, misled
from discreet.planner.bounds.wanted import Wanted
from discreet.planner.picture import plan_picture
from discreet.planner.plan import plan
from discreet.planner.verdict import Feasibility

BETA = Fraction(1, 20)
FREE = Pure(0)


def majority_errs(people: int, gap: float) -> float:
    """The exact chance that a majority of such coins is wrong; half of it where there is none."""
    below = binom.cdf((people - 1) // 2, people, 0.5 + gap)
    return float(below + (0 if people % 2 else binom.pmf(people // 2, people, 0.5 + gap) / 2))


@pytest.mark.parametrize("gap", ["0.001", "0.01", "0.1", "0.3", "0.499"])
def test_the_chance_to_be_misled_is_below_the_exact_one_and_near_it(gap):
    for people in (1, 2, 3, 4, 7, 16, 33, 100, 1_000, 54_321):
        exact, bound = majority_errs(people, float(gap)), float(misled(people, Fraction(gap)))
        assert bound <= exact * (1 + 1e-9)
        assert exact < 1e-12 or bound > 0.28 * exact


@pytest.mark.parametrize(("people", "questions"), [(1, 1), (3, 1), (2, 2), (3, 2)])
def test_nobody_tells_more_signs_than_a_majority_does(people, questions):
    """By enumeration of all samples: the best guess of all signs, for any function of a sample."""
    gap = Fraction(1, 5)
    told = Fraction(0)
    for sample in product(product((0, 1), repeat=questions), repeat=people):
        chances = []
        for signs in product((1, -1), repeat=questions):
            chance = Fraction(1, 2**questions)
            for row in sample:
                for bit, sign in zip(row, signs, strict=True):
                    chance *= Fraction(1, 2) + sign * gap * (1 if bit else -1)
            chances.append(chance)
        told += max(chances)
    assert float(told) == pytest.approx((1 - majority_errs(people, 0.2)) ** questions)


@pytest.mark.parametrize("questions", [1, 30, 10**6])
@pytest.mark.parametrize("beta", ["0.4", "0.05", "1e-9"])
def test_no_way_to_answer_lies_below_it(questions, beta):
    """Not even exact answers to questions that are fixed beforehand, which are near it."""
    level, bound = Fraction(beta), Sampling(questions)
    for people in (10, 1_000, 10**6):
        fixed = fixed_guarantee(rows=people, questions=questions, beta=beta)
        ways = guarantees(rows=people, questions=questions, beta=beta)
        for error in (one.alpha * people for one in (fixed, *ways) if one.alpha < 1):
            assert not bound.rule(Wanted(people, error, level, FREE)).refutes
        if people > 10 and (questions > 1 or level < BETA):
            near = Wanted(people, fixed.alpha * people * Fraction(9, 20), level, FREE)
            assert bound.rule(near).refutes


def test_where_it_says_impossible_exact_answers_are_off():
    """Exact answers about 150 people, to a thousand fixed questions, 40 times.

    The plan says that nobody is within a tenth 19 times in 20. Whoever is has told all signs.
    """
    found = plan("adaptive", people=150, within="0.1", dimension=1_000)
    assert found.verdict is Feasibility.IMPOSSIBLE
    assert found.because.startswith("sampling")
    random, right = np.random.default_rng(19), 0
    for _ in range(40):
        chances = 0.5 + 0.101 * random.choice([-1, 1], 1_000)
        shares = random.binomial(150, chances) / 150
        right += bool(np.abs(shares - chances).max() <= 0.1)
    told = (1 - majority_errs(150, 0.101)) ** 1_000
    assert binom.sf(7, 40, told) < 1e-9, "how often so many games are right by luck"
    assert right < 8


def test_what_it_says_in_a_plan():
    few = plan("adaptive", people=10, within="0.001", dimension=1)
    assert few.verdict is Feasibility.IMPOSSIBLE
    assert few.task.startswith("1 adaptive answer about")
    assert few.people_refuted is not None
    assert few.people_needed is not None
    assert few.people_refuted < few.people_needed
    half = plan("adaptive", people=10, within="0.6", dimension=1)
    assert "a half is within" in half.bounds_text()
    assert not math.isnan(float(misled(10**15, Fraction(1, 10**6))))


def test_a_picture_of_so_few_that_no_way_is_known(monkeypatch):
    """The others are drawn, and the impossible below them."""
    monkeypatch.setattr("discreet.planner.picture._POINTS", 3)
    found = plan("adaptive", people=400, within="0.1", dimension=1_000)
    assert "no way here promises anything of so few" in str(found)
    names = [line.get_label() for line in plan_picture(found).axes[0].lines]
    assert {"gaussian/posterior", "nobody is within that"} <= set(names)
