"""Exact and non-asymptotic tests, and the false-alarm rate of the whole suite.

Every random test asks for its share of the suite's rate by name::

    share = alpha("discrete_laplace/fit", parts=4)   # four checks inside one test
    assert dkw_p_value(sample, cdf) > share          # the right distribution passes
    assert dkw_p_value(sample, wrong_cdf) < share    # a wrong one is caught: the check has power

By the union bound the suite raises a false alarm in at most ``SUITE_ALPHA`` of its runs. A house
test counts the shares, and sees that no two tests use the same one.

All p-values here are valid: under the stated distribution, P(p <= a) <= a for every a.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

SUITE_ALPHA = 1e-6
"""The whole suite cries wolf in at most this fraction of its runs."""

MAX_RANDOM_TESTS = 1000
"""How many named shares the rate is divided into."""

Probability = float | Fraction


def alpha(name: str, *, parts: int = 1) -> float:
    """Return the false-alarm rate that one random test may use.

    Args:
        name: names the share; a literal string, used at one place in the suite.
        parts: how many checks share it, for instance the cases of a parametrised test.
    """
    if not name or parts < 1:
        raise ValueError(f"a share needs a name and at least one part; got {name!r}, {parts}.")
    return SUITE_ALPHA / MAX_RANDOM_TESTS / parts


def binomial_p_value(successes: int, trials: int, probability: Probability) -> float:
    """Two-sided exact binomial test: twice the smaller tail (Clopper and Pearson) [CP34]."""
    _check_counts(successes, trials)
    law = stats.binom(trials, float(probability))
    tail = min(law.cdf(successes), law.sf(successes - 1))
    return min(1.0, 2.0 * float(tail))


def clopper_pearson(successes: int, trials: int, level: float) -> tuple[float, float]:
    """Exact two-sided confidence interval for a probability; misses it at most ``level`` often."""
    _check_counts(successes, trials)
    failures = trials - successes
    low = stats.beta.ppf(level / 2, successes, failures + 1) if successes else 0.0
    high = stats.beta.isf(level / 2, successes + 1, failures) if failures else 1.0
    return float(low), float(high)


def bernstein_slack(
    count: int, *, variance: float, most: float, rate: float, sides: int = 1
) -> float:
    """Return how far a mean of independent numbers is from its expectation, but for ``rate``.

    By Bernstein's inequality [BLM13, corollary 2.11] the mean of n numbers of variance v, none of
    which is more than b above its expectation, is t above its own with a chance of at most
    exp(-n t^2 / (2 (v + b t / 3))), for every n. It is solved for t.

    Args:
        count: how many numbers there are.
        variance: the largest variance of one of them.
        most: how far one can be from its expectation, on the side that is asked about.
        rate: how often the mean may be farther away.
        sides: 2 if it may be on neither side.
    """
    share = math.log(sides / rate) / count
    linear = share * most / 3
    return linear + math.sqrt(linear**2 + 2 * share * variance)


def dkw_p_value(sample: ArrayLike, cdf: Callable[[int], Probability]) -> float:
    """One-sample test of integers against an exact distribution function.

    By the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant [Mas90] the largest
    distance D between the two distribution functions has P(D >= d) <= 2 exp(-2 n d^2), for any
    distribution and every n.
    """
    values, counts = np.unique(_integers(sample), return_counts=True)
    total = int(counts.sum())
    if not total:
        raise ValueError("the sample must have at least one value; got none.")
    shares = [0.0, *(np.cumsum(counts) / total).tolist()]
    distance = _largest_distance(values.tolist(), shares, lambda value: float(cdf(value)))
    return min(1.0, 2.0 * float(np.exp(-2.0 * total * distance**2)))


def _largest_distance(values: list[int], shares: list[float], cdf: Callable[[int], float]) -> float:
    """Return how far the functions are apart; ``shares[i]`` of the sample is below ``values[i]``.

    The empirical function is flat between values, and the other one never falls: the distance is
    largest at a value, or at the integer just before it. Nor can it be larger among the values
    between two than the rise of either function allows: most of them need not be looked at.
    """

    def at(i: int) -> float:
        known[i] = cdf(values[i])
        return max(abs(shares[i] - cdf(values[i] - 1)), abs(shares[i + 1] - known[i]))

    known: dict[int, float] = {}
    ends = (0, len(values) - 1)
    distance, between = max(map(at, ends)), [ends]
    while between:
        first, last = between.pop()
        most = max(shares[last] - known[first], known[last] - shares[first + 1])
        if last - first > 1 and most > distance:
            middle = (first + last) // 2
            distance = max(distance, at(middle))
            between += [(first, middle), (middle, last)]
    return distance


def cells_p_value(sample: ArrayLike, cells: Mapping[int, Probability]) -> float:
    """Exact test of how often each integer occurs: binomial for each cell, Bonferroni over all.

    Integers outside ``cells`` form one more cell with the probability that is left over.
    """
    counts = Counter(_integers(sample).tolist())
    total = counts.total()
    rest = max(0, 1 - sum(Fraction(p) for p in cells.values()))
    observed = [(counts.pop(value, 0), probability) for value, probability in cells.items()]
    observed.append((counts.total(), rest))
    smallest = min(binomial_p_value(count, total, p) for count, p in observed)
    return min(1.0, len(observed) * smallest)


def _integers(sample: ArrayLike) -> np.ndarray:
    array = np.asarray(sample).ravel()
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"the sample must hold integers; got {array.dtype}.")
    return array


def _check_counts(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be in 0..{trials}; got {successes}.")
