"""A profile: how much the units of a table contribute, as private histograms of units.

It is released once for a version of the data. Everything that is read off it afterwards is free:
which share of the rows a limit leaves out, how many units lose groups, which units a clamp cuts,
which limits and bounds err least.
"""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from attrs import evolve, field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_heading, html_notes, html_page, html_table
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.terminal_text import text_table
from discreet.ledger.order import Receipt
from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.body import Body
from discreet.releases.histogram import BEYOND, Histogram
from discreet.releases.unreadable import WITH, WITHOUT, UnreadableUnits
from discreet.releases.value_bins import ValueBins
from discreet.releases.values import SHOWN_SHARES, Bound, Values, read_values, shown_value
from discreet.tables.unit_name import A_UNIT, UNITS, UnitName, unit_name

ROWS, GROUPS, BUSIEST = "rows", "groups of ", "rows in the busiest "
LARGEST, SMALLEST, UNREADABLE = "largest ", "smallest ", "unreadable "
"""What the histograms are called; all but the first go on with the name of a column."""

_TableOfTexts = tuple[tuple[str, ...], list[list[str]]]

_BETA = float(1 - CONFIDENCE)
_SHOWN_LIMITS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000)


@frozen
class Share:
    """A part of a whole, between 0 and 1: about how much, and where it surely is."""

    about: float
    low: float
    high: float

    def __str__(self) -> str:
        """Show it in per cent."""
        low, high = math.floor(100 * self.low), math.ceil(100 * self.high)
        return f"{round(100 * self.about)} % ({low} to {high})"

    def to_json(self) -> dict[str, float]:
        """Return it as plain values."""
        return {"about": self.about, "low": self.low, "high": self.high}


def _share(about: float, low: float, high: float) -> Share:
    low, high = (min(max(end, 0.0), 1.0) for end in (low, high))
    return Share(min(max(about, low), high), low, high)


@frozen(kw_only=True, eq=False)
class Profile:
    """How many units have how many rows, groups, and rows in their busiest group."""

    table: str
    unit: str
    """What a unit is, in the owner's words."""
    units: str | None = None
    """What several of them are called, if the owner declared it."""
    rows: Histogram
    groups: Mapping[str, Histogram]
    """For each column with declared keys: units by the groups that they are in."""
    busiest: Mapping[str, Histogram]
    """For each of these columns: units by the rows in their busiest group."""
    cost: PrivacyLoss
    values: Mapping[str, Values] = field(factory=dict)
    """For each column that was asked for: units by their largest and their smallest value."""
    unreadable: Mapping[str, UnreadableUnits] = field(factory=dict)
    """For each column that was asked for: units with something in it that could not be read."""
    is_refuted: bool = False
    """Whether units surely have more rows than what is declared as the most."""
    receipt: Receipt | None = field(default=None, eq=False)
    is_stored: bool = False

    @property
    def called(self) -> UnitName:
        """What units are called."""
        return unit_name(self.unit, self.units)

    def rows_left_out(self, limit: int, *, beta: float = _BETA) -> Share:
        """Return which share of the rows a limit of rows for each unit leaves out."""
        total, beyond = self.rows.total(), self.rows.beyond(limit)
        low, high = self.rows.amount_beyond(limit, beta / 3)
        # What is kept is at most the limit of each unit: a sum without a long tail.
        least, most = self._kept(limit, beta / 3)
        upper = 1.0 if high is None else high / max(high + least, 1.0)
        return _share(beyond / max(total, 1.0), low / max(low + most, 1.0), upper)

    def _kept(self, limit: int, beta: float) -> tuple[float, float]:
        """Return bounds on how many rows are kept if so many of each unit are."""
        least = self.rows.least([min(start, limit) for start in self.rows.starts], beta)
        ends = (*self.rows.ends, max(limit, self.rows.ends[-1]))
        return least, self.rows.largest([min(end, limit) for end in ends], beta)

    def most_kept(self, limit: int, beta: float) -> float:
        """Return how many rows at most are kept if so many of each unit are."""
        return self._kept(limit, beta)[1]

    def units_cut(self, limit: int, *, beta: float = _BETA) -> Share:
        """Return which share of the units has more rows than a limit."""
        about = self.rows.units_beyond(limit) / max(float(self.rows.cleaned.sum()), 1.0)
        low, high = self.rows.number_beyond(limit, beta / 2)
        fewest, most = self.rows.number_beyond(0, beta / 2)
        return _share(about, low / max(most, 1.0), high / max(fewest, 1.0))

    def quantile(self, share: float) -> int | None:
        """Return how many rows that share of the units does not exceed; None if beyond all bins."""
        units = self.rows.cleaned
        below = units.cumsum() / max(float(units.sum()), 1.0)
        place = int((below < share - 1e-12).sum())
        return self.rows.ends[place] if place < len(self.rows.ends) else None

    def values_of(self, column: str) -> Values:
        """Return what is known of the values of a column, or say what is missing."""
        found = {name.lower(): values for name, values in self.values.items()}.get(column.lower())
        if found is None:
            raise InvalidArgument(
                f"The profile of {self.table} has no values of '{column}'",
                must="have been made with them",
                got=f"values of {', '.join(self.values) or 'nothing'}",
                next=f"Have the owner run discreet profile {self.table} --value {column} --fresh",
            )
        return found

    def clamped(self, column: str, low: Bound, high: Bound, *, beta: float = _BETA) -> Share:
        """Return which share of the units with a value has one outside a clamp."""
        values = self.values_of(column)
        fewest, most = values.units_cut(low, high, beta / 2)
        least, all_of_them = values.units(beta / 2)
        about = values.about_cut(low, high) / max(values.about(), 1.0)
        return _share(about, fewest / max(all_of_them, 1.0), most / max(least, 1.0))

    @property
    def histograms(self) -> int:
        """How many histograms share the price."""
        by_groups, by_values = len(self.groups) + len(self.busiest), 2 * len(self.values)
        return 1 + by_groups + by_values + len(self.unreadable)

    def to_json(self) -> dict[str, Any]:
        """Return what the profile says, as plain values."""
        named = {ROWS: self.rows}
        named |= {GROUPS + name: found for name, found in self.groups.items()}
        named |= {BUSIEST + name: found for name, found in self.busiest.items()}
        return {
            "table": self.table,
            "confidence": float(CONFIDENCE),
            "histograms": {
                name: {
                    "up_to": list(found.ends),
                    "units": list(found.values),
                    "noise": found.noise.to_json(),
                }
                for name, found in named.items()
            },
            "left_out": [
                {
                    "rows_per_group": limit,
                    "rows": self.rows_left_out(limit).to_json(),
                    "units": self.units_cut(limit).to_json(),
                }
                for limit in self._limits()
            ],
            "values": {name: found.to_json() for name, found in self.values.items()},
            "unreadable": {name: found.to_json() for name, found in self.unreadable.items()},
            "cost": self.cost.to_json(),
            "stored": self.is_stored,
            "receipt": None if self.receipt is None else self.receipt.to_json(),
        }

    def _limits(self) -> list[int]:
        last = self.rows.ends[-1]
        return [limit for limit in _SHOWN_LIMITS if limit < last]

    def __str__(self) -> str:
        """Show what limits would leave out."""
        if self._is_faint:
            return "\n".join([*self._heading(), *self._footer()[:1]])
        table = text_table(*self._cut_by_limits())
        below = [self._on_groups(name) for name in self.groups]
        headings, reached = self._reached()
        below += ["", text_table(headings, reached)] if reached else []
        return "\n".join([*self._heading(), "", table, *below, *self._said(), *self._footer()])

    def _repr_html_(self) -> str:
        head, usual = self._heading()
        first = (html_heading(head), html_notes([usual]))
        if self._is_faint:
            return html_page(*first, html_notes(self._footer()[:1]))
        below = [html_notes(self._on_groups(name) for name in self.groups)]
        headings, reached = self._reached()
        below += [html_table(headings, reached)] if reached else []
        last = html_notes([*self._said(), *self._footer()])
        return html_page(*first, html_table(*self._cut_by_limits()), *below, last)

    @property
    def _is_faint(self) -> bool:
        return float(self.rows.cleaned.sum()) < 1

    def _heading(self) -> tuple[str, str]:
        """Return how many units and rows there are, and how many rows a unit usually has."""
        units, rows = float(self.rows.cleaned.sum()), self.rows.total()
        if self._is_faint:
            return f"{self.table}: no {self.called.plural} stand out from the noise", _FAINT
        middle, most, last = self.quantile(0.5), self.quantile(0.99), self.rows.ends[-1]
        usual = f"half of them have {_up_to(middle, last)} rows, 99 % {_up_to(most, last)}"
        many = self.called.counted(round(units))
        return f"{self.table}: about {many} with {rows:,.0f} rows", usual

    def _cut_by_limits(self) -> _TableOfTexts:
        """Return what each limit leaves out, as headings and rows."""
        lines = [
            [f"{limit:,}", str(self.rows_left_out(limit)), str(self.units_cut(limit))]
            for limit in self._limits()
        ]
        called = self.called
        heads = (f"rows of {called.a} that count", "rows left out", f"{called.plural} cut")
        return heads, lines

    def _footer(self) -> list[str]:
        price = "a stored profile, nothing more is charged" if self.is_stored else None
        cost = price or f"cost {self.cost}{self._each()}"
        open_end = [] if self.rows.most is not None else [_OPEN]
        last = [_REFUTED] if self.is_refuted else open_end
        return [f"95 % intervals; {cost}", *map(self.called.said, last)]

    def _on_groups(self, name: str) -> str:
        found = self.groups[name]
        units = float(found.cleaned.sum())
        if units < 1:
            few = f"too few {self.called.plural} stand out from the noise"
            return f"{name}: {few} to tell in how many groups"
        cut = ", ".join(
            f"{limit}: {100 * found.units_beyond(limit) / units:.0f} %"
            for limit in _SHOWN_LIMITS
            if limit < found.ends[-1]
        )
        listed = cut or "none"
        return f"{name}: share of {self.called.plural} in more groups than a limit of {listed}"

    def _each(self) -> str:
        """Say how much of the price each histogram has."""
        if self.histograms == 1 or not isinstance(self.cost, _SPLIT):
            return ""
        each = self.cost * Fraction(1, self.histograms)
        return f", which {self.histograms} histograms share: {each} each"

    def _reached(self) -> _TableOfTexts:
        """Return how far the values of most units reach, as headings and rows."""
        lines = []
        for name, values in self.values.items():
            if values.is_faint:
                continue
            above = (values.largest_quantile(share) for share in SHOWN_SHARES)
            below = (values.smallest_quantile(share) for share in SHOWN_SHARES)
            lines.append([f"{name} is at most", *map(shown_value, above)])
            lines.append([f"{name} is at least", *map(shown_value, below)])
        shares = (f"{100 * share:.0f} % of {self.called.plural}" for share in SHOWN_SHARES)
        return (f"all values of {self.called.a}", *shares), lines

    def _said(self) -> list[str]:
        """Return what there is to say of values besides how far they reach."""
        many = self.called.plural
        faint = f"too few {many} have a value to tell how far values reach"
        said = []
        for name, values in self.values.items():
            if values.is_faint:
                said.append(f"{name}: {faint}")
            if values.is_refuted:
                said.append(f"{name}: {many} have values outside {_REFUTED_RANGE}")
        return [*said, *map(str, self.unreadable.values())]


_FAINT = (
    "nothing can be told about them: there are too few for this price, or too many histograms share"
    " it"
)

_SPLIT = Pure | Zcdp | Approximate | ApproximateZcdp
"""The losses of which a part is a loss of the same kind."""

_REFUTED_RANGE = "min and max, so these are not believed; correct the declaration"

_REFUTED = (
    f"{UNITS} have more rows than most_rows_per_unit says, so it is not believed, and no upper end"
    " is sure; correct the declaration"
)

_OPEN = (
    f"nothing says how many rows {A_UNIT} can have at most, so no upper end is sure; declare"
    " most_rows_per_unit if it is known"
)


def _up_to(number: int | None, last: int) -> str:
    return f"at most {number:,}" if number is not None else f"more than {last:,}"


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
