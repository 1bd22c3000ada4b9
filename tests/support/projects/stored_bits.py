"""Columns of raw bits: every stored type, with whatever a file can hold in it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.core.protocols import Rng
from discreet.engines.duckdb.sources.stored_values import decimals_in_range
from tests.support.statistics.numbered_rng import NumberedRng

DECIMALS = [
    *[(pa.decimal128, p, s) for p, s in ((1, 0), (1, 1), (4, 2), (5, 5), (9, 2), (10, 0), (18, 6))],
    *[(pa.decimal128, p, s) for p, s in ((19, 19), (19, 0), (37, 3), (38, 0), (38, 10), (38, 38))],
    *[(pa.decimal32, 5, 2), (pa.decimal32, 9, 9), (pa.decimal64, 18, 0), (pa.decimal64, 12, 3)],
    *[(pa.decimal256, 38, 2), (pa.decimal256, 9, 9), (pa.decimal256, 19, 0)],
]
ODD_DECIMALS = [(pa.decimal128, p, s) for p, s in ((5, -2), (3, -35), (30, -9), (2, 5), (9, 40))]
"""Scales that Parquet refuses; the last two cannot be handed over at all."""

NUMBERS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64()),
]
TIMES = [
    *(pa.date32(), pa.date64()),
    *(pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.timestamp(unit, "Asia/Tokyo") for unit in ("s", "ms", "us", "ns")),
]
CLOCKS = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
TEXTS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]

_WORDS = [
    *(b"", b"5", b"5.0", b"-0", b"nan", b"inf", b"1e400", b"true", b"9999-12-31", b"0000-01-01"),
    *(b"2025-02-30", b"\xff\xfe", b"\xc3\xa9", b"\x00", b"290000-01-01", b"9" * 60, b"-1.5e-3"),
    *(b"9223372036854775808", b"-9223372036854775808", b"2025-01-01 25:00:00", b" 7 ", b"epoch"),
    *(b"2025-07-01T10:00:00Z", b"2025-07-01 10:00+14:00", b"1969-12-31 23:59:59,9999999-0230"),
    *(b"0001-01-01 00:00+23:59", b"9999-12-31 23:59:59-23:59", b"10:20:30.5", b"24:00", b"23:59"),
]


def stored_types(file: str, *, is_long: bool) -> dict[str, pa.DataType]:
    """Return every type whose raw bits a kind of file takes, by a name for it.

    A short run takes all of them from Arrow files, and some from others.
    """
    dictionaries = [
        pa.dictionary(pa.int8(), pa.string()),
        *(pa.dictionary(pa.int16(), kind) for kind in (pa.decimal128(9, 2), pa.timestamp("us"))),
        pa.dictionary(pa.uint8(), pa.float64()),
    ]
    decimals = [make(p, s) for make, p, s in DECIMALS]
    odd = [make(p, s) for make, p, s in ODD_DECIMALS]
    plain = [*NUMBERS, *TIMES, *CLOCKS, *TEXTS, pa.bool_(), pa.null()]
    kinds = {
        "csv": [pa.binary()] * 3,
        "parquet": [*(k for k in plain if not _in_seconds(k)), *decimals, dictionaries[0]],
        "arrow": [*plain, *decimals, *odd, *dictionaries],
        "duckdb": [k for k in plain if k not in (pa.float16(), *TEXTS[:2], *CLOCKS)],
    }
    kinds["feather"] = kinds["arrow"]
    zoned = [pa.timestamp(unit, "UTC") for unit in ("us", "ns")]
    kinds["duckdb"] = [k for k in kinds["duckdb"] if getattr(k, "tz", None) is None]
    kinds["duckdb"] += [*zoned, *(make(p, s) for make, p, s in DECIMALS)]
    step = 1 if is_long else {"parquet": 2, "feather": 4, "duckdb": 3}.get(file, 1)
    return {f"t{number}": kind for number, kind in enumerate(kinds[file][::step])}


def _in_seconds(kind: pa.DataType) -> bool:
    return getattr(kind, "unit", None) == "s"


def raw_column(kind: pa.DataType, rows: int, rng: Rng, *, spoil: bool = True) -> pa.Array:
    """Return random and extreme bits as an array of a type; one row in seven is NULL.

    If ``spoil`` is false, places of dictionaries are all within them.
    """
    valid = rng.words(rows) % np.uint64(7) != 0
    bitmap = pa.py_buffer(np.packbits(valid, bitorder="little"))
    if pa.types.is_dictionary(kind):
        entries = raw_column(kind.value_type, 40, NumberedRng(0))  # the same one everywhere
        indices = raw_column(kind.index_type, rows, rng)
        if not spoil:  # nor is any entry NULL, which Parquet does not write
            entries = entries.drop_null()
            small = (rng.words(rows) % np.uint64(len(entries))).astype(np.int64)
            indices = pa.array(small, mask=~valid).cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, entries, safe=False)
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    if kind in TEXTS:
        return _texts(kind, rows, valid, rng)
    if pa.types.is_boolean(kind):
        return pa.Array.from_buffers(kind, rows, [bitmap, pa.py_buffer(rng.words(rows).tobytes())])
    return pa.Array.from_buffers(kind, rows, [bitmap, pa.py_buffer(_fixed(kind, rows, rng))])


def _fixed(kind: pa.DataType, rows: int, rng: Rng) -> bytes:
    """Return numbers of the type's width: extreme ones first, then random ones of any size."""
    width = kind.bit_width
    numbers = [*_extremes(kind)[:rows]]
    for words in rng.words(5 * rows).reshape(rows, 5).tolist():
        if len(numbers) >= rows:
            break
        number = sum(word << 64 * i for i, word in enumerate(words[:4])) % 2**width
        size = words[4] % width
        numbers.append((number - 2 ** (width - 1)) >> size)
    return b"".join((number % 2**width).to_bytes(width // 8, "little") for number in numbers)


def _extremes(kind: pa.DataType) -> list[int]:
    width = kind.bit_width
    ends = [0, 1, -1, 2 ** (width - 1), 2 ** (width - 1) - 1, 2 ** (width - 1) + 1]
    if pa.types.is_decimal(kind):
        digits = 10**kind.precision
        ends += [sign * (digits + more) for sign in (1, -1) for more in (-1, 0, 1)]
        ends += [sign * 2**k for sign in (1, -1) for k in (15, 16, 31, 32, 63, 64, 126, 127)]
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        a_second = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[getattr(kind, "unit", "ms")]
        for second in (-62_135_596_800, 253_402_300_800, 0):
            unit = a_second * second if width == 64 else second // 86_400
            ends += [unit - 1, unit, unit + 1]
        ends += [-9_223_372_022_400_000_000, -9_223_372_022_400_000_001]
    if pa.types.is_floating(kind):
        numbers = [0.0, -0.0, 5.0, 5.5, np.inf, -np.inf, np.nan, 1e300, 2.0**53, -3.0, 2049.0]
        with np.errstate(over="ignore"):
            ends += np.array(numbers).astype(f"f{width // 8}").view(f"u{width // 8}").tolist()
    return ends


def _texts(kind: pa.DataType, rows: int, valid: Any, rng: Rng) -> pa.Array:
    words = []
    for word in rng.words(rows).tolist():
        raw = word.to_bytes(8, "little")
        words.append(_WORDS[word % len(_WORDS)] if word % 2 else raw[: word % 9])
    wide = pa.large_binary() if kind in (pa.large_string(), pa.large_binary()) else pa.binary()
    array = pa.array(words, wide, mask=~valid)
    return pa.Array.from_buffers(kind, rows, array.buffers())


def raw_columns(
    kinds: Mapping[str, pa.DataType], rows: int, rng: Rng, file: str
) -> dict[str, pa.Array]:
    """Return one column of raw bits for each type, as far as a kind of file can be written."""
    columns = {}
    for name, kind in kinds.items():
        columns[name] = raw_column(kind, rows, rng, spoil=file != "parquet")
        if file == "duckdb" and pa.types.is_decimal(kind):  # others cannot get into such a file
            columns[name] = decimals_in_range(columns[name])
    return columns
