"""Bounds of audits in words, rounded so that the words are as true as the bound."""

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from discreet.core.loss import short


def confidence_in_words(confidence: Fraction) -> str:
    """Return "confidence" and as many nines as are certain, up to ten digits.

    Example:
        >>> confidence_in_words(1 - Fraction(1, 10**12)), confidence_in_words(Fraction(19, 20))
        ('confidence 0.9999999999', 'confidence 0.95')
    """
    context = Context(prec=10, rounding=ROUND_FLOOR)
    digits = context.divide(Decimal(confidence.numerator), Decimal(confidence.denominator))
    return f"confidence {digits.normalize():f}"


def bound_in_words(epsilon: Fraction, delta: Fraction, confidence: Fraction) -> str:
    """Return what is certain of ε. It is no smaller at a smaller δ, so both are rounded down.

    Example:
        >>> bound_in_words(Fraction(99_999, 100_001), Fraction(0), Fraction(19, 20))
        'ε is at least 0.9999 at δ = 0, with confidence 0.95'
    """
    least, at = (short(value, rounding=ROUND_FLOOR) for value in (epsilon, delta))
    return f"ε is at least {least} at δ = {at}, with {confidence_in_words(confidence)}"
