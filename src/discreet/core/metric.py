"""The neighbour relation: which two data sets must look alike."""

from enum import Enum


class Metric(Enum):
    """Two data sets are neighbours if they differ in one unit, in this sense."""

    ADD_REMOVE = "add_remove"
    """One has all rows of one more unit."""

    CHANGE_ONE = "change_one"
    """Both have the same units, and the rows of one of them differ."""
