"""The body of a release: what the ledger keeps of an answer. All of it is public."""

import datetime
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import LedgerError
from discreet.core.loss import PrivacyLoss
from discreet.mechanisms.noise_json import AggregateMechanism, read_end, read_noise
from discreet.mechanisms.selection.quantile_end import EndSide, QuantileEnd
from discreet.tables.catalog import Limits
from discreet.tables.column import ColumnType

FORMAT = 2
"""The version of the body's layout; a reader refuses the ones that it does not know."""

NOISE = 2
"""The version of the samplers, which is part of a plan's name as the rules of bounding are.

Version 1 had noise of a scale of 2**23 or more with zeros in the low bits of some draws.
"""

PlainKey = str | int | bool | None
"""A key as JSON has it: a day is text."""


@frozen
class Made:
    """The versions of the rules of bounding and of the samplers that made a release."""

    bounding: int
    noise: int

    def to_json(self) -> dict[str, int]:
        """Return it as plain values."""
        return {"bounding": self.bounding, "noise": self.noise}


@frozen(kw_only=True)
class GroupKeys:
    """The keys of all groups, row by row, and the grouping sets that they are of."""

    columns: tuple[str, ...]
    types: tuple[ColumnType, ...]
    places: tuple[tuple[int, ...], ...]
    """For each grouping set, which of the columns it has."""
    rows: Sequence[Sequence[PlainKey]] = field(repr=False)
    sets: Sequence[int] = field(repr=False)
    """The grouping set of each row."""

    def to_json(self) -> dict[str, Any]:
        """Return them as plain values."""
        return {
            "columns": list(self.columns),
            "types": [kind.value for kind in self.types],
            "places": [list(part) for part in self.places],
            "rows": list(self.rows),
            "sets": list(self.sets),
        }

    def is_whole(self) -> bool:
        """Tell whether each row has a key of each column's type, and a grouping set."""
        width, places = len(self.columns), {place for part in self.places for place in part}
        return (
            len(self.types) == width
            and len(self.sets) == len(self.rows)
            and set(map(len, self.rows)) <= {width}
            and set(self.sets) <= set(range(len(self.places)))
            and places <= set(range(width))
            and all(map(_are_keys, zip(*self.rows, strict=True), self.types))
        )

    @staticmethod
    def from_json(data: dict[str, Any]) -> "GroupKeys":
        """Read what :meth:`to_json` wrote."""
        return GroupKeys(
            columns=tuple(data["columns"]),
            types=tuple(map(ColumnType, data["types"])),
            places=tuple(map(tuple, data["places"])),
            rows=data["rows"],
            sets=data["sets"],
        )


FROM_TEXT: dict[ColumnType, Callable[[str], datetime.date | datetime.time]] = {
    ColumnType.DATE: datetime.date.fromisoformat,
    ColumnType.TIMESTAMP: datetime.datetime.fromisoformat,
    ColumnType.TIME: datetime.time.fromisoformat,
}
"""How keys are read that JSON has as texts, besides texts themselves."""

_PLAIN = {ColumnType.BOOLEAN: bool, ColumnType.INTEGER: int}


def _are_keys(column: Sequence[PlainKey], kind: ColumnType) -> bool:
    """Tell whether all of a column are keys of its type, as JSON has them."""
    read = FROM_TEXT.get(kind)
    if read is not None:
        for key in set(column) - {None}:
            read(str(key))
    return set(map(type, column)) <= {_PLAIN.get(kind, str), type(None)}


@frozen(kw_only=True)
class Selection:
    """From how many units on a private group appears."""

    threshold: int
    """The least noisy number of units with which a group is shown."""
    units_needed: int
    """How many units a group has that appears in 95 % of answers."""
    most_groups: int | None = None
    """How many groups are shown at most, if the answer had a deadline."""

    def to_json(self) -> dict[str, int]:
        """Return it as plain values."""
        most = {} if self.most_groups is None else {"most_groups": self.most_groups}
        return {"threshold": self.threshold, "units_needed": self.units_needed} | most


@frozen(kw_only=True)
class ChosenPrivately:
    """That limits were chosen privately, for a part of the price, and how many units they cut."""

    share: Fraction
    """Which part of the price the choice cost, with the count of the units."""
    candidates: int
    """Among how many limits."""
    units_cut: int
    """The noisy number of units that have more than counts."""
    is_exact: bool
    """Whether these, apart from the noise, are just the units that something was cut of."""
    noise: AggregateMechanism

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "share": str(self.share),
            "candidates": self.candidates,
            "units_cut": self.units_cut,
            "exact": self.is_exact,
            "noise": self.noise.to_json(),
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "ChosenPrivately":
        """Read what :meth:`to_json` wrote."""
        return ChosenPrivately(
            share=Fraction(data["share"]),
            candidates=data["candidates"],
            units_cut=data["units_cut"],
            is_exact=data["exact"],
            noise=read_noise(data["noise"]),
        )

    def is_whole(self) -> bool:
        """Tell whether each part is of its kind."""
        are_numbers = {type(self.candidates), type(self.units_cut)} == {int}
        return are_numbers and type(self.is_exact) is bool and 0 < self.share < 1


@frozen(kw_only=True)
class LimitsInForce:
    """The limits on what one unit counts for, and whether they can leave anything out."""

    rows_per_group: int
    groups_per_unit: int
    leave_out: bool
    rows_per_unit: int | None = None
    """How many rows of a unit count over all groups, if that is limited."""
    chosen: ChosenPrivately | None = None
    """How they were chosen, if that was done behind the gate."""

    def limits(self) -> Limits:
        """Return the limits by themselves."""
        return Limits(**self.given())

    def given(self) -> dict[str, int]:
        """Return the limits that there are, by their names."""
        most = {} if self.rows_per_unit is None else {"rows_per_unit": self.rows_per_unit}
        return {
            "rows_per_group": self.rows_per_group,
            "groups_per_unit": self.groups_per_unit,
        } | most

    def to_json(self) -> dict[str, Any]:
        """Return them as plain values."""
        chosen = {} if self.chosen is None else {"chosen": self.chosen.to_json()}
        return {**self.given(), "leave_out": self.leave_out, **chosen}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "LimitsInForce":
        """Read what :meth:`to_json` wrote."""
        chosen = data.get("chosen")
        rest = {name: value for name, value in data.items() if name != "chosen"}
        return LimitsInForce(
            **rest, chosen=None if chosen is None else ChosenPrivately.from_json(chosen)
        )


_LABELS = ("value", "centre", "offset", "quantile", "lower", "upper")


@frozen(kw_only=True)
class ChosenEnd:
    """One end of a quantile's interval: what chose it, and where it is in each group, in steps."""

    noise: QuantileEnd
    values: Sequence[int] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"noise": self.noise.to_json(), "values": list(self.values)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "ChosenEnd":
        """Read what :meth:`to_json` wrote."""
        return ChosenEnd(noise=read_end(data["noise"]), values=data["values"])


@frozen(kw_only=True)
class NoisyAggregate:
    """One aggregate of the plan: what it is, its noise, and its noisy numbers in whole steps."""

    kind: str
    """Which aggregate it is, such as ``count_distinct``."""
    text: str
    """What it is called."""
    value: str | None = None
    """What it is of, as a person would write it."""
    centre: str | None = None
    offset: str | None = None
    quantile: str | None = None
    lower: str | None = None
    """The range of each unit's total, if that is clamped as a whole."""
    upper: str | None = None
    step: Fraction
    noise: AggregateMechanism
    values: Sequence[int] = field(repr=False)
    """The noisy number of each group, in steps."""
    ends: tuple[ChosenEnd, ...] = ()
    """The low and the high end of a quantile's interval; earlier versions drew none."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        labels = {name: getattr(self, name) for name in _LABELS}
        return {
            "aggregate": self.kind,
            "text": self.text,
            **{name: label for name, label in labels.items() if label is not None},
            "step": str(self.step),
            "noise": self.noise.to_json(),
            "values": list(self.values),
            **({"ends": [end.to_json() for end in self.ends]} if self.ends else {}),
        }

    def is_whole(self, groups: int) -> bool:
        """Tell whether there is one whole number for each of so many groups."""
        columns = [self.values, *(end.values for end in self.ends)]
        are_numbers = all(set(map(type, values)) <= {int} for values in columns)
        sides = [end.noise.side for end in self.ends]
        are_paired = not sides or sides == list(EndSide)
        return set(map(len, columns)) == {groups} and self.step > 0 and are_numbers and are_paired

    def holds(self, beta: Fraction) -> bool:
        """Tell whether both ends are on their sides of the quantile except with ``beta``."""
        return bool(self.ends) and all(end.noise.holds(beta / 2) for end in self.ends)

    @staticmethod
    def from_json(data: dict[str, Any]) -> "NoisyAggregate":
        """Read what :meth:`to_json` wrote."""
        return NoisyAggregate(
            kind=data["aggregate"],
            text=data["text"],
            **{name: data.get(name) for name in _LABELS},
            step=Fraction(data["step"]),
            noise=read_noise(data["noise"]),
            values=data["values"],
            ends=tuple(map(ChosenEnd.from_json, data.get("ends", ()))),
        )


_MISREAD = (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, IndexError)


@frozen(kw_only=True)
class Body:
    """Keys, noisy values in whole steps, noise, limits and cost.

    As JSON it holds text, integers, truth values and None only, so its canonical text is exact.
    """

    made: Made | None
    """What made the release; None in those of the first version, which do not say."""
    keys: GroupKeys
    selection: Selection | None
    """How the groups were chosen, if they were chosen privately."""
    limits: LimitsInForce
    aggregates: tuple[NoisyAggregate, ...]
    cost: PrivacyLoss

    def to_json(self) -> dict[str, Any]:
        """Return the body as the ledger keeps it."""
        return {
            "format": FORMAT,
            **({} if self.made is None else {"made": self.made.to_json()}),
            "keys": self.keys.to_json(),
            "selection": None if self.selection is None else self.selection.to_json(),
            "limits": self.limits.to_json(),
            "aggregates": [aggregate.to_json() for aggregate in self.aggregates],
            "cost": self.cost.to_json(),
        }

    @staticmethod
    def from_json(data: Any) -> "Body":
        """Read a body; refuse one of a layout that we do not know, and one that is not whole."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise LedgerError("The stored release is of an unknown format", must=f"be {FORMAT}")
        try:
            found = Body._read(data)
            is_whole = found._is_whole()
        except _MISREAD:
            is_whole = False
        if not is_whole:
            raise LedgerError(
                "The stored release cannot be read",
                must="be as it was written",
                next="A later version of Discreet may have written it. If not, run 'discreet ledger"
                " --verify'",
            )
        return found

    def _is_whole(self) -> bool:
        """Tell whether all parts are about the same groups."""
        groups, chosen = len(self.keys.rows), self.limits.chosen
        if chosen is not None and not chosen.is_whole():
            return False
        return self.keys.is_whole() and all(part.is_whole(groups) for part in self.aggregates)

    @staticmethod
    def _read(data: dict[str, Any]) -> "Body":
        made, selection = data.get("made"), data["selection"]
        return Body(
            made=None if made is None else Made(**made),
            keys=GroupKeys.from_json(data["keys"]),
            selection=None if selection is None else Selection(**selection),
            limits=LimitsInForce.from_json(data["limits"]),
            aggregates=tuple(map(NoisyAggregate.from_json, data["aggregates"])),
            cost=loss_from_json(data["cost"]),
        )
