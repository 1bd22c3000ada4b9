"""Cells that are Python objects, as a column of ``object`` in pandas has them: each becomes a text.

A column of objects has no type of its own: a number can stand beside a text, a date and a list. So
each cell is written out as a text, and that is read as the declared type, as in a CSV file.
"""

import datetime
import math
import uuid
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core import optional
from discreet.tables.column import Column, ColumnType

LONGEST_INTEGER = 4_096
"""The most bits of an integer that is written out; no declared type holds more."""

LARGEST_EXPONENT = 400
"""Decimals of more digits before or after the point are no number that a declared type holds."""

_NUMBERS = (ColumnType.INTEGER, ColumnType.REAL)


@frozen(kw_only=True)
class CellForm:
    """As what the cells of a column are written out: all that may decide, besides the cell."""

    read_as: ColumnType
    is_id: bool = False
    """Whether the column says whose row it is: then 5, 5.0 and the text 5 are one."""
    has_zone: bool = False

    @staticmethod
    def of(column: Column, *, is_id: bool) -> "CellForm":
        """Return the form of a declared column."""
        return CellForm(read_as=column.read_as, is_id=is_id, has_zone=column.zone is not None)


def cell_texts(cells: Any, form: CellForm) -> Any:
    """Return Python objects as the bytes of texts, NULL where one is missing or cannot be written.

    Guarantee:
        No cell makes this fail, and what becomes of a cell depends on the cell and on the
        declaration.

        Proof. A column of nothing but texts, bytes and missing values is taken over at once, which
        gives for each what :func:`cell_text` gives. Else each is written by itself; whatever a
        cell's own code raises makes it NULL.

    Example:
        >>> form = CellForm(read_as=ColumnType.INTEGER)
        >>> cell_texts([5, "6", 7.0, True, [8], None], form).to_pylist()
        [b'5', b'6', b'7.0', b'1', None, None]
    """
    arrow = optional.load("pyarrow")
    kind = arrow.large_binary()
    try:
        return arrow.array(cells, kind, from_pandas=True)
    except (arrow.ArrowException, TypeError, ValueError):
        pass
    return arrow.array([cell_text(cell, form) for cell in cells], kind)


def cell_text(cell: object, form: CellForm) -> bytes | None:
    """Return one cell as the bytes of a text, or ``None`` if it is missing or of another kind."""
    try:
        kind: Any = type(cell)
        write = _writer(kind)
        return None if write is None else write(cell, form)
    except Exception:  # a cell may be of a class with code of its own
        return None


def _boolean(cell: Any, form: CellForm) -> bytes:
    if form.read_as in _NUMBERS:
        return b"1" if cell else b"0"
    return b"true" if cell else b"false"


def _integer(cell: Any, form: CellForm) -> bytes | None:
    number = int.__index__(cell) if isinstance(cell, int) else int(cell)
    if form.read_as is ColumnType.BOOLEAN:
        return _boolean(number != 0, form)
    return b"%d" % number if number.bit_length() <= LONGEST_INTEGER else None


def _float(cell: Any, form: CellForm) -> bytes | None:
    number = float.__float__(cell) if isinstance(cell, float) else float(cell)
    if math.isnan(number):
        return None
    if form.is_id:
        # As of stored floats: from a number on, two integers are one and the same float.
        digits = np.finfo(type(cell)).nmant + 1 if isinstance(cell, np.floating) else 53
        is_whole = math.isfinite(number) and number.is_integer() and abs(number) < 2 ** int(digits)
        return b"%d" % int(number) if is_whole else None
    if form.read_as is ColumnType.BOOLEAN:
        return _boolean(number != 0, form)
    return repr(number).encode()


def _decimal(cell: Any, form: CellForm) -> bytes | None:
    if not cell.is_finite():
        return None if cell.is_nan() or form.is_id else str(cell).encode()
    if abs(cell.adjusted()) > LARGEST_EXPONENT or len(cell.as_tuple().digits) > LARGEST_EXPONENT:
        return None
    if form.is_id:
        return b"%d" % int(cell) if cell == cell.to_integral_value() else None
    if form.read_as is ColumnType.BOOLEAN:
        return _boolean(cell != 0, form)
    return f"{cell:f}".encode()


def _moment(cell: Any, form: CellForm) -> bytes | None:
    if cell.utcoffset() is None:
        return _written(cell.isoformat(sep=" "))
    if form.read_as is ColumnType.TIMESTAMP and not form.has_zone:
        return None  # an instant, and nobody said on whose wall
    return _written(cell.astimezone(datetime.UTC).isoformat(sep=" "))


def _time(cell: Any, _: CellForm) -> bytes | None:
    return _written(cell.isoformat()) if cell.utcoffset() is None else None


def _written(text: str) -> bytes | None:
    return None if text == "NaT" else text.encode()


def _text(cell: Any, _: CellForm) -> bytes:
    # What is no Unicode text stays no UTF-8, and reads as NULL where all texts are looked at.
    return str.encode(cell, "utf-8", "surrogatepass")


Write = Callable[[Any, CellForm], bytes | None]

_WRITTEN: Iterable[tuple[tuple[type, ...], Write]] = (
    ((str,), _text),
    ((bool, np.bool_), _boolean),
    ((int, np.integer), _integer),
    ((float, np.floating), _float),
    ((bytes, bytearray, memoryview), lambda cell, _: bytes(cell)),
    ((Decimal,), _decimal),
    ((datetime.datetime,), _moment),
    ((datetime.date,), lambda cell, _: cell.isoformat().encode()),
    ((datetime.time,), _time),
    ((np.datetime64,), lambda cell, _: _written(str(cell))),
    ((uuid.UUID,), lambda cell, _: str(cell).encode()),
)
"""How cells are written out, by their classes, the narrower ones first. Any other is no value."""


@lru_cache(maxsize=256)
def _writer(kind: type) -> Write | None:
    return next((write for kinds, write in _WRITTEN if issubclass(kind, kinds)), None)
