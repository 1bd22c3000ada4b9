"""Checks of parameters, as attrs converters and validators that raise our own errors."""

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar

import attrs

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

Validator = Callable[[Any, "attrs.Attribute[Any]", Any], None]


def _validator(must: str, holds: Callable[[Any], bool]) -> Validator:
    def check(_: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
        if not holds(value):
            raise InvalidArgument(f"{attribute.name} is out of range", must=must, got=str(value))

    return check


positive = _validator("be greater than 0", lambda value: value > 0)
above_one = _validator("be greater than 1", lambda value: value > 1)
non_negative = _validator("be at least 0", lambda value: value >= 0)
below_one = _validator("be at least 0 and below 1", lambda value: 0 <= value < 1)
probability = _validator("lie between 0 and 1", lambda value: 0 <= value <= 1)
non_empty = _validator("not be empty", lambda value: len(value) > 0)


def between(least: int, most: int) -> Validator:
    """Return a validator for numbers from ``least`` to ``most``, both included."""
    return _validator(f"be from {least} to {most}", lambda value: least <= value <= most)


def optional_exact(value: Number | None) -> Fraction | None:
    """Convert to an exact number, letting ``None`` (no bound is known) through."""
    return None if value is None else exact(value)


def optional_whole(value: Number | None) -> int | None:
    """Convert to an integer, letting ``None`` (no bound is known) through."""
    return None if value is None else whole(value)


def whole(value: Number) -> int:
    """Convert to an integer, refusing anything that is not one exactly.

    Example:
        >>> whole(3.0)
        3
    """
    number = exact(value)
    if number.denominator != 1:
        raise InvalidArgument("That is not a whole number", must="be an integer", got=str(value))
    return number.numerator


def at_least_one(value: Number, name: str) -> int:
    """Convert to an integer, refusing 0, what is below, and what is none.

    Example:
        >>> at_least_one("3", "people")
        3
    """
    number = whole(value)
    if number < 1:
        raise InvalidArgument(f"{name} is out of range", must="be at least 1", got=str(number))
    return number


def is_unicode(value: object) -> bool:
    r"""Tell whether something is a text that can be written: one without lone surrogates.

    Example:
        >>> is_unicode("north"), is_unicode("\ud800"), is_unicode(5)
        (True, False, False)
    """
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)


T = TypeVar("T", bound=Enum)


def chosen(kind: type[T], value: T | str, *, noun: str) -> T:
    """Return the member of ``kind`` that is meant, also by its text; refuse any other.

    A text that went through as it is would be *no* member: every ``is`` after it would be false,
    and the weaker of two rules might be taken. So what takes a member converts it here first.

    Example:
        >>> class Side(Enum):
        ...     LEFT = "left"
        ...     RIGHT = "right"
        >>> chosen(Side, "left", noun="side") is Side.LEFT
        True
        >>> chosen(Side, "up", noun="side")
        Traceback (most recent call last):
        ...
        discreet.core.errors.InvalidArgument: There is no such side. It must be one of left...
    """
    if isinstance(value, kind):
        return value
    for member in kind:
        if isinstance(value, str) and value == member.value:
            return member
    raise InvalidArgument(
        f"There is no such {noun}",
        must=f"be one of {', '.join(str(member.value) for member in kind)}",
        got=str(value)[:_LONGEST_SHOWN],
    )


_LONGEST_SHOWN = 64


SMALLEST_LEVEL = Fraction(1, 10**300)
"""No bound is worked out for a smaller level: exact tails would take ever longer to find."""


def level(beta: Number, name: str = "beta") -> Fraction:
    """Return ``beta`` exactly, refusing what does not lie between 1e-300 and 1 (not 1 itself).

    Example:
        >>> level("0.05")
        Fraction(1, 20)
    """
    value = exact(beta)
    if not 0 < value < 1:
        raise InvalidArgument(
            f"{name} is out of range", must="lie strictly between 0 and 1", got=str(value)
        )
    if value < SMALLEST_LEVEL:
        raise InvalidArgument(
            f"{name} is out of range", must="be at least 1e-300", got="less", next="Ask for less"
        )
    return value
