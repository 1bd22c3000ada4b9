"""The neighbour relation: which two data sets must look alike."""

from enum import Enum

from discreet.core.choice import chosen


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
    return chosen(Metric, value, noun="neighbour relation")
