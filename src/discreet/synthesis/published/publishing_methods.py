"""All methods that publish counts, by their names."""

from collections.abc import Mapping
from typing import Any

import attrs

from discreet.core.errors import InvalidArgument
from discreet.synthesis.published.beginning_methods import TextBeginnings
from discreet.synthesis.published.halfspace_methods import PlaneSides, ProjectedSides
from discreet.synthesis.published.heavy_methods import HeavyHalves
from discreet.synthesis.published.interval_methods import PrefixIntervals, TreeIntervals
from discreet.synthesis.published.one_way_methods import OneWayCounts
from discreet.synthesis.published.place_methods import NestedPlaces
from discreet.synthesis.published.point_methods import ClampedKinds, WholePoints
from discreet.synthesis.published.publishing_method import PublishingMethod, named_options
from discreet.synthesis.published.query_methods import SmallDataSet, WorstQueriesFirst
from discreet.synthesis.published.search_methods import SearchedBoxes, SearchedIntervals
from discreet.synthesis.published.table_methods import CellTables, ContrastTables, SeparateTables

_CLASSES: tuple[type[PublishingMethod], ...] = (
    TreeIntervals,
    PrefixIntervals,
    SearchedIntervals,
    SearchedBoxes,
    NestedPlaces,
    CellTables,
    SeparateTables,
    ContrastTables,
    OneWayCounts,
    WorstQueriesFirst,
    SmallDataSet,
    WholePoints,
    ClampedKinds,
    PlaneSides,
    ProjectedSides,
    HeavyHalves,
    TextBeginnings,
)

METHODS: Mapping[str, type[PublishingMethod]] = {one.name: one for one in _CLASSES}
"""A new method is a class, and a line above."""


def publishing_method(
    method: str | PublishingMethod, options: Mapping[str, Any] | None = None
) -> PublishingMethod:
    """Return a method by its name, with options if there are some; or the one that is given.

    Example:
        >>> publishing_method("tree", {"cells": 64})
        TreeIntervals(cells=64, branching=None)
    """
    if isinstance(method, PublishingMethod):
        if named_options(options):
            raise InvalidArgument(
                "Options are given twice", must="be in the method, or beside its name"
            )
        return method
    found = METHODS.get(method) if isinstance(method, str) else None
    if found is None:
        raise InvalidArgument(
            "There is no such method",
            must=f"be one of {', '.join(METHODS)}",
            got=repr(method)[:40],
        )
    names = [one.name for one in attrs.fields(found)]
    given = named_options(options)
    for name in given:
        if name not in names:
            raise InvalidArgument(
                f"The method '{method}' has no option '{name}'",
                must=f"be one of {', '.join(names)}" if names else "have no option",
            )
    return found(**given)
