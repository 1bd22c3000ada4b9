"""The public part of a scheme, as a device gets it: its ``kind`` and whole numbers."""

from collections.abc import Callable, Mapping
from typing import Any

from discreet.local.device.draws import Draws

Recipe = Mapping[str, Any]

Randomise = Callable[[Recipe, Any, Draws], bytes]


def known(value: int, categories: int) -> int:
    """Return a category, refusing what is none; the message does not repeat it."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < categories:
        raise ValueError("a value is no category of this scheme")
    return value


def unreadable() -> ValueError:
    """Return the error for a memory that holds something else; what it holds is not repeated."""
    return ValueError("the memory of this device cannot be read; nothing is reported")


def whole_bytes(value: int, values: int) -> bytes:
    """Return a number below ``values`` in as few bytes as hold any of them, lowest first."""
    return value.to_bytes(max(1, ((values - 1).bit_length() + 7) // 8), "little")
