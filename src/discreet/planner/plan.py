"""The plan: four of people, accuracy, confidence, loss and dimension give the fifth."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss, short
from discreet.core.numbers import Number, exact, float_down, float_up, written
from discreet.planner.bounds.wanted import Wanted
from discreet.planner.find_missing import FOUND_BY, MOST_PEOPLE, PlanParts, people_needed_by
from discreet.planner.task_names import OF_RANKS, WITHOUT_LOSS
from discreet.planner.tasks.known_way import KnownWay
from discreet.planner.verdict import (
    BoundReport,
    Feasibility,
    bound_reports,
    most_refuted_people,
)

USUAL_BETA = Fraction(1, 20)


@frozen(kw_only=True)
class Plan:
    """What a task takes, and what is possible.

    Attributes:
        parts: The task and the five numbers.
        verdict: Whether that can be done.
        ways: What can be done with this loss, the most exact first.
        bounds: What each lower bound says, the strongest first.
        people_needed: The fewest people with whom the first way is exact enough; None if unknown.
        people_refuted: So many people with whom nobody is; None if no bound says so.
        found: Which of the five was looked for; empty if none was.
        remarks: What else is known, which decides nothing.
    """

    parts: PlanParts
    verdict: Feasibility
    ways: tuple[KnownWay, ...]
    bounds: tuple[BoundReport, ...]
    people_needed: int | None
    people_refuted: int | None
    found: str
    remarks: tuple[str, ...]

    @property
    def task(self) -> str:
        """The task, in words."""
        return self.parts.planned.words

    @property
    def people(self) -> int:
        """How many people there are."""
        assert self.parts.people is not None
        return self.parts.people

    @property
    def within(self) -> Fraction:
        """What all answers shall be within, as a share."""
        assert self.parts.within is not None
        return self.parts.within

    @property
    def beta(self) -> Fraction:
        """The chance that some answer is not."""
        assert self.parts.beta is not None
        return self.parts.beta

    @property
    def loss(self) -> PrivacyLoss | None:
        """What is lost about one person; None where there is no loss to choose."""
        return self.parts.loss

    @property
    def dimension(self) -> int | None:
        """How many groups, properties or values there are, if the task has that."""
        return self.parts.dimension

    @property
    def impossible_within(self) -> Fraction | None:
        """A share that nobody stays within with these people and this loss, if a bound says so."""
        error = self.bounds[0].error if self.bounds else None
        return None if error is None else error / self.people

    @property
    def because(self) -> str:
        """The bound that says so."""
        first = self.bounds[0] if self.bounds else None
        return "" if first is None or first.error is None else f"{first.name}: {first.source}"

    @property
    def margin(self) -> Fraction | None:
        """By how much: how many times as exact as wanted the best way is, or the best bound.

        If achievable, what is wanted over what the first way reaches; if impossible, what is
        refuted over what is wanted; if open, what the first way reaches over what is wanted.
        """
        if self.verdict is Feasibility.IMPOSSIBLE:
            return None if self.impossible_within is None else self.impossible_within / self.within
        if not self.ways:
            return None
        reached = self.ways[0].error / self.people
        if self.verdict is Feasibility.OPEN:
            return reached / self.within
        return self.within / reached if reached else None

    def __str__(self) -> str:
        share_of = (
            "them" if self.parts.planned.share_of == "the people" else (self.parts.planned.share_of)
        )
        wanted = (
            f"within {_percent(self.within)} of {share_of}, but for a chance of"
            f" {written(self.beta)}"
        )
        cost = "" if self.loss is None else f", for {self.loss}"
        lines = [f"{self.task}: {_people(self.people)}, {wanted}{cost}", self._verdict_line()]
        if not self.ways:
            has_loss = self.loss is not None
            known = "is known for this loss" if has_loss else "promises anything of so few"
            lines.append(f"  no way here {known}")
        for way in self.ways:
            share = f"within {_percent(way.error / self.people)}"
            promised = share if way.error < self.people else "nothing for so few"
            lines.append(f"  {way.name}: {promised} ({_people(way.error)})")
        if self.impossible_within is not None:
            least = _percent(self.impossible_within, rounding=ROUND_FLOOR)
            lines.append(f"  nobody: within {least} ({self.because})")
        needed = self.people_needed
        if self.found != "people" and needed is not None and needed != self.people:
            lines.append(f"  enough for that: {_people(needed)}")
        if self.people_refuted is not None:
            lines.append(f"  not enough, for anybody: {_people(self.people_refuted)}")
        return "\n".join(lines + [f"  {one}" for one in self.remarks])

    def _verdict_line(self) -> str:
        words = self.verdict.value
        if self.margin is not None and self.margin >= _WORTH_SAYING:
            words += f", {_MARGINS[self.verdict].format(float(self.margin))}"
        return words + (f" ({self.found} was looked for)" if self.found else "")

    def bounds_text(self) -> str:
        """Return a line for each lower bound: what it says, or why it does not apply."""
        return "\n".join(f"  {one}" for one in self.bounds) or "  no lower bound is known"

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        share = self.impossible_within
        return {
            "task": self.task,
            "people": self.people,
            "within": float_up(self.within),
            "beta": float_up(self.beta),
            "loss": None if self.loss is None else str(self.loss),
            "dimension": self.dimension,
            "verdict": self.verdict.value,
            "margin": None if self.margin is None else float_down(self.margin),
            "ways": [
                {"name": one.name, "within": float_up(one.error / self.people)} for one in self.ways
            ],
            "impossible_within": None if share is None else float_down(share),
            "because": self.because,
            "bounds": [
                {
                    "name": one.name,
                    "source": one.source,
                    "impossible_within": None
                    if one.error is None
                    else float_down(one.error / self.people),
                    "why_not": one.why_not or None,
                }
                for one in self.bounds
            ],
            "people_needed": self.people_needed,
            "people_refuted": self.people_refuted,
            "looked_for": self.found,
            "remarks": list(self.remarks),
        }


_WORTH_SAYING = Fraction(101, 100)

_MARGINS = {
    Feasibility.ACHIEVABLE: "{:.3g} times as exact as that",
    Feasibility.OPEN: "for the best way here errs {:.3g} times as much",
    Feasibility.IMPOSSIBLE: "for everybody errs {:.3g} times as much or more",
}


def plan(
    task: str,
    *,
    people: int | None = None,
    within: Number | None = None,
    beta: Number | None = USUAL_BETA,
    confidence: Number | None = None,
    loss: PrivacyLoss | None = None,
    dimension: int | None = None,
    order: int | None = None,
) -> Plan:
    r"""Say what a task takes: of people, accuracy, confidence, loss and dimension leave out one.

    Guarantee:
        *Achievable* means that the first of ``ways`` does it, by quantiles or certain bounds of its
        noise. *Impossible* means that a lower bound with explicit constants refutes it for every
        mechanism, on some data set of at most so many people. *Open* is what lies between.

    Args:
        task: What is published: ``count``, ``histogram``, ``microdata``, ``marginals``, ``sum``,
            ``sums``, ``mean``, ``means``, ``median``, ``quantiles``, ``thresholds``, ``k-way``,
            ``synthetic``, ``survey-shares``, ``survey-mean`` or ``adaptive``.
        people: How many people there are. It is typed in, and never counted.
        within: What all answers shall be within, as a share of the people, ranks or range.
        beta: The chance that some answer is not; None to look for it.
        confidence: The chance that all answers are, in place of ``beta``.
        loss: What may be lost about one person, who is added or removed; a pure one is looked for.
        dimension: How many groups, properties, columns, values or questions there are.
        order: How many columns a table has, or how many quantiles there are.

    Example:
        >>> from discreet import Pure
        >>> print(plan("histogram", within="0.01", loss=Pure(1), dimension=100))
        counts of people in 100 groups: 700 people, within 1% of them, but for a chance of 0.05, ...
        achievable (people was looked for)
          discrete Laplace: within 1% (7 people)
          nobody: within 0.4642% (packing: [HT10]; [BS16, section 6])
        ...
        >>> plan("marginals", people=100, within="0.01", loss=Pure("0.1"), dimension=50).verdict
        <Feasibility.IMPOSSIBLE: 'impossible'>
    """
    if dimension == math.inf and task in OF_RANKS:
        raise InvalidArgument(
            "On the continuum nobody can, for an ε or a ρ [BLR13]",
            must="be on a grid: say how many values there are",
        )
    parts = PlanParts(
        task=task,
        order=order,
        people=None if people is None else check.at_least_one(people, "people"),
        within=_share(within),
        beta=_chance(beta, confidence),
        loss=loss,
        dimension=check.optional_whole(dimension),
    )
    if loss is not None and not isinstance(loss, PrivacyLoss):
        raise InvalidArgument(
            "A loss is not one", must="be such as Pure(1), or Zcdp('0.1')", got=repr(loss)[:40]
        )
    if task in WITHOUT_LOSS and loss is not None:
        raise InvalidArgument(f"{task} has no loss to choose", must="leave it out", got=str(loss))
    missing = parts.missing()
    if missing:
        parts = evolve(parts, **{missing: FOUND_BY[missing](parts)})
    return _judged(parts, missing)


def _share(within: Number | None) -> Fraction | None:
    share = None if within is None else exact(within)
    if share is not None and not 0 < share < 1:
        raise InvalidArgument(
            "An accuracy is out of range", must="be above 0 and below 1", got=str(within)
        )
    return share


def _chance(beta: Number | None, confidence: Number | None) -> Fraction | None:
    if confidence is None:
        return None if beta is None else check.level(beta)
    if beta != USUAL_BETA:
        raise InvalidArgument("A confidence is said twice", must="be beta, or confidence")
    if not 0 < exact(confidence) < 1:
        raise InvalidArgument(
            "A confidence is out of range", must="be above 0 and below 1", got=str(confidence)
        )
    return check.level(1 - exact(confidence))


def _judged(parts: PlanParts, looked_for: str) -> Plan:
    task, ways = parts.planned, parts.ways()
    assert parts.people is not None
    assert parts.within is not None
    assert parts.beta is not None
    error = parts.within * parts.people
    wanted = Wanted(parts.people, error, parts.beta, parts.spent)
    bounds = task.bounds()
    reports = bound_reports(bounds, wanted)
    if ways and ways[0].error <= error:
        verdict = Feasibility.ACHIEVABLE
    elif any(one.error is not None and one.error >= error for one in reports):
        verdict = Feasibility.IMPOSSIBLE
    else:
        verdict = Feasibility.OPEN
    is_just_enough = looked_for in ("people", "within")
    needed = parts.people if is_just_enough else people_needed_by(parts)
    return Plan(
        parts=parts,
        verdict=verdict,
        ways=ways,
        bounds=reports,
        people_needed=needed,
        people_refuted=most_refuted_people(
            bounds, wanted, within=parts.within, start=(needed or MOST_PEOPLE) + 1
        ),
        found=looked_for,
        remarks=task.remarks(wanted),
    )


def _percent(share: Fraction, *, rounding: str = ROUND_CEILING) -> str:
    """Return what answers are within, rounded up; what nobody is within is rounded down."""
    return f"{short(100 * share, rounding=rounding)}%"


def _people(error: Fraction | int) -> str:
    rough = f"{math.ceil(error):,}" if error >= 10 else short(Fraction(error))
    shown = f"{error:,}" if isinstance(error, int) else rough
    return "1 person" if shown == "1" else f"{shown} people"
