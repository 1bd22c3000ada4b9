"""Pictures of a plan: error against people, what is possible where, and what one more costs."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from attrs import evolve

from discreet.accounting.picture import ACCENT, INK, OTHERS, QUIET, new_figure, tidy
from discreet.core import optional
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.search import smallest
from discreet.planner.bounds.wanted import Wanted
from discreet.planner.find_missing import PlanParts
from discreet.planner.plan import Plan
from discreet.planner.task_names import kind_of
from discreet.planner.tasks.adaptive import AdaptiveTask
from discreet.planner.verdict import bound_reports, is_refuted

T = TypeVar("T")
_POINTS = 12
_PLACES = 16
_COLOURS = (ACCENT, *OTHERS)
_SHADES = ("#c2255c", "#e9ecef", "#0b7285")


def plan_picture(plan: Plan) -> Any:
    """Draw what each way is within, and below it what nobody can reach; needs matplotlib."""
    high = max(plan.people, plan.people_needed or 1) * 30
    low = max(2, min(plan.people, plan.people_refuted or plan.people) // 30)
    people = _around(plan.people, low, high)
    lines: dict[str, list[tuple[int, float]]] = {way.name: [] for way in plan.ways}
    refuted: list[tuple[int, float]] = []
    for count in people:
        parts = evolve(plan.parts, people=count)
        for way in parts.ways():
            lines.setdefault(way.name, []).append((count, min(1.0, float(way.error) / count)))
        refuted.append((count, _refuted_share(parts)))
    if not lines:
        raise InvalidArgument("There is nothing to draw", must="have a way for this loss")
    figure = new_figure()
    axes = figure.subplots()
    for place, (name, points) in enumerate(lines.items()):
        axes.plot(*_columns(points), color=_COLOURS[place % len(_COLOURS)], label=name)
    best = [min(dict(points).get(count, 1.0) for points in lines.values()) for count in people]
    axes.fill_between(people, best, 1, color=ACCENT, alpha=0.12, label="achievable")
    known = [(count, share) for count, share in refuted if share > 0]
    if known:
        counts, shares = _columns(known)
        axes.fill_between(counts, shares, min(shares) / 3, color=OTHERS[4], alpha=0.2)
        axes.set_ylim(bottom=min(shares) / 3)
        axes.plot(counts, shares, color=OTHERS[4], linestyle="--", label="nobody is within that")
    axes.plot([plan.people], [float(plan.within)], "o", color=INK, label="what is wanted")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(people[0], people[-1])
    axes.set_ylim(top=1)
    of = plan.parts.planned.share_of
    tidy(axes, title=plan.task, x="people", y=f"all answers are within (share of {of})")
    axes.legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def map_picture(plan: Plan) -> Any:
    """Draw where the accuracy is achievable, open or impossible, by people and dimension.

    Each field is judged by the point in its middle; what was planned is the middle of one.
    """
    of = _dimension_of(plan)
    assert plan.dimension is not None
    centre = max(plan.people, plan.people_needed or 1)
    people = _around(plan.people, max(2, centre // 3_000), centre * 30, _PLACES)
    dimensions = _dimensions(plan, max(100, plan.dimension * 100))
    grid = [_row(evolve(plan.parts, dimension=d), people) for d in dimensions]
    figure = new_figure()
    axes = figure.subplots()
    shades = optional.load("matplotlib.colors").ListedColormap(_SHADES)
    axes.pcolormesh(_edges(people), _edges(dimensions), grid, cmap=shades, vmin=0, vmax=2)
    axes.plot([plan.people], [plan.dimension], "o", color=INK, markeredgecolor="white")
    axes.set_xscale("log")
    axes.set_yscale("log")
    patch = optional.load("matplotlib.patches").Patch
    names = ("impossible", "open", "achievable")
    shown = [place for place in range(3) if place or plan.bounds]
    handles = [patch(color=_SHADES[place], label=names[place]) for place in shown]
    axes.legend(handles=handles, loc="lower right", fontsize=8)
    within = f"Within {float(100 * plan.within):.3g}%"
    tidy(axes, title=within + _for_loss(plan), x="people", y=of)
    return figure


def cost_picture(plan: Plan) -> Any:
    """Draw what one more answer costs: the error of the best way, by how many there are."""
    of = _dimension_of(plan)
    assert plan.dimension is not None
    dimensions = _dimensions(plan, max(100, plan.dimension * 10))
    points: list[tuple[int, float]] = []
    refuted: list[tuple[int, float]] = []
    for dimension in dimensions:
        parts = evolve(plan.parts, dimension=dimension)
        best = _tried(partial(_best_error, parts), 0.0)
        if best > 0:
            points.append((dimension, best))
        share = _tried(partial(_refuted_share, parts), 0.0)
        if share > 0:
            refuted.append((dimension, share * plan.people))
    figure = new_figure()
    axes = figure.subplots()
    if points:
        axes.plot(*_columns(points), "o-", color=ACCENT, markersize=3, label="the best way here")
    if refuted:
        axes.plot(*_columns(refuted), "--", color=OTHERS[4], label="nobody is within that")
    axes.axvline(plan.dimension, color=QUIET, linewidth=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    tidy(
        axes,
        title=f"What more {of} cost{_for_loss(plan)}",
        x=of,
        y=f"error, for {plan.people:,} people (people)",
    )
    axes.legend(frameon=False, fontsize=8)
    return figure


def _dimension_of(plan: Plan) -> str:
    """Return what the dimension counts; refuse a task that has none."""
    of = kind_of(plan.parts.task).dimension
    if of is None:
        raise InvalidArgument("There is nothing to draw", must="be a task with a dimension")
    return of


def _dimensions(plan: Plan, high: int) -> list[int]:
    """Return dimensions up to about ``high`` that the task can have: of others nothing is said."""
    assert plan.dimension is not None
    tried = _around(plan.dimension, 1, high, _PLACES)
    return [d for d in tried if _is_a_task(evolve(plan.parts, dimension=d))]


def _is_a_task(parts: PlanParts) -> bool:
    try:
        _ = parts.planned
    except DiscreetError:
        return False
    return True


def _for_loss(plan: Plan) -> str:
    return "" if plan.loss is None else f", for {plan.loss}"


def _row(parts: PlanParts, people: Sequence[int]) -> list[int]:
    """Return what can be done for each number of people.

    A population is told of as well by more people, of whom some can be left out: so there it is
    enough to find where the achievable begins.
    """
    if not isinstance(parts.planned, AdaptiveTask):
        return [_place(evolve(parts, people=n)) for n in people]

    def will_do(place: int) -> bool:
        return place == len(people) or _tried(evolve(parts, people=people[place]).is_met, False)

    first = smallest(will_do, near=len(people) // 2)
    before = [_unmet(evolve(parts, people=n)) for n in people[:first]]
    return before + [2] * (len(people) - first)


def _place(parts: PlanParts) -> int:
    """Return 2 for achievable, 1 for open and 0 for impossible."""
    return 2 if _tried(parts.is_met, False) else _unmet(parts)


def _unmet(parts: PlanParts) -> int:
    """Return 1 for open and 0 for impossible, where no way is exact enough."""
    assert parts.people is not None
    assert parts.within is not None
    wanted = _wanted(parts, parts.within * parts.people)
    return 0 if _tried(lambda: is_refuted(parts.planned.bounds(), wanted), False) else 1


def _tried(found: Callable[[], T], otherwise: T) -> T:
    """Return what was found, or something else where a task does not take the dimension."""
    try:
        return found()
    except DiscreetError:
        return otherwise


def _best_error(parts: PlanParts) -> float:
    return float(parts.best().error)


def _refuted_share(parts: PlanParts) -> float:
    """Return the largest share that a bound refutes, or 0."""
    assert parts.people is not None
    assert parts.within is not None
    wanted = _wanted(parts, parts.within * parts.people)
    reports = bound_reports(parts.planned.bounds(), wanted)
    errors = [one.error for one in reports if one.error is not None]
    return float(max(errors)) / parts.people if errors else 0.0


def _wanted(parts: PlanParts, error: Fraction) -> Wanted:
    assert parts.people is not None
    assert parts.beta is not None
    return Wanted(parts.people, error, parts.beta, parts.spent)


def _columns(points: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [one[0] for one in points], [one[1] for one in points]


def _around(anchor: int, low: int, high: int, count: int = _POINTS) -> list[int]:
    """Return whole numbers from about one to another, each so many times the one before.

    The anchor is one of them.
    """
    low = min(low, anchor)
    ratio = math.log(max(high, low + 1) / low) / count
    before = math.floor(math.log(anchor / low) / ratio)
    after = math.ceil(math.log(max(high, anchor + 1) / anchor) / ratio)
    return sorted({round(anchor * math.exp(ratio * k)) for k in range(-before, after + 1)})


def _edges(places: Sequence[int]) -> list[float]:
    """Return where the fields of these places end, on a logarithmic axis."""
    inner = [math.sqrt(one * two) for one, two in pairwise(places)] or [places[0] * 2.0]
    return [places[0] ** 2 / inner[0], *inner, places[-1] ** 2 / inner[-1]]
