"""Fabricate: made-up rows that match what is declared of a table. No data is looked at."""

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from discreet.core import optional
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import uniform_integers
from discreet.releases.histogram import Histogram
from discreet.tables.catalog import Table
from discreet.tables.column import Column, ColumnType, Key

ROWS_PER_UNIT = 4
"""How many made-up rows one unit has on average."""

Pools = Mapping[str, tuple[Key, ...]]
"""Values that a column of that name (in lower case) should have, so that joins find partners."""

_MISSING = 20
"""One in so many values of a nullable column is missing."""

_OTHER_VALUES = 12
_FIRST_DAY = datetime.date(2025, 1, 1)
_EPOCH = datetime.date(1970, 1, 1)
_DAYS = 365
_SECONDS = 86_400
_SPREAD = 1000
_FURTHEST = 2.0**62


def fabricate(
    table: Table, *, rows: int, pools: Pools, rng: Rng, sizes: Histogram | None = None
) -> Any:
    """Return an Arrow table of ``rows`` made-up rows: types, ranges, keys and units as declared.

    Values are uniform over what is declared, and independent of each other. Where nothing is
    declared, a text is one of twelve words, of which the first ones are more frequent; a whole
    number is below 1000, and a date or a timestamp is in 2025. A unit has about four rows, or as
    many as the ``sizes`` of a profile say. The units of all tables of an id space have the same
    names.

    Example:
        >>> from pathlib import Path
        >>> from discreet import SystemRng
        >>> from discreet.tables.catalog import Limits, PrivacyUnit
        >>> from discreet.tables.source import Source, SourceFormat
        >>> visits = Table(
        ...     name="visits",
        ...     source=Source(path=Path("v.parquet"), format=SourceFormat.PARQUET),
        ...     unit=PrivacyUnit(id_space="people", column="person"),
        ...     columns=(Column(name="person", type=ColumnType.INTEGER),),
        ...     limits=Limits(rows_per_group=1, groups_per_unit=1),
        ... )
        >>> fabricate(visits, rows=100, pools={}, rng=SystemRng()).shape
        (100, 1)
    """
    arrow = optional.load("pyarrow")
    unit = [name.lower() for name in table.unit.key_columns()]
    owners = [name.lower() for name in table.unit.owner_columns()]
    numbers: IntArray | None = None
    arrays = {}
    for column in table.columns:
        name = column.name.lower()
        if name in owners:
            numbers = _unit_numbers(rows, rng, sizes) if numbers is None else numbers
            known = column.keys or pools.get(name) if len(owners) > 1 else None
            values = _units(column, numbers, known)
        else:
            values = _values(column, pools.get(name), rows, rng)
        missing = None
        if column.nullable and name not in unit:
            missing = uniform_integers(_MISSING, rows, rng) == 0
        arrays[column.name] = arrow.array(values, mask=missing).cast(_arrow_type(column))
    return arrow.table(arrays)


_ARROW_TYPES = {
    ColumnType.INTEGER: ("int64",),
    ColumnType.REAL: ("float64",),
    ColumnType.TEXT: ("string",),
    ColumnType.BOOLEAN: ("bool_",),
    ColumnType.DATE: ("date32",),
    ColumnType.TIMESTAMP: ("timestamp", "us"),
    ColumnType.TIME: ("time64", "us"),
}
"""The name of each Arrow type, and its unit."""


def _arrow_type(column: Column) -> Any:
    """Return the type in which a column is stored; a timestamp as what the wall shows."""
    name, *unit = _ARROW_TYPES[column.read_as]
    return getattr(optional.load("pyarrow"), name)(*unit)


def _unit_numbers(rows: int, rng: Rng, sizes: Histogram | None) -> IntArray:
    """Return the number of the unit of each row; all columns that name the unit follow from it."""
    if sizes is None or sizes.cleaned.sum() < 1:
        return uniform_integers(max(1, rows // ROWS_PER_UNIT), rows, rng) + 1
    return _profiled(sizes, rows, rng)


def _units(column: Column, numbers: IntArray, known: tuple[Key, ...] | None) -> Any:
    if known:
        return _taken(list(known), numbers % len(known))
    if column.type is ColumnType.TEXT:
        return _taken(
            [f"unit {number}" for number in range(int(numbers.max(initial=0)) + 1)], numbers
        )
    return numbers


def _profiled(sizes: Histogram, rows: int, rng: Rng) -> IntArray:
    """Return the number of the unit of each row: units have as many rows as a profile says."""
    upper = np.cumsum(np.rint(sizes.cleaned).astype(np.int64))
    bins = np.searchsorted(upper, uniform_integers(max(1, int(upper[-1])), rows, rng), side="right")
    first = np.array(sizes.starts)[bins]
    last = np.array((*sizes.ends, sizes.starts[-1]))[bins]
    wide = last - first + 1
    each = first + uniform_integers(2**31, rows, rng) % wide
    units = int(np.searchsorted(np.cumsum(each), rows)) + 1
    return np.repeat(np.arange(1, units + 1), each[:units])[:rows]


def _values(column: Column, pool: tuple[Key, ...] | None, rows: int, rng: Rng) -> Any:
    known = column.keys or pool
    if column.codes is not None and column.codes.is_all:
        known = column.codes.stored()
    if known:
        return _taken(list(known), uniform_integers(len(known), rows, rng))
    return _BY_TYPE[column.type](column, rows, rng)


def _taken(values: list[Any], places: IntArray) -> Any:
    """Return the values at the places, as NumPy has them."""
    if isinstance(values[0], str | datetime.time):
        return np.array(values, dtype=object)[places]
    is_moment = isinstance(values[0], datetime.datetime)
    is_day = isinstance(values[0], datetime.date)
    kind = "datetime64[us]" if is_moment else "datetime64[D]" if is_day else None
    return np.array(values, dtype=kind)[places]


def _integers(column: Column, rows: int, rng: Rng) -> Any:
    if column.bounds is None:
        return uniform_integers(_SPREAD, rows, rng)
    values = np.rint(_steps(column, rows, rng) * float(column.bounds.step))
    return np.clip(values, -_FURTHEST, _FURTHEST).astype(np.int64)


def _reals(column: Column, rows: int, rng: Rng) -> Any:
    if column.bounds is None:
        return uniform_integers(_SPREAD, rows, rng) / 10
    return _steps(column, rows, rng) * float(column.bounds.step)


def _steps(column: Column, rows: int, rng: Rng) -> IntArray:
    bounds = column.bounds
    assert bounds is not None
    size = bounds.upper_steps - bounds.lower_steps + 1
    return uniform_integers(size, rows, rng) + bounds.lower_steps


def _texts(_: Column, rows: int, rng: Rng) -> Any:
    # The smaller of two, so that some groups are large enough to be shown and some are not.
    first, second = (uniform_integers(_OTHER_VALUES, rows, rng) for _ in range(2))
    return _taken([f"word {i + 1}" for i in range(_OTHER_VALUES)], np.minimum(first, second))


def _booleans(_: Column, rows: int, rng: Rng) -> Any:
    return uniform_integers(2, rows, rng) == 1


def _dates(column: Column, rows: int, rng: Rng) -> Any:
    first = _FIRST_DAY if column.dates is None else column.dates.first
    days = _DAYS if column.dates is None else column.dates.days
    numbers = uniform_integers(days, rows, rng) + (first - _EPOCH).days
    return numbers.astype("datetime64[D]")


def _timestamps(column: Column, rows: int, rng: Rng) -> Any:
    """Return whole seconds of days as dates have them."""
    seconds = uniform_integers(_SECONDS, rows, rng).astype("timedelta64[s]")
    return (_dates(column, rows, rng) + seconds).astype("datetime64[us]")


def _times(_: Column, rows: int, rng: Rng) -> Any:
    """Return microseconds since midnight, in whole seconds."""
    return uniform_integers(_SECONDS, rows, rng) * 10**6


_BY_TYPE: dict[ColumnType, Callable[[Column, int, Rng], Any]] = {
    ColumnType.INTEGER: _integers,
    ColumnType.REAL: _reals,
    ColumnType.TEXT: _texts,
    ColumnType.BOOLEAN: _booleans,
    ColumnType.DATE: _dates,
    ColumnType.TIMESTAMP: _timestamps,
    ColumnType.TIME: _times,
}
