"""The release card of an answer: how its groups were chosen, its noise, and how exact it is."""

from collections.abc import Iterable, Iterator
from typing import Any

from discreet.ledger.order import Receipt
from discreet.releases.body import Body, NoisyAggregate
from discreet.releases.card import CardFacts, Circumstances
from discreet.releases.view import View


def answer_facts(
    view: View,
    body: Body,
    receipt: Receipt,
    answer: dict[str, Any],
    known: Circumstances | None,
) -> CardFacts:
    """Return what the card of an answer is made of; rows are left out of it.

    ``answer`` is the release as JSON.
    """
    return CardFacts(
        what="An answer",
        product="Summary statistics",
        columns=answer["columns"],
        cost=body.cost,
        receipt=receipt,
        known=known,
        groups=_groups(body),
        post_processing="Arithmetic, order and conditions on noisy numbers; they cost nothing",
        implementation=_implementation(view, body),
        accuracy=_accuracy(answer),
        bias="Limits and clamps make numbers of what counts, not of all rows; see accuracy. Noise"
        " weighs more on small groups",
    )


def _groups(body: Body) -> dict[str, Any]:
    if body.selection is None:
        return {"columns": list(body.keys.columns), "chosen": "by public keys; all are shown"}
    return {
        "columns": list(body.keys.columns),
        "chosen": "privately: a group is shown if a noisy number of its units reaches a threshold",
        "threshold": body.selection.threshold,
        "units_for_95_percent": body.selection.units_needed,
    }


def _implementation(view: View, body: Body) -> dict[str, Any]:
    limits, made = body.limits, body.made
    return {
        "limits": {
            "rows_per_group": limits.rows_per_group,
            "groups_per_unit": limits.groups_per_unit,
            "chosen": "by a keyed hash; what is beyond is left out",
            "can_leave_out": limits.leave_out,
        },
        "clamps": _once(_clamps(view, body)),
        "mechanisms": [_mechanism(aggregate) for aggregate in body.aggregates],
        "rules_of_bounding": None if made is None else made.bounding,
        "samplers": None if made is None else made.noise,
    }


def _clamps(view: View, body: Body) -> Iterator[dict[str, Any]]:
    """Yield into which range each value is moved, where one can be outside."""
    if not view.ranges:
        return
    parts = zip(body.aggregates, view.ranges, view.clamps, strict=True)
    for aggregate, bounds, source in parts:
        if bounds is not None and source is not None:
            yield {
                "value": aggregate.value,
                "lower": str(bounds.lower),
                "upper": str(bounds.upper),
                "chosen": source.value,
            }


def _once(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what is different: a mean and a sum of one value have the same clamp."""
    different: list[dict[str, Any]] = []
    for one in found:
        if one not in different:
            different.append(one)
    return different


def _mechanism(aggregate: NoisyAggregate) -> dict[str, Any]:
    parameters = {name: text for name, text in aggregate.noise.to_json().items() if name != "law"}
    return {
        "aggregate": aggregate.text,
        "law": aggregate.noise.law,
        "parameters": parameters,
        "step": str(aggregate.step),
    }


def _accuracy(answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "confidence": answer["errors"]["confidence"],
        "noise": [
            {"output": name, "half_width": width}
            for name, width in answer["errors"]["half_width"].items()
        ],
        "outputs_with_rows_of_unknown_accuracy": [
            name for name, is_unknown in answer["unknown"].items() if is_unknown
        ],
        "limits_cut": answer["limits_cut"],
        "notes": answer["notes"],
    }
