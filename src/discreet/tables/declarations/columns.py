"""Columns in ``discreet.toml``: a type, perhaps a range, codes or a zone, perhaps public keys."""

import datetime
import zoneinfo

from discreet.core.errors import DeclarationError
from discreet.tables.column import (
    MOST_IN_RANGE,
    Bounds,
    Codes,
    Column,
    ColumnType,
    DateRange,
    Key,
    KeysFrom,
    whole_numbers,
)
from discreet.tables.declarations.codes import LABELLED, missing_texts, read_codes
from discreet.tables.declarations.section import (
    DATE,
    LIST,
    NUMBER,
    TABLE,
    TEXT,
    YES_OR_NO,
    Section,
    located,
)


def read_columns(section: Section) -> tuple[Column, ...]:
    """Return all columns of a table."""
    columns = tuple(_column(name, section.sub(name)) for name in section.names())
    section.refuse_repeats([column.name.lower() for column in columns])
    return columns


def _column(name: str, section: Section) -> Column:
    kind = ColumnType(section.choice("type", [kind.value for kind in ColumnType]))
    codes = read_codes(section, kind)
    if codes is not None and kind in LABELLED and codes.is_all:
        return _labelled(name, section, codes)
    origin = _keys_from(section) if kind in _KEY_TYPES else None
    column = Column(
        name=name,
        type=kind,
        bounds=_bounds(section, kind) if kind in _NUMERIC else None,
        dates=_dates(section) if kind in CALENDAR else None,
        keys=None if origin or kind not in _KEY_TYPES else _keys(section, kind),
        keys_from=origin,
        nullable=section.get_or("nullable", True, YES_OR_NO),
        auto_bounds=kind in _NUMERIC and is_auto(section, "bounds", otherwise=_BOUNDS),
        zone=_zone(section) if kind is ColumnType.TIMESTAMP else None,
        codes=codes,
        missing_texts=missing_texts(section, kind),
        stored_at=_stored_at(section),
    )
    section.finish()
    return column


def _labelled(name: str, section: Section, codes: Codes) -> Column:
    """Return a column of labels: texts, all of which are public keys, in the order of the file."""
    column = Column(
        name=name,
        type=ColumnType.TEXT,
        keys=tuple(dict.fromkeys(str(label) for _, label in codes.meanings)),
        nullable=section.get_or("nullable", True, YES_OR_NO),
        codes=codes,
        stored_at=_stored_at(section),
    )
    section.finish()
    return column


_BOUNDS = "Bounds that are known are written as min = 0, max = 500"

_NUMERIC = (ColumnType.INTEGER, ColumnType.REAL)

CALENDAR = (ColumnType.DATE, ColumnType.TIMESTAMP)
"""What falls on a day of the calendar."""


def is_auto(section: Section, key: str, *, otherwise: str) -> bool:
    """Tell whether it is declared that something is chosen from a profile."""
    if not section.has(key):
        return False
    if section.get(key, TEXT, NUMBER, LIST, TABLE) != "auto":
        raise DeclarationError(
            f"{section.place(key)} is not known", must='be "auto", or be left out', next=otherwise
        )
    return True


def _bounds(section: Section, kind: ColumnType) -> Bounds | None:
    if not any(section.has(key) for key in ("min", "max", "step")):
        return None
    lower, upper = section.get("min", NUMBER), section.get("max", NUMBER)
    if kind is ColumnType.INTEGER:
        step = section.get_or("step", 1, NUMBER)
    elif not section.has("step"):
        raise DeclarationError(
            f"{section.place('step')} is missing",
            must="be declared, such as step = 0.1: values are rounded to it",
        )
    else:
        step = section.get("step", NUMBER)
    return located(section.place(), lambda: Bounds(lower=lower, upper=upper, step=step))


def _dates(section: Section) -> DateRange | None:
    if not any(section.has(key) for key in ("min", "max")):
        return None
    first, last = section.get("min", DATE), section.get("max", DATE)
    return located(section.place(), lambda: DateRange(first=first, last=last))


def _zone(section: Section) -> str | None:
    """Return the name of a time zone, if one is declared: it must be known here."""
    name: str | None = section.get_or("zone", None, TEXT)
    if name is None:
        return None
    try:
        zoneinfo.ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # of no such zone, a folder of zones, no proper name
        raise DeclarationError(
            f"{section.place('zone')} is no time zone that is known here",
            must="be a name of the time zone database, such as Europe/Berlin or UTC",
            got=name,
        ) from None
    return name


DEEPEST_PATH = 8
"""How many names the path of a stored field may have."""


def _stored_at(section: Section) -> tuple[str, ...] | None:
    """Return the path of what is stored, if it is said: one name, or a list from the outermost.

    A text is one name, dots and all. So nothing that a name can have in it means anything.
    """
    value = section.get_or("from", None, TEXT, LIST)
    if value is None or isinstance(value, str):
        return None if value is None else (value,)
    if not 1 <= len(value) <= DEEPEST_PATH or not all(isinstance(one, str) for one in value):
        raise DeclarationError(
            f"{section.place('from')} is no path",
            must=f"have 1 to {DEEPEST_PATH} names, each a text, from the outermost",
        )
    if any("\0" in name for name in value):
        raise DeclarationError(f"{section.place('from')} has a character NUL", must="have none")
    return tuple(value)


_KEY_TYPES: dict[ColumnType, type] = {
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.BOOLEAN: bool,
    ColumnType.DATE: datetime.date,
    ColumnType.TIMESTAMP: datetime.datetime,
    ColumnType.TIME: datetime.time,
}


def _keys(section: Section, kind: ColumnType) -> tuple[Key, ...] | None:
    if kind is ColumnType.INTEGER and section.data.get("keys") == RANGE:
        return _whole_range(section)
    keys = section.get_or("keys", None, LIST)
    if keys is None:
        return (False, True) if kind is ColumnType.BOOLEAN else None
    if not keys:
        raise DeclarationError(
            f"{section.place('keys')} is empty", must="list at least one public key"
        )
    for number, key in enumerate(keys):
        place = section.place("keys", str(number))
        if type(key) is not _KEY_TYPES[kind]:
            raise DeclarationError(
                f"{place} is a key of the wrong type", must=f"be in a list of {kind.value} keys"
            )
        if getattr(key, "tzinfo", None) is not None:
            raise DeclarationError(
                f"{place} is a key with an offset",
                must="be as calendar and clock on the wall show it, such as 2025-01-31T10:00:00",
            )
        if isinstance(key, int) and not -(2**63) <= key < 2**63:
            raise DeclarationError(f"{place} is a key that is too large", must="fit in 64 bits")
    section.refuse_repeats(keys, "keys")
    return tuple(keys)


def _keys_from(section: Section) -> KeysFrom | None:
    """Return the column of a public table that has the keys, if one is named."""
    if not isinstance(section.data.get("keys"), dict):
        return None
    section.get("keys", TABLE)
    keys = section.sub("keys")
    found = KeysFrom(keys.get("table", TEXT), keys.get("column", TEXT))
    keys.finish()
    return found


RANGE = "range"
"""What ``keys`` says where every whole number of the range is a key."""


def _whole_range(section: Section) -> tuple[Key, ...]:
    """Return the whole numbers of the declared range, in its steps."""
    section.choice("keys", [RANGE])
    bounds = _bounds(section, ColumnType.INTEGER)
    if bounds is None:
        raise DeclarationError(
            f"{section.place('keys')} has no range", must="stand beside min and max"
        )
    found = whole_numbers(bounds)
    if found is None:
        size = bounds.upper_steps - bounds.lower_steps + 1
        raise DeclarationError(
            f"{section.place('keys')} has too many numbers, or a step with a fraction",
            must=f"have a whole step and at most {MOST_IN_RANGE:,} numbers",
            got=f"{size:,} in steps of {bounds.step}",
            next="Declare a larger step or a narrower range, or group by width_bucket",
        )
    return found
