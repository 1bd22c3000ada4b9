"""Looking for the one of the five that was left out."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss, Pure
from discreet.core.rounding import short_up
from discreet.core.search import smallest
from discreet.planner.task_names import WITHOUT_LOSS, kind_of, task_of
from discreet.planner.tasks.adaptive import AdaptiveTask
from discreet.planner.tasks.known_way import MOST_DIMENSIONS, KnownWay, PlannedTask

MOST_PEOPLE = 10**15
_MOST_HALVINGS = 200
_MOST_POWERS = 8


@frozen(kw_only=True)
class PlanParts:
    """The task and the five, of which one may be missing."""

    task: str
    order: int | None
    people: int | None
    within: Fraction | None
    beta: Fraction | None
    loss: PrivacyLoss | None
    dimension: int | None

    @property
    def planned(self) -> PlannedTask:
        """The task itself."""
        return task_of(self.task, self.dimension, self.order)

    def missing(self) -> str:
        """Return which one is to be looked for; empty if none is."""
        names = ["people", "within", "beta", "loss", "dimension"]
        if kind_of(self.task).dimension is None:
            names.remove("dimension")
        if self.task in WITHOUT_LOSS:
            names.remove("loss")
        found = [name for name in names if getattr(self, name) is None]
        if len(found) > 1:
            raise InvalidArgument(
                "Too much is left out", must="leave out one at most", got=" and ".join(found)
            )
        return "".join(found)

    def ways(self) -> tuple[KnownWay, ...]:
        """Return what can be done with the loss, the most exact first."""
        assert self.beta is not None
        assert self.people is not None
        return self.planned.ways(self.spent, self.beta, self.people)

    @property
    def spent(self) -> PrivacyLoss:
        """The loss; nothing, where there is none to choose."""
        if self.task in WITHOUT_LOSS:
            return Pure(0)
        assert self.loss is not None
        return self.loss

    def best(self) -> KnownWay:
        """Return the most exact way; refuse a loss for which there is none."""
        found = self.ways()
        if not found:
            raise InvalidArgument(
                "No way is known for this loss, of so many people and that dimension",
                must="be above 0, and pure, (ε, δ) or zCDP, with noise that can be drawn",
                got=str(self.loss),
            )
        return found[0]

    def is_met(self) -> bool:
        """Tell whether the most exact way is exact enough."""
        assert self.people is not None
        assert self.within is not None
        found = self.ways()
        return bool(found) and found[0].error <= self.within * self.people


def _people(parts: PlanParts) -> int:
    """Return the fewest people for whom the error of the best way is small enough."""
    task = parts.planned
    assert parts.within is not None
    assert parts.beta is not None
    if isinstance(task, AdaptiveTask):
        return task.least_people(parts.within, parts.beta)

    def will_do(people: int) -> bool:
        if people > MOST_PEOPLE:
            raise InvalidArgument(
                "No number of people will do",
                must=f"need at most {MOST_PEOPLE:,}",
                next="Ask for less, or allow more loss",
            )
        return evolve(parts, people=people).is_met()

    return smallest(will_do, start=1, near=_likely_people(parts))


def _likely_people(parts: PlanParts) -> int:
    """Return about how many people it takes, if errors grow with a power of their number."""
    few, many = (evolve(parts, people=people).best().error for people in _TRIED)
    assert parts.within is not None
    power = math.log(many / few) / math.log(_TRIED[1] / _TRIED[0]) if few else 0.0
    if power > 0.9:
        return 1
    log = math.log(few / parts.within) - power * math.log(_TRIED[0]) if few else 0.0
    return max(1, math.ceil(math.exp(min(log / (1 - power), math.log(MOST_PEOPLE)))))


_TRIED = (10**4, 10**8)


def people_needed_by(parts: PlanParts) -> int | None:
    """Return the fewest people for whom the best way is exact enough; None if unknown."""
    try:
        return _people(parts)
    except InvalidArgument:
        return None


def _within(parts: PlanParts) -> Fraction:
    """Return what the best way is within; refuse so few people that nothing is promised."""
    assert parts.people is not None
    found = parts.ways()
    if found and found[0].error < parts.people:
        return max(short_up(found[0].error / parts.people), Fraction(1, 2**60))
    least = people_needed_by(evolve(parts, within=Fraction(999, 1000)))
    if least is None:
        parts.best()  # it says if there is no way at all
    raise InvalidArgument(
        "There are too few people for any promise",
        must="be more" if least is None else f"be at least {least:,}",
        got=f"{parts.people:,}",
        next="Allow more loss, a larger chance of a miss, or fewer answers",
    )


def _beta(parts: PlanParts) -> Fraction:
    """Return the smallest chance among the powers of a half."""

    def is_too_small(place: int) -> bool:
        return place > _MOST_HALVINGS or not evolve(parts, beta=Fraction(1, 2**place)).is_met()

    if is_too_small(1):
        raise InvalidArgument("Not even every second time", must="allow more loss or more error")
    return Fraction(1, 2 ** (smallest(is_too_small, start=1) - 1))


def _loss(parts: PlanParts) -> PrivacyLoss:
    """Return the smallest ε, to three digits."""
    likely = _likely_epsilon(parts)
    near = smallest(lambda place: _epsilon(place) >= likely, near=2_700)
    place = smallest(lambda place: evolve(parts, loss=Pure(_epsilon(place))).is_met(), near=near)
    return Pure(_epsilon(place))


def _likely_epsilon(parts: PlanParts) -> Fraction:
    """Guess the ε from that of 1: errors are about as many times as large as it is smaller."""
    found = evolve(parts, loss=Pure(1)).ways()
    assert parts.within is not None
    assert parts.people is not None
    likely = found[0].error / (parts.within * parts.people) if found else Fraction(1)
    return min(max(likely, _epsilon(0)), _epsilon(900 * _MOST_POWERS))


def _epsilon(place: int) -> Fraction:
    """Return the numbers with three digits from 0.001 on, in order."""
    power, digits = divmod(place, 900)
    if power > _MOST_POWERS:
        raise InvalidArgument("No sensible loss will do", must="ask for less accuracy")
    return Fraction((100 + digits) * 10**power, 10**5)


def _dimension(parts: PlanParts) -> int:
    """Return the largest dimension for which the best way is exact enough."""

    def is_too_large(dimension: int) -> bool:
        if dimension > MOST_DIMENSIONS:
            return True
        one = evolve(parts, dimension=dimension)
        try:
            return not one.is_met()
        except InvalidArgument:
            return True  # more than the task takes

    least = _least_dimension(parts)
    if is_too_large(least):
        raise InvalidArgument(
            f"Not even {least} will do",
            must="allow more loss or a larger error, or have more people",
        )
    near = _likely_dimension(parts, least)
    return smallest(is_too_large, start=least, near=near) - 1


def _likely_dimension(parts: PlanParts, least: int) -> int:
    """Guess the dimension among powers of ten, and from how errors grow between two of them."""
    assert parts.within is not None
    assert parts.people is not None
    wanted = float(parts.within * parts.people)
    met, error = least, 0.0
    while met * 10 <= MOST_DIMENSIONS:
        try:
            found = evolve(parts, dimension=met * 10).ways()
        except InvalidArgument:
            return met  # more than the task takes
        following = float(found[0].error) if found else math.inf
        if following > wanted:
            break
        met, error = met * 10, following
    else:
        return met
    if not error or math.isinf(following) or following <= error:
        return met
    power = math.log(wanted / error) / math.log(following / error)
    return max(least, math.floor(met * 10**power))


def _least_dimension(parts: PlanParts) -> int:
    """Return the smallest dimension that the task takes: at least the order of its tables."""
    for dimension in range(1, 20):
        try:
            _ = evolve(parts, dimension=dimension).planned
        except InvalidArgument:
            continue
        return dimension
    return 1


FOUND_BY: dict[str, Callable[[PlanParts], Any]] = {
    "people": _people,
    "within": _within,
    "beta": _beta,
    "loss": _loss,
    "dimension": _dimension,
}
