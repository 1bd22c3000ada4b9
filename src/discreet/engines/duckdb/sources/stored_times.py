"""Timestamps and times of day, from whatever a file stores, cell by cell.

A timestamp is what calendar and clock on the wall show, in whole microseconds; finer parts are
rounded down. An instant (Parquet in UTC, DuckDB's TIMESTAMPTZ, a text with Z, UTC or an offset)
shows another time on each wall, so the owner declares whose wall it is.
"""

import datetime
import zoneinfo
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core import optional
from discreet.core.arrow_arrays import flags_of, integers_of, rebuilt
from discreet.engines.duckdb.sources.stored_values import is_valid, stored
from discreet.tables.column import Column, ColumnType

SECOND = 10**6
HOUR, DAY = 3_600 * SECOND, 86_400 * SECOND
"""In microseconds."""

FIRST, LAST = -62_135_596_800 * SECOND, 253_402_300_800 * SECOND - 1
"""The first microsecond of the year 1 and the last of the year 9999, counted from 1970."""

LONGEST_FORM = 64
"""The most bytes of a text that is read as a timestamp or a time."""


def clock_type(kind: ColumnType) -> Any:
    """Return the Arrow type in which a declared timestamp or time reaches an engine."""
    arrow = optional.load("pyarrow")
    return arrow.time64("us") if kind is ColumnType.TIME else arrow.timestamp("us")


def clock_array(column: Column, array: Any) -> Any:
    """Return a handed-over array as the declared timestamps or times, NULL where it has none.

    Guarantee:
        No value makes this fail, and what becomes of a row depends on its own bits, its type and
        the declaration. Everything else than NULL is in the years 1 to 9999, or within a day.

    Example:
        >>> import pyarrow
        >>> seen = Column(name="seen", type=ColumnType.TIMESTAMP, zone="Europe/Berlin")
        >>> texts = ["2024-07-01T10:00:00Z", "2024-07-01 10:00", "10:00"]
        >>> found = clock_array(seen, pyarrow.array(texts, pyarrow.large_string()))
        >>> [value and value.hour for value in found.to_pylist()]
        [12, 10, None]
    """
    if column.type is ColumnType.TIME:
        return _times(array)
    arrow, kind = optional.load("pyarrow"), array.type
    if arrow.types.is_large_string(kind):
        return _read_timestamps(array, column.zone)
    if arrow.types.is_date32(kind):
        midnight = stored(array, np.int32)[:, 0].astype(np.int64) * DAY
        return _timestamps(midnight, is_valid(array))
    if not arrow.types.is_timestamp(kind):
        return arrow.nulls(len(array), clock_type(column.type))
    number, valid = stored(array, np.int64)[:, 0], is_valid(array)
    if kind.tz is None:
        return _timestamps(number, valid)
    if column.zone is None:  # an instant, and nobody said on whose wall
        return arrow.nulls(len(array), clock_type(column.type))
    return _timestamps(wall_times(np.where(valid, number, 0), column.zone), valid)


def _timestamps(number: Any, valid: Any) -> Any:
    inside = valid & (number >= FIRST) & (number <= LAST)
    return rebuilt(clock_type(ColumnType.TIMESTAMP), number, inside)


# ---- Time zones.


def wall_times(instants: Any, zone: str) -> Any:
    """Return what clocks in a zone show at instants, all in microseconds from 1970.

    Each day is looked up at both of its ends. Where they differ, a clock was changed in it, and its
    hours, minutes and seconds are.

    Assumes:
        No clock is changed twice within one day and back to where it was: in the time zone database
        there are more than six days between any two changes. The zone is one that this machine
        knows.

    Example:
        >>> int(wall_times(np.array([0]), "Asia/Kolkata")[0]) // 60_000_000
        330
    """
    return instants + _offsets(instants // SECOND, zoneinfo.ZoneInfo(zone)) * SECOND


def _offsets(seconds: Any, zone: zoneinfo.ZoneInfo, spans: Sequence[int] = (86_400, 3_600)) -> Any:
    """Return how many seconds a zone is ahead of UTC, by spans at whose ends that is the same."""
    span, *finer = *spans, 1
    blocks, places = np.unique(seconds // span, return_inverse=True)
    begin, end = (
        np.array([_offset(int(block) * span + more, zone) for block in blocks], dtype=np.int64)
        for more in (0, span - 1)
    )
    offsets, changed = begin[places], np.flatnonzero((begin != end)[places])
    if len(changed):
        offsets[changed] = _offsets(seconds[changed], zone, finer[:-1])
    return offsets


_UNIX = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_EDGE = 2 * 86_400


def _offset(second: int, zone: zoneinfo.ZoneInfo) -> int:
    """Return how many seconds a zone is ahead of UTC; at the ends of the calendar, as days before.

    Python's calendar has no day after its last, which a zone ahead of UTC would need.
    """
    inside = min(max(second, FIRST // SECOND + _EDGE), LAST // SECOND - _EDGE)
    offset = (_UNIX + datetime.timedelta(seconds=inside)).astimezone(zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


# ---- Texts.

_SECONDS = r"(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]+))?)?"
_CLOCK = rf"(?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}}){_SECONDS}"
_ZONE = r"(?: ?(?P<sign>(?i:Z|UTC|GMT)|[+-])(?:(?P<ahead>[0-9]{2})(?::?(?P<minutes>[0-9]{2}))?)?)?"
_ZERO = ("Z", "UTC", "GMT")
"""Words for an offset of nothing. Those of other zones are not read: several mean two of them."""
_DATE = r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
TIMESTAMP_FORM = rf"^[ \t]*{_DATE}(?:[ Tt]{_CLOCK}{_ZONE})?[ \t]*$"
TIME_FORM = rf"^[ \t]*{_CLOCK}[ \t]*$"


def _parts(array: Any, form: str) -> tuple[dict[str, Any], Any]:
    """Return the named parts of texts of a form, as texts, and which texts have it."""
    compute = optional.load("pyarrow.compute")
    short = compute.less_equal(compute.binary_length(array), LONGEST_FORM)
    found = compute.extract_regex(compute.if_else(short, array, None), form)
    valid = is_valid(found)
    return {part.name: found.field(i).fill_null("") for i, part in enumerate(found.type)}, valid


def _number(digits: Any) -> Any:
    """Return digits as numbers, nothing as 0."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    written = compute.if_else(compute.equal(digits, ""), "0", digits)
    return integers_of(written.cast(arrow.int64()))


def _clock(parts: dict[str, Any]) -> tuple[Any, Any]:
    """Return microseconds since midnight, and whether a clock shows them."""
    compute = optional.load("pyarrow.compute")
    hour, minute, second = (_number(parts[name]) for name in ("hour", "minute", "second"))
    six = compute.utf8_rpad(compute.utf8_slice_codeunits(parts["part"], 0, 6), 6, "0")
    number = hour * HOUR + minute * 60 * SECOND + second * SECOND + _number(six)
    return number, (hour < 24) & (minute < 60) & (second < 60)


def _read_timestamps(array: Any, zone: str | None) -> Any:
    parts, valid = _parts(array, TIMESTAMP_FORM)
    clock, is_clock = _clock(parts)
    day, is_day = _days(*(_number(parts[name]) for name in ("year", "month", "day")))
    ahead, is_instant, is_offset = _written_offsets(parts)
    wall, valid = day * DAY + clock, valid & is_clock & is_day & is_offset
    if zone is not None:
        rows = np.flatnonzero(is_instant & valid)
        wall[rows] = wall_times(wall[rows] - ahead[rows] * SECOND, zone)
    return _timestamps(wall, valid)


def _days(year: Any, month: Any, day: Any) -> tuple[Any, Any]:
    """Return the days since 1970, and whether the calendar has such a day."""
    months = (year - 1970) * 12 + month - 1
    first, following = (
        (months + i).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        for i in range(2)
    )
    is_day = (month >= 1) & (month <= 12) & (day >= 1) & (day <= following - first)
    return first + day - 1, is_day


def _written_offsets(parts: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return how far ahead of UTC texts say to be, which of them say it, and whether it is sane."""
    sign = optional.load("pyarrow.compute").utf8_upper(parts["sign"])
    is_ahead, is_behind, says_none = (_is_one_of(sign, [one]) for one in ("+", "-", ""))
    hours, minutes = _number(parts["ahead"]), _number(parts["minutes"])
    has_hours = ~_is_one_of(parts["ahead"], [""])
    ahead = (hours * 3_600 + minutes * 60) * np.where(is_behind, -1, 1)
    is_zulu = _is_one_of(sign, _ZERO) & ~has_hours
    is_number = (is_ahead | is_behind) & has_hours & (hours < 24) & (minutes < 60)
    return ahead, ~says_none, says_none | is_zulu | is_number


def _is_one_of(texts: Any, words: Sequence[str]) -> Any:
    """Tell which of some texts, none of them NULL, are among some words."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    return flags_of(compute.is_in(texts, value_set=arrow.array(words, texts.type)))


def _times(array: Any) -> Any:
    """Return times of day; of anything but times and texts there are none."""
    arrow = optional.load("pyarrow")
    handed = clock_type(ColumnType.TIME)
    if arrow.types.is_time(array.type):
        return array
    if not arrow.types.is_large_string(array.type):
        return arrow.nulls(len(array), handed)
    parts, valid = _parts(array, TIME_FORM)
    number, is_clock = _clock(parts)
    return rebuilt(handed, number, valid & is_clock)


def times_in_a_day(array: Any) -> Any:
    """Return stored times of day of any unit in microseconds, rounded down, NULL beyond a day.

    Example:
        >>> import pyarrow
        >>> times = pyarrow.array([-1, 0, 86_399_999, 86_400_000], pyarrow.int32())
        >>> times_in_a_day(times.view(pyarrow.time32("ms"))).is_valid().to_pylist()
        [False, True, True, False]
    """
    unit = array.type.unit
    number = stored(array, np.int32 if array.type.bit_width == 32 else np.int64)[:, 0]
    each_day = {"s": 86_400, "ms": 86_400_000, "us": DAY, "ns": DAY * 1000}[unit]
    valid = is_valid(array) & (number >= 0) & (number < each_day)
    number = np.where(valid, number, 0).astype(np.int64)
    micros = number * (DAY // each_day) if unit != "ns" else number // 1000
    return rebuilt(clock_type(ColumnType.TIME), micros, valid)
