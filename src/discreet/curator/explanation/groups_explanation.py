"""What an explanation says about groups: which there are, and how private ones are chosen."""

from fractions import Fraction
from typing import Any

from discreet.core.event import ComposedEvent
from discreet.core.loss import PrivacyLoss
from discreet.core.unit_words import BARE_UNIT, UNITS
from discreet.curator.price.price import ChosenGroups, PricedPlan
from discreet.project.costs import first_cost
from discreet.releases.view import View
from discreet.tables.keyset import PrivateKeys, PublicKeys

_LIKELY = Fraction(19, 20)


def keys_sentence(priced: PricedPlan, view: View) -> str:
    """Say which groups there will be."""
    groups, names = priced.groups, ", ".join(_grouped(priced))
    if not isinstance(groups, PublicKeys):
        needed = groups.mechanism.units_needed(_LIKELY)
        return (
            f"{_without_keys(priced)}, so a group is shown only if a noisy count of its"
            f" {UNITS} is at least {groups.mechanism.threshold}: one of {needed} {UNITS} is shown"
            f" in 95 % of cases, one of a single {BARE_UNIT} almost never (δ); choosing them costs"
            f" {_price_of(groups)}"
        )
    if not names:
        return f"one row, of all {UNITS}"
    sets = "" if len(groups.sets) == 1 else f" in {len(groups.sets)} grouping sets"
    ruled_out = ", and WHERE rules some of them out" if _rules_out(view) else ""
    return (
        f"{groups.size():,} public keys of {names}{sets}{ruled_out}; empty groups appear too, and"
        " rows with NULL or another value are in none"
    )


def _without_keys(priced: PricedPlan) -> str:
    """Say which of the grouped columns have no public keys."""
    keys, names = priced.plan.keys, _grouped(priced)
    allowed = keys.allowed if isinstance(keys, PrivateKeys) else (None,) * len(names)
    found = [name for name, known in zip(names, allowed, strict=True) if known is None] or names
    return f"{' and '.join(found)} {'has' if len(found) == 1 else 'have'} no public keys"


def _rules_out(view: View) -> bool:
    """Tell whether keys are left out of the answer by what the query says."""
    return any(keys is not None for keys in view.possible)


def keys_json(priced: PricedPlan) -> dict[str, Any]:
    """Return the same as plain values."""
    groups = priced.groups
    if isinstance(groups, PublicKeys):
        said = {"kind": "public", "count": groups.size(), "sets": len(groups.sets)}
    else:
        said = {
            "kind": "private",
            "threshold": groups.mechanism.threshold,
            "units_needed": groups.mechanism.units_needed(_LIKELY),
            "cost": _price_of(groups).to_json(),
        }
    return {"columns": _grouped(priced)} | said


def _grouped(priced: PricedPlan) -> list[str]:
    fields = priced.plan.relation.fields()
    return [fields[index].name for index in priced.plan.keys.fields]


def _price_of(groups: ChosenGroups) -> PrivacyLoss:
    """Return what the choice of private groups costs by itself."""
    return first_cost(ComposedEvent.of([groups.event]))
