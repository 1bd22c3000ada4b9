"""The plan: four of people, accuracy, confidence, loss and dimension give the fifth."""

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss, Pure
from discreet.core.numbers import Number, exact, float_up, written
from discreet.core.rounding import short_up
from discreet.core.search import smallest
from discreet.planner.lower_bounds import Wanted
from discreet.planner.tasks import (
    MOST_COLUMNS,
    CountingTask,
    CountTask,
    HistogramTask,
    KnownWay,
    MarginalsTask,
)

_MOST_HALVINGS = 200
_MOST_POWERS = 8


class Feasibility(Enum):
    """Whether something can be done."""

    ACHIEVABLE = "achievable"
    OPEN = "open"
    IMPOSSIBLE = "impossible"


@frozen
class Plan:
    """What a task takes, and what is possible.

    Attributes:
        task: The task, in words.
        people: How many people there are.
        within: What all counts are within, as a share of the people.
        beta: The chance that some count is not.
        loss: What is lost about one person.
        verdict: Whether that can be done.
        ways: What can be done with this loss, the most exact first.
        impossible_within: A share such that nobody can be within it or less with these people and
            this loss; None if no bound applies.
        because: The bound.
        found: Which of the five was looked for.
    """

    task: str
    people: int
    within: Fraction
    beta: Fraction
    loss: PrivacyLoss
    verdict: Feasibility
    ways: tuple[KnownWay, ...]
    impossible_within: Fraction | None
    because: str
    found: str

    def __str__(self) -> str:
        wanted = f"within {_percent(self.within)} of them, but for a chance of {written(self.beta)}"
        lines = [
            f"{self.task}: {self.people:,} people, {wanted}, for {self.loss}",
            self.verdict.value + (f" ({self.found} was looked for)" if self.found else ""),
        ]
        for way in self.ways:
            share = _percent(way.error / self.people)
            lines.append(f"  {way.name}: within {share} ({float(way.error):,.0f} people)")
        if self.impossible_within is not None:
            lines.append(f"  nobody: within {_percent(self.impossible_within)} ({self.because})")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        none = self.impossible_within is None
        return {
            "task": self.task,
            "people": self.people,
            "within": float_up(self.within),
            "beta": float_up(self.beta),
            "loss": str(self.loss),
            "verdict": self.verdict.value,
            "ways": [
                {"name": one.name, "within": float_up(one.error / self.people)} for one in self.ways
            ],
            "impossible_within": None if none else float(self.impossible_within or 0),
            "because": self.because,
            "looked_for": self.found,
        }


def task_of(name: str, dimension: int | None) -> CountingTask:
    """Return a task by its name and its number of groups or properties."""
    if name == "count":
        return CountTask()
    tasks: dict[str, Callable[[int], CountingTask]] = {
        "histogram": HistogramTask,
        "marginals": MarginalsTask,
    }
    if name not in tasks:
        raise InvalidArgument(
            "A task is unknown", must="be count, histogram or marginals", got=name
        )
    if dimension is None:
        raise InvalidArgument(f"{name} need a dimension", must="say how many there are")
    return tasks[name](dimension)


@frozen
class _PlanParts:
    """The five, of which one may be missing."""

    task: str
    people: int | None
    within: Fraction | None
    beta: Fraction | None
    loss: PrivacyLoss | None
    dimension: int | None

    def missing(self) -> str:
        """Return which one is to be looked for; empty if none is."""
        names = ["people", "within", "beta", "loss", "dimension"]
        if self.task == "count":
            names.remove("dimension")
        found = [name for name in names if getattr(self, name) is None]
        if len(found) > 1:
            raise InvalidArgument(
                "Too much is left out", must="leave out one at most", got=" and ".join(found)
            )
        return "".join(found)

    def ways(self) -> tuple[KnownWay, ...]:
        """Return what can be done with the loss, the most exact first."""
        assert self.loss is not None
        assert self.beta is not None
        found = task_of(self.task, self.dimension).ways(self.loss, self.beta)
        if not found:
            raise InvalidArgument(
                "No noise is known for this loss", must="be above 0, and pure, (ε, δ) or zCDP"
            )
        return found

    def is_met(self) -> bool:
        """Tell whether the most exact way is exact enough."""
        assert self.people is not None
        assert self.within is not None
        return self.ways()[0].error <= self.within * self.people


def plan(
    task: str,
    *,
    people: int | None = None,
    within: Number | None = None,
    beta: Number | None = Fraction(1, 20),
    loss: PrivacyLoss | None = None,
    dimension: int | None = None,
) -> Plan:
    r"""Say what a task takes: of people, accuracy, confidence, loss and dimension leave out one.

    Guarantee:
        *Achievable* means that the first of ``ways`` does it, by exact quantiles of its noise.
        *Impossible* means that a lower bound with explicit constants refutes it for every
        mechanism, on some data set of at most so many people. *Open* is what lies between.

    Args:
        task: ``count``, ``histogram`` (``dimension`` groups) or ``marginals`` (``dimension``
            properties).
        people: How many people there are. It is typed in, and never counted.
        within: What all counts shall be within, as a share of the people.
        beta: The chance that some count is not; None to look for it.
        loss: What may be lost about one person, who is added or removed; a pure one is looked for.
        dimension: How many groups or properties there are.

    Example:
        >>> print(plan("histogram", within="0.01", loss=Pure(1), dimension=100))
        counts of people in 100 groups: 700 people, within 1% of them, but for a chance of 0.05, ...
        achievable (people was looked for)
          discrete Laplace: within 1% (7 people)
          nobody: within 0.25% (packing: [HT10]; [BS16, section 6])
        >>> plan("marginals", people=100, within="0.01", loss=Pure("0.1"), dimension=50).verdict
        <Feasibility.IMPOSSIBLE: 'impossible'>
    """
    if within is not None and not 0 < exact(within) < 1:
        raise InvalidArgument(
            "An accuracy is out of range", must="be above 0 and below 1", got=str(within)
        )
    parts = _PlanParts(
        task,
        None if people is None else check.at_least_one(people, "people"),
        None if within is None else exact(within),
        None if beta is None else check.level(beta),
        loss,
        dimension,
    )
    missing = parts.missing()
    if missing:
        parts = evolve(parts, **{missing: _SOLVERS[missing](parts)})
    return _judged(parts, missing)


def _judged(parts: _PlanParts, looked_for: str) -> Plan:
    ways, task = parts.ways(), task_of(parts.task, parts.dimension)
    assert parts.people is not None
    assert parts.within is not None
    assert parts.beta is not None
    assert parts.loss is not None
    wanted = Wanted(parts.people, parts.within * parts.people, parts.beta, parts.loss)
    refuted, because = impossible_error(task, wanted)
    if parts.is_met():
        verdict = Feasibility.ACHIEVABLE
    elif refuted is not None and refuted >= wanted.error:
        verdict = Feasibility.IMPOSSIBLE
    else:
        verdict = Feasibility.OPEN
    return Plan(
        task=task.words,
        people=parts.people,
        within=parts.within,
        beta=parts.beta,
        loss=parts.loss,
        verdict=verdict,
        ways=ways,
        impossible_within=None if refuted is None else refuted / parts.people,
        because=because,
        found=looked_for,
    )


def impossible_error(task: CountingTask, wanted: Wanted) -> tuple[Fraction | None, str]:
    """Return an error, in people, that nobody can stay within, and the bound that says so.

    Errors are tried in parts of a person, from large to small; each is checked, so that a bound
    that is not monotone in the error loses nothing but sharpness.
    """
    best: Fraction | None = None
    because = ""
    for bound in task.bounds():
        if bound.refutes(_with_error(wanted, Fraction(0))) is not True:
            continue

        def holds(place: int, bound: Any = bound) -> bool:
            return bound.refutes(_with_error(wanted, Fraction(place, 4))) is not True

        largest = Fraction(smallest(holds, start=1) - 1, 4)
        if best is None or largest > best:
            best, because = largest, f"{bound.name}: {bound.source}"
    if best is not None and bound_refutes(task, wanted):
        best = max(best, wanted.error)
    return best, because


def bound_refutes(task: CountingTask, wanted: Wanted) -> bool:
    """Tell whether some bound refutes just what is wanted."""
    return any(bound.refutes(wanted) is True for bound in task.bounds())


def _with_error(wanted: Wanted, error: Fraction) -> Wanted:
    return Wanted(wanted.people, error, wanted.beta, wanted.loss)


# ---- Looking for the one that is missing.


def _people(parts: _PlanParts) -> int:
    """Noise does not depend on the number of people, so its error says how many are needed."""
    assert parts.within is not None
    error = parts.ways()[0].error / parts.within
    return max(1, -(-error.numerator // error.denominator))


def _within(parts: _PlanParts) -> Fraction:
    assert parts.people is not None
    return short_up(parts.ways()[0].error / parts.people)


def _beta(parts: _PlanParts) -> Fraction:
    """Return the smallest chance among the powers of a half."""

    def is_too_small(place: int) -> bool:
        return place > _MOST_HALVINGS or not evolve(parts, beta=Fraction(1, 2**place)).is_met()

    if is_too_small(1):
        raise InvalidArgument("Not even every second time", must="allow more loss or more error")
    return Fraction(1, 2 ** (smallest(is_too_small, start=1) - 1))


def _loss(parts: _PlanParts) -> PrivacyLoss:
    """Return the smallest ε, to three digits."""
    place = smallest(lambda place: evolve(parts, loss=Pure(_epsilon(place))).is_met(), near=2_700)
    return Pure(_epsilon(place))


def _epsilon(place: int) -> Fraction:
    """Return the numbers with three digits from 0.001 on, in order."""
    power, digits = divmod(place, 900)
    if power > _MOST_POWERS:
        raise InvalidArgument("No sensible loss will do", must="ask for less accuracy")
    return Fraction((100 + digits) * 10**power, 10**5)


def _dimension(parts: _PlanParts) -> int:
    def is_too_large(dimension: int) -> bool:
        return dimension > MOST_COLUMNS or not evolve(parts, dimension=dimension).is_met()

    if is_too_large(1):
        raise InvalidArgument("Not even one will do", must="allow more loss or a larger error")
    return smallest(is_too_large, start=1) - 1


_SOLVERS: dict[str, Callable[[_PlanParts], Any]] = {
    "people": _people,
    "within": _within,
    "beta": _beta,
    "loss": _loss,
    "dimension": _dimension,
}


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.3g}%"
