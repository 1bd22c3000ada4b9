"""Checks of parameters, as attrs converters and validators that raise our own errors."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

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
