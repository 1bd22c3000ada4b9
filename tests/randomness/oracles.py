"""Plain samplers in big integers, one value at a time: slow, short, and easy to believe.

[CKS20] Algorithms 1 to 3, from fair bits alone.
"""

import math
from fractions import Fraction

from discreet.core.protocols import Rng


class Bits:
    """Fair bits from words, one by one."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.stock, self.left = 0, 0

    def take(self, count: int) -> int:
        while self.left < count:
            for word in self.rng.words(64).tolist():
                self.stock = (self.stock << 64) | word
            self.left += 64 * 64
        self.left -= count
        taken = self.stock >> self.left
        self.stock &= (1 << self.left) - 1
        return taken


def uniform(upper: int, bits: Bits) -> int:
    while True:
        value = bits.take(upper.bit_length())
        if value < upper:
            return value


def bernoulli(p: Fraction, bits: Bits) -> bool:
    return uniform(p.denominator, bits) < p.numerator


def bernoulli_exp(x: Fraction, bits: Bits) -> bool:
    while x > 1:
        if not bernoulli_exp(Fraction(1), bits):
            return False
        x -= 1
    k = 1
    while bernoulli(x / k, bits):
        k += 1
    return k % 2 == 1


def geometric(scale: Fraction, bits: Bits) -> int:
    """``P(G >= k) = e**(-k / scale)``."""
    t, s = scale.numerator, scale.denominator
    while True:
        u = uniform(t, bits)
        if bernoulli_exp(Fraction(u, t), bits):
            break
    v = 0
    while bernoulli_exp(Fraction(1), bits):
        v += 1
    return (u + t * v) // s


def discrete_laplace(scale: Fraction, bits: Bits) -> int:
    while True:
        magnitude = geometric(scale, bits)
        is_negative = bits.take(1)
        if magnitude or not is_negative:
            return -magnitude if is_negative else magnitude


def discrete_gaussian(sigma_squared: Fraction, bits: Bits) -> int:
    t = math.isqrt(math.floor(sigma_squared)) + 1
    while True:
        y = discrete_laplace(Fraction(t), bits)
        if bernoulli_exp((abs(y) - sigma_squared / t) ** 2 / (2 * sigma_squared), bits):
            return y


def gamma(shape: int, scale: Fraction, bits: Bits) -> int:
    """Exponentials on a grid of 2**-64: wrong with a chance of about shape * 2**-64."""
    return sum(geometric(scale * 2**64, bits) for _ in range(shape)) >> 64


def exponential_choice(scores: list[int], temperature: Fraction, bits: Bits) -> int:
    """The exponential mechanism by rejection."""
    best = max(scores)
    while True:
        i = uniform(len(scores), bits)
        if bernoulli_exp((best - scores[i]) / temperature, bits):
            return i


def permute_and_flip(scores: list[int], temperature: Fraction, bits: Bits) -> int:
    best, left = max(scores), list(range(len(scores)))
    while True:
        i = left.pop(uniform(len(left), bits))
        if bernoulli_exp((best - scores[i]) / temperature, bits):
            return i
