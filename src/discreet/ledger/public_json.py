"""Public JSON: what may be written down and shown, as a copy that nobody else can change."""

import json
from typing import Any

from discreet.core.canonical import canonical
from discreet.core.errors import InvalidArgument


def parsed_json(text: object) -> dict[str, Any] | None:
    """Return the JSON object that a text is; ``None`` if it is no such thing.

    Example:
        >>> parsed_json('{"rows": [1]}'), parsed_json("[" * 100_000)
        ({'rows': [1]}, None)
    """
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def public_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return a deep copy of a JSON object; refuse what has no canonical text, without quoting it.

    Example:
        >>> public_json({"rows": (1, 2)})
        {'rows': [1, 2]}
    """
    copy: dict[str, Any] = json.loads(public_text(value))
    return copy


def public_text(value: dict[str, Any]) -> str:
    """Return the canonical text of a JSON object; refuse what has none, without quoting it."""
    try:
        text = canonical(value)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        text = ""
    # Raised outside the handler: the cause may quote the value.
    if not text.startswith("{"):
        raise InvalidArgument(
            "That has no canonical JSON",
            must="be a JSON object whose numbers are integers or text",
        )
    return text
