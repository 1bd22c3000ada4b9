"""The statistical checks keep their level and have power. Both are computed, not sampled."""

import ast
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from tests.support.house.paths import TESTS
from tests.support.statistics.exact_tests import (
    MAX_RANDOM_TESTS,
    SUITE_ALPHA,
    alpha,
    bernstein_slack,
    binomial_p_value,
    cells_p_value,
    clopper_pearson,
    dkw_p_value,
)

LEVELS = [0.5, 0.1, 0.01, 1e-3, 1e-6]
SHARE = SUITE_ALPHA / MAX_RANDOM_TESTS


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("probability", [Fraction(1, 100), Fraction(1, 3), Fraction(1, 2)])
def test_binomial_level(level: float, probability: Fraction):
    """Over all outcomes of 40 trials, p <= level happens at most level often."""
    alarms = sum(
        comb(40, k) * probability**k * (1 - probability) ** (40 - k)
        for k in range(41)
        if binomial_p_value(k, 40, probability) <= level
    )
    assert alarms <= level


@pytest.mark.parametrize("level", LEVELS)
def test_clopper_pearson_level(level: float):
    """The interval for every outcome of 40 trials misses the truth at most level often."""
    for probability in (0.01, 0.3, 0.5, 0.97):
        missed = 0.0
        for successes in range(41):
            low, high = clopper_pearson(successes, 40, level)
            if not low <= probability <= high:
                missed += stats.binom.pmf(successes, 40, probability)
        assert missed <= level


def test_clopper_pearson_agrees_with_the_test():
    """A probability is outside the interval exactly when its test rejects it."""
    low, high = clopper_pearson(7, 40, 0.01)
    assert binomial_p_value(7, 40, low * 0.999) < 0.01 < binomial_p_value(7, 40, low * 1.001)
    assert binomial_p_value(7, 40, high * 1.001) < 0.01 < binomial_p_value(7, 40, high * 0.999)


@pytest.mark.parametrize("level", LEVELS)
def test_dkw_level(level: float):
    """Over all samples of 60 coins, p <= level happens at most level often."""

    def cdf(k: int) -> float:
        return 0.0 if k < 0 else 0.7 if k == 0 else 1.0

    alarms = sum(
        stats.binom.pmf(ones, 60, 0.3)
        for ones in range(61)
        if dkw_p_value([0] * (60 - ones) + [1] * ones, cdf) <= level
    )
    assert alarms <= level


@pytest.mark.parametrize("level", LEVELS)
def test_cells_level(level: float):
    """Over all samples of 12 throws of three sides, p <= level happens at most level often."""
    cells = {0: 0.2, 1: 0.3}
    law = stats.multinomial(12, [0.2, 0.3, 0.5])
    alarms = 0.0
    for zeros, ones in product(range(13), repeat=2):
        others = 12 - zeros - ones
        if others >= 0 and cells_p_value([0] * zeros + [1] * ones + [9] * others, cells) <= level:
            alarms += law.pmf([zeros, ones, others])
    assert alarms <= level


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("chance", [0.02, 0.5, 0.9])
def test_bernstein_level(level: float, chance: float):
    """The mean of 500 coins is farther above, or on any side, at most level often. Not by far."""
    law = stats.binom(500, chance)
    slack = bernstein_slack(500, variance=chance * (1 - chance), most=1 - chance, rate=level)
    assert law.sf(np.ceil(500 * (chance + slack)) - 1) <= level
    either = bernstein_slack(
        500, variance=chance * (1 - chance), most=max(chance, 1 - chance), rate=level, sides=2
    )
    above, below = np.ceil(500 * (chance + either)), np.floor(500 * (chance - either))
    assert law.sf(above - 1) + law.cdf(below) <= level
    assert slack < 2 * stats.norm.isf(level / 2) * np.sqrt(chance * (1 - chance) / 500) + 0.01


def test_binomial_power():
    """Ten thousand trials tell 0.5 from 0.55, even at one test's share of the rate."""
    successes = np.arange(10_001)
    chance = stats.binom.pmf(successes, 10_000, 0.55)
    likely = successes[chance > 1e-12]
    caught = sum(chance[k] for k in likely if binomial_p_value(int(k), 10_000, 0.5) < SHARE)
    assert caught > 0.99


def geometric_sample(ratio: float, size: int) -> list[int]:
    """Return the sample whose counts are what a geometric distribution expects."""
    shares = [(1 - ratio) * ratio**k for k in range(60)]
    return [k for k, share in enumerate(shares) for _ in range(round(size * share))]


def geometric_cdf(ratio: float):
    return lambda k: 1 - ratio ** (k + 1) if k >= 0 else 0.0


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_dkw_power(factor: float):
    sample = geometric_sample(0.6, 20_000)
    assert dkw_p_value(sample, geometric_cdf(0.6)) > 0.9
    assert dkw_p_value(sample, geometric_cdf(0.6 * factor)) < SHARE


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_cells_power(factor: float):
    def cells(ratio: float) -> dict[int, float]:
        return {k: (1 - ratio) * ratio**k for k in range(8)}

    sample = geometric_sample(0.6, 20_000)
    assert cells_p_value(sample, cells(0.6)) > 0.9
    assert cells_p_value(sample, cells(0.6 * factor)) < SHARE


def test_dkw_looks_just_before_a_value():
    """Mass that the sample lacks below its first value is seen."""
    assert dkw_p_value([10] * 200, lambda k: 0.5 if k < 10 else 1.0) < SHARE


def test_impossible_values_are_certain_alarms():
    assert cells_p_value([0, 1, 2], {0: Fraction(1, 2), 1: Fraction(1, 2)}) == 0.0


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="must hold integers"):
        dkw_p_value([0.5], lambda _: 1.0)
    with pytest.raises(ValueError, match="at least one value"):
        dkw_p_value(np.array([], dtype=int), lambda _: 1.0)
    with pytest.raises(ValueError, match=r"0\.\.3; got 4"):
        binomial_p_value(4, 3, 0.5)
    with pytest.raises(ValueError, match="needs a name"):
        alpha("")


def shares_in_use() -> list[str]:
    """Return the name of every share, one for each place that asks for one."""
    names = []
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.name == "test_statistics.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "alpha":
                (name,) = node.args
                literal = isinstance(name, ast.Constant) and isinstance(name.value, str)
                assert literal, f"{path.name}:{node.lineno}: the share's name must be a literal"
                names.append(str(ast.literal_eval(name)))
    return names


def test_shares_fit_into_the_suites_rate():
    names = shares_in_use()
    assert names, "no random test was found"
    assert len(names) == len(set(names)), "two tests use the same share"
    assert len(names) <= MAX_RANDOM_TESTS
    assert len(names) * alpha("any") <= SUITE_ALPHA
