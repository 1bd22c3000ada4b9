"""Exact numbers of the form Σ c·e^r, which can always be compared: the weights of most laws."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from attrs import field, frozen

from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.rounding import dyadic_down, dyadic_up

_FIRST_BITS = 64


def _without_zeros(terms: Mapping[Fraction, Fraction]) -> dict[Fraction, Fraction]:
    return {exponent: factor for exponent, factor in terms.items() if factor}


@frozen(eq=False)
class ExponentialSum:
    r"""The exact real number :math:`\sum_i c_i e^{r_i}`, with rational :math:`c_i` and :math:`r_i`.

    A claim such as "this noise is exactly :math:`\varepsilon`-DP" is an equality between such
    numbers, so intervals alone could never decide it.

    Guarantee:
        Sums, differences and products are exact. Every comparison ends and is right.

        Proof. For distinct rational exponents the numbers :math:`e^{r_i}` are linearly independent
        over the rationals (Lindemann and Weierstrass; Baker, *Transcendental Number Theory*, 1975,
        Theorem 1.4). So a sum is zero only if it has no terms left after equal exponents are
        merged; otherwise it is not zero, and narrower and narrower enclosures show its sign.

    Example:
        >>> exp(1) * exp("1/2") == exp("3/2"), exp(1) > 2, exp(1) - exp(1) == 0
        (True, True, True)
    """

    terms: Mapping[Fraction, Fraction] = field(converter=_without_zeros)

    def __add__(self, other: "Exactly") -> "ExponentialSum":
        terms = dict(self.terms)
        for exponent, factor in as_sum(other).terms.items():
            terms[exponent] = terms.get(exponent, Fraction(0)) + factor
        return ExponentialSum(terms)

    __radd__ = __add__

    def __neg__(self) -> "ExponentialSum":
        return ExponentialSum({exponent: -factor for exponent, factor in self.terms.items()})

    def __sub__(self, other: "Exactly") -> "ExponentialSum":
        return self + -as_sum(other)

    def __rsub__(self, other: "Exactly") -> "ExponentialSum":
        return as_sum(other) - self

    def __mul__(self, other: "Exactly") -> "ExponentialSum":
        terms: dict[Fraction, Fraction] = {}
        for exponent, factor in self.terms.items():
            for other_exponent, other_factor in as_sum(other).terms.items():
                key = exponent + other_exponent
                terms[key] = terms.get(key, Fraction(0)) + factor * other_factor
        return ExponentialSum(terms)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExponentialSum | Fraction | int):
            return NotImplemented
        return self.terms == as_sum(other).terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __lt__(self, other: "Exactly") -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: "Exactly") -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: "Exactly") -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: "Exactly") -> bool:
        return (self - other).sign() >= 0

    def sign(self) -> int:
        """Return -1, 0 or 1."""
        signs = {1 if factor > 0 else -1 for factor in self.terms.values()}
        if len(signs) < 2:
            return signs.pop() if signs else 0
        bits = _FIRST_BITS
        while True:
            low, high = self._scaled_bounds(bits)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            bits *= 2

    def bounds(self, bits: int = 96) -> tuple[Fraction, Fraction]:
        """Return ``lower <= self <= upper``, apart by at most ``2**-bits`` of the value.

        Example:
            >>> low, high = exp(1).bounds()
            >>> low < Fraction("2.718281828459045236") and high > Fraction("2.718281828459045235")
            True
        """
        if not self.terms:
            return Fraction(0), Fraction(0)
        working = bits + 8
        factor_low, factor_high = exp_bounds_relative(max(self.terms), working)
        while True:
            low, high = self._scaled_bounds(working)
            if low > 0:
                low, high = low * factor_low, high * factor_high
            else:
                low, high = low * factor_high, high * factor_low
            if (low > 0 or high < 0) and (high - low) * (1 << bits) <= min(abs(low), abs(high)):
                return low, high
            working *= 2
            factor_low, factor_high = exp_bounds_relative(max(self.terms), working)

    def _scaled_bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Enclose this number over its largest exponential, which keeps the sizes moderate."""
        top = max(self.terms)
        low = high = Fraction(0)
        for exponent, factor in self.terms.items():
            ends = _exp_bounds(exponent - top, bits)
            low += factor * ends[factor < 0]
            high += factor * ends[factor > 0]
        return low, high

    def __repr__(self) -> str:
        shown = (f"{factor}·e^({exponent})" for exponent, factor in sorted(self.terms.items()))
        return " + ".join(shown) or "0"


Exactly = ExponentialSum | Fraction | int
"""A number that an exponential sum can be added to or compared with."""


def as_sum(value: Exactly) -> ExponentialSum:
    """Return a rational number as an exponential sum; leave a sum as it is."""
    if isinstance(value, ExponentialSum):
        return value
    return ExponentialSum({Fraction(0): exact(value)})


def exp(exponent: Number) -> ExponentialSum:
    """Return ``e**exponent``, exactly."""
    return ExponentialSum({exact(exponent): Fraction(1)})


def total(values: Iterable[Exactly]) -> ExponentialSum:
    """Return the sum of many numbers, in one pass.

    Example:
        >>> total([exp(1), -exp(1), Fraction(1, 2)])
        1/2·e^(0)
    """
    terms: dict[Fraction, Fraction] = {}
    for value in values:
        for exponent, factor in as_sum(value).terms.items():
            terms[exponent] = terms.get(exponent, Fraction(0)) + factor
    return ExponentialSum(terms)


@lru_cache(maxsize=1 << 14)
def _exp_bounds(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    low, high = exp_bounds(exponent, bits)
    return dyadic_down(low, bits), dyadic_up(high, bits)


@lru_cache(maxsize=1 << 14)
def exp_bounds_relative(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return ``lower <= e**exponent <= upper`` apart by at most ``2**-bits`` of the *value*.

    Example:
        >>> low, high = exp_bounds_relative(Fraction(-1000), 32)
        >>> 0 < high - low < low / 2**32
        True
    """
    if exponent >= 0:
        return exp_bounds(exponent, bits)
    low, high = exp_bounds(-exponent, bits + 4)
    return dyadic_down(1 / high, bits + 4), dyadic_up(1 / low, bits + 4)
