"""A declaration that is said in Python: the same tables and keys as ``discreet.toml`` has."""

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core.errors import DeclarationError
from discreet.tables.column import ColumnType
from discreet.tables.copied_frame import CopiedFrame
from discreet.tables.declarations.section import Section, ValueTypes
from discreet.tables.declarations.toml_lines import KeyPath, TomlLines
from discreet.tables.source import Source, SourceFormat

FRAME = ValueTypes((CopiedFrame,), "a frame")


def python_section(data: Mapping[str, object]) -> Section:
    """Return a declaration that was said in Python, to be read as the file would be.

    Guarantee:
        Whatever reads it cannot tell it from a file: every value has a type that TOML has, except
        for frames, which stand where a file names its sources.

    Example:
        >>> section = python_section({"gate": {"deadline": 7.5, "most_in_flight": 2}})
        >>> section.sub("gate").get("deadline", ValueTypes((Decimal,), "a number"))
        Decimal('7.5')
    """
    try:
        return Section((), _table(data, ()), TomlLines({}))
    except RecursionError:
        raise DeclarationError("The declaration is nested too deeply") from None


def read_frame(name: str, section: Section) -> Source | None:
    """Return the source of a table that is a frame in memory, if it is one."""
    if type(section.data.get("source")) is not CopiedFrame:
        return None
    frame = section.get("source", FRAME)
    return Source(path=Path(name), format=SourceFormat.FRAME, frame=frame)


def _table(value: Mapping[Any, object], path: KeyPath) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = _key(key, path)
        if name in found:
            raise DeclarationError(f"{_shown((*path, name))} is declared twice")
        found[name] = _value(item, (*path, name))
    return found


def _key(key: object, path: KeyPath) -> str:
    """Return a name; a code of a label may be a number, which a file has in quotation marks."""
    if type(key) is int:
        return str(key)
    if not isinstance(key, str):
        raise DeclarationError(
            f"{_shown(path)} has a name of the wrong type",
            must="have names that are text",
            got=type(key).__name__,
        )
    return _text(key, path)


_SAME: tuple[type, ...] = (
    bool,
    int,
    Decimal,
    datetime.date,
    datetime.datetime,
    datetime.time,
    CopiedFrame,
)


def _value(value: object, path: KeyPath) -> Any:
    if type(value) in _SAME:
        return value
    for kind, plain in _OTHERS:
        if isinstance(value, kind):
            return plain(value, path)
    raise DeclarationError(
        f"{_shown(path)} has the wrong type",
        must="be text, a number, true or false, a date, a time, a list, or a dictionary of these",
        got=type(value).__name__,
    )


def _text(value: str, path: KeyPath) -> str:
    try:
        return value.encode().decode()
    except UnicodeEncodeError:
        raise DeclarationError(
            f"{_shown(path)!a} has a text that is not Unicode", must="be valid Unicode text"
        ) from None


def _number(value: float | Fraction, path: KeyPath) -> Decimal:
    """Return a number as a file would have it; a float means its shortest decimal."""
    if isinstance(value, float):
        number = Decimal(repr(float(value)))
        is_same = number.is_finite()
    else:
        number = Decimal(value.numerator) / Decimal(value.denominator)
        is_same = Fraction(number) == value
    if not is_same:
        raise DeclarationError(
            f"{_shown(path)} is no number that can be written out",
            must="be a finite decimal number",
        )
    return number


def _list(value: Any, path: KeyPath) -> list[Any]:
    return [_value(item, (*path, str(number))) for number, item in enumerate(value)]


def _shown(path: KeyPath) -> str:
    return ".".join(path) or "The declaration"


_OTHERS: tuple[tuple[type, Callable[[Any, KeyPath], Any]], ...] = (
    (str, _text),
    (ColumnType, lambda value, _: value.value),
    (Path, lambda value, path: _text(str(value), path)),
    (float, _number),
    (Fraction, _number),
    (Mapping, _table),
    (list, _list),
    (tuple, _list),
    (range, _list),
)
"""What Python has besides, and how a file would say it."""
