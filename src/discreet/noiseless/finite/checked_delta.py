"""What a check of a definition says: the least δ at an ε, enclosed, and where it is reached."""

from collections.abc import Callable, Hashable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.audit.divergence import CertifiedInterval
from discreet.audit.finite_divergence import FiniteLaw
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, exp_bounds

BITS = 96
LARGEST_EPSILON = Fraction(64)
"""ε is looked for up to here; a release that needs more tells nearly everything."""


@frozen(eq=False)
class CheckedDelta:
    """The least δ of a definition at an ε, in two ends that are certain.

    Attributes:
        epsilon: ε.
        low: The least δ is not below.
        high: The least δ is not above; with it, the definition holds.
        where: The condition that is worst, in words.
        simulator: By what is seen, the law of a simulator that attains ``high``; empty for
            definitions without one.
    """

    epsilon: Fraction
    low: Fraction
    high: Fraction
    where: str = ""
    simulator: Mapping[Hashable, FiniteLaw] = field(factory=dict, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.low > self.high:
            raise InvalidArgument("That is no enclosure", must="have its lower end first")

    @property
    def interval(self) -> CertifiedInterval:
        """Both ends, shown rounded outwards."""
        return CertifiedInterval(self.low, self.high)

    @property
    def is_exact(self) -> bool:
        """Whether both ends are one number."""
        return self.low == self.high

    def __str__(self) -> str:
        """Return the least δ, with as many digits as are certain."""
        return shown_delta(self.low, self.high)


def shown_delta(low: Fraction, high: Fraction) -> str:
    """Return an enclosure in a few digits, rounded outwards.

    It is one number, not below the upper end, if the two differ in the last digit at most.

    Example:
        >>> shown_delta(Fraction(1, 2), Fraction(1, 2)), shown_delta(Fraction(1, 3), Fraction(1, 2))
        ('0.5', 'between 0.333333 and 0.5')
    """
    first, second = _digits(low, ROUND_FLOOR), _digits(high, ROUND_CEILING)
    if second - first <= Decimal(1).scaleb(second.adjusted() - _DIGITS + 1):
        return f"{second:g}"
    return f"between {first:g} and {second:g}" if low else f"at most {second:g}"


_DIGITS = 6


def _digits(value: Fraction, rounding: str) -> Decimal:
    context = Context(prec=_DIGITS, rounding=rounding)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize()


@frozen
class CheckedEpsilon:
    """The least ε of a definition at a δ, in two ends that are certain.

    Attributes:
        delta: δ.
        low: With a smaller ε the definition fails.
        high: With this ε it holds; None if it does not hold up to ``LARGEST_EPSILON``.
    """

    delta: Fraction
    low: Fraction
    high: Fraction | None

    def __str__(self) -> str:
        """Return the least ε in words."""
        if self.high is None:
            return f"none up to {LARGEST_EPSILON}"
        return shown_delta(self.low, self.high)


def factors(epsilon: Number) -> tuple[Fraction, Fraction, Fraction]:
    """Return ε as it is meant, and two fractions with its exponential between them."""
    value = exact(epsilon)
    if not 0 <= value <= LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon is out of range", must=f"be from 0 to {LARGEST_EPSILON}", got=str(value)
        )
    return (value, *exp_bounds(value, BITS))


def enclosed(epsilon: Number, worst: Callable[[Fraction], tuple[Fraction, str]]) -> CheckedDelta:
    """Return what a definition says at an ε, from its exact value at rational factors.

    ``worst`` gives the least δ for a factor in place of the exponential of ε, and where. It falls
    as the factor grows, so the two ends of the factor give the two ends of δ.
    """
    value, low_factor, high_factor = factors(epsilon)
    high, where = worst(low_factor)
    low = high if low_factor == high_factor else worst(high_factor)[0]
    return CheckedDelta(value, low, high, where)


def least_epsilon(
    check: Callable[[Fraction], CheckedDelta], delta: Number, *, tolerance: Number = "1e-6"
) -> CheckedEpsilon:
    r"""Return the least ε at which a check certifies a δ, by bisection.

    Guarantee:
        The definition holds with ``high`` and fails below ``low``: each end was checked, and the
        least δ falls as ε grows.

    Example:
        >>> def check(epsilon):
        ...     return enclosed(epsilon, lambda f: (max(Fraction(0), (3 - f) / 4), ""))
        >>> str(least_epsilon(check, 0, tolerance="1e-7"))
        '1.09862'
    """
    target, width = exact(delta), exact(tolerance)
    if not 0 <= target <= 1 or width <= 0:
        raise InvalidArgument(
            "delta or tolerance is out of range", must="have δ from 0 to 1, and a tolerance above 0"
        )
    low, high = Fraction(0), LARGEST_EPSILON
    if check(low).high <= target:
        return CheckedEpsilon(target, low, low)
    if check(high).high > target:
        return CheckedEpsilon(target, _certain_failure(check, target, high), None)
    while high - low > width:
        middle = (low + high) / 2
        found = check(middle)
        if found.high <= target:
            high = middle
        elif found.low > target:
            low = middle
        else:
            return CheckedEpsilon(target, _certain_failure(check, target, middle, low), high)
    return CheckedEpsilon(target, low, high)


def _certain_failure(
    check: Callable[[Fraction], CheckedDelta],
    target: Fraction,
    high: Fraction,
    low: Fraction = Fraction(0),
) -> Fraction:
    """Return a number at which the definition certainly fails, and close to the last such one."""
    if check(high).low > target:
        return high
    for _ in range(12):
        middle = (low + high) / 2
        if check(middle).low > target:
            low = middle
        else:
            high = middle
    return low


def words_of(value: Any) -> str:
    """Return a value of a model as it is shown: short, whatever it is."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 60
