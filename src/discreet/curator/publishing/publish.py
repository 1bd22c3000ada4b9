"""Publish: noisy integers to the body of a release, which is what the ledger keeps."""

import datetime
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet.core.protocols import Rng
from discreet.curator.price.price import LimitsChoice, PricedPlan
from discreet.curator.publishing.randomise import Noisy, randomise
from discreet.curator.publishing.unit_histogram import counts_all_cut
from discreet.project.passage import Leg, StoredBody
from discreet.releases.body import (
    NOISE,
    Body,
    ChosenPrivately,
    GroupKeys,
    LimitsInForce,
    Made,
    NoisyAggregate,
    PlainKey,
    Selection,
)
from discreet.tables.column import Key
from discreet.tables.keyset import Keys, PublicKeys
from discreet.tables.plans.engine import ExactAggregates
from discreet.tables.plans.plan import BOUNDING, BoundedPlan
from discreet.tables.plans.tighten import leaves_out
from discreet.tables.relations.relation import Field


def publish(noisy: Noisy, priced: PricedPlan, chosen: ChosenPrivately | None = None) -> Body:
    """Return the public body: keys, noisy values in whole steps, noise, limits and cost."""
    plan = priced.plan
    fields = plan.relation.fields()
    described = enumerate(zip(plan.aggregates, priced.mechanisms, noisy.columns, strict=True))
    return Body(
        made=Made(bounding=BOUNDING, noise=NOISE),
        keys=_keys(plan.keys, fields, noisy),
        selection=_selection(priced),
        limits=LimitsInForce(**plan.limits.given(), leave_out=leaves_out(plan), chosen=chosen),
        aggregates=tuple(
            NoisyAggregate.from_json(
                aggregate.label(fields)
                | {
                    "step": str(aggregate.step),
                    "noise": mechanism.to_json(),
                    "values": values.tolist(),
                }
                | _ends(noisy, priced, index)
            )
            for index, (aggregate, mechanism, values) in described
        ),
        cost=priced.loss,
    )


def as_asked(body: Body, plan: BoundedPlan) -> Body:
    """Return a body with the names that the question gives to columns and values.

    Names are no part of what a plan is called by, so an answer that is found again may have been
    asked for with others.
    """
    fields = plan.relation.fields()
    labels = [aggregate.label(fields) for aggregate in plan.aggregates]
    return evolve(
        body,
        keys=evolve(body.keys, columns=tuple(fields[index].name for index in plan.keys.fields)),
        aggregates=tuple(
            evolve(aggregate, text=label["text"], value=label.get("value"))
            for aggregate, label in zip(body.aggregates, labels, strict=True)
        ),
    )


def _ends(noisy: Noisy, priced: PricedPlan, index: int) -> dict[str, Any]:
    """Return the ends of a quantile's interval, with what chose them."""
    if index not in priced.ends:
        return {}
    pairs = zip(priced.ends[index], noisy.ends[index], strict=True)
    return {"ends": [{"noise": end.to_json(), "values": values.tolist()} for end, values in pairs]}


def leg_of(priced: PricedPlan) -> Leg:
    """Return a priced plan as a leg of a passage: its noise, and the body of its release.

    Where its limits are to be chosen, the leg chooses them, and that of the chosen ones follows.
    """
    return _answering(priced) if priced.choice is None else _choosing(priced.choice)


def _answering(priced: PricedPlan, chosen: ChosenPrivately | None = None) -> Leg:
    def published(exact: ExactAggregates, rng: Rng) -> StoredBody:
        return publish(randomise(exact, priced, rng), priced, chosen).to_json()

    return Leg(plan=priced.plan, published=published)


def _choosing(choice: LimitsChoice) -> Leg:
    def published(exact: ExactAggregates, rng: Rng) -> Leg:
        number, cut = exact.randomise(0, choice.mechanism, rng).tolist()
        return _answering(choice.candidates[number], chosen_privately(choice, cut))

    plans = [one.plan for one in choice.candidates]
    widest = {plan.limits.rows_per_unit is None: plan for plan in plans}
    return Leg(plan=choice.plan, published=published, following=(plans[0], *widest.values()))


def chosen_privately(choice: LimitsChoice, cut: int) -> ChosenPrivately:
    """Return what a release says about the choice of its limits, which cut so many units."""
    return ChosenPrivately(
        share=choice.share,
        candidates=len(choice.candidates),
        units_cut=cut,
        is_exact=counts_all_cut(choice.candidates[0].plan),
        noise=choice.mechanism.noise,
    )


def _keys(keys: Keys, fields: Sequence[Field], noisy: Noisy) -> GroupKeys:
    """Return the key of each row, and for each grouping set which of the columns it has."""
    grouped = [fields[index] for index in keys.fields]
    everything = range(len(grouped))
    places = [part.places for part in keys.sets] if isinstance(keys, PublicKeys) else [everything]
    return GroupKeys(
        columns=tuple(field.name for field in grouped),
        types=tuple(field.type for field in grouped),
        places=tuple(map(tuple, places)),
        rows=[[_key(value) for value in row] for row in noisy.keys],
        sets=noisy.sets,
    )


def _selection(priced: PricedPlan) -> Selection | None:
    """Return from how many units on a group appears, if the groups were chosen privately."""
    groups = priced.groups
    if isinstance(groups, PublicKeys):
        return None
    keys = groups.mechanism
    return Selection(
        threshold=keys.threshold,
        units_needed=keys.units_needed(_LIKELY),
        most_groups=groups.most_groups,
    )


_LIKELY = Fraction(19, 20)


def _key(value: Key | None) -> PlainKey:
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value
