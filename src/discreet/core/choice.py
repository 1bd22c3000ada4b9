"""One of a few: the member of an enumeration that is meant, also by its text."""

from enum import Enum
from typing import TypeVar

from discreet.core.errors import InvalidArgument

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
