"""What becomes NULL before an engine sees it, bit for bit, against plain integers."""

import datetime
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.duckdb.sources.arrow_source import handed_array, handed_id_type, handed_type
from discreet.engines.duckdb.sources.duckdb_source import PARQUET
from discreet.engines.duckdb.sources.stored_values import (
    decimals_in_range,
    times_in_range,
    whole_floats,
)
from tests.support.projects.parquet_footer import as_decimal
from tests.support.projects.stored_bits import raw_column

MAKERS = {32: pa.decimal32, 64: pa.decimal64, 128: pa.decimal128, 256: pa.decimal256}
MOST = {32: 9, 64: 18, 128: 38, 256: 76}


def numbers_of(array: pa.Array) -> list[int | None]:
    """Return the stored whole numbers of an array of fixed width, one sign at a time."""
    width = array.type.bit_width // 8
    data = array.buffers()[1].to_pybytes() if len(array) else b""
    spots = range(array.offset * width, (array.offset + len(array)) * width, width)
    found = [int.from_bytes(data[i : i + width], "little", signed=True) for i in spots]
    valid = array.is_valid().to_pylist()
    return [number if is_there else None for number, is_there in zip(found, valid, strict=True)]


def expected_decimals(array: pa.Array) -> list[Decimal | None]:
    with localcontext(prec=200):
        bound, scale = 10**array.type.precision, array.type.scale
        return [
            None if n is None or abs(n) >= bound else Decimal(n).scaleb(-scale)
            for n in numbers_of(array)
        ]


@pytest.mark.parametrize("width", MAKERS)
def test_a_decimal_beyond_its_precision_is_null_and_no_other(rng, width):
    for precision in range(1, MOST[width] + 1):
        for scale in {0, precision, precision // 2, -2, precision + 1}:
            array = raw_column(MAKERS[width](precision, scale), 40, rng)
            if handed_type(array.type) is None:
                assert max(precision, precision - scale, scale) > 38
                continue
            for part in (array, array.slice(3), array.slice(5, 9), array.slice(0, 0)):
                found = decimals_in_range(part)
                found.validate(full=True)
                assert found.type == handed_type(array.type)
                assert found.to_pylist() == expected_decimals(part)


UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@pytest.mark.parametrize("unit", UNITS)
def test_a_timestamp_is_null_outside_the_years_1_to_9999(rng, unit, zone):
    array = raw_column(pa.timestamp(unit, zone), 300, rng)
    first, last = (
        (time - EPOCH) // datetime.timedelta(seconds=1) * UNITS[unit]
        for time in (datetime.datetime(1, 1, 1, tzinfo=datetime.UTC), LAST)
    )
    ends = (-(2**63), -(2**63) + 1, 2**63 - 1)  # not a time, and the two infinities
    factor = Fraction(10**6, UNITS[unit])  # into microseconds, rounded down
    for part in (array, array.slice(7, 100)):
        expected = [
            math.floor(n * factor)
            if n is not None and first <= n < last + UNITS[unit] and n not in ends
            else None
            for n in numbers_of(part)
        ]
        found = times_in_range(part)
        assert numbers_of(found) == expected
        assert found.type.tz == (None if zone is None else "UTC")
    assert None in expected
    assert any(n is not None for n in expected)


def test_a_date_is_null_outside_the_years_1_to_9999(rng):
    days = [(datetime.date(*day) - EPOCH.date()).days for day in ((1, 1, 1), (9999, 12, 31))]
    array = raw_column(pa.date32(), 300, rng)
    expected = [n if n is not None and days[0] <= n <= days[1] else None for n in numbers_of(array)]
    assert numbers_of(times_in_range(array)) == expected
    array = raw_column(pa.date64(), 300, rng)
    floored = [None if n is None else n // 86_400_000 for n in numbers_of(array)]
    expected = [n if n is not None and days[0] <= n <= days[1] else None for n in floored]
    assert numbers_of(times_in_range(array)) == expected


def test_a_place_beyond_a_dictionary_is_null():
    for kind in (pa.int8(), pa.int64(), pa.uint64()):
        places = [0, 1, 2, None, -1 if pa.types.is_signed_integer(kind) else 2**64 - 1, 1]
        entries = pa.array([Decimal("1.50"), None], pa.decimal128(5, 2))
        indices = pa.array(places, kind)
        array = pa.DictionaryArray.from_arrays(indices, entries, safe=False)
        found = handed_array(array, handed_type(array.type))
        assert found.to_pylist() == [Decimal("1.50"), None, None, None, None, None]
        assert handed_array(array.slice(4), handed_type(array.type)).to_pylist() == [None, None]


# ---- Identifiers.


@pytest.mark.parametrize(("kind", "bits"), [(np.float16, 11), (np.float32, 24), (np.float64, 53)])
def test_a_float_names_somebody_if_it_is_whole_and_exact(kind, bits):
    """From 2 to the number of its bits on, the next whole number is stored as the same float."""
    most = 2**bits - 1
    array = pa.array(np.array([5, -3, 0.5, math.nan, math.inf, -0.0, most, most + 1], kind))
    found = handed_array(array, handed_id_type(array.type))
    assert found.type == pa.int64()
    assert found.to_pylist() == [5, -3, None, None, None, 0, most, None]
    assert kind(most + 1) == kind(most + 2)


@pytest.mark.parametrize(("precision", "scale"), [(9, 2), (38, 38), (38, 1), (18, 0), (5, 5)])
def test_a_decimal_names_somebody_if_it_is_whole(rng, precision, scale):
    array = raw_column(pa.decimal128(precision, scale), 200, rng)
    whole = pa.array([Decimal(0), Decimal(5 if precision > scale else 0)], array.type)
    array = pa.concat_arrays([array, whole])
    found = handed_array(array, handed_id_type(array.type))
    assert found.type.scale == 0
    with localcontext(prec=200):
        within = expected_decimals(array)
        expected = [None if n is None or n != n.to_integral_value() else n for n in within]
    assert found.to_pylist() == expected


# ---- Parquet.

BYTES_16 = [(n % 2**128).to_bytes(16, "big") for n in (150, -150, 99_999, 100_000, -(2**127))]
FORMS = {
    "INT32": (pa.array([150, -150, 99_999, 100_000, -(2**31)], pa.int32()), True),
    "INT64": (pa.array([150, -150, 99_999, 100_000, -(2**63)], pa.int64()), True),
    "fixed": (pa.array(BYTES_16, pa.binary(16)), True),
    "too wide": (pa.array([n.rjust(20, b"\0") for n in BYTES_16], pa.binary(20)), False),
    "of any length": (pa.array([b"\0\x96", b"", b"\x80" * 17], pa.binary()), False),
}


@pytest.mark.parametrize("form", FORMS)
def test_decimals_of_parquet_files_in_every_form(tmp_path: Path, form):
    """Where a value has a length of its own, the library raises on some: then none is read."""
    array, is_readable = FORMS[form]
    path = tmp_path / "decimals.parquet"
    pq.write_table(pa.table({"d": array}), path, write_statistics=False)
    as_decimal(path, "d", 5, 2)
    (column,) = PARQUET.columns(path)
    assert (column.type, column.is_readable) == (pa.decimal128(5, 2), is_readable)
    if not is_readable:
        with pytest.raises(pa.ArrowInvalid):
            list(PARQUET.read(path, [0]))
        return
    ((_, (found,)),) = PARQUET.read(path, [0])
    handed = handed_array(found, handed_type(found.type))
    assert handed.to_pylist() == [Decimal("1.50"), Decimal("-1.50"), Decimal("999.99"), None, None]


@pytest.mark.parametrize("width", [16, 32, 64])
def test_identifiers_of_any_bits_are_read_without_a_word(width):
    """A warning about one person's bits would be seen: here every warning is an error."""
    unsigned = np.dtype(f"u{width // 8}")
    exponent = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[width]
    bits = np.array([exponent + 1, exponent, 2 * exponent + 1, 0, 2 ** (width - 1)], dtype=unsigned)
    kind = {16: pa.float16(), 32: pa.float32(), 64: pa.float64()}[width]
    array = pa.Array.from_buffers(kind, len(bits), [None, pa.py_buffer(bits.tobytes())])
    assert whole_floats(array).to_pylist()[:2] == [None, None]
    assert whole_floats(array).to_pylist()[3:] == [0, 0]


def test_the_last_nanosecond_before_1970_is_in_1969():
    """DuckDB rounds it towards 1970 when it makes a date of it."""
    found = times_in_range(pa.array([-1, -1_000, 0], pa.timestamp("ns"))).cast(pa.date32())
    assert [day.year for day in found.to_pylist()] == [1969, 1969, 1970]
