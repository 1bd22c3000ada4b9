"""A picture of a plan: how exact counts can be, against the number of people."""

from fractions import Fraction
from typing import Any

from discreet.accounting.picture import ACCENT, INK, OTHERS, new_figure, tidy
from discreet.core.errors import InvalidArgument
from discreet.planner.plan import Plan

_POINTS = 60


def plan_picture(plan: Plan) -> Any:
    """Draw what each mechanism is within, and below it what nobody can reach; needs matplotlib."""
    if not plan.ways:
        raise InvalidArgument("There is nothing to draw", must="have a mechanism for this loss")
    figure = new_figure()
    axes = figure.subplots()
    people = _people(plan)
    for colour, way in zip((ACCENT, *OTHERS), plan.ways, strict=False):
        axes.plot(people, [_share(way.error, n) for n in people], color=colour, label=way.name)
    best = [_share(plan.ways[0].error, n) for n in people]
    axes.fill_between(people, best, 1, color=ACCENT, alpha=0.12, label="achievable")
    if plan.impossible_within is not None:
        error = plan.impossible_within * plan.people
        none = [_share(error, n) for n in people]
        axes.fill_between(people, none, min(none) / 10, color=OTHERS[1], alpha=0.25)
        axes.plot(people, none, color=OTHERS[1], label="nobody is within that")
    axes.plot([plan.people], [float(plan.within)], "o", color=INK, label="what is wanted")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(people[0], people[-1])
    axes.set_ylim(top=1)
    tidy(axes, title=plan.task, x="people", y="all counts are within (share of the people)")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _share(error: Fraction, people: float) -> float:
    return min(1.0, max(1e-12, float(error) / people))


def _people(plan: Plan) -> list[float]:
    """Return numbers of people around that of the plan."""
    low = max(1.0, min(plan.people, float(plan.ways[0].error)) / 10)
    high = max(plan.people, float(plan.ways[0].error)) * 100
    return [low * (high / low) ** (step / _POINTS) for step in range(_POINTS + 1)]
