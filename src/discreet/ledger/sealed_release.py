"""A sealed release: checked, written out and named, so that storing it is one insert."""

import hashlib
import json
from typing import Any

from attrs import frozen

from discreet.core.canonical import canonical
from discreet.core.errors import InvalidArgument


@frozen
class SealedRelease:
    """A release as it is stored and handed over: nobody else can change it."""

    body: dict[str, Any]
    text: str
    """Its canonical text."""
    digest: str
    """The SHA-256 of the text."""


def seal(release: dict[str, Any], *, most_bytes: int | None = None) -> SealedRelease:
    """Return a release sealed; refuse what has no canonical text or is too long, and quote nothing.

    All that takes longer for a longer release is done here, so that it can be done by whoever does
    the work, and not when it is settled.

    Example:
        >>> sealed = seal({"rows": (1, 2)})
        >>> sealed.body, sealed.text
        ({'rows': [1, 2]}, '{"rows":[1,2]}')
    """
    try:
        text = canonical(release)
        stored = text.encode()
    except (TypeError, ValueError, RecursionError):
        text, stored = "", b""
    # Raised outside the handler: the cause may quote the value.
    if not text.startswith("{"):
        raise InvalidArgument(
            "That has no canonical JSON",
            must="be a JSON object whose numbers are integers or text",
        )
    if most_bytes is not None and len(stored) > most_bytes:
        raise InvalidArgument("That release is longer than its plan can make one")
    return SealedRelease(json.loads(text), text, hashlib.sha256(stored).hexdigest())
