r"""Many randomised responses: how many of them lie, with certified masses.

Randomised response is the worst ε-DP mechanism there is [KOV15], so the law of its privacy loss
decides what composition can promise.
"""

import math
from fractions import Fraction
from functools import lru_cache

from attrs import frozen

from discreet.accounting.composition.rounded import Side
from discreet.core.errors import Unsupported
from discreet.core.numbers import exp_bounds

MOST_BITS = 300_000_000
_GUARD = 48


@frozen
class Lies:
    """The law of the number of lies, in units of ``2**-bits``; each mass is enclosed."""

    low: dict[int, int]
    high: dict[int, int]
    dropped: int
    """An upper bound on the mass of all numbers that are left out."""

    def of(self, side: Side) -> dict[int, int]:
        """Return the masses that are rounded to ``side``."""
        return self.low if side is Side.LOWER else self.high


@lru_cache(maxsize=64)
def lies(epsilon: Fraction, count: int, bits: int) -> Lies:
    r"""Return the law of the number of lies among ``count`` responses at ``epsilon``.

    Guarantee:
        It is binomial with :math:`p = 1 / (1 + e^\varepsilon)`. Start at a number near the middle
        with weight 1, and go down and up by the exact ratios of neighbouring terms, once with all
        roundings down and once up; then divide by the total, which must be 1. A side ends where a
        weight is far below one unit and the ratios beyond are at most 1 (they fall away from the
        middle, so one look is enough); what is left there is at most as many times the last weight.

    Example:
        >>> law = lies(Fraction(1), 3, 64)
        >>> [round(mass / 2**64, 4) for mass in law.low.values()]
        [0.3907, 0.4312, 0.1586, 0.0195]
    """
    _require_affordable(epsilon, count, bits)
    working = bits + _GUARD
    one = 1 << working
    ratio_low, ratio_high = exp_bounds(-epsilon, working)
    g = (int(ratio_low * one), -int(-ratio_high * one // 1))
    start = _middle(epsilon, count)
    down, below = _downward(start, count, g, working)
    up, above = _upward(start, count, g, working)
    weights = {**dict(reversed(down.items())), start: (one, one), **up}
    total_low = sum(low for low, _ in weights.values())
    total_high = sum(high for _, high in weights.values()) + below + above
    return Lies(
        {n: (low << bits) // total_high for n, (low, _) in weights.items()},
        {n: -(-(high << bits) // total_low) for n, (_, high) in weights.items()},
        -(-((below + above) << bits) // total_low),
    )


_Weights = dict[int, tuple[int, int]]


def _downward(start: int, count: int, g: tuple[int, int], working: int) -> tuple[_Weights, int]:
    """Return the weights below ``start``, largest number first, and a bound on the rest."""
    found: _Weights = {}
    low = high = 1 << working
    for n in range(start, 0, -1):
        is_small = high >> _GUARD - 8 == 0
        if is_small and n << working <= (count - n + 1) * g[0]:
            return found, n * high
        low = ((low * n) << working) // ((count - n + 1) * g[1])
        high = -(-((high * n) << working) // ((count - n + 1) * g[0]))
        found[n - 1] = (low, high)
    return found, 0


def _upward(start: int, count: int, g: tuple[int, int], working: int) -> tuple[_Weights, int]:
    """Return the weights above ``start``, smallest number first, and a bound on the rest."""
    found: _Weights = {}
    low = high = 1 << working
    for n in range(start, count):
        is_small = high >> _GUARD - 8 == 0
        if is_small and (count - n) * g[1] <= (n + 1) << working:
            return found, (count - n) * high
        low = low * (count - n) * g[0] // (n + 1) >> working
        high = -(-high * (count - n) * g[1] // (n + 1) >> working)
        found[n + 1] = (low, high)
    return found, 0


def _middle(epsilon: Fraction, count: int) -> int:
    """Return about the likeliest number of lies; any number is safe."""
    ratio = math.exp(-float(min(epsilon, Fraction(700))))
    return min(count, int((count + 1) * ratio / (1 + ratio)))


def _require_affordable(epsilon: Fraction, count: int, bits: int) -> None:
    ratio = math.exp(-float(min(epsilon, Fraction(700))))
    variance = count * ratio / (1 + ratio) ** 2
    terms = min(count, 2 * math.sqrt(1.4 * bits * variance) + bits)
    if terms * bits > MOST_BITS:
        raise Unsupported(
            "Optimal composition would take too long for so many losses",
            must=f"need at most {MOST_BITS:.0e} bits of terms",
            got=f"about {terms * bits:.0e}",
            next="Use the method 'cor_2_8_9' or 'zcdp', which are quick for any count",
        )
