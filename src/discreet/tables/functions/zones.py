"""Time zones: what a clock elsewhere shows, as a sum of a timestamp and a number of seconds.

When clocks are changed is written into the expression, as a CASE. So an engine needs no time zones
of its own, and a plan means the same on every machine.
"""

import datetime
import zoneinfo
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.column import ColumnType, DateRange
from discreet.tables.expression import Expression, Literal
from discreet.tables.functions.call import call

YEARS = (1900, 2100)
"""The years in which changes of clocks are looked for. Before and after, clocks are as at the end
that is nearest."""

_STEP = datetime.timedelta(days=5)
"""In the time zone database there are more than six days between any two changes."""

_SECOND, _DAY = datetime.timedelta(seconds=1), datetime.timedelta(days=1)


@frozen
class Clocks:
    """How many seconds the clocks of a zone are ahead of UTC, and when that changes."""

    ahead: tuple[int, ...]
    """One number more than there are changes."""
    changes: tuple[datetime.datetime, ...]
    """The first second of UTC with the next number, in order."""

    def between(self, first: int, last: int) -> "Clocks":
        """Return the clocks in all of these years, whatever wall they are the years of.

        Example:
            >>> clocks_of("Europe/Berlin").between(2024, 2024).changes[0]
            datetime.datetime(2024, 3, 31, 1, 0)
        """
        start, end = _first_moment(first), _last_moment(last)
        skipped = sum(1 for change in self.changes if change <= start)
        kept = tuple(change for change in self.changes if start < change <= end)
        return Clocks(self.ahead[skipped : skipped + len(kept) + 1], kept)


@lru_cache(maxsize=1_024)
def clocks_of(name: str) -> Clocks:
    """Return the clocks of a zone in all of ``YEARS``.

    Assumes:
        The zone is one that this machine knows, and there are more than five days between any two
        changes. A change is at a whole second.

    Example:
        >>> clocks_of("Asia/Kolkata").ahead[-1] / 3600
        5.5
    """
    zone = zoneinfo.ZoneInfo(name)
    moment, end = _first_moment(YEARS[0]), _last_moment(YEARS[1])
    ahead, changes = [_ahead(zone, moment)], []
    while moment < end:
        following = moment + _STEP
        if _ahead(zone, following) != ahead[-1]:
            changes.append(_change(zone, moment, following))
            ahead.append(_ahead(zone, following))
        moment = following
    return Clocks(tuple(ahead), tuple(changes))


def _first_moment(year: int) -> datetime.datetime:
    """Return a moment of UTC before the year begins, wherever it does."""
    return datetime.datetime(year, 1, 1) - _DAY  # noqa: DTZ001 - of UTC, as all moments here


def _last_moment(year: int) -> datetime.datetime:
    """Return a moment of UTC after the year has ended, wherever it does."""
    return datetime.datetime(year + 1, 1, 1) + _DAY  # noqa: DTZ001


def _change(
    zone: zoneinfo.ZoneInfo, before: datetime.datetime, after: datetime.datetime
) -> datetime.datetime:
    """Return the first second with other clocks than ``before``, by halving."""
    known = _ahead(zone, before)
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        before, after = (middle, after) if _ahead(zone, middle) == known else (before, middle)
    return after


def _ahead(zone: zoneinfo.ZoneInfo, moment: datetime.datetime) -> int:
    offset = zone.fromutc(moment.replace(tzinfo=zone)).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


# ---- A timestamp on another wall.


@lru_cache(maxsize=64)
def on_wall_of(
    zone: str, moment: Expression, own_zone: str, days: DateRange | None = None
) -> Expression:
    """Return what clocks of a zone show when those of a timestamp's own zone show the timestamp.

    ``days`` is the declared range of the timestamp. Changes of clocks are looked for in all of its
    years, of those in ``YEARS``; a value before or after them is taken as at the nearest end.

    Guarantee:
        The result is made by ``call`` alone, so it is total and about one row: NULL of NULL, and
        outside the years 1 to 9999.

    Example:
        >>> from discreet.tables.expression import FieldValue
        >>> seen = FieldValue(ColumnType.TIMESTAMP, 0)
        >>> on_wall_of("Etc/GMT-2", seen, "UTC").arguments[1].value
        7200
        >>> on_wall_of("UTC", seen, "Europe/Berlin")
        Traceback (most recent call last):
        discreet.core.errors.RefusedQuery: Clocks of Europe/Berlin are changed between 1900 and
        2100, and an hour that they show twice is two hours in UTC. It must be a column in a zone
        whose clocks are not changed in the years of its range. Have zone = "UTC" declared for it;
        AT TIME ZONE 'Europe/Berlin' then shows what it shows now.
    """
    require_zone(zone)
    if zone == own_zone:
        return moment
    first, last = _years(days)
    own = clocks_of(own_zone).between(first, last)
    if own.changes:
        raise RefusedQuery(
            f"Clocks of {own_zone} are changed between {first} and {last}, and an hour that they"
            f" show twice is two hours in {zone}",
            must="be a column in a zone whose clocks are not changed in the years of its range",
            next=f"Have zone = \"UTC\" declared for it; AT TIME ZONE '{own_zone}' then shows what"
            " it shows now",
        )
    clocks, behind = clocks_of(zone).between(first, last), own.ahead[0]
    if set(clocks.ahead) == {behind}:
        return moment
    changes = [change + datetime.timedelta(seconds=behind) for change in clocks.changes]
    seconds = _by_change(moment, changes, [ahead - behind for ahead in clocks.ahead])
    return call("add_seconds", [moment, seconds])


def _by_change(
    moment: Expression, changes: Sequence[datetime.datetime], seconds: Sequence[int]
) -> Expression:
    """Return the seconds between the changes around a moment: a row meets few of them."""
    if not changes:
        return Literal(ColumnType.INTEGER, seconds[0])
    middle = len(changes) // 2
    is_before = call("<", [moment, Literal(ColumnType.TIMESTAMP, changes[middle])])
    before = _by_change(moment, changes[:middle], seconds[: middle + 1])
    after = _by_change(moment, changes[middle + 1 :], seconds[middle + 1 :])
    return call("case", [is_before, before, after])


def _years(days: DateRange | None) -> tuple[int, int]:
    if days is None:
        return YEARS
    first, last = (min(max(end.year, YEARS[0]), YEARS[1]) for end in (days.first, days.last))
    return first, last


# ---- Names.


def require_zone(name: str) -> None:
    """Refuse what is no name of a time zone."""
    if name in _names():
        return
    near = {known.lower(): known for known in _names()}
    found = get_close_matches(name[:_LONGEST_NAME].lower(), near, n=1)
    raise RefusedQuery(
        "This time zone is not known here",
        must="be a name of the time zone database, such as Europe/Berlin or UTC",
        got=name[:_LONGEST_NAME],
        next=f"Did you mean {near[found[0]]}?" if found else "",
    )


_LONGEST_NAME = 40


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """Return the names of zones, without the one that each machine has for itself."""
    return frozenset(zoneinfo.available_timezones() - {"localtime"})
