"""Caveats: what error bars do not show, said where the answer is read."""

from discreet.releases.body import Body
from discreet.releases.estimates.estimate import Estimate, indices
from discreet.releases.superseded import superseded
from discreet.releases.view import View


def caveats(view: View, body: Body) -> list[str]:
    """Return what the limits left out, and what choosing rows by their noisy numbers does."""
    return [*superseded(body), *_on_limits(body), *_on_choice(view)]


_BY_UNIT = {"count_units", "count_distinct"}
"""Aggregates that the number of a unit's rows in a group does not change."""


def _on_limits(body: Body) -> list[str]:
    limits, parts = body.limits, []
    if not limits.leave_out:
        return []
    if any(aggregate.kind not in _BY_UNIT for aggregate in body.aggregates):
        many = f"{limits.rows_per_group:,} row{'s' if limits.rows_per_group > 1 else ''}"
        parts.append(f"at most {many} of one unit count{_in_each(body)}")
    if body.keys.columns:
        most = limits.groups_per_unit
        each = " of each grouping set" if len(body.keys.places) > 1 else ""
        parts.append(f"one unit counts in at most {most:,} group{'s' if most > 1 else ''}{each}")
    if not parts:
        return []
    kept = ", and ".join(parts)
    left_out = f"{kept}; what is beyond is left out, which ± does not show"
    return [f"{left_out} (give other limits with rows_per_group and groups_per_unit)"]


def _in_each(body: Body) -> str:
    return " in a group" if body.keys.columns else ""


def _on_choice(view: View) -> list[str]:
    """Say what happens to rows that are shown because their noisy number is large or small."""
    tests = [test for test in (view.having, view.qualify) if test is not None]
    is_cut = view.limit is not None or view.offset > 0
    chosen_by: list[Estimate] = [*tests, *(item.estimate for item in view.order if is_cut)]
    if not any(indices(estimate) for estimate in chosen_by):
        return []
    bias = (
        "these rows were chosen by their noisy numbers, so the numbers that chose them tend to be"
        " too extreme, and ± does not hold for rows that were chosen"
    )
    return [bias]
