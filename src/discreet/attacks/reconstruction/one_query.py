"""Recovers every value from one number: a single answer can hold a whole table."""

from collections import Counter
from fractions import Fraction

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

MOST_DIGITS = 100_000
"""The largest value that is looked for: the answer has so many digits behind the point."""


def power_query(value: int, people: int) -> Fraction:
    """Return what one person adds to the answer: ``people`` to the power of minus the value.

    Example:
        >>> power_query(2, 10)
        Fraction(1, 100)
    """
    count, number = check.whole(people), check.whole(value)
    if count < 2 or not 0 <= number <= MOST_DIGITS:
        raise InvalidArgument(
            "There is no such query",
            must=f"be for 2 people or more and a value from 0 to {MOST_DIGITS:,}",
            got=f"{count} people and {number}",
        )
    return Fraction(1, count**number)


def decode_powers(total: Number, people: int) -> Counter[int] | None:
    r"""Return how many people have each value, from the sum of all their powers; else ``None``.

    Guarantee:
        [Ste16, section 1.2.1] Let :math:`c_v` of :math:`n \ge 2` people have the value :math:`v`.
        The sum is :math:`\sum_v c_v n^{-v}`. If no :math:`c_v` is :math:`n`, these are its digits
        in base :math:`n`, which are unique, and they add up to :math:`n`. If one is, all people
        have that value and the sum is the power :math:`n^{1-v}`: its one digit is 1, and does not
        add up to :math:`n`. So the two cases are told apart, and both are decoded.

        A query between 0 and 1 thus tells everything, if its answer has no end of digits. With
        noise of any size, or rounded, the digits tell nothing sure: the result is ``None`` if they
        do not add up, and may be wrong if they do.

    Assumes:
        The answer is exact. A float is taken for the decimal that it is written as.

    Example:
        >>> total = sum(power_query(value, 3) for value in (4, 0, 4))
        >>> sorted(decode_powers(total, 3).items())
        [(0, 1), (4, 2)]
        >>> decode_powers("0.5", 3) is None
        True
    """
    count = check.whole(people)
    if count < 2:
        raise InvalidArgument("people is out of range", must="be at least 2", got=str(count))
    answer = exact(total)
    if not 0 < answer <= count:
        return None
    if answer == count:
        return Counter({0: count})
    digits = _digits(answer, count)
    if digits is None:
        return None
    held = sum(digits.values())
    if held == count:
        return digits
    if held == 1:
        (place,) = digits
        return Counter({place + 1: count})
    return None


def _digits(answer: Fraction, base: int) -> Counter[int] | None:
    """Return the digits at each place behind the point (0 before it), or ``None`` without an end.

    The last digit of a fraction stands where its denominator first divides a power of the base.
    """
    places, power = 0, 1
    while power % answer.denominator:
        places, power = places + 1, power * base
        if places > min(MOST_DIGITS, answer.denominator.bit_length()):
            return None
    left = answer.numerator * (power // answer.denominator)
    digits: Counter[int] = Counter()
    for place in range(places, 0, -1):
        left, digit = divmod(left, base)
        if digit:
            digits[place] = digit
    if left:
        digits[0] = left
    return digits
