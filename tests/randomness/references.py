"""The laws that the samplers claim, as closed formulas in floats."""

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy import stats

SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(100), Fraction(10**6)]
WRONG = [Fraction(9, 10), Fraction(11, 10)]
LARGEST = Fraction(2**50)
WIDTHS = {
    Fraction(1, 1000): 1,
    Fraction(127): 1,
    Fraction(128): 2,
    Fraction(2**22): 2**16,
    Fraction(2**23 - 1): 2**16,
    Fraction(2**23): 2**17,
    Fraction(2**23 + 1): 2**17,
    Fraction(10**9): 2**23,
    Fraction(10**12): 2**33,
    LARGEST: 2**44,
}
"""Scales at the edges of the range and of each way to split a word, with the blocks' width."""


@dataclass(frozen=True)
class Laplace:
    scale: Fraction

    def pmf(self, z: int) -> float:
        rate = float(1 / self.scale)
        return -math.expm1(-rate) / (1 + math.exp(-rate)) * math.exp(-abs(z) * rate)

    def cdf(self, z: int) -> float:
        rate = float(1 / self.scale)
        below = math.exp(-(abs(z) + (z >= 0)) * rate) / (1 + math.exp(-rate))
        return 1 - below if z >= 0 else below


@dataclass(frozen=True)
class ClampedLaplace:
    scale: Fraction
    bound: int

    def pmf(self, z: int) -> float:
        inner = Laplace(self.scale)
        if abs(z) == self.bound:
            return inner.cdf(-self.bound)
        return inner.pmf(z) if abs(z) < self.bound else 0.0

    def cdf(self, z: int) -> float:
        if z >= self.bound:
            return 1.0
        return Laplace(self.scale).cdf(z) if z >= -self.bound else 0.0


@dataclass(frozen=True)
class Geometric:
    scale: Fraction

    def pmf(self, z: int) -> float:
        rate = float(1 / self.scale)
        return -math.expm1(-rate) * math.exp(-z * rate) if z >= 0 else 0.0

    def cdf(self, z: int) -> float:
        return -math.expm1(-(z + 1) * float(1 / self.scale)) if z >= 0 else 0.0


@dataclass(frozen=True)
class Gaussian:
    """Sums up to sigma 1000; beyond, the midpoint formula, which is off by less than 1e-7."""

    sigma_squared: Fraction
    _sums: list[float] = field(default_factory=list)

    def _sigma(self) -> float:
        return math.sqrt(self.sigma_squared)

    def _reach(self) -> int:
        return math.ceil(40 * self._sigma())

    def pmf(self, z: int) -> float:
        sigma = self._sigma()
        if sigma > 1000:
            total = sigma * math.sqrt(2 * math.pi)
        else:
            total = math.fsum(
                math.exp(-0.5 * (x / sigma) ** 2) for x in range(-self._reach(), self._reach() + 1)
            )
        return math.exp(-0.5 * (z / sigma) ** 2) / total

    def cdf(self, z: int) -> float:
        sigma = self._sigma()
        if sigma > 1000:
            return math.erfc(-(z + 0.5) / sigma / math.sqrt(2)) / 2
        reach = self._reach()
        if not self._sums:
            x = np.arange(-reach, reach + 1) / sigma
            sums = np.exp(-0.5 * x * x).cumsum()
            self._sums.extend((sums / sums[-1]).tolist())
        return self._sums[min(max(z + reach, 0), 2 * reach)]


@dataclass(frozen=True)
class Gamma:
    """The floor of a Gamma variable."""

    shape: int
    scale: Fraction

    def pmf(self, z: int) -> float:
        return self.cdf(z) - self.cdf(z - 1)

    def cdf(self, z: int) -> float:
        x = max(0.0, float((z + 1) / self.scale))
        if self.shape > 3:
            return float(stats.gamma.cdf(x, self.shape))
        return 1 - math.exp(-x) * sum(x**k / math.factorial(k) for k in range(self.shape))


def softmax(scores: list[int], temperature: Fraction) -> list[float]:
    weights = [math.exp(float((s - max(scores)) / temperature)) for s in scores]
    return [weight / sum(weights) for weight in weights]


def permute_and_flip_law(scores: list[int], temperature: Fraction) -> list[float]:
    """Sum over the sets of candidates whose coin is true; one of the set is chosen uniformly."""
    coins = [math.exp(float((s - max(scores)) / temperature)) for s in scores]
    law = [0.0] * len(scores)
    for heads in itertools.product((False, True), repeat=len(scores)):
        chance = math.prod(p if head else 1 - p for p, head in zip(coins, heads, strict=True))
        for i in np.flatnonzero(heads):
            law[i] += chance / sum(heads)
    return law
