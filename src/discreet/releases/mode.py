"""The mode of an answer: the value with the largest noisy count, and which others may be it."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.unit_words import UNITS
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.releases.body import Body
from discreet.releases.cells import json_cell, text
from discreet.releases.estimates.groups import Groups
from discreet.releases.left_out import LeftOut
from discreet.tables.column import ColumnType, Key

MOST_NAMED = 5
"""So many values that may be the most frequent one are named, and of more their number."""


@frozen(kw_only=True)
class Mode:
    """Which output is a mode, and of what."""

    name: str
    """The output."""
    key: int
    """The place of its values among what is grouped by; in what comes before, it is one each."""
    count: int
    """Which aggregate counts their rows."""


def rivals(
    mode: Mode,
    groups: Groups,
    noise: AggregateMechanism,
    *,
    beta: Fraction,
    cut: Fraction = Fraction(0),
) -> list[tuple[Key, ...]]:
    r"""Return for each group of an answer the values that may be the most frequent one.

    ``cut`` is how many rows of a group limits leave out at most; if it is 0, it is the mode of the
    rows that count.

    Guarantee:
        In each group the most frequent of the values that are compared, without noise, is among
        them with probability at least ``1 - beta``.

        Proof. Let :math:`K` values be compared and :math:`m` be the error bar of one count that
        fails with probability :math:`\beta/K`. By the union bound all counts are within
        :math:`m` of those without noise at once, with probability :math:`1-\beta`. Then, for the
        most frequent value :math:`a` and the one with the largest noisy count :math:`b`,
        :math:`\tilde n_a \ge n_a - m \ge n_b - m \ge \tilde n_b - 2m`; and all values whose noisy
        count is at least that are returned. If limits leave out at most :math:`c` rows of each
        value, then :math:`n_a + c \ge n_b` for the most frequent value of all rows, so :math:`c`
        is taken off as well.

    Assumes:
        Values are compared that were there before noise was added, as public keys are. Where
        groups were selected by noisy counts, those that were not are not compared.
    """
    counts = [count or Fraction(0) for count in groups.values[mode.count].scalars()]
    found = []
    for rows in _apart(mode, groups).values():
        bar = error_of(noise, beta / len(rows))
        least = max(counts[row] for row in rows) - 2 * bar - cut
        values = (groups.keys[mode.key][row] for row in rows if counts[row] >= least)
        found.append(tuple(value for value in values if value is not None))
    return found


_Group = tuple[Key | None, ...]


def _apart(mode: Mode, groups: Groups) -> dict[_Group, list[int]]:
    """Return the rows of each group that has a mode of its own: those with a value."""
    found: dict[_Group, list[int]] = {}
    for row in range(groups.size):
        if groups.keys[mode.key][row] is not None:
            found.setdefault(_group(mode, groups, row), []).append(row)
    return found


def _group(mode: Mode, groups: Groups, row: int) -> _Group:
    return tuple(groups.keys[place][row] for place in range(mode.key))


@frozen(kw_only=True)
class ModeCells:
    """What else may be right in the cells of a mode, row by row of what is shown.

    Only values that have a group are compared, so rows of another value can be more.
    """

    name: str
    noise: tuple[tuple[Key, ...], ...]
    """The other values that may be the most frequent one without noise."""
    totals: tuple[tuple[Key, ...] | None, ...]
    """Those that may be it without limits too; None where nobody knows."""

    def are_sure(self, *, of_all: bool) -> list[bool]:
        """Tell of each row whether no other value may be it."""
        return [others == () for others in (self.totals if of_all else self.noise)]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "noise": [list(map(json_cell, others)) for others in self.noise],
            "totals": [
                None if others is None else list(map(json_cell, others)) for others in self.totals
            ],
        }

    def asides(self, *, of_all: bool) -> tuple[str, ...]:
        """Return what to show beside each value: ``(or b)`` for noise, ``[or b, c]`` for all."""
        return tuple(
            _named("(", noise, ")") + (_named("[", total, "]") if of_all and total != noise else "")
            for noise, total in zip(self.noise, self.totals, strict=True)
        )


def _named(first: str, others: Sequence[Key] | None, last: str) -> str:
    if others is None:
        return f" {first}unknown{last}"
    if not others:
        return ""
    is_many = len(others) > MOST_NAMED
    said = f"{len(others):,} other values" if is_many else ", ".join(map(_text, others))
    return f" {first}or {said}{last}"


def _text(key: Key) -> str:
    return text(key) if isinstance(key, bool) else str(key)


def mode_cells(
    mode: Mode, possible: Groups, shown: Groups, body: Body, left_out: LeftOut | None
) -> ModeCells:
    """Return what else may be right in the rows that are shown of all possible groups."""
    every = tuple(_apart(mode, possible))
    noise = rivals(mode, possible, body.aggregates[mode.count].noise, beta=1 - CONFIDENCE)
    is_cut = left_out is not None and _is_cut(mode, left_out)
    totals = rivals_of_all(mode, possible, body, left_out) if left_out and is_cut else noise

    def others(found: Sequence[tuple[Key, ...]]) -> tuple[tuple[Key, ...], ...]:
        by_group = dict(zip(every, found, strict=True))
        return tuple(
            tuple(value for value in by_group[_group(mode, shown, row)] if value != chosen)
            for row, chosen in enumerate(shown.keys[mode.key])
        )

    return ModeCells(
        name=mode.name,
        noise=others(noise),
        totals=(None,) * shown.size if totals is None else others(totals),
    )


def mode_notes(mode: Mode, groups: Groups, body: Body, left_out: LeftOut | None) -> list[str]:
    """Say which values may be the most frequent one, as far as noise and limits tell."""
    found = rivals(mode, groups, body.aggregates[mode.count].noise, beta=1 - CONFIDENCE)
    if not found:
        return [f"{mode.name}: no value has enough {UNITS} to be shown"]
    is_cut = _is_cut(mode, left_out)
    surely = f"{math.floor(100 * CONFIDENCE)} %"
    which = " of the rows that count" if is_cut else ""
    among = _compared(mode, body)
    largest = f"{mode.name} is the value with the largest noisy count{which}"
    largest += f", among {among}" if among else ""
    if len(found) != 1:
        unsure = sum(len(values) > 1 for values in found)
        others = f"in {unsure:,} of {len(found):,} groups another value may be so without noise"
        marked = f" (marked {OTHERS})" if unsure else ""
        said = f"{largest} in each group; {others}{marked}, for {surely} of groups"
    elif len(found[0]) == 1:
        said = f"{largest}, and without noise too{' among these' if among else ''}, for"
        said += f" {surely} of answers"
    else:
        said = f"{largest}; without noise it is {_listed(found[0])}, for {surely} of answers"
    is_declared = among == _DECLARED
    on_others = f"{mode.name}: rows with a value that is not declared are in no group"
    on_all = _on_all_rows(mode, groups, body, left_out) if is_cut else []
    return [said, *([on_others] if is_declared else []), *on_all]


OTHERS = "or …"
"""How the other values that may be the most frequent one are marked."""


def _compared(mode: Mode, body: Body) -> str:
    """Say among which values the mode is looked for; nothing if there can be no others."""
    if body.selection is not None:
        return "the values that are shown"
    is_complete = body.keys.types[mode.key] is ColumnType.BOOLEAN
    return "" if is_complete else _DECLARED


_DECLARED = "the declared values"


def _is_cut(mode: Mode, left_out: LeftOut | None) -> bool:
    return left_out is not None and left_out.may_change(mode.count)


def rivals_of_all(
    mode: Mode, groups: Groups, body: Body, left_out: LeftOut
) -> list[tuple[Key, ...]] | None:
    """Return the values that may be the most frequent one of all rows; None if nobody knows."""
    cut = left_out.each[mode.count][1]
    if cut is None or left_out.inside:
        return None
    rest = 1 - CONFIDENCE - left_out.beta
    return rivals(mode, groups, body.aggregates[mode.count].noise, beta=rest, cut=cut)


def _on_all_rows(mode: Mode, groups: Groups, body: Body, left_out: LeftOut | None) -> list[str]:
    """Say which values may be the most frequent one if no limit had left out anything."""
    assert left_out is not None
    found = rivals_of_all(mode, groups, body, left_out)
    if found is None:
        return [f"{mode.name}: of all rows another value may be the most frequent one"]
    surely, among = f"{math.floor(100 * CONFIDENCE)} %", _compared(mode, body)
    rows = f"of all rows with one of {among}" if among else "of all rows"
    if len(found) == 1:
        return [f"{mode.name}: {rows} it is {_listed(found[0])}, for {surely} of answers"]
    unsure = sum(len(values) > 1 for values in found)
    others = f"{rows} another value may be the most frequent one in {unsure:,} of"
    return [f"{mode.name}: {others} {len(found):,} groups, for {surely} of groups"]


def _listed(values: Sequence[Key]) -> str:
    *first, last = map(_text, values)
    if len(values) > MOST_NAMED:
        return f"one of {len(values):,} values"
    return f"{', '.join(first)} or {last}" if first else last
