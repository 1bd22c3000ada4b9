r"""Weighted sums of independent discrete Gaussian variables, by exact convolution.

A sum of discrete Gaussians is *not* a discrete Gaussian, so its law is worked out.
"""

from fractions import Fraction
from functools import lru_cache

from attrs import frozen

from discreet.accounting.tails.gaussian_tail import gaussian_weights

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
