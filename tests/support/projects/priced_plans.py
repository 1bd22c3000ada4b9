"""Priced plans in the hands of tests: what chooses their keys, and other mechanisms in them."""

from typing import Any

from attrs import evolve

from discreet.curator.price.price import ChosenGroups, Drawn, PricedPlan
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from tests.support.house.narrow import of_kind


def keys_of(priced: PricedPlan) -> ThresholdedKeys:
    """Return what chooses the groups of a plan whose keys are private."""
    return of_kind(ChosenGroups, priced.groups).mechanism


def answered_by(mechanism: Any, priced: PricedPlan) -> PricedPlan:
    """Return the plan with another mechanism everywhere, for its keys too."""
    groups = priced.groups
    return evolve(
        priced,
        groups=evolve(groups, mechanism=mechanism) if isinstance(groups, ChosenGroups) else groups,
        answers=tuple(
            evolve(answer, mechanism=mechanism) if isinstance(answer, Drawn) else answer
            for answer in priced.answers
        ),
    )
