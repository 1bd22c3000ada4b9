"""YAML for what we write ourselves: names, texts, numbers, lists. Nothing in it is ever guessed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Plain = str | int | float | bool | None | Sequence[Any] | Mapping[str, Any]
"""What can be written."""


def yaml_text(value: Mapping[str, Any]) -> str:
    r"""Return nested mappings and lists as YAML; every text is in quotes, whatever it looks like.

    A text in quotes is a JSON string, which YAML reads as what it is: no text becomes a number, a
    date or a truth value, and none ends early. Characters that YAML does not allow are escaped.

    Example:
        >>> print(yaml_text({"unit": "no", "delta": 1e-9, "rows": [1, None], "more": {}}), end="")
        unit: "no"
        delta: 1.0e-09
        rows:
          - 1
          - null
        more: {}
    """
    return "".join(f"{line}\n" for line in _mapping(value))


def _mapping(value: Mapping[str, Any]) -> Iterator[str]:
    for name, item in value.items():
        if not name.isidentifier():
            raise TypeError("a name in YAML is a word")
        yield from _entry(f"{name}:", item)


def _list(values: Sequence[Any]) -> Iterator[str]:
    for item in values:
        if isinstance(item, Mapping) and item:
            first, *rest = _mapping(item)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
        else:
            yield from _entry("-", item)


def _entry(head: str, item: Any) -> Iterator[str]:
    if isinstance(item, Mapping | list | tuple) and item:
        yield head
        lines = _mapping(item) if isinstance(item, Mapping) else _list(item)
        yield from (f"  {line}" for line in lines)
    else:
        yield f"{head} {_scalar(item)}"


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return _quoted(value)
        case Mapping():
            return "{}"
        case list() | tuple():
            return "[]"
        case _:
            raise TypeError(f"a {type(value).__name__} has no YAML here")


def _float(value: float) -> str:
    """Return a number with a point, without which some readers take it for text."""
    text = json.dumps(value, allow_nan=False)
    head, mark, exponent = text.partition("e")
    return f"{head if '.' in head else f'{head}.0'}{mark}{exponent}"


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else _escaped(one) for one in quoted)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= _SHORT else f"\\U{number:08x}"


_SHORT = 0xFFFF
