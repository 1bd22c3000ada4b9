"""The far tail of a law, one value at a time, in plain integers."""

from fractions import Fraction

from discreet.core.numbers import exp_bounds
from discreet.core.protocols import Rng
from discreet.randomness.law import Law
from discreet.randomness.settle import WORD_BITS, is_below


def draw_beyond(law: Law, start: int, rng: Rng) -> int | None:
    r"""Propose a distance ``start + k`` from the tail's envelope; ``None`` means it was rejected.

    Guarantee:
        ``k`` is geometric with ratio :math:`e^{-r}`, :math:`r = h(start + 1) - h(start)`, which
        lies above the law's tail because ``h`` is convex; it is kept with probability
        :math:`e^{-(h(start + k) - h(start) - k r)} = e^{-q k (k - 1)}`. So each distance of the
        support is kept with its weight :math:`e^{-h(x)}`, in units of the envelope's total.
    """
    steps = _geometric(law.rise(start, 1), rng)
    distance = start + steps
    if law.length is not None and distance >= law.length:
        return None
    if law.quadratic and not flip(law.quadratic * steps * (steps - 1), rng):
        return None
    return distance


def flip(x: Fraction, rng: Rng) -> bool:
    """Return true with probability ``e**-x`` exactly, for ``x >= 0``."""
    return is_below(int(rng.words(1)[0]), lambda bits: exp_bounds(-x, bits), rng)


def _geometric(rate: Fraction, rng: Rng) -> int:
    r"""Return ``k`` with :math:`P(k \ge j) = e^{-j\,rate}` ([CKS20], Algorithm 2).

    With ``rate = n / d``: the integer ``u + d v`` with ``u`` below ``d`` kept with probability
    :math:`e^{-u/d}`, and ``v`` the number of flips of :math:`e^{-1}` that succeed before one
    fails, is geometric with rate ``1 / d``; its quotient by ``n`` has rate ``n / d``.
    """
    while True:
        remainder = _uniform(rate.denominator, rng)
        if flip(Fraction(remainder, rate.denominator), rng):
            break
    wholes = 0
    while flip(Fraction(1), rng):
        wholes += 1
    return (remainder + rate.denominator * wholes) // rate.numerator


def _uniform(upper: int, rng: Rng) -> int:
    """Return an integer below ``upper``, each with the same probability, by rejection."""
    bits = (upper - 1).bit_length()
    words = -(-bits // WORD_BITS)
    while True:
        drawn = int.from_bytes(rng.words(words).tobytes(), "little") >> (words * WORD_BITS - bits)
        if drawn < upper:
            return drawn
