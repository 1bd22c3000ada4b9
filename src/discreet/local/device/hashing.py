"""The public hash of texts that schemes for strings share: SHA-256, the same in JavaScript."""

import hashlib
from collections.abc import Sequence


def text_bytes(text: str) -> bytes:
    """Return a text in UTF-8, refusing what is none; the message does not repeat it."""
    if not isinstance(text, str):
        raise ValueError("a value is no text")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a value is no text that UTF-8 can hold") from None


def place(salt: str, numbers: Sequence[int], text: bytes, places: int) -> int:
    """Return one of ``places``: the first 48 bits of a SHA-256 hash, and what is left of them.

    What is hashed is the length of the salt in UTF-8, the salt, each number, and the text; numbers
    have four bytes, lowest first.

    Example:
        >>> place("salt", [0, 1], b"text", 1000)
        240
    """
    start = salt.encode("utf-8")
    head = b"".join(number.to_bytes(4, "little") for number in numbers)
    whole = len(start).to_bytes(4, "little") + start + head + text
    return int.from_bytes(hashlib.sha256(whole).digest()[:6], "little") % places
