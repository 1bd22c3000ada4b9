"""The days, weeks, months, quarters or years that a range of days touches."""

import datetime

from discreet.tables.column import DateRange
from discreet.tables.functions.date_ranges import truncate

_LONGEST = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
"""The most days of each; so this many days after a first day is in the next one or at its start."""


def periods(unit: str, days: DateRange, *, most: int) -> tuple[datetime.date, ...] | None:
    """Return the first day of each period in order, or None if there are more than ``most``.

    Example:
        >>> days = DateRange(first=datetime.date(2024, 1, 31), last=datetime.date(2024, 3, 1))
        >>> [day.month for day in periods("month", days, most=10)]
        [1, 2, 3]
    """
    found = [truncate(unit, days.first)]
    step = datetime.timedelta(days=_LONGEST[unit])
    while len(found) <= most:
        if datetime.date.max - found[-1] < step:
            return tuple(found)
        following = truncate(unit, found[-1] + step)
        if following > days.last:
            return tuple(found)
        found.append(following)
    return None
