"""A private choice of limits, explained: among which, for which part of the price."""

from collections.abc import Iterable
from typing import Any

from discreet.core.event import ComposedEvent
from discreet.core.loss import short
from discreet.core.unit_words import UNITS
from discreet.curator.price.price import LimitsChoice
from discreet.project.costs import first_cost
from discreet.tables.catalog import Limits


def choice_sentence(choice: LimitsChoice, example: Limits) -> str:
    """Say that limits will be chosen, and for which of them the other sentences are."""
    part, tried = short(100 * choice.share), _in_groups(choice)
    rows = _listed({limits.rows_per_group for limits in tried})
    groups = _listed({limits.groups_per_unit for limits in tried})
    in_all = _over_all(choice)
    other = f", or rows_per_unit of {_listed(in_all)}" if in_all else ""
    return (
        f"they will be chosen privately, behind the gate, for {part} % of the price"
        f" ({_cost(choice)}): rows_per_group of {rows}, groups_per_unit of {groups}{other}."
        " The noise follows from the choice, and its part of the price does not; what is said here"
        f" of noise is for {example.rows_per_group} and {example.groups_per_unit}"
    )


def cut_sentences(choice: LimitsChoice) -> list[str]:
    """Say what is left out by limits that are not chosen yet, and whom the choice overlooks.

    It counts units, and not their rows: of the widest limits and the narrowest, the first are
    chosen only if they cut so many units fewer as their noise is held to be worth.
    """
    worth = max(choice.mechanism.handicaps) - min(choice.mechanism.handicaps)
    counted = f"how many {UNITS} the chosen limits cut is counted, with noise; the answer says it"
    overlooked = (
        f"the choice counts {UNITS}, not rows: fewer than about {worth:,} {UNITS} may be cut"
        " however many rows they have (a profile sees smaller minorities)"
    )
    return [counted, overlooked] if worth else [counted]


def choice_json(choice: LimitsChoice) -> dict[str, Any]:
    """Return the same as plain values."""
    return {
        "share": str(choice.share),
        "cost": _cost(choice).to_json(),
        "candidates": [
            [limits.rows_per_group, limits.groups_per_unit] for limits in _in_groups(choice)
        ],
        "rows_per_unit": _over_all(choice),
    }


def _in_groups(choice: LimitsChoice) -> list[Limits]:
    """Return the candidates that limit rows in a group, and groups."""
    tried = (one.plan.limits for one in choice.candidates)
    return [limits for limits in tried if limits.rows_per_unit is None]


def _over_all(choice: LimitsChoice) -> list[int]:
    """Return the candidates that limit rows over all groups."""
    tried = (one.plan.limits.rows_per_unit for one in choice.candidates)
    return [most for most in tried if most is not None]


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
