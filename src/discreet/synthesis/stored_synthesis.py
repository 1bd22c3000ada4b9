"""A synthetic release that the ledger keeps, opened again by the ticket that paid for it."""

from typing import Any

from attrs import evolve

import discreet.synthesis.judge as judging
from discreet.core.canonical import digest
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.event_json import event_from_json
from discreet.core.loss import Pure
from discreet.ledger.order import Receipt
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import KIND, StoredBody
from discreet.project.project import Project
from discreet.project.worst_case import receipt_remarks
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.found_cells import found_keys
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.plan import SYNTHESIS, bounded_plan, private_table
from discreet.synthesis.public_facts import PublicFacts
from discreet.synthesis.published_table import PublishedTable
from discreet.synthesis.synthetic_card import FindCircumstances
from discreet.synthesis.synthetic_release import SyntheticRelease
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.unit_name import UNIT


def is_synthesis(description: dict[str, Any]) -> bool:
    """Tell whether an order paid for synthetic rows that can be opened by its ticket.

    What the first version stored does not say which columns it has; the same synthesis finds it.
    """
    return description.get(KIND) == SYNTHESIS and "columns" in description


def open_synthesis(project: Project, ticket: int) -> SyntheticRelease:
    """Return the synthetic release that a ticket paid for. It costs nothing."""
    body, receipt = stored_release(project, ticket, "cells", "synthetic rows")
    space = receipt.charges[0].id_space
    names = {one.name: one.called for one in project.catalog.id_spaces}
    counted = counted_again(project, body)
    return SyntheticRelease(
        table=body["table"],
        cells=tuple(map(ValueCells.from_json, body["cells"])) if counted is None else counted[0],
        measured=MeasuredMarginals.from_json(body["measured"]),
        rows_per_unit=body["rows_per_unit"],
        units=names.get(space, UNIT).plural,
        cost=receipt.charges[0].loss,
        receipt=receipt,
        is_stored=True,
        remarks=replaced_remarks(project, receipt),
        circumstances=None
        if counted is None
        else stored_circumstances(project, ticket, counted[1], receipt),
    )


def stored_release(
    project: Project, ticket: int, part: str, what: str
) -> tuple[StoredBody, Receipt]:
    """Return the body that a ticket paid for, if it has the part that tells what it is."""
    found = project.ledger.release_of(ticket)
    if found is None or part not in found[0]:
        raise InvalidArgument(
            f"There are no {what} of this ticket",
            must="be the number of a ticket that paid for some",
            got=str(ticket),
            next="connection.releases() lists them, and so does 'discreet releases'",
        )
    return found


def replaced_remarks(project: Project, receipt: Receipt) -> tuple[str, ...]:
    """Return what must be said of a stored release: of its data, and of the worst case."""
    void = receipt_remarks(project.ledger, receipt)
    version = project.ledger.known_version(receipt.charges[0].id_space)
    if version is None or version.number == receipt.data_version:
        return void
    replaced = f"the data are those of version {receipt.data_version}, which were replaced since"
    return (replaced, *void)


def is_judgement(description: dict[str, Any]) -> bool:
    """Tell whether an order paid for a judgement that can be opened by its ticket.

    What the first version stored does not say which release was judged.
    """
    return description.get(KIND) == judging.JUDGEMENT and "judged" in description


def open_judgement(project: Project, ticket: int) -> SyntheticRelease:
    """Return the synthetic release that was judged, with its judgement. It costs nothing."""
    body, _ = stored_release(project, ticket, "distances", "judgements")
    judged, model = body["of"]["ticket"], body["of"]["model"]
    release = evolve(
        open_synthesis(project, judged),
        published=tuple(map(PublishedTable.from_json, model["published"])),
        facts=PublicFacts.from_json(model["facts"]),
        tours=model["tours"],
    )
    judge = judging.Judge.of_model(release.model, release.rows_per_unit, Pure(1))
    judgement = judge.read(body["distances"], body.get("expected"))
    if judgement is None:
        return evolve(release, remarks=(*release.remarks, OTHER_MODEL))
    return evolve(release, judged=judgement)


OTHER_MODEL = (
    "the judgement is of a model that is estimated in another way by now, and is left out here"
)


def stored_circumstances(
    project: Project, ticket: int, plan: BoundedPlan, receipt: Receipt
) -> FindCircumstances:
    """Return what finds out what is known of a stored release besides its numbers."""
    description = project.ledger.description_of(ticket)
    event = event_from_json(description["event"])
    return circumstances_of(project, description["sql"], plan, receipt, event=event)


def counted_again(
    project: Project, body: StoredBody
) -> tuple[tuple[ValueCells, ...], BoundedPlan] | None:
    """Return the cells and the plan of what is stored, if today's declarations still give these.

    The digest of the plan that was run stands in the body, so that no column that is read in
    another way by now is taken for the one that was counted.
    """
    try:
        table = private_table(project, body["table"])
        names = [one["name"] for one in body["cells"]]
        binned = [one["name"] for one in body["cells"] if "fine" in one]
        cells = found_keys(table, names, body["keys"], binned=binned)
        plan = bounded_plan(table, cells, body["rows_per_unit"])
    except DiscreetError:  # there is no such table or column any more, or it has other values
        return None
    is_same = digest(plan.to_json()) == body["counted"]
    return (cells, plan) if is_same else None
