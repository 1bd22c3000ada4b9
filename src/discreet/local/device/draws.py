"""Where a device takes its randomness from: coins and choices, of exact probabilities."""

import secrets
from collections.abc import Callable, Sequence
from typing import Protocol

UNIT = 2**52
"""Probabilities of coins are whole multiples of one part in this.

JavaScript's numbers hold integers up to 2**53 exactly, so both clients compare the same integers.
"""

_BYTES = 8


class Draws(Protocol):
    """All the randomness that a scheme uses on a device: coins, fair choices, and weighted ones."""

    def coin(self, threshold: int) -> bool:
        """Return true with probability ``threshold / UNIT``."""
        ...

    def uniform(self, choices: int) -> int:
        """Return one of ``0 .. choices - 1``, all equally likely."""
        ...

    def pick(self, cuts: Sequence[int]) -> int:
        """Return how many of the rising ``cuts`` are not above one draw of ``0 .. UNIT - 1``."""
        ...


class SecureDraws:
    """Coins and choices from the system's generator, or from any other stream of uniform bytes.

    Guarantee:
        Given uniform bytes a coin is true with probability exactly ``threshold / UNIT``: a draw is
        52 uniform bits, and so many of its ``UNIT`` values are below the threshold. A choice is
        exactly fair: draws at or above the largest multiple of ``choices`` are drawn anew. A pick
        is ``i`` with probability ``(cuts[i] - cuts[i - 1]) / UNIT``, with cuts of 0 before the
        first and of ``UNIT`` after the last. How many bytes are used depends on them alone, never
        on what a person holds.

    Example:
        >>> always = SecureDraws(lambda count: bytes(count))
        >>> always.coin(1), always.coin(0), always.uniform(6)
        (True, False, 0)
    """

    def __init__(self, stream: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._stream = stream

    def coin(self, threshold: int) -> bool:
        """Return true with probability ``threshold / UNIT``."""
        return self._draw() < threshold

    def uniform(self, choices: int) -> int:
        """Return one of ``0 .. choices - 1``, all equally likely."""
        limit = UNIT - UNIT % choices
        while (drawn := self._draw()) >= limit:
            pass
        return drawn % choices

    def pick(self, cuts: Sequence[int]) -> int:
        """Return how many of the rising ``cuts`` are not above one draw of ``0 .. UNIT - 1``."""
        drawn = self._draw()
        return sum(drawn >= cut for cut in cuts)

    def _draw(self) -> int:
        return int.from_bytes(self._stream(_BYTES), "little") % UNIT


TOKEN_BYTES = 16


def fresh_token() -> str:
    """Return a name for one batch, which no other batch has: random bytes in hexadecimal."""
    return secrets.token_hex(TOKEN_BYTES)
