"""Columns in ``discreet.toml``: a type, perhaps a range, perhaps public keys."""

import datetime

from discreet.core.errors import DeclarationError
from discreet.tables.column import Bounds, Column, ColumnType, DateRange, Key
from discreet.tables.declarations.section import (
    DATE,
    LIST,
    NUMBER,
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
    column = Column(
        name=name,
        type=kind,
        bounds=_bounds(section, kind) if kind in _NUMERIC else None,
        dates=_dates(section) if kind is ColumnType.DATE else None,
        keys=_keys(section, kind) if kind is not ColumnType.REAL else None,
        nullable=section.get_or("nullable", True, YES_OR_NO),
    )
    section.finish()
    return column


_NUMERIC = (ColumnType.INTEGER, ColumnType.REAL)


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


_KEY_TYPES: dict[ColumnType, type] = {
    ColumnType.TEXT: str,
    ColumnType.INTEGER: int,
    ColumnType.BOOLEAN: bool,
    ColumnType.DATE: datetime.date,
}


def _keys(section: Section, kind: ColumnType) -> tuple[Key, ...] | None:
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
        if isinstance(key, int) and not -(2**63) <= key < 2**63:
            raise DeclarationError(f"{place} is a key that is too large", must="fit in 64 bits")
    section.refuse_repeats(keys, "keys")
    return tuple(keys)
