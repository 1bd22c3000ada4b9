"""A profile: how much the units of a table contribute, as private histograms of units.

It is released once for a version of the data. Everything that is read off it afterwards is free:
which share of the rows a limit leaves out, how many units lose groups, which units a clamp cuts,
which limits and bounds err least.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_heading, html_notes, html_page, html_table
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.terminal_text import text_table
from discreet.core.unit_words import A_UNIT, UNITS
from discreet.ledger.order import Receipt
from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.histogram import Histogram
from discreet.releases.unreadable import UnreadableUnits
from discreet.releases.values import SHOWN_SHARES, Bound, Values, shown_value
from discreet.tables.unit_name import UnitName, unit_name

ROWS, GROUPS, BUSIEST = "rows", "groups of ", "rows in the busiest "
LARGEST, SMALLEST, UNREADABLE = "largest ", "smallest ", "unreadable "
"""What the histograms are called; all but the first go on with the name of a column."""

_TableOfTexts = tuple[tuple[str, ...], list[list[str]]]

_BETA = float(1 - CONFIDENCE)
_FAR_APART = 0.5
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

    def told(self) -> str:
        """Show it without the number in the middle where that is no more than a guess.

        It is one if the ends are far apart, and the lower one is not even a third of it.

        Example:
            >>> Share(0.6, 0.5, 0.7).told(), Share(0.6, 0.1, 0.97).told(), Share(0.6, 0.1, 1).told()
            ('60 % (50 to 70)', '10 to 97 %', 'at least 10 %')
        """
        if self.high - self.low <= _FAR_APART or 3 * self.low >= self.about:
            return str(self)
        low, high = math.floor(100 * self.low), math.ceil(100 * self.high)
        return f"at least {low} %" if low and high == 100 else f"{low} to {high} %"

    def to_json(self) -> dict[str, float]:
        """Return it as plain values."""
        return {"about": self.about, "low": self.low, "high": self.high}


def share_between(about: float, low: float, high: float) -> Share:
    """Return a share that lies between two ends, which may be a little outside 0 and 1."""
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
    period: str | None = None
    """Where a unit is somebody in one period: which."""
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
    remarks: tuple[str, ...] = ()
    """What must be known besides."""

    @property
    def called(self) -> UnitName:
        """What units are called."""
        return unit_name(self.unit, self.units).within(self.period)

    def number_of_units(self, *, beta: float = _BETA) -> tuple[float, float]:
        """Return bounds on how many units there are."""
        return self.rows.number_beyond(0, beta / 2)

    def number_of_rows(self, *, beta: float = _BETA) -> tuple[float, float | None]:
        """Return bounds on how many rows there are; the upper one is known if the most is."""
        return self.rows.amount(beta / 2)

    def rows_left_out(self, limit: int, *, beta: float = _BETA) -> Share:
        """Return which share of the rows a limit of rows for each unit leaves out.

        There are four bounds, two on what is left out and two on what is kept, and each of them
        fails with a fourth of the probability.
        """
        total, beyond = self.rows.total(), self.rows.beyond(limit)
        low, high = self.rows.amount_beyond(limit, beta / 4)
        # What is kept is at most the limit of each unit: a sum without a long tail.
        least, most = self._kept(limit, beta / 4)
        upper = 1.0 if high is None else high / max(high + least, 1.0)
        return share_between(beyond / max(total, 1.0), low / max(low + most, 1.0), upper)

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
        return _units_beyond(self.rows, limit, beta)

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
        """Return which share of the units with a value has one outside a clamp.

        The bounds on how many these are fail with a third of the probability, and so does each of
        the two on how many have a value.
        """
        values = self.values_of(column)
        fewest, most = values.units_cut(low, high, beta / 3)
        least, all_of_them = values.units(beta / 3)
        about = values.about_cut(low, high) / max(values.about(), 1.0)
        return share_between(about, fewest / max(all_of_them, 1.0), most / max(least, 1.0))

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
            "units": _bounds_json(*self.number_of_units()),
            "rows": _bounds_json(*self.number_of_rows()),
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
            "notes": list(self.remarks),
            "receipt": None if self.receipt is None else self.receipt.to_json(),
        }

    def _limits(self) -> list[int]:
        last = self.rows.ends[-1]
        return [limit for limit in _SHOWN_LIMITS if limit < last]

    def __str__(self) -> str:
        """Show what limits would leave out."""
        if self._is_faint:
            return "\n".join([*self._heading(), *self._footer()[:1], *self.remarks])
        table = text_table(*self._cut_by_limits())
        below = [self._on_groups(name) for name in self.groups]
        headings, reached = self._reached()
        below += ["", text_table(headings, reached)] if reached else []
        return "\n".join([*self._heading(), "", table, *below, *self._said(), *self._footer()])

    def _repr_html_(self) -> str:
        head, usual = self._heading()
        first = (html_heading(head), html_notes([usual]))
        if self._is_faint:
            return html_page(*first, html_notes([*self._footer()[:1], *self.remarks]))
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
        usual = f"about half of them have {_up_to(middle, last)}, 99 % {_up_to(most, last)}"
        many = f"about {self.called.counted(round(units))} {_ends(*self.number_of_units())}"
        all_rows = f"about {rows:,.0f} rows {_ends(*self.number_of_rows())}"
        return f"{self.table}: {many} with {all_rows}", usual

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
        said = f"95 % intervals, each by itself; {cost}"
        return [said, *self.remarks, *map(self.called.said, last)]

    def _on_groups(self, name: str) -> str:
        found = self.groups[name]
        units = float(found.cleaned.sum())
        if units < 1:
            few = f"too few {self.called.plural} stand out from the noise"
            return f"{name}: {few} to tell in how many groups"
        shown = (limit for limit in _SHOWN_LIMITS if limit < found.ends[-1])
        cut = ", ".join(f"{limit}: {_units_beyond(found, limit, _BETA)}" for limit in shown)
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
        shares = (f"about {100 * share:.0f} % of {self.called.plural}" for share in SHOWN_SHARES)
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
        told = (self.called.said(one.sentence()) for one in self.unreadable.values())
        return [*said, *told]


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


def _units_beyond(histogram: Histogram, limit: int, beta: float) -> Share:
    """Return which share of the units has more than a limit.

    Of these and of all units there are two bounds each, which fail with a fourth of the
    probability.
    """
    about = histogram.units_beyond(limit) / max(float(histogram.cleaned.sum()), 1.0)
    low, high = histogram.number_beyond(limit, beta / 4)
    fewest, most = histogram.number_beyond(0, beta / 4)
    return share_between(about, low / max(most, 1.0), high / max(fewest, 1.0))


def _ends(low: float, high: float | None) -> str:
    """Return the two ends of a number of units or rows, rounded outwards to whole ones."""
    first = f"{math.floor(low):,}"
    return f"({first} or more)" if high is None else f"({first} to {math.ceil(high):,})"


def _bounds_json(low: float, high: float | None) -> dict[str, float | None]:
    return {"low": low, "high": high}


def _up_to(number: int | None, last: int) -> str:
    return f"at most {counted(number, 'row')}" if number else f"more than {counted(last, 'row')}"
