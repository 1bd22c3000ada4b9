"""Published counts that the ledger keeps, opened again by the ticket that paid for them."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.project.passage import KIND, StoredBody
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.synthesis.plan import PUBLISHED
from discreet.synthesis.published.publish import plan_of, published_counts
from discreet.synthesis.published.published_counts import PublishedCounts
from discreet.synthesis.published.publishing_methods import publishing_method
from discreet.synthesis.published.publishing_plan import PublishingPlan
from discreet.synthesis.stored_synthesis import replaced_remarks, stored_release


def is_published(description: Mapping[str, Any]) -> bool:
    """Tell whether an order paid for counts that can be opened by its ticket.

    What the first version stored does not say which columns it has; the same call finds it.
    """
    return description.get(KIND) == PUBLISHED and "columns" in description


def open_counts(project: Project, ticket: int) -> PublishedCounts:
    """Return the counts that a ticket paid for. It costs nothing.

    What was measured are whole numbers, and what they are of is said by the plan. So they are
    opened only while declarations still give the plan that was charged.
    """
    body, receipt = stored_release(project, ticket, "options", "published counts")
    plan = _planned(project, body)
    if plan is None or plan.name() != receipt.plan_digest:
        raise InvalidArgument(
            "The table is declared in another way than when these counts were published",
            must="have the same columns, keys, ranges and limits",
            got=f"ticket {ticket}",
            next="Nothing was charged. Whoever kept the file has them; to open them here, declare "
            "the table as it was",
        )
    release = published_counts(project, plan, body, receipt, is_stored=True)
    return evolve(release, remarks=replaced_remarks(project, receipt))


def _planned(project: Project, body: StoredBody) -> PublishingPlan | None:
    """Return the plan of what is stored by today's declarations, if there is one."""
    terms = Terms.of(loss_from_json(body["offered"]))
    try:
        return plan_of(
            project,
            body["table"],
            publishing_method(body["method"], body["options"]),
            evolve(terms, rows_per_unit=body["rows_per_unit"]),
            Terms(),
            body["columns"],
            body.get("keys") or None,
        )
    except DiscreetError:  # there is no such table or column any more, or it has other values
        return None
