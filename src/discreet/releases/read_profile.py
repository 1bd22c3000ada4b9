"""Read the profile of a table from the bodies that are stored of it."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from attrs import evolve

from discreet.ledger.order import Receipt
from discreet.releases.body import Body
from discreet.releases.histogram import BEYOND, Histogram
from discreet.releases.profile import BUSIEST, GROUPS, LARGEST, ROWS, UNREADABLE, Profile
from discreet.releases.unreadable import WITH, WITHOUT, UnreadableUnits
from discreet.releases.value_bins import ValueBins
from discreet.releases.values import Values, read_values

_NO_VALUES: Mapping[str, ValueBins] = MappingProxyType({})


def read_profile(
    table: str,
    unit: str,
    bodies: Iterable[Body],
    *,
    most: int | None,
    groups: Mapping[str, int],
    values: Mapping[str, ValueBins] = _NO_VALUES,
    receipt: Receipt | None = None,
    is_stored: bool = False,
    units: str | None = None,
    period: str | None = None,
) -> Profile:
    """Return the profile that the stored bodies are.

    ``most`` is the declared number of rows that a unit has at most, ``groups`` how many groups each
    column has, and ``values`` the bins of each column with values that have an order.
    """
    bodies = tuple(bodies)
    found: dict[str, Histogram] = {}
    measured: dict[str, Values] = {}
    doubtful: dict[str, UnreadableUnits] = {}
    for body in bodies:
        if body.keys.columns[0].startswith(UNREADABLE):
            name = body.keys.columns[0].removeprefix(UNREADABLE)
            doubtful[name] = _unreadable(name, body)
            continue
        if body.keys.columns[0].startswith(LARGEST):
            name = body.keys.columns[0].removeprefix(LARGEST)
            largest, smallest = (_units(body, place) for place in (0, 1))
            noise = body.aggregates[0].noise
            measured[name] = read_values(values[name], largest, smallest, noise)
            continue
        for place, name in enumerate(body.keys.columns):
            is_groups = name.startswith(GROUPS)
            limit = groups.get(name.removeprefix(GROUPS)) if is_groups else most
            found[name] = _histogram(body, place, limit)
    return Profile(
        table=table,
        unit=unit,
        units=units,
        period=period,
        rows=found[ROWS],
        groups=_named(found, GROUPS),
        busiest=_named(found, BUSIEST),
        values=measured,
        unreadable=doubtful,
        is_refuted=most is not None and found[ROWS].most is None,
        cost=bodies[0].cost,
        receipt=receipt,
        is_stored=is_stored,
    )


def _named(found: Mapping[str, Histogram], first: str) -> dict[str, Histogram]:
    return {name[len(first) :]: one for name, one in found.items() if name.startswith(first)}


def _units(body: Body, place: int) -> dict[int, int]:
    """Return the numbers of units by their keys: the rows of the set that has one column alone."""
    (which,) = (i for i, places in enumerate(body.keys.places) if tuple(places) == (place,))
    (counted,) = body.aggregates
    rows = zip(body.keys.rows, body.keys.sets, counted.values, strict=True)
    return {int(row[place] or 0): value for row, part, value in rows if part == which}


def _unreadable(name: str, body: Body) -> UnreadableUnits:
    units, noise = _units(body, 0), body.aggregates[0].noise
    return UnreadableUnits(column=name, without=units[WITHOUT], units=units[WITH], noise=noise)


def _histogram(body: Body, place: int, most: int | None) -> Histogram:
    """Return the histogram of one column."""
    units, (counted,) = _units(body, place), body.aggregates
    ends = tuple(sorted(end for end in units if end != BEYOND))
    found = Histogram(
        ends=ends,
        values=(*(units[end] for end in ends), units[BEYOND]),
        noise=counted.noise,
        most=most,
    )
    # What is declared is believed, unless the profile itself shows that it is false.
    return evolve(found, most=None) if found.contradicts_most() else found
