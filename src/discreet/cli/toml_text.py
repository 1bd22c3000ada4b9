"""A part of a declaration as the text of a file: what a reader of it finds is what was given."""

import datetime
import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any


def toml_table(path: tuple[str, ...], data: Mapping[str, Any], *, apart: str) -> str:
    """Return a table of a file, with one of the tables in it written out line by line below it.

    Example:
        >>> print(toml_table(("tables", "t"), {"unit": "p", "columns": {"p": {"type": "text"}}},
        ...                  apart="columns"))
        [tables.t]
        unit = "p"
        <BLANKLINE>
        [tables.t.columns]
        p = { type = "text" }
    """
    lines = [_heading(path)]
    lines += [f"{key(name)} = {_value(value)}" for name, value in data.items() if name != apart]
    lines += ["", _heading((*path, apart))]
    lines += [f"{key(name)} = {_value(value)}" for name, value in data[apart].items()]
    return "\n".join(lines)


def _heading(path: tuple[str, ...]) -> str:
    return f"[{'.'.join(map(key, path))}]"


def key(name: str) -> str:
    """Return a name as a key of the file, in quotes if it needs them.

    Example:
        >>> key("age"), key("née")
        ('age', '"née"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(value: str) -> str:
    """Return a text with its quotation marks."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        pairs = (f"{key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    raise TypeError(f"a {type(value).__name__} is nothing that the file has")
