r"""The error of a sum of cells with discrete Laplace noise, which is not discrete Laplace."""

import math
from fractions import Fraction
from functools import lru_cache

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.search import smallest

MOST_EXACT_CELLS = 32
"""Up to this many cells the law of the sum is exact; beyond it there is a bound."""

_BITS = 192


def laplace_sum_quantile(scale: Fraction, cells: int, beta: Fraction) -> int:
    r"""Return a whole ``t`` with :math:`P[|Z_1 + \dots + Z_k| > t] \le \beta`.

    Example:
        >>> laplace_sum_quantile(Fraction(2), 1, Fraction(1, 20))
        6
    """
    if cells < 1:
        raise InvalidArgument("cells is out of range", must="be at least 1", got=str(cells))
    bound = _by_moments(scale, cells, beta)
    if cells > MOST_EXACT_CELLS:
        return bound
    return smallest(lambda t: t >= bound or 2 * laplace_sum_tail(scale, cells, t) <= beta)


def laplace_sum_tail(scale: Fraction, cells: int, t: int) -> Fraction:
    r"""Return :math:`P[Z_1 + \dots + Z_k > t]` for ``t >= 0``, rounded up.

    With :math:`q = e^{-1/scale}` the sum has generating function
    :math:`(1-q)^{2k} (1 - qz)^{-k} (1 - q/z)^{-k}`. Its part in positive powers of ``z`` is
    :math:`\sum_{i=1}^k A_i (1 - qz)^{-i}`; expanding
    :math:`(1 - q/z)^{-k} = (1 + q^2/(c - u))^k` in :math:`u = 1 - qz`, with :math:`c = 1 - q^2`,

    .. math:: A_i = (1-q)^{2k} \sum_{a} \binom{k}{a} \binom{a + m - 1}{m} q^{2a} c^{-a-m},
        \qquad m = k - i.

    Each power is :math:`(1-q)^{-i}` times a negative binomial law, so
    :math:`P[S > t] = \sum_i A_i (1-q)^{-i} \sum_{l<i} \binom{t+i}{l} (1-q)^l q^{t+i-l}`. All
    terms are positive: rounding each factor up rounds the sum up.

    Example:
        >>> q = exp_bounds(Fraction(-1), bits=64)[1]
        >>> abs(laplace_sum_tail(Fraction(1), 1, 3) - q**4 / (1 + q)) < Fraction(1, 2**50)
        True
    """
    q_low, q_high = exp_bounds(-1 / scale, _BITS)
    power = exp_bounds(-Fraction(t + 1) / scale, _BITS + 64)[1]
    # Where q is too small to bound from below, powers of q and of 1 - q are bounded by 1.
    step, fall = (_up((1 - q_low) / q_low), q_high) if q_low else (Fraction(1), Fraction(1))
    total, first = Fraction(0), Fraction(1)
    for i, factor in enumerate(_factors(scale, cells), start=1):
        # The term of l carries q^(t+i-l) = q^(t+1) q^(i-1-l), so each follows from the last.
        term = terms = first
        for lower in range(i - 1):
            term = _up(term * step * Fraction(t + i - lower, lower + 1))
            terms += term
        total, first = total + factor * terms, _up(first * fall)
    return total * power


@lru_cache(maxsize=64)
def _factors(scale: Fraction, cells: int) -> tuple[Fraction, ...]:
    r"""Return :math:`A_i (1-q)^{-i}` for ``i = 1 .. cells``, rounded up."""
    q_low, q_high = exp_bounds(-1 / scale, _BITS)
    rest_low = 1 - q_high**2
    powers = [Fraction(1)]
    for _ in range(cells):
        powers.append(_up(powers[-1] * q_high**2 / rest_low))
    factors = []
    for i in range(1, cells + 1):
        m = cells - i
        total = Fraction(m == 0)
        for a in range(1, cells + 1):
            total += math.comb(cells, a) * math.comb(a + m - 1, m) * powers[a]
        # (1-q)^(2k-i) c^(-m) = (1-q)^k ((1-q)/c)^m, and (1-q)/c = 1/(1+q).
        factors.append(_up((1 - q_low) ** cells * total / (1 + q_low) ** m))
    return tuple(factors)


def _by_moments(scale: Fraction, cells: int, beta: Fraction) -> int:
    r"""Bound the quantile by :math:`P[S \ge u] \le M(\lambda)^k e^{-\lambda u}`.

    The moment generating function is
    :math:`M(\lambda) = (1-q)^2 / ((1 - q e^\lambda)(1 - q e^{-\lambda}))`. Any
    :math:`\lambda < 1/scale` gives a valid bound; several are tried, and each is rounded up.
    """
    q_low, _ = exp_bounds(-1 / scale, _BITS)
    log_two_beta = log_bounds(2 / beta, _BITS)[1]
    best: int | None = None
    for part in range(1, 64):
        share = Fraction(part, 64)
        up = exp_bounds((share - 1) / scale, _BITS)[1]
        down = exp_bounds((-share - 1) / scale, _BITS)[1]
        log_moment = log_bounds((1 - q_low) ** 2 / ((1 - up) * (1 - down)), _BITS)[1]
        bound = math.ceil((cells * log_moment + log_two_beta) * scale / share) - 1
        best = bound if best is None else min(best, bound)
    return max(0, best or 0)


def _up(value: Fraction) -> Fraction:
    """Round up to about 192 significant bits, so that the fractions stay short."""
    shift = _BITS - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    return Fraction(math.ceil(scaled)) / Fraction(2) ** shift
