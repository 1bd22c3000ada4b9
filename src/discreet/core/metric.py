"""The neighbour relation: which two data sets must look alike."""

from enum import Enum

from discreet.core.errors import InvalidArgument


class Metric(Enum):
    """Two data sets are neighbours if they differ in one unit, in this sense."""

    ADD_REMOVE = "add_remove"
    """One has all rows of one more unit."""

    CHANGE_ONE = "change_one"
    """Both have the same units, and the rows of one of them differ."""


def metric_of(value: Metric | str) -> Metric:
    """Return the relation that is meant, also by its name; refuse any other.

    Example:
        >>> metric_of("change_one") is Metric.CHANGE_ONE
        True
    """
    if isinstance(value, Metric):
        return value
    for metric in Metric:
        if value == metric.value:
            return metric
    raise InvalidArgument(
        "There is no such neighbour relation",
        must=f"be one of {', '.join(metric.value for metric in Metric)}",
        got=str(value),
    )
