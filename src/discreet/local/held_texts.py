"""What many people hold, if it is a text: each different one, and who holds it."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray


def held_texts(values: Any) -> tuple[list[str], IntArray]:
    r"""Return the different texts, and the place among them of what each person holds.

    As on a device, anything that is no text in UTF-8 is refused, and not repeated.

    Example:
        >>> held_texts(["cat", "dog", "cat", "cat\x00"])
        (['cat', 'dog', 'cat\x00'], array([0, 1, 0, 2]))
    """
    given = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [None]
    are_texts = all(isinstance(text, str) for text in given)
    places: dict[str, int] = {}
    held = [places.setdefault(str(text), len(places)) for text in given if are_texts]
    if not are_texts or not all(map(check.is_unicode, places)):
        raise InvalidArgument(
            "A value is no text", must="be a flat list of texts that UTF-8 can hold"
        )
    return list(places), np.array(held, dtype=np.int64)


def written_salt(_: object, attribute: Any, salt: str) -> None:
    """Refuse what is no text in UTF-8: devices hash it."""
    if not check.is_unicode(salt):
        raise InvalidArgument(f"{attribute.name} is no text", must="be a text that UTF-8 can hold")
