"""The tail of the discrete Gaussian, and the law of weighted sums, enclosed by fractions.

A sum of discrete Gaussians is *not* a discrete Gaussian, so its law is worked out.
"""

import math
from fractions import Fraction
from functools import cache, lru_cache

from attrs import frozen

from discreet.accounting.tails.normal_tail import normal_tail_bounds, pi_bounds
from discreet.core.numbers import exp_bounds, sqrt_bounds
from discreet.core.rounding import Ends

SUMMED_UP_TO = Fraction(4096)
"""Up to this sigma squared the weights are added one by one; beyond it Euler and Maclaurin do."""


def gaussian_tail_bounds(sigma_squared: Fraction, start: int, bits: int = 128) -> Ends:
    r"""Enclose :math:`P[Z \ge start]` within ``2**-bits``.

    Guarantee:
        Exact sums with directed rounding for a small :math:`\sigma`, the Euler and Maclaurin
        formula with a bound on its remainder for a large one (:func:`by_sum`,
        :func:`by_integral`). Both are right for every :math:`\sigma \ge 8`, and tests compare them.

    Example:
        >>> low, high = gaussian_tail_bounds(Fraction(1), 1)
        >>> low < Fraction("0.30052887") and high > Fraction("0.30052886")
        True
    """
    if start <= 0:
        low, high = gaussian_tail_bounds(sigma_squared, 1 - start, bits)
        return 1 - high, 1 - low
    method = by_sum if sigma_squared <= SUMMED_UP_TO else by_integral
    return method(sigma_squared, start, bits)


@frozen
class Weights:
    """The weights of 0, 1, 2, ... in units of ``2**-bits``, and a bound on all beyond the last."""

    bits: int
    low: tuple[int, ...]
    high: tuple[int, ...]
    beyond: int

    def total(self) -> tuple[int, int]:
        """Enclose the sum of the weights of all integers."""
        low = 2 * sum(self.low) - self.low[0]
        return low, 2 * (sum(self.high) + self.beyond) - self.high[0]


@lru_cache(maxsize=64)
def gaussian_weights(sigma_squared: Fraction, bits: int) -> Weights:
    r"""Return the weights :math:`e^{-z^2/(2\sigma^2)}` until they are below ``2**-bits``.

    The ratio of two neighbours, :math:`e^{-(2z+1)/(2\sigma^2)}`, falls by :math:`e^{-1/\sigma^2}`
    a step. Both are multiplied with outward rounding in 64 more bits; a test compares every
    weight with its own exponential. What is beyond is at most a geometric series.
    """
    working = bits + 64
    ratio_low, ratio_high = _fixed(exp_bounds(-1 / (2 * sigma_squared), working), working)
    fall_low, fall_high = _fixed(exp_bounds(-1 / sigma_squared, working), working)
    low = high = 1 << working
    lows, highs = [], []
    while high >> 64:
        lows.append(low >> 64)
        highs.append(-(-high >> 64))
        low, high = low * ratio_low >> working, -(-high * ratio_high >> working)
        ratio_low = ratio_low * fall_low >> working
        ratio_high = -(-ratio_high * fall_high >> working)
    beyond = -(-(high << working) // (((1 << working) - ratio_high) << 64))
    return Weights(bits, tuple(lows), tuple(highs), beyond)


@lru_cache(maxsize=1 << 12)
def by_sum(sigma_squared: Fraction, start: int, bits: int) -> Ends:
    """Enclose the tail by adding the weights, for ``start >= 1``."""
    weights = gaussian_weights(sigma_squared, bits + 16 + _size(sigma_squared))
    total_low, total_high = weights.total()
    low = sum(weights.low[start:])
    high = sum(weights.high[start:]) + weights.beyond
    return Fraction(low, total_high), Fraction(high, total_low)


@lru_cache(maxsize=1 << 12)
def by_integral(sigma_squared: Fraction, start: int, bits: int) -> Ends:
    r"""Enclose the tail by the Euler and Maclaurin formula, for ``start >= 1`` and σ at least 8.

    With :math:`g(x) = e^{-x^2/(2\sigma^2)}` and :math:`m = start`,

    .. math:: \sum_{z \ge m} g(z) = \int_m^\infty g + \frac{g(m)}{2}
        - \sum_{j=1}^{p} \frac{B_{2j}}{(2j)!} g^{(2j-1)}(m) + R,\qquad
        |R| \le \frac{2 \zeta(2p)}{(2\pi)^{2p}} \int |g^{(2p)}|.

    The derivatives are Hermite polynomials, :math:`g^{(n)}(m) = (-1)^n h_n g(m)` with rational
    :math:`h_n = \sigma^{-n} He_n(m/\sigma)` for odd ``n``; by Cauchy and Schwarz
    :math:`\int |g^{(n)}| \le \sigma^{1-n} \sqrt{2\pi} \sqrt{n!}`. Dividing by
    :math:`\sigma\sqrt{2\pi}`, the remainder is below
    :math:`4 \cdot (36 \sigma^2)^{-p} \sqrt{(2p)!}`. The weights of all integers sum to
    :math:`\sigma\sqrt{2\pi}\,(1 + 2 \sum_k e^{-2\pi^2\sigma^2k^2})` (Poisson), and the second
    factor is between 1 and :math:`1 + 3 e^{-19\sigma^2}`.
    """
    working = bits + 16
    square = Fraction(start * start) / sigma_squared
    tail_low, tail_high = normal_tail_bounds(square, working)
    factor = Fraction(1, 2) + _corrections(_terms(sigma_squared, working), start, sigma_squared)
    exp_low, exp_high = exp_bounds(-square / 2, working + max(0, _size(abs(factor))))
    pi_low, pi_high = pi_bounds(working)
    root_low = sqrt_bounds(2 * pi_low * sigma_squared, working)[0]
    root_high = sqrt_bounds(2 * pi_high * sigma_squared, working)[1]
    edges = (factor * exp_low / root_high, factor * exp_high / root_low)
    others = (factor * exp_low / root_low, factor * exp_high / root_high)
    slack = Fraction(1, 1 << working)
    low = tail_low + min(*edges, *others) - slack
    high = tail_high + max(*edges, *others) + slack
    theta = 1 + 3 * exp_bounds(-19 * sigma_squared, working)[1]
    return max(Fraction(0), low / theta), high


def _terms(sigma_squared: Fraction, working: int) -> int:
    """Return how many corrections make the remainder smaller than ``2**-working``."""
    terms = 1
    limit = (36 * sigma_squared) ** 2
    bound = Fraction(2) * (4 << working) ** 2
    while bound > limit**terms / _even_factorial(terms):
        terms += 1
    return terms


def _even_factorial(terms: int) -> int:
    return math.factorial(2 * terms)


@cache  # each needs all before it: if the oldest were dropped, the work would double every time
def _bernoulli(n: int) -> Fraction:
    """Return the Bernoulli number of even or odd ``n``, by the usual recurrence."""
    if n == 0:
        return Fraction(1)
    if n > 1 and n % 2:
        return Fraction(0)
    return -sum((math.comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


def _corrections(terms: int, m: int, sigma_squared: Fraction) -> Fraction:
    r"""Return :math:`\sum_{j \le p} B_{2j} h_{2j-1} / (2j)!`, a rational number.

    With :math:`\sigma^2 = a/b` and whole :math:`H_n = a^n h_n`, the recurrence
    :math:`h_{n+1} = (m h_n - n h_{n-1}) / \sigma^2` is
    :math:`H_{n+1} = b (m H_n - n a H_{n-1})`: whole numbers, in which nothing is cancelled.
    """
    a, b = sigma_squared.numerator, sigma_squared.denominator
    before, now, power, total = 1, b * m, a, Fraction(0)
    for j in range(1, terms + 1):
        total += _bernoulli(2 * j) / math.factorial(2 * j) * Fraction(now, power)
        for n in (2 * j - 1, 2 * j):
            before, now = now, b * (m * now - n * a * before)
        power *= a * a
    return total


def _fixed(bounds: Ends, bits: int) -> tuple[int, int]:
    low, high = bounds
    return (
        (low.numerator << bits) // low.denominator,
        -((-high.numerator << bits) // high.denominator),
    )


def _size(value: Fraction) -> int:
    return max(0, value.numerator.bit_length() - value.denominator.bit_length() + 1)


LARGEST_SUPPORT = 20_000
"""How many points a law may have here; beyond it, use a bound."""


@frozen
class SumLaw:
    """Probabilities of ``first, first + 1, ...`` between two arrays, in units of ``2**-bits``."""

    bits: int
    first: int
    low: tuple[int, ...]
    high: tuple[int, ...]
    beyond: int

    def tail(self, start: int) -> tuple[Fraction, Fraction]:
        """Enclose the probability of ``start`` and everything above it."""
        place = max(0, start - self.first)
        low, high = sum(self.low[place:]), sum(self.high[place:]) + self.beyond
        one = 1 << self.bits
        return Fraction(low, one), min(Fraction(1), Fraction(high, one))


def support_size(sigma_squared: Fraction, weights: tuple[int, ...], bits: int) -> int:
    """Return about how many points the law of the sum would have, without working it out."""
    # A weight e^(-z^2/(2 s)) falls below 2^-bits at z^2 = 2 ln(2) s bits < 1.4 s bits.
    reach = int(2 * float(sigma_squared * bits) ** 0.5) + 2
    return 2 * reach * sum(abs(weight) for weight in weights) + 1


@lru_cache(maxsize=256)
def gaussian_sum(sigma_squared: Fraction, weights: tuple[int, ...], bits: int = 112) -> SumLaw:
    r"""Return the law of :math:`\sum_i w_i Z_i` for discrete Gaussian :math:`Z_i` and whole ``w``.

    Guarantee:
        Every probability lies between its two ends: products of non-negative ends are rounded
        outwards, and ``beyond`` bounds the mass of the draws that the arrays leave out.

    Example:
        >>> low, high = gaussian_sum(Fraction(1), (1, 1)).tail(1)
        >>> low <= high < low + Fraction(1, 2**90)
        True
    """
    if len(weights) == 1:
        return _spread(sigma_squared, weights[0], bits)
    half = len(weights) // 2
    return _convolve(
        gaussian_sum(sigma_squared, weights[:half], bits),
        gaussian_sum(sigma_squared, weights[half:], bits),
    )


def _spread(sigma_squared: Fraction, weight: int, bits: int) -> SumLaw:
    single = gaussian_weights(sigma_squared, bits)
    total_low, total_high = single.total()
    reach, step = len(single.low) - 1, abs(weight)
    low, high = [0] * (2 * reach * step + 1), [0] * (2 * reach * step + 1)
    for z in range(-reach, reach + 1):
        low[(z + reach) * step] = (single.low[abs(z)] << bits) // total_high
        high[(z + reach) * step] = -((-single.high[abs(z)] << bits) // total_low)
    beyond = -((-2 * single.beyond << bits) // total_low)
    return SumLaw(bits, -reach * step, tuple(low), tuple(high), beyond)


def _convolve(first: SumLaw, second: SumLaw) -> SumLaw:
    bits = first.bits
    size = (2 * bits + (len(first.low) + len(second.low)).bit_length() + 8) // 8
    low = [value >> bits for value in _product(first.low, second.low, size)]
    high = [-(-value >> bits) for value in _product(first.high, second.high, size)]
    beyond = first.beyond + second.beyond
    return SumLaw(bits, first.first + second.first, tuple(low), tuple(high), beyond)


def _product(first: tuple[int, ...], second: tuple[int, ...], size: int) -> list[int]:
    """Multiply two polynomials with coefficients below ``256**(size/2)`` as two large integers."""
    product = _packed(first, size) * _packed(second, size)
    count = len(first) + len(second) - 1
    data = product.to_bytes(count * size + size, "little")
    return [int.from_bytes(data[i * size : (i + 1) * size], "little") for i in range(count)]


def _packed(values: tuple[int, ...], size: int) -> int:
    return int.from_bytes(b"".join(value.to_bytes(size, "little") for value in values), "little")
