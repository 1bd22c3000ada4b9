"""Notes: what a reader of an answer must know besides its numbers."""

import math
from fractions import Fraction
from functools import singledispatch

from discreet.core.loss import short
from discreet.releases.body import Body
from discreet.releases.caveats import caveats
from discreet.releases.estimates.estimate import (
    Estimate,
    QuantileOf,
    SelectedOf,
    TotalOf,
    WindowOf,
    parts,
)
from discreet.releases.view import View, margins


def notes(view: View, body: Body, *, confidence: Fraction) -> tuple[str, ...]:
    """Return the notes on each output, each note once."""
    found = [
        f"{output.name}: {note}"
        for output in view.outputs
        for part in parts(output.estimate)
        for note in _notes(part, body, confidence)
    ]
    return tuple(dict.fromkeys([*found, *_on_selection(view, body), *caveats(view, body)]))


def _on_selection(view: View, body: Body) -> list[str]:
    """Say which groups are missing, and which numbers had no part in the choice of the others."""
    selection = body.selection
    if selection is None:
        return []
    least, likely = selection.threshold, selection.units_needed
    missing = (
        f"groups of fewer than about {least} units are not shown; one with {likely} appears in"
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
        f"at most {most:,} groups are shown, those with the largest noisy numbers of units: others"
        " may be missing, and the smallest that are shown tend to be too large"
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
    places = math.ceil(margins(body)(estimate.index, 1 - confidence))
    rank = (
        f"put in order, the rows that count have the {share}-quantile at most {places:,} places"
        f" from this value, for {surely} % of values; how far that is in values is not known"
    )
    extreme = {"MIN": "smallest", "MAX": "largest"}.get(estimate.stands_for)
    if extreme is None:
        return [rank]
    label = (
        f"{estimate.stands_for} is the private {share}-quantile, because the {extreme} value itself"
        " would tell about one person"
    )
    return [label, rank]


@_notes.register
def _(estimate: WindowOf, body: Body, confidence: Fraction) -> list[str]:
    return ["it is made of several noisy rows of this answer, so it has no error bar of its own"]


@_notes.register
def _(estimate: SelectedOf, body: Body, confidence: Fraction) -> list[str]:
    assert body.selection is not None
    least = body.selection.threshold
    bias = (
        f"numbers of units chose the groups, so near {least} they are too large on average (small"
        " groups appear by luck of noise); its intervals take account of that"
    )
    return [bias]


@_notes.register
def _(estimate: TotalOf, body: Body, confidence: Fraction) -> list[str]:
    aggregate, most = body.aggregates[estimate.index], body.limits.rows_per_group
    if aggregate.kind != "count_distinct":
        return []
    bias = (
        f"COUNT(DISTINCT {aggregate.value}) counts at most {most} values of one unit in a group,"
        " so apart from its noise it can only be too small"
    )
    return [bias]
