"""Tasks by their names."""

from collections.abc import Callable

from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.planner.tasks.adaptive import AdaptiveTask
from discreet.planner.tasks.counts import CountTask, HistogramTask, MarginalsTask
from discreet.planner.tasks.known_way import PlannedTask
from discreet.planner.tasks.microdata import MicrodataTask
from discreet.planner.tasks.ranks import QuantilesTask, ThresholdsTask
from discreet.planner.tasks.surveys import SurveyMeanTask, SurveySharesTask
from discreet.planner.tasks.tables import KWayTask, SyntheticTask
from discreet.planner.tasks.totals import MeansTask, SumsTask


@frozen
class TaskKind:
    """A name for a task.

    Attributes:
        make: Makes it from a dimension and an order; either may be meaningless for it.
        dimension: What its dimension counts; None if it has none.
        order: The usual order; None if it has none.
    """

    make: Callable[[int, int], PlannedTask]
    dimension: str | None = None
    order: int | None = None


TASKS: dict[str, TaskKind] = {
    "count": TaskKind(lambda _, __: CountTask()),
    "histogram": TaskKind(lambda d, _: HistogramTask(d), "groups"),
    "microdata": TaskKind(lambda d, _: MicrodataTask(d), "groups"),
    "marginals": TaskKind(lambda d, _: MarginalsTask(d), "properties"),
    "sum": TaskKind(lambda _, __: SumsTask(1)),
    "sums": TaskKind(lambda d, _: SumsTask(d), "sums"),
    "mean": TaskKind(lambda _, __: MeansTask(1)),
    "means": TaskKind(lambda d, _: MeansTask(d), "means"),
    "median": TaskKind(lambda d, _: QuantilesTask(d), "values"),
    "quantiles": TaskKind(QuantilesTask, "values", 9),
    "thresholds": TaskKind(lambda d, _: ThresholdsTask(d), "values"),
    "k-way": TaskKind(KWayTask, "columns", 2),
    "synthetic": TaskKind(SyntheticTask, "columns", 2),
    "survey-shares": TaskKind(lambda d, _: SurveySharesTask(d), "values"),
    "survey-mean": TaskKind(lambda _, __: SurveyMeanTask()),
    "adaptive": TaskKind(lambda d, _: AdaptiveTask(d), "questions"),
}
WITHOUT_LOSS = ("adaptive",)
OF_RANKS = ("median", "quantiles", "thresholds")


def kind_of(name: str) -> TaskKind:
    """Return what a name means; refuse one that is none."""
    if name not in TASKS:
        raise InvalidArgument(
            "A task is unknown", must=f"be one of {', '.join(TASKS)}", got=repr(name)[:40]
        )
    return TASKS[name]


def task_of(name: str, dimension: int | None, order: int | None) -> PlannedTask:
    """Return a task by its name, its dimension, and its order.

    Example:
        >>> task_of("k-way", 30, 3).words
        'all tables of 3 of 30 columns with two values'
    """
    kind = kind_of(name)
    if kind.dimension is not None and dimension is None:
        raise InvalidArgument(
            f"{name} has a dimension", must=f"say how many {kind.dimension} there are"
        )
    if kind.dimension is None and dimension is not None:
        raise InvalidArgument(f"{name} has no dimension", must="leave it out", got=str(dimension))
    if kind.order is None and order is not None:
        raise InvalidArgument(f"{name} has no order", must="leave it out", got=str(order))
    return kind.make(dimension or 0, (kind.order or 0) if order is None else order)
