"""A private choice of limits, explained: among which, for which part of the price."""

from collections.abc import Iterable
from typing import Any

from discreet.core.event import ComposedEvent
from discreet.core.loss import short
from discreet.curator.costs import first_cost
from discreet.curator.price import LimitsChoice
from discreet.tables.catalog import Limits


def choice_sentence(choice: LimitsChoice, example: Limits) -> str:
    """Say that limits will be chosen, and for which of them the other sentences are."""
    part, tried = short(100 * choice.share), [one.plan.limits for one in choice.candidates]
    rows = _listed({limits.rows_per_group for limits in tried})
    groups = _listed({limits.groups_per_unit for limits in tried})
    return (
        f"they will be chosen privately, behind the gate, for {part} % of the price"
        f" ({_cost(choice)}): rows_per_group of {rows}, groups_per_unit of {groups}. The noise"
        " follows from the choice, and its part of the price does not; what is said here of noise"
        f" is for {example.rows_per_group} and {example.groups_per_unit}"
    )


CUT = "how many units the chosen limits cut is counted, with noise; the answer says it"
"""What is left out by limits that are not chosen yet."""


def choice_json(choice: LimitsChoice) -> dict[str, Any]:
    """Return the same as plain values."""
    tried = [one.plan.limits for one in choice.candidates]
    return {
        "share": str(choice.share),
        "cost": _cost(choice).to_json(),
        "candidates": [[limits.rows_per_group, limits.groups_per_unit] for limits in tried],
    }


def _cost(choice: LimitsChoice) -> Any:
    return first_cost(ComposedEvent.of([choice.event]))


def _listed(numbers: Iterable[int]) -> str:
    """Return a few numbers; of many, the first ones and the last.

    Example:
        >>> _listed({1, 2, 3}), _listed(range(1, 100))
        ('1, 2, 3', '1, 2, 3, 4, 5, 6, …, 99')
    """
    found = [f"{number:,}" for number in sorted(numbers)]
    return ", ".join(found if len(found) <= _MANY else [*found[: _MANY - 2], "…", found[-1]])


_MANY = 8
