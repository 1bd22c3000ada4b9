"""One text for one value: canonical JSON and its digest, so that equal plans have equal names."""

import datetime
import hashlib
import json
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import attrs


def canonical(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces; refuse what JSON cannot say exactly.

    Example:
        >>> canonical({"b": 1, "a": ["x", None]})
        '{"a":["x",null],"b":1}'
    """
    _require_exact(value)
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _require_exact(value: Any) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError("keys of canonical JSON are text")
            if type(item) not in _EXACT:
                _require_exact(item)
    elif isinstance(value, _LISTS):
        if not _EXACT.issuperset(map(type, value)):
            for item in value:
                if type(item) not in _EXACT:
                    _require_exact(item)
    elif isinstance(value, float):
        raise TypeError("a float has no canonical text; write a fraction as text instead")


_LISTS = (list, tuple)

_EXACT = {str, int, bool, type(None)}
"""Types that need no closer look; a long list of them is passed over quickly."""


PRESENTATION = {"described": False}
"""Metadata of a field that is no part of what a noun means: a name to show, a place on disk."""


IF_GIVEN = {"described": "if given"}
"""Metadata of a field that came later: where it is None, digests are those from before it was."""


def described(value: Any) -> Any:
    """Return a frozen noun as plain JSON values, with the name that it is stored as.

    Fields marked as :data:`PRESENTATION` are left out, and those marked as :data:`IF_GIVEN` where
    they are None. A class that has no such name is refused:
    digests are kept, and what a class is called today must not be in them.

    Example:
        >>> described(Fraction(1, 3))
        '1/3'
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction | PurePath):
        return str(value)
    if isinstance(value, datetime.datetime):  # which is a date too, for Python
        return {"timestamp": value.isoformat()}
    if isinstance(value, datetime.time):
        return {"time": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if attrs.has(type(value)):
        return {"is": _stored_as(type(value))} | {
            part.name: described(getattr(value, part.name))
            for part in attrs.fields(type(value))
            if _is_described(part, getattr(value, part.name))
        }
    raise TypeError(f"a {type(value).__name__} has no canonical description")


def _is_described(part: "attrs.Attribute[Any]", value: Any) -> bool:
    how = part.metadata.get("described", True)
    return value is not None if how == IF_GIVEN["described"] else bool(how)


def _stored_as(cls: type[Any]) -> str:
    name = vars(cls).get("stored_as")
    if not isinstance(name, str):
        raise TypeError(f"a {cls.__name__} has no name that it is stored as")
    return name
