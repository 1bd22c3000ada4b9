"""Notes: what a reader of an answer must know besides its numbers, said where it is read."""

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import singledispatch

from discreet.core.counted import counted
from discreet.core.loss import PrivacyLoss, short
from discreet.core.unit_words import ONE_UNIT, UNITS
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.releases.body import NOISE, Body, ChosenPrivately, Made
from discreet.releases.cells import Cell
from discreet.releases.estimates.estimate import (
    CorrelationOf,
    Estimate,
    QuantileOf,
    SelectedOf,
    TotalOf,
    WindowOf,
    indices,
    may_be_undefined,
    parts,
)
from discreet.releases.estimates.windows import windows_in
from discreet.releases.left_out import LeftOut
from discreet.releases.mode import mode_notes
from discreet.releases.view import Output, View
from discreet.tables.plans.plan import BOUNDING
from discreet.tables.unit_name import UNIT, UnitName


def notes(
    view: View,
    body: Body,
    *,
    left_out: LeftOut | None = None,
    on_rounding: Sequence[str] = (),
    half_known: Collection[str] = (),
    confidence: Fraction,
    called: UnitName = UNIT,
) -> tuple[str, ...]:
    """Return the notes on each output, each note once, and those that are given on rounding.

    ``half_known`` are the outputs of whose total intervals only one end is known.
    """
    found = [
        f"{output.name}: {note}"
        for output in view.outputs
        for part in parts(output.estimate)
        for note in _notes(part, body, confidence)
    ]
    on_numbers = caveats(view, body, left_out, on_rounding, half_known)
    every = [*found, *_on_selection(view, body), *on_numbers]
    return tuple(dict.fromkeys(map(called.said, every)))


def without_totals(found: Sequence[str]) -> tuple[str, ...]:
    """Return notes for a form of an answer that shows no total interval, and say so in them."""
    return tuple(note.replace("[… to …]", "the total interval (not shown here)") for note in found)


def on_unknown(names: Sequence[str]) -> list[str]:
    """Say what the word means that stands where there is no interval."""
    if not names:
        return []
    listed = ", ".join(names)
    return [f"{listed}: unknown means that how far noise has moved the value is not known"]


def on_undefined(outputs: Sequence[Output], cells: Sequence[Sequence[Cell]]) -> list[str]:
    """Say why there is no value where noisy numbers allow none."""
    return [
        f"{one.name}: there is no number (NULL) where {_why(one.estimate)}"
        for one, found in zip(outputs, cells, strict=True)
        if None in found and may_be_undefined(one.estimate)
    ]


def _why(estimate: Estimate) -> str:
    is_spread = any(isinstance(part, CorrelationOf) for part in parts(estimate))
    return _NO_SPREAD if is_spread else _NO_VALUE


_NO_SPREAD = "a column does not vary, or so little that noise hides it"
_NO_VALUE = "the noisy numbers allow no value: a divisor of 0, or a root or logarithm that is none"


def on_dearer(cost: PrivacyLoss, offered: PrivacyLoss | None) -> list[str]:
    """Say that an earlier answer is given, and why."""
    if offered is None:
        return []
    said = (
        f"this is an earlier answer at {cost}: more exact than what {offered} buys, and free (ask"
        " for a fresh one to pay for another)"
    )
    return [said]


def _on_selection(view: View, body: Body) -> list[str]:
    """Say which groups are missing, and which numbers had no part in the choice of the others."""
    selection = body.selection
    if selection is None:
        return []
    least, likely = selection.threshold, selection.units_needed
    missing = (
        f"groups of fewer than about {least} {UNITS} are not shown; one with {likely} appears in"
        " 95 % of answers"
    )
    said = [missing, *_on_most(selection.most_groups, len(body.keys.rows))]
    noisy = [output for output in view.outputs if output.is_noisy()]
    others = [output.name for output in noisy if not _chose(output.estimate)]
    if not others or len(others) == len(noisy):
        return said
    return [*said, f"the noise of {', '.join(others)} had no part in choosing the groups"]


def _on_most(most: int | None, shown: int) -> list[str]:
    """Say that groups may have been left out, because the answer has a deadline."""
    if most is None or shown < most:
        return []
    said = (
        f"at most {most:,} groups are shown, those with the largest noisy numbers of {UNITS}:"
        " others may be missing, and the smallest that are shown tend to be too large"
    )
    return [said]


def _chose(estimate: Estimate) -> bool:
    return any(isinstance(part, SelectedOf) for part in parts(estimate))


@singledispatch
def _notes(estimate: Estimate, body: Body, confidence: Fraction) -> list[str]:
    return []


@_notes.register
def _(estimate: QuantileOf, body: Body, confidence: Fraction) -> list[str]:
    share, surely = short(estimate.quantile), short(100 * confidence)
    aggregate = body.aggregates[estimate.index]
    places = math.ceil(error_of(aggregate.noise, 1 - confidence))
    unknown = "" if aggregate.ends else "; how far that is in values is not known"
    rank = (
        f"put in order, the rows that count have the {share}-quantile at most"
        f" {counted(places, 'place')} from this value, for {surely} % of values{unknown}"
    )
    extreme = {"MIN": "smallest", "MAX": "largest"}.get(estimate.stands_for)
    if extreme is None:
        return [rank]
    label = (
        f"{estimate.stands_for} is the private {share}-quantile, because the {extreme} value itself"
        f" would tell about {ONE_UNIT}"
    )
    return [label, rank]


@_notes.register
def _(estimate: CorrelationOf, body: Body, confidence: Fraction) -> list[str]:
    return ["a correlation that noise brought beyond -1 or 1 is moved there, as is its interval"]


@_notes.register
def _(estimate: WindowOf, body: Body, confidence: Fraction) -> list[str]:
    if estimate.is_placed_by_noise():
        return ["noisy numbers decided which rows it is about or in which order, so it may be any"]
    what = _OVER_GROUPS.get(estimate.function)
    return [] if what is None or not estimate.is_of_all() else _on_whole(what, body)


_OVER_GROUPS = {
    "sum": "a total",
    "avg": "a mean",
    "count": "a count",
    "min": "the smallest",
    "max": "the largest",
}


def _on_whole(what: str, body: Body) -> list[str]:
    """Say that a total over groups is one of the rows in groups, which need not be all rows."""
    if body.selection is not None:
        return [f"{what} over the groups that are shown has no rows of the others"]
    if not body.keys.columns:
        return []
    named = " or ".join(body.keys.columns)
    return [f"{what} over groups has no rows whose {named} is NULL or not among the public keys"]


@_notes.register
def _(estimate: SelectedOf, body: Body, confidence: Fraction) -> list[str]:
    assert body.selection is not None
    least = body.selection.threshold
    bias = (
        f"numbers of {UNITS} chose the groups, so near {least} they are too large on average (small"
        " groups appear by luck of noise); its intervals take account of that"
    )
    return [bias]


@_notes.register
def _(estimate: TotalOf, body: Body, confidence: Fraction) -> list[str]:
    aggregate, most = body.aggregates[estimate.index], body.limits.rows_per_group
    if aggregate.kind != "count_distinct":
        return []
    bias = (
        f"COUNT(DISTINCT {aggregate.value}) counts at most {counted(most, 'value')} of {ONE_UNIT}"
        " in a group, so apart from its noise it can only be too small"
    )
    return [bias]


def caveats(
    view: View,
    body: Body,
    left_out: LeftOut | None = None,
    on_rounding: Sequence[str] = (),
    half_known: Collection[str] = (),
) -> list[str]:
    """Return what the limits left out, and what choosing rows by their noisy numbers does."""
    return [
        *superseded(body),
        *_on_limits(view, body, left_out, half_known),
        *_on_chosen_limits(body.limits.chosen, left_out),
        *_on_clamps(view, body, left_out),
        *view.remarks,
        *on_rounding,
        *_on_units(view),
        *_on_choice(view, body, left_out),
    ]


def _on_clamps(view: View, body: Body, left_out: LeftOut | None) -> list[str]:
    """Say into which range each value is moved, whose range that is, and how often it matters."""
    if not view.ranges:
        return []
    totals = [
        f"the total of {aggregate.value} of {ONE_UNIT}{_in_each(body)} outside"
        f" {short(Fraction(aggregate.lower))} to {short(Fraction(aggregate.upper))} counts as the"
        " nearer end"
        for aggregate in body.aggregates
        if aggregate.lower is not None and aggregate.upper is not None
    ]
    clamped = zip(body.aggregates, view.ranges, view.clamps, strict=True)
    return totals + [
        f"{aggregate.value} outside {short(bounds.lower)} to {short(bounds.upper)}"
        f" ({source.value}) counts as the nearer end{_how_often(left_out, index)}"
        for index, (aggregate, bounds, source) in enumerate(clamped)
        if bounds is not None and source is not None
    ]


def _how_often(left_out: LeftOut | None, index: int) -> str:
    clamping = None if left_out is None else left_out.clamping(index)
    if clamping is None or clamping.units is None:
        return ""
    return f"; {clamping.units} of the {UNITS} have such a value"


def _on_units(view: View) -> list[str]:
    """Say that rows which belong to nobody do not count."""
    if not view.missing_units:
        return []
    return [f"rows whose {' or '.join(view.missing_units)} is NULL are left out"]


_BY_UNIT = {"count_units", "count_distinct"}
"""Aggregates that the number of a unit's rows in a group does not change."""


def _on_limits(
    view: View, body: Body, left_out: LeftOut | None, half_known: Collection[str]
) -> list[str]:
    limits, parts = body.limits, []
    if left_out is None or left_out.is_nothing or not limits.leave_out or not left_out.by_limits:
        return []
    over_all = limits.rows_per_unit
    by_row = any(aggregate.kind not in {*_BY_UNIT, "sum_totals"} for aggregate in body.aggregates)
    if by_row and limits.rows_per_group != over_all:
        parts.append(f"at most {_counting(limits.rows_per_group)}{_in_each(body)}")
    if over_all is not None:
        parts.append(f"at most {_counting(over_all)} over all groups{_of_each(body)}")
    if body.keys.columns and limits.groups_per_unit != over_all:
        many = counted(limits.groups_per_unit, "group")
        parts.append(f"{ONE_UNIT} counts in at most {many}{_of_each(body)}")
    if not parts:
        return []
    kept = ", and ".join(parts)
    names = "rows_per_group and groups_per_unit" if over_all is None else "rows_per_unit"
    other = f"give other limits with {names}"
    is_chosen = limits.chosen is not None or view.has_chosen_limits
    advice = other if is_chosen else f"{other}, or limits = auto"
    return [
        f"{kept}; what is beyond is left out, and {_said_of(view, left_out, half_known)} ({advice})"
    ]


def _said_of(view: View, left_out: LeftOut, half_known: Collection[str]) -> str:
    """Return which of the numbers that are shown take account of what limits left out."""
    touched = [one for one in view.outputs if left_out.touches(one.estimate)]
    unbounded = [one.name for one in touched if not left_out.bounds(one.estimate)]
    half = [name for name in unbounded if name in half_known]
    without = [name for name in unbounded if name not in half_known]
    if view.mode is not None:
        return "the noisy counts do not have it"
    if not left_out.is_known or not touched:
        return "± does not show it"
    if len(without) == len(touched):
        return "nothing here takes account of it"
    one_end = f", at one end only for {', '.join(half)}" if half else ""
    except_for = f", except for {', '.join(without)}" if without else ""
    return f"[… to …] takes account of it{one_end}{except_for}"


def _counting(rows: int) -> str:
    return f"{counted(rows, 'row')} of {ONE_UNIT} {'counts' if rows == 1 else 'count'}"


def _of_each(body: Body) -> str:
    return " of each grouping set" if len(body.keys.places) > 1 else ""


def _on_chosen_limits(chosen: ChosenPrivately | None, left_out: LeftOut | None) -> list[str]:
    """Say that the limits were chosen, what that cost, and how many units they cut, if any."""
    if chosen is None:
        return []
    part, bar = short(100 * chosen.share), math.ceil(error_of(chosen.noise, 1 - CONFIDENCE))
    low, high = (max(0, chosen.units_cut + sign * bar) for sign in (-1, 1))
    is_said = chosen.is_exact and left_out is not None and left_out.by_limits
    many = f"{low:,} to {high:,}" if high else "no"
    cut = f"; {many} {UNITS} have more than counts" if is_said else ""
    among = f"among {chosen.candidates:,}, for {part} % of the price"
    return [f"the limits were chosen privately {among}{cut}"]


def _in_each(body: Body) -> str:
    return " in a group" if body.keys.columns else ""


def _on_choice(view: View, body: Body, left_out: LeftOut | None) -> list[str]:
    """Say what happens to rows that are shown because their noisy number is large or small."""
    if view.mode is not None:
        return mode_notes(view.mode, view.possible_groups(body), body, left_out)
    tests = [] if view.having is None else [view.having]
    if not any(indices(estimate) for estimate in [*tests, *view.choosing()]):
        return []
    bias = (
        "these rows were chosen by their noisy numbers, so the numbers that chose them tend to be"
        " too extreme, and ± does not hold for rows that were chosen"
    )
    return [bias, *_on_windows(view)]


def _on_windows(view: View) -> list[str]:
    """Say what a window is about if noisy numbers decided which rows there are."""
    windows = windows_in([output.estimate for output in view.outputs])
    if view.having is None or not indices(view.having) or not windows:
        return []
    said = "what is made of several rows is about the rows that HAVING left"
    return [f"{said}; its interval is about those that HAVING would leave without noise"]


_FIRST = Made(bounding=1, noise=1)
"""What made the releases that do not say."""

_FAULTY_SCALE = 2**23


def superseded(body: Body) -> list[str]:
    """Return what was wrong with the rules and the noise that made a release, in sentences.

    A release of an earlier version is never given again as an answer, because its plan has another
    name now. It stays in the ledger, and whoever reads it there has to know.
    """
    made = _FIRST if body.made is None else body.made
    found = []
    if made.bounding < BOUNDING and body.limits.leave_out:
        found.append(
            "made by an earlier version, which did not keep a fair sample of rows: where a unit had"
            " more rows than its limit, rare values were kept too often and each FILTER counted"
            " rows of its own, so shares and means can be far off; ask again"
        )
    if made.noise < NOISE and any(_is_faulty(part.noise) for part in body.aggregates):
        found.append(
            "made by an earlier version, whose noise of a scale of 2^23 or more was not exact: it"
            " told more about single units than its cost says (see SECURITY.md)"
        )
    return found


def _is_faulty(noise: AggregateMechanism) -> bool:
    if isinstance(noise, DiscreteGaussian):
        return noise.sigma_squared >= _FAULTY_SCALE**2
    return isinstance(noise, DiscreteLaplace) and noise.scale >= _FAULTY_SCALE
