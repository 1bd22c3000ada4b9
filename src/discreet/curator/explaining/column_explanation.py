"""One aggregate, explained: what a unit can move of it, its mechanism, its price and its error."""

from typing import Any

from discreet.accounting.loss_json import loss_from_json
from discreet.core.event import ComposedEvent
from discreet.core.loss import PrivacyLoss
from discreet.curator.explaining.readable import readable
from discreet.curator.price import PricedPlan
from discreet.curator.pricing.costs import first_cost
from discreet.project.noise import keys_contribution, use
from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.cell import plain_up
from discreet.releases.clamp_source import ClampSource
from discreet.releases.error_of import error_of

_BETA = 1 - CONFIDENCE


def column_json(priced: PricedPlan, index: int, clamp: ClampSource | None) -> dict[str, Any]:
    """Return what is public about one aggregate as plain values."""
    plan, mechanism = priced.plan, priced.mechanisms[index]
    aggregate = plan.aggregates[index]
    d_in = aggregate.contribution(plan.reach())
    step, error = aggregate.step, error_of(mechanism, _BETA)
    return {
        "name": aggregate.label(plan.relation.fields())["text"],
        "contribution": {
            norm: str(d_in.bound(norm)) for norm in ("l0", "linf", "l1", "l2_squared")
        },
        "derivation": aggregate.derivation(plan.reach(), None if clamp is None else clamp.value),
        "clamp": None if clamp is None else clamp.value,
        "step": str(step),
        "noise": mechanism.words,
        "scale": mechanism.scale_in_words(step),
        "cost": _price_of(priced, index).to_json(),
        "free": index == priced.plan.counted,
        "error": plain_up(error if mechanism.counts_ranks else error * step),
        "error_in": "ranks" if mechanism.counts_ranks else "values",
        "error_from_units": _least_units(priced) if index == priced.plan.counted else None,
    }


def column_sentence(item: dict[str, Any]) -> str:
    """Return what :func:`column_json` says, for people."""
    if item["free"]:
        return (
            f"{item['derivation']}; the noisy counts that chose the groups ({item['noise']} noise"
            f" of scale {item['scale']}) are its answer, at no further cost. Of groups of"
            f" {item['error_from_units']} units or more that are shown, 95 % are within ±"
            f" {readable(item['error'])} of the answer without noise; a smaller group is shown"
            " only if its noise is high, so there they are too large, and the answer's intervals"
            " take account of that"
        )
    price = loss_from_json(item["cost"])
    if item["error_in"] == "ranks":
        return (
            f"{item['derivation']}; it is chosen at random, a value e times less likely for every"
            f" {item['scale']} rows that its rank is off, which costs {price}; in 95 % of groups"
            f" the rank is off by at most {readable(item['error'])} rows"
        )
    return (
        f"{item['derivation']}. So {item['noise']} noise of scale {item['scale']} costs {price};"
        f" 95 % of values are within ± {readable(item['error'])} of the answer without noise"
    )


def _least_units(priced: PricedPlan) -> int:
    """Return from how many units on the error bar of the counts that chose the groups is right."""
    assert priced.keys_mechanism is not None
    return priced.keys_mechanism.threshold


def keys_price(priced: PricedPlan) -> PrivacyLoss:
    """Return what the choice of private keys costs by itself."""
    assert priced.keys_mechanism is not None
    event = priced.keys_mechanism.event(keys_contribution(priced.plan.reach()))
    return first_cost(ComposedEvent.of([event]))


def _price_of(priced: PricedPlan, index: int) -> PrivacyLoss:
    """Return the first measure in which this aggregate alone has a price: ε before ρ."""
    if index == priced.plan.counted:
        return keys_price(priced)
    plan = priced.plan
    event = use(plan.aggregates[index], priced.mechanisms[index], plan.reach())
    return first_cost(ComposedEvent.of([event]))
