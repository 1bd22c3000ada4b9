"""Answers to texts that are always the same: drawn from a secret that the device keeps.

No table can hold an answer for every text that there is. So a device draws a secret once, before
any text is known, and takes the coins for a text from a keyed hash of it: the same text has the
same coins for ever, and other texts have others, which look independent to whoever lacks the
secret.
"""

import hashlib
import hmac
from collections.abc import Callable

from discreet.local.device.draws import Draws, SecureDraws
from discreet.local.device.hashing import text_bytes

TEXT_KINDS = frozenset({"rappor", "words"})
"""The kinds of schemes whose values are texts."""

SECRET_BYTES = 32

Derive = Callable[[bytes, str], Draws]
"""How a secret and a text become draws."""


def new_secret(draws: Draws) -> str:
    """Return a secret of 32 uniform bytes, in hexadecimal."""
    return bytes(draws.uniform(256) for _ in range(SECRET_BYTES)).hex()


def draws_of_text(secret: bytes, text: str) -> Draws:
    """Return the draws that belong to a text: HMAC-SHA256 of 0, 1, 2, ... and the text.

    The numbers have eight bytes, lowest first, and stand before the text in UTF-8.

    Example:
        >>> one, two = (draws_of_text(bytes(32), "text") for _ in range(2))
        >>> one.uniform(1000) == two.uniform(1000)
        True
    """
    held, left, block = text_bytes(text), b"", 0

    def stream(count: int) -> bytes:
        nonlocal left, block
        while len(left) < count:
            left += hmac.digest(secret, block.to_bytes(8, "little") + held, hashlib.sha256)
            block += 1
        found, left = left[:count], left[count:]
        return found

    return SecureDraws(stream)
