r"""The exact :math:`(\varepsilon, \delta)` curve of discrete Gaussian noise.

Never the curve of the continuous Gaussian, which is another law.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from discreet.accounting.accountants.zcdp import delta_of_zcdp, zcdp_loss
from discreet.accounting.tails.gaussian_tail import (
    LARGEST_SUPPORT,
    gaussian_sum,
    gaussian_tail_bounds,
    support_size,
)
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.rounding import Ends

EPSILON_STEP = Fraction(1, 2**20)
"""An ε that is looked for is a multiple of this."""

_LARGEST_EPSILON = 1000
_BITS = 112
_WIDEST = 48
_MOST_SHIFTS = 64
_MOST_DISTANCE = 64


def delta_of_shift(sigma_squared: Fraction, shift: int, at_epsilon: Number) -> Ends:
    r"""Enclose the smallest :math:`\delta` for one integer entry that moves by ``shift``.

    Guarantee:
        :math:`\delta = P[Z > \varepsilon\sigma^2/s - s/2] - e^\varepsilon
        P[Z > \varepsilon\sigma^2/s + s/2]` for discrete Gaussian ``Z`` is the hockey-stick
        divergence itself, so the bound is tight [CKS20, Theorem 7]. It grows with ``s``: the best
        test is a threshold, and a larger shift passes each threshold more often.

    Example:
        >>> low, high = delta_of_shift(Fraction(1), 1, 1)
        >>> low < Fraction("0.141352") and high > Fraction("0.141351")
        True
    """
    epsilon = _checked(at_epsilon)
    if shift == 0:
        return Fraction(0), Fraction(0)
    s = abs(shift)
    near = _above(epsilon * sigma_squared / s - Fraction(s, 2))
    far = _above(epsilon * sigma_squared / s + Fraction(s, 2))
    bits = 2 * _BITS
    while True:
        low, high = _difference(
            gaussian_tail_bounds(sigma_squared, near, bits),
            gaussian_tail_bounds(sigma_squared, far, bits),
            epsilon,
            bits,
        )
        if (high - low) * 2**_WIDEST <= high or bits >= 16 * _BITS:
            return low, high
        bits *= 2


def delta_of_shifts(sigma_squared: Fraction, shifts: tuple[int, ...], at_epsilon: Number) -> Ends:
    r"""Enclose the smallest :math:`\delta` for integer entries that move by ``shifts``.

    Guarantee:
        The log-likelihood ratio of the two laws depends on :math:`W = \sum s_i Z_i` alone, so
        :math:`\delta = P[W > \varepsilon\sigma^2 - n/2] - e^\varepsilon
        P[W > \varepsilon\sigma^2 + n/2]` with :math:`n = \sum s_i^2`: the definition, in the law
        of ``W``, which is found by exact convolution.

    Example:
        >>> one = delta_of_shift(Fraction(2), 1, "1/2")
        >>> alike = delta_of_shifts(Fraction(2), (1,), "1/2")
        >>> max(one[0], alike[0]) <= min(one[1], alike[1])
        True
    """
    epsilon = _checked(at_epsilon)
    norm = Fraction(sum(shift * shift for shift in shifts), 2)
    law = gaussian_sum(sigma_squared, tuple(shifts), _BITS)
    near, far = (_above(epsilon * sigma_squared + side) for side in (-norm, norm))
    return _difference(law.tail(near), law.tail(far), epsilon, _BITS)


def delta(event: DiscreteGaussianEvent, at_epsilon: Number) -> Ends:
    r"""Enclose the smallest :math:`\delta` of an event: what some shift needs, what all need.

    Guarantee:
        Every integer shift that the event allows has a :math:`\delta` of at most the upper end.
        If one entry changes, both ends are the exact one of [CKS20, Theorem 7]. If several may,
        they enclose the largest exact value over the integer shifts where that can be enumerated;
        elsewhere the upper end is the bound that zCDP gives [CKS20, Corollary 13]. Shifts below
        another in every entry are left out: a larger shift of one entry has the better tests
        (a log-concave law, thresholds), and better tests in one of several independent entries
        are better tests of all (Blackwell's order of experiments is kept by products).

    Example:
        >>> event = DiscreteGaussianEvent(sigma_squared=4, distance_squared=2, entries=2)
        >>> low, high = delta(event, 1)
        >>> high - low < Fraction(1, 2**40)
        True
    """
    shifts, complete = _shifts(event)
    ends = [_delta_of(event.sigma_squared, shift, at_epsilon) for shift in shifts]
    low = max((low for low, _ in ends), default=Fraction(0))
    if not complete:
        return low, max(low, delta_of_zcdp(zcdp_loss([event]), at_epsilon))
    return low, max((high for _, high in ends), default=Fraction(0))


def upper_delta(event: DiscreteGaussianEvent, at_epsilon: Number) -> Fraction:
    """Return the upper end of :func:`delta`, and leave out the work that only the lower one needs.

    Where zCDP gives the bound, the exact value of one shift adds nothing to it, and far out in the
    tail that value takes minutes.

    Example:
        >>> many = DiscreteGaussianEvent(sigma_squared=20000, distance_squared=800, largest=2)
        >>> float(upper_delta(many, 1)) < 1e-6
        True
    """
    shifts, complete = _shifts(event)
    if not complete:
        return delta_of_zcdp(zcdp_loss([event]), at_epsilon)
    ends = (_delta_of(event.sigma_squared, shift, at_epsilon) for shift in shifts)
    return max((high for _, high in ends), default=Fraction(0))


def epsilon(event: DiscreteGaussianEvent, at_delta: Number) -> Fraction:
    """Return the smallest multiple of ``EPSILON_STEP`` at which ``at_delta`` is certainly enough.

    Example:
        >>> event = DiscreteGaussianEvent(sigma_squared=5, distance_squared=1, entries=1)
        >>> found = epsilon(event, "1e-6")
        >>> delta(event, found)[1] <= Fraction(1, 10**6) < delta(event, found - EPSILON_STEP)[1]
        True
    """
    target = exact(at_delta)
    if not 0 < target < 1:
        raise InvalidArgument(
            "delta is out of range", must="lie strictly between 0 and 1", got=str(target)
        )
    low, high = -1, 1
    while upper_delta(event, high * EPSILON_STEP) > target:
        low, high = high, 2 * high
        if high * EPSILON_STEP > _LARGEST_EPSILON:
            raise Unsupported(
                "No ε of a sensible size is enough",
                must=f"allow an ε of at most {_LARGEST_EPSILON}",
                next="Use more noise, or a larger δ",
            )
    while high - low > 1:
        middle = (low + high) // 2
        if middle >= 0 and upper_delta(event, middle * EPSILON_STEP) <= target:
            high = middle
        else:
            low = middle
    return high * EPSILON_STEP


def _shifts(event: DiscreteGaussianEvent) -> tuple[list[tuple[int, ...]], bool]:
    """Return shifts that the event allows, and whether every other one is below one of them."""
    budget = math.floor(event.distance_squared)
    top = math.isqrt(budget)
    if event.largest is not None:
        top = min(top, math.floor(event.largest))
    entries = budget if event.entries is None else event.entries
    if min(budget, top, entries) <= 0:
        return [], True
    if min(budget, entries) == 1:
        return [(top,)], True
    if budget > _MOST_DISTANCE:
        return [(top,)], False
    shifts = list(_largest_shifts(budget, top, entries))
    return (shifts, True) if _is_small(event.sigma_squared, shifts) else ([(top,)], False)


def _largest_shifts(budget: int, top: int, entries: int) -> Iterator[tuple[int, ...]]:
    """Yield the shifts that no other allowed one exceeds in every entry, largest entry first."""
    for shift in _descending(budget, top, entries):
        left = budget - sum(entry * entry for entry in shift)
        grows = any(entry < top and 2 * entry + 1 <= left for entry in shift)
        if not grows and (left == 0 or len(shift) == entries):
            yield shift


def _descending(budget: int, top: int, entries: int) -> Iterator[tuple[int, ...]]:
    if entries == 0:
        yield ()
        return
    for entry in range(min(top, math.isqrt(budget)), 0, -1):
        for rest in _descending(budget - entry * entry, entry, entries - 1):
            yield (entry, *rest)
    yield ()


def _is_small(sigma_squared: Fraction, shifts: list[tuple[int, ...]]) -> bool:
    return len(shifts) <= _MOST_SHIFTS and all(
        len(shift) == 1 or support_size(sigma_squared, shift, _BITS) <= LARGEST_SUPPORT
        for shift in shifts
    )


def _delta_of(sigma_squared: Fraction, shift: tuple[int, ...], at_epsilon: Number) -> Ends:
    if len(shift) == 1:
        return delta_of_shift(sigma_squared, shift[0], at_epsilon)
    return delta_of_shifts(sigma_squared, shift, at_epsilon)


def _difference(near: Ends, far: Ends, epsilon_: Fraction, bits: int) -> Ends:
    exp_low, exp_high = exp_bounds(epsilon_, bits)
    return max(Fraction(0), near[0] - exp_high * far[1]), near[1] - exp_low * far[0]


def _above(threshold: Fraction) -> int:
    """Return the smallest integer above ``threshold``."""
    return math.floor(threshold) + 1


def _checked(at_epsilon: Number) -> Fraction:
    value = exact(at_epsilon)
    if not 0 <= value <= _LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon is out of range", must=f"lie between 0 and {_LARGEST_EPSILON}", got=str(value)
        )
    return value
