"""Timestamps and times of day as they are read: every form, every unit, every zone, each row alone.

The oracle is Python's own arithmetic on single values: whole numbers of any size, and the time zone
database through ``datetime``.
"""

import datetime
import zoneinfo
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.duckdb.sources import stored_times
from discreet.engines.duckdb.sources.arrow_source import handed_array, handed_type
from discreet.engines.duckdb.sources.stored_times import FIRST, LAST, clock_array, wall_times
from discreet.tables.column import Column, ColumnType
from tests.support.projects.stored_bits import raw_column

TIMESTAMP, TIME = ColumnType.TIMESTAMP, ColumnType.TIME
UNIX = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a wall, of no zone
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
ZONES = [
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe",
    "America/St_Johns", "Pacific/Apia", "Africa/Monrovia", "Asia/Kathmandu", "Europe/Dublin",
    "Antarctica/Troll", "America/Sao_Paulo",
]  # fmt: skip


def column(kind: ColumnType, zone: str | None = None) -> Column:
    return Column(name="seen", type=kind, zone=zone)


def read_texts(texts: Sequence[str | None], kind: ColumnType, zone: str | None = None) -> list[Any]:
    return clock_array(column(kind, zone), pa.array(texts, pa.large_string())).to_pylist()


def moment(*parts: int) -> datetime.datetime:
    return datetime.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001


FORMS = {
    "2024-02-29": moment(2024, 2, 29),
    "2024-02-29 10:20": moment(2024, 2, 29, 10, 20),
    "2024-02-29T10:20:30": moment(2024, 2, 29, 10, 20, 30),
    " 2024-02-29 10:20:30.5\t": moment(2024, 2, 29, 10, 20, 30, 500_000),
    "2024-02-29 10:20:30,123456999": moment(2024, 2, 29, 10, 20, 30, 123_456),
    "1969-12-31 23:59:59.9999999": moment(1969, 12, 31, 23, 59, 59, 999_999),
    "0001-01-01 00:00:00": moment(1, 1, 1),
    "9999-12-31 23:59:59.999999": moment(9999, 12, 31, 23, 59, 59, 999_999),
}
INSTANTS = {
    "2024-07-01T10:00:00Z": moment(2024, 7, 1, 12),
    "2024-01-01 10:00z": moment(2024, 1, 1, 11),
    "2024-07-01 10:00:00.25 +05:30": moment(2024, 7, 1, 6, 30, 0, 250_000),
    "2024-07-01T10:00:00-0330": moment(2024, 7, 1, 15, 30),
    "2024-07-01T10:00:00+02": moment(2024, 7, 1, 10),
    "2024-10-27T00:30:00Z": moment(2024, 10, 27, 2, 30),
    "2024-10-27T01:30:00Z": moment(2024, 10, 27, 2, 30),
    "2024-03-31T00:59:59Z": moment(2024, 3, 31, 1, 59, 59),
    "2024-03-31T01:00:00Z": moment(2024, 3, 31, 3),
}
NOT_TIMESTAMPS = [
    None, "", " ", "x", "2024", "2024-02", "2024-02-30", "2023-02-29", "2024-00-10", "2024-13-01",
    "2024-01-00", "0000-01-01", "10000-01-01", "-2024-01-01", "2024-01-01 24:00", "epoch",
    "2024-01-01 23:60", "2024-01-01 23:59:60", "2024-01-01 1:00", "2024-01-01 10", "infinity",
    "2024-01-01 10:00:00.", "2024-01-01  10:00", "2024-01-01Z", "2024-01-01 10:00+", "now",
    "2024-01-01 10:00+2", "2024-01-01 10:00+24:00", "2024-01-01 10:00+02:60", "10:00",
    "2024-01-01 10:00 Europe/Berlin", "2024-01-01 10:00 Z02", "2024-01-01 (BC)", "٢٠٢٤-01-01",
    "2024-01-01 10:00:00\n", "2024-01-01 10:00:00." + "1" * 60, "2" * 100_000, "20240101",
]  # fmt: skip


def test_texts_are_read_as_they_are_written():
    assert read_texts(list(FORMS), TIMESTAMP) == list(FORMS.values())
    assert read_texts(list(FORMS), TIMESTAMP, "Europe/Berlin") == list(FORMS.values())


def test_instants_are_read_on_the_declared_wall_and_as_written_without_one():
    assert read_texts(list(INSTANTS), TIMESTAMP, "Europe/Berlin") == list(INSTANTS.values())
    written = [
        datetime.datetime.fromisoformat(text.upper().replace(" +", "+")).replace(tzinfo=None)
        for text in INSTANTS
    ]
    assert read_texts(list(INSTANTS), TIMESTAMP) == written


@pytest.mark.parametrize("zone", [None, "Asia/Kolkata"])
def test_what_is_no_timestamp_is_null(zone):
    assert [text for text in NOT_TIMESTAMPS if read_texts([text], TIMESTAMP, zone) != [None]] == []
    beyond = ["9999-12-31 23:00:00-05:00", "0001-01-01 00:00:00+14:00"]
    assert read_texts(beyond, TIMESTAMP, "UTC") == [None, None]


def test_times_of_day():
    forms = {
        "00:00": datetime.time(0, 0),
        "10:20:30": datetime.time(10, 20, 30),
        " 23:59:59.9999999": datetime.time(23, 59, 59, 999_999),
    }
    assert read_texts(list(forms), TIME) == list(forms.values())
    others = ["24:00", "7:00", "10:60", "10", "10:00Z", "2024-01-01 10:00", "-1:00", None, ""]
    assert read_texts(others, TIME) == [None] * len(others)


@pytest.mark.parametrize("zone", ZONES)
def test_a_wall_shows_what_the_time_zone_database_says(rng, zone):
    """Over all years, by the second around now, and where clocks are changed."""
    words = rng.words(900).astype(object)
    seconds = [int(w) % ((LAST - FIRST) // 10**6) + FIRST // 10**6 for w in words[:300]]
    seconds += [int(w) % 4_000_000_000 - 2_000_000_000 for w in words[300:600]]
    seconds += [s for y in range(1900, 2100, 7) for s in changes(zone, y)]
    instants = np.array(seconds) * 10**6 + 999_999
    known, first = zoneinfo.ZoneInfo(zone), datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    for instant, found in zip(instants.tolist(), wall_times(instants, zone).tolist(), strict=True):
        try:
            wall = (first + datetime.timedelta(microseconds=instant)).astimezone(known)
        except OverflowError:  # beyond the calendar, and NULL afterwards
            assert not FIRST <= found <= LAST
            continue
        assert UNIX + datetime.timedelta(microseconds=found) == wall.replace(tzinfo=None)


def changes(zone: str, year: int) -> list[int]:
    """Return the seconds around each change of clocks in a year, found by halving."""
    start = int(datetime.datetime(year, 1, 1, tzinfo=datetime.UTC).timestamp())
    found = []
    for week in range(start, start + 365 * 86_400, 7 * 86_400):
        low, high = week, week + 7 * 86_400
        if offset(low, zone) == offset(high, zone):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (middle, high) if offset(middle, zone) == offset(low, zone) else (low, middle)
            )
        found += [low - 1, low, high, high + 1]
    return found


def offset(second: int, zone: str) -> datetime.timedelta | None:
    moment = datetime.datetime.fromtimestamp(second, tz=zoneinfo.ZoneInfo(zone))
    return moment.utcoffset()


def test_a_wall_that_never_changes_its_clocks_is_caught():
    """Summer time for all of the year is not what is compared with above."""
    july, january = (np.array([s * 10**6]) for s in (1_719_828_000, 1_704_103_200))
    shift = wall_times(july, "Europe/Berlin") - july
    assert (wall_times(january, "Europe/Berlin") != january + shift).all()


@pytest.mark.parametrize("unit", PER_SECOND)
@pytest.mark.parametrize("tz", [None, "Asia/Tokyo"])
def test_stored_timestamps_of_any_bits_are_floored_or_null(rng, unit, tz):
    array = raw_column(pa.timestamp(unit, tz), 400, rng)
    handed = handed_array(array, handed_type(array.type))
    found = clock_array(column(TIMESTAMP, "UTC"), handed)
    found.validate(full=True)
    for bits, value in zip(array.cast(pa.int64()).to_pylist(), found.to_pylist(), strict=True):
        micros = None if bits is None else bits * 10**6 // PER_SECOND[unit]
        inside = micros is not None and FIRST <= micros <= LAST
        is_end = unit == "ns" and bits is not None and abs(bits) >= 2**63 - 1
        if micros is None or not inside or is_end:
            assert value is None
        else:
            assert value == UNIX + datetime.timedelta(microseconds=micros)


def test_an_instant_without_a_declared_zone_is_null_and_other_types_are_too():
    instant = pa.array([0], pa.timestamp("us", "UTC"))
    assert clock_array(column(TIMESTAMP), instant).to_pylist() == [None]
    day = pa.array([-1], pa.int32()).cast(pa.date32())
    assert clock_array(column(TIMESTAMP), day).to_pylist() == [moment(1969, 12, 31)]
    for other in (pa.array([5]), pa.array([True]), pa.array([1.5])):
        for kind in (TIMESTAMP, TIME):
            assert clock_array(column(kind), other).to_pylist() == [None]


@pytest.mark.parametrize(
    "kind", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
)
def test_stored_times_of_any_bits_are_floored_or_null(rng, kind):
    array = raw_column(kind, 400, rng)
    found = clock_array(column(TIME), handed_array(array, handed_type(kind)))
    found.validate(full=True)
    bits = array.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    for stored, value in zip(bits, found.cast(pa.int64()).to_pylist(), strict=True):
        micros = None if stored is None else stored * 10**6 // PER_SECOND[kind.unit]
        is_time = stored is not None and 0 <= stored < 86_400 * PER_SECOND[kind.unit]
        assert value == (micros if is_time else None)


def is_read_alone(rng: Any) -> bool:
    """Tell whether each row is the same beside others as it is by itself."""
    texts = [*FORMS, *INSTANTS, *(t for t in NOT_TIMESTAMPS if t is None or len(t) < 100)]
    shuffled = [texts[i] for i in np.argsort(rng.words(len(texts)))]
    together = read_texts(shuffled, TIMESTAMP, "America/New_York")
    return together == [read_texts([t], TIMESTAMP, "America/New_York")[0] for t in shuffled]


def in_a_wrong_place(instants: Any, zone: str) -> Any:
    """Return wall times with the offsets of the sorted hours, which are in another order."""
    hours = np.unique(instants // stored_times.HOUR) * stored_times.HOUR
    offsets = wall_times(hours, zone) - hours
    return instants + (np.resize(offsets, len(instants)) if len(instants) else 0)


def test_each_row_is_read_alone_and_a_reader_that_mixes_them_is_caught(rng):
    assert is_read_alone(rng)
    with mock.patch.object(stored_times, "wall_times", in_a_wrong_place):
        assert not is_read_alone(rng)
