"""Footers of Parquet files, rewritten: decimals in forms that our own writer does not choose.

A footer is a Thrift structure in the compact protocol. A structure is read as a dictionary from
field numbers to (type, value), a list as (type of its entries, entries).
"""

import struct
from pathlib import Path
from typing import Any

_BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)
_NAME, _CONVERTED, _SCALE, _PRECISION, _LOGICAL = 4, 6, 7, 8, 10
_ELEMENTS, _METADATA = 2, 5
_CONVERTED_DECIMAL, _LOGICAL_DECIMAL, _INT32 = 5, 5, 5


def as_decimal(path: Path, column: str, precision: int, scale: int) -> None:
    """Say in the footer that a column of integers or bytes holds decimals."""
    data = path.read_bytes()
    (size,) = struct.unpack("<I", data[-8:-4])
    footer, _ = _read(data, len(data) - 8 - size, _STRUCT)
    for element in footer[_ELEMENTS][1][1]:
        if element[_NAME][1] == column.encode():
            element[_CONVERTED] = (_INT32, _CONVERTED_DECIMAL)
            element[_SCALE], element[_PRECISION] = (_INT32, scale), (_INT32, precision)
            kind = {1: (_INT32, scale), 2: (_INT32, precision)}
            element[_LOGICAL] = (_STRUCT, {_LOGICAL_DECIMAL: (_STRUCT, kind)})
    footer.pop(_METADATA, None)  # it would say that they are not
    written = _write(_STRUCT, footer)
    path.write_bytes(data[: -8 - size] + written + struct.pack("<I", len(written)) + b"PAR1")


def _read(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2):  # true and false, in a field
        return kind == 1, at
    if kind == _BYTE:
        return data[at : at + 1], at + 1
    if kind in _INTEGERS:
        number, at = _read_number(data, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == _DOUBLE:
        return data[at : at + 8], at + 8
    if kind == _BINARY:
        size, at = _read_number(data, at)
        return data[at : at + size], at + size
    return _read_list(data, at) if kind in (_LIST, _SET) else _read_struct(data, at)


def _read_list(data: bytes, at: int) -> tuple[Any, int]:
    size, kind, at = data[at] >> 4, data[at] & 15, at + 1
    if size == 15:
        size, at = _read_number(data, at)
    entries = []
    for _ in range(size):
        entry, at = (data[at], at + 1) if kind in (1, 2) else _read(data, at, kind)
        entries.append(entry)
    return (kind, entries), at


def _read_struct(data: bytes, at: int) -> tuple[Any, int]:
    found: dict[int, tuple[int, Any]] = {}
    number = 0
    while data[at]:
        step, kind, at = data[at] >> 4, data[at] & 15, at + 1
        if not step:
            step, at = _read(data, at, _INT32)
            number = 0
        number += step
        value, at = _read(data, at, kind)
        found[number] = kind, value
    return found, at + 1


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return number, at


def _write(kind: int, value: Any) -> bytes:
    if kind in (_BYTE, _DOUBLE):
        return bytes(value)
    if kind in _INTEGERS:
        return _write_number((value << 1) ^ (value >> 63))
    if kind == _BINARY:
        return _write_number(len(value)) + value
    if kind in (_LIST, _SET):
        inner, entries = value
        head = bytes([0xF0 | inner]) + _write_number(len(entries))
        written = (bytes([e]) if inner in (1, 2) else _write(inner, e) for e in entries)
        return head + b"".join(written)
    parts, last = [], 0
    for number, (inner, entry) in sorted(value.items()):
        if inner in (1, 2):
            parts.append(bytes([(number - last) << 4 | (1 if entry else 2)]))
        else:
            parts.append(bytes([(number - last) << 4 | inner]) + _write(inner, entry))
        last = number
    return b"".join(parts) + b"\0"


def _write_number(number: int) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])
