"""Exact numbers: fractions in, and directed rounding on the only ways out.

A privacy guarantee is an inequality, so no number that it rests on may be rounded the wrong way.
Everything here is integer arithmetic. A float *argument* means the decimal that a person typed:
``0.1`` is one tenth, not the nearest binary fraction.
"""

import math
import re
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from numbers import Rational

from discreet.core.errors import InvalidArgument

Number = int | float | str | Decimal | Fraction
"""What a caller may write where an exact number is meant."""


def exact(value: Number) -> Fraction:
    """Return ``value`` as a fraction; a float means its shortest decimal.

    Example:
        >>> exact(0.1), exact("1/3"), exact("2.5e-3")
        (Fraction(1, 10), Fraction(1, 3), Fraction(1, 400))
    """
    if isinstance(value, bool):
        raise _not_a_number(value)
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _not_a_number(value)
        return Fraction(repr(float(value)))
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > _LARGEST_EXPONENT:
            raise _not_a_number(value)
        return Fraction(value)
    if isinstance(value, str):
        return _from_text(value)
    as_int = getattr(value, "__index__", None)
    if as_int is not None and getattr(value, "ndim", 0) == 0:
        return Fraction(as_int())
    as_float = getattr(value, "__float__", None)
    if as_float is not None and getattr(value, "ndim", 0) == 0:
        return exact(_shortest(value))
    raise _not_a_number(value)


def _shortest(value: object) -> str:
    """Return the shortest decimal of another library's scalar, by its own printing."""
    text = str(value)
    if text.lower().strip("+-") in ("nan", "inf", "infinity"):
        raise _not_a_number(text)
    return text


_LONGEST_SHOWN = 64
_LONGEST_TEXT = 2_000
_LARGEST_EXPONENT = 400
# Written out, because Fraction would take underscores, other alphabets' digits and any exponent.
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE](?P<exponent>[+-]?\d{1,3}))?", re.ASCII)
_QUOTIENT = re.compile(r"[+-]?\d+/\d+", re.ASCII)


def _from_text(text: str) -> Fraction:
    plain = text.strip()
    decimal = _DECIMAL.fullmatch(plain)
    if len(plain) > _LONGEST_TEXT or not (decimal or _QUOTIENT.fullmatch(plain)):
        raise _not_a_number(text)
    if decimal and abs(int(decimal["exponent"] or 0)) > _LARGEST_EXPONENT:
        raise _not_a_number(text)
    try:
        return Fraction(plain)
    except ZeroDivisionError:
        raise _not_a_number(text) from None


def _not_a_number(value: object) -> InvalidArgument:
    shown = repr(value)
    return InvalidArgument(
        "That is not a number",
        must="be a finite number such as 2, 0.1 or '1/3'",
        got=shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}...",
    )


def float_up(value: Fraction) -> float:
    """Return the smallest float that is not below ``value``.

    Example:
        >>> Fraction(float_up(Fraction(1, 3))) >= Fraction(1, 3)
        True
    """
    return ratio_up(value.numerator, value.denominator)


def ratio_up(top: int, bottom: int) -> float:
    """Return the smallest float that is not below ``top / bottom``, where ``bottom`` is above 0.

    A quotient of integers is rounded to the nearest float, and compared without a new fraction.

    Example:
        >>> ratio_up(1, 3) == float_up(Fraction(1, 3)), ratio_up(1, 2)
        (True, 0.5)
    """
    try:
        nearest = top / bottom
    except OverflowError:
        return math.inf if top > 0 else -_LARGEST_FLOAT
    whole, part = nearest.as_integer_ratio()
    return nearest if whole * bottom >= top * part else math.nextafter(nearest, math.inf)


def float_down(value: Fraction) -> float:
    """Return the largest float that is not above ``value``."""
    return 0.0 - float_up(-value)  # and no -0.0


_LARGEST_FLOAT = math.nextafter(math.inf, 0.0)


def exp_bounds(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Return ``lower <= e**x <= upper`` with ``upper - lower <= 2**-bits * max(1, e**x)``.

    Proof. Halve the argument ``k`` times until it is at most 1/2 in size; there the Taylor sum of
    non-negative terms, each floored, plus a bound on what was cut, encloses ``e**y``. Squaring a
    positive enclosure, rounding its ends outwards, encloses the square. A negative argument is
    the reciprocal of a positive one. The loop doubles the working precision until the promised
    width is met, so the width is checked rather than argued.

    Example:
        >>> lower, upper = exp_bounds(Fraction(1), bits=20)
        >>> lower < Fraction("2.71828182845904523536") < upper
        True
    """
    if x == 0:
        return Fraction(1), Fraction(1)
    if x < -bits:
        return Fraction(0), Fraction(1, 1 << bits)
    if x > _LARGEST_EXPONENT_OF_E:
        raise InvalidArgument(
            "The exponent is too large", must=f"be at most {_LARGEST_EXPONENT_OF_E}", got=str(x)
        )
    working = bits + 16
    while True:
        low, high = _exp_positive(abs(x), working)
        if x < 0:
            low, high = 1 / high, 1 / low
        if high - low <= max(Fraction(1), low) / (1 << bits):
            return low, high
        working *= 2


_LARGEST_EXPONENT_OF_E = 100_000


def _exp_positive(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    halvings = (x.numerator // x.denominator).bit_length() + 1
    working = bits + 2 * halvings + 8
    one = 1 << working
    scaled, divisor = x.numerator << working, x.denominator << halvings
    low = _taylor(scaled // divisor, one, working)
    high = _taylor(-(-scaled // divisor), one, working) + 2 * working
    for _ in range(halvings):
        low = (low * low) >> working
        high = -((-high * high) >> working)
    return Fraction(low, one), Fraction(high, one)


def _taylor(y: int, one: int, working: int) -> int:
    """Return a floored Taylor sum of e^(y/one); it is at most ``2 * working`` units too small.

    Each floored term loses less than one unit and carries it on, halved, so all terms lose less
    than two units each; at most ``working`` terms are non-zero because ``y / one <= 1/2``, and the
    terms after the first zero one sum to less than two units.
    """
    total, term, index = one, one, 0
    while term:
        index += 1
        term = (term * y >> working) // index
        total += term
    return total


def log_bounds(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Return ``lower <= ln(x) <= upper`` with ``upper - lower <= 2**-bits``, for ``x > 0``.

    Proof. ``x = m * 2**k`` with ``m`` in [1, 2); ``ln m = 2 artanh((m-1)/(m+1))`` is a series of
    non-negative terms with ratio at most 1/9, summed with floors below and an explicit remainder
    above; ``ln 2`` is the same series at ``m = 2``.

    Example:
        >>> lower, upper = log_bounds(Fraction(3), bits=30)
        >>> lower < Fraction("1.09861228866810969139") < upper
        True
    """
    if x <= 0:
        raise InvalidArgument("A logarithm is undefined there", must="be above 0", got=str(x))
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    mantissa = x / Fraction(2) ** shift
    if mantissa < 1:
        mantissa, shift = mantissa * 2, shift - 1
    working = bits + abs(shift).bit_length() + 16
    low, high = _log_mantissa(mantissa, working)
    low_two, high_two = _log_mantissa(Fraction(2), working)
    if shift < 0:
        low_two, high_two = high_two, low_two
    return low + shift * low_two, high + shift * high_two


def _log_mantissa(m: Fraction, working: int) -> tuple[Fraction, Fraction]:
    one = 1 << working
    t = (m - 1) / (m + 1)
    base = (t.numerator << working) // t.denominator
    square = base * base >> working
    power, total, odd = base, 0, 1
    while power:
        total += power // odd
        power = power * square >> working
        odd += 2
    # Each of the odd/2 terms lost under 3 units (base, square and product each floored); the rest
    # of the series after the first zero power is below 2 units.
    slack = 4 * odd + 8
    return Fraction(2 * total, one), Fraction(2 * (total + slack), one)


def sqrt_bounds(x: Fraction, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Return ``lower <= sqrt(x) <= upper`` with ``upper - lower <= 2**-bits``, for ``x >= 0``.

    Example:
        >>> sqrt_bounds(Fraction(4))
        (Fraction(2, 1), Fraction(2, 1))
    """
    if x < 0:
        raise InvalidArgument("A square root is undefined there", must="be at least 0", got=str(x))
    scaled = (x.numerator << (2 * bits)) // x.denominator
    root = math.isqrt(scaled)
    is_perfect = Fraction(root * root, 1 << (2 * bits)) == x
    return Fraction(root, 1 << bits), Fraction(root if is_perfect else root + 1, 1 << bits)


_DIGITS = 15
"""A decimal of so many digits survives being read as a float."""

_LARGEST_WRITTEN_EXPONENT = 290


def written(value: Fraction | int) -> str:
    """Return a text that means exactly ``value``, in Python, in SQL and to ``exact``.

    Example:
        >>> written(Fraction(1, 8)), written(Fraction(1, 3)), written(Fraction(1, 10**9))
        ('0.125', '1/3', '1e-9')
    """
    number = Fraction(value)
    context = Context(prec=_DIGITS)
    decimal = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize()
    is_short = not context.flags[Inexact] and abs(decimal.adjusted()) <= _LARGEST_WRITTEN_EXPONENT
    if number.denominator == 1 and (not is_short or decimal.adjusted() < _DIGITS):
        return str(number.numerator)
    return f"{decimal:g}" if is_short else str(number)
