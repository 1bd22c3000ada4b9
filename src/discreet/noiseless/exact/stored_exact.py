"""Exact releases that the ledger keeps: opened again, with how their certificates stand now."""

from collections.abc import Callable, Mapping
from typing import Any

from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.order import Receipt
from discreet.noiseless.exact.charged_releases import ChargedReleases, charged_releases
from discreet.noiseless.exact.exact_plan import EXACT, ExactPlan
from discreet.noiseless.exact.exact_release import ExactRelease
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import KIND, StoredBody
from discreet.project.project import Project
from discreet.project.worst_case import receipt_remarks
from discreet.releases.card import Circumstances
from discreet.tables.catalog import Table


def exact_plan(project: Project, name: str) -> ExactPlan:
    """Return the plan of a declared exact release."""
    declared = {one.name: one for one in project.catalog.exact}
    if name not in declared:
        raise InvalidArgument(
            f"No exact release is called '{name}'",
            must=f"be one of {', '.join(declared)}" if declared else "be declared",
            next="The owner allows exact releases in discreet.toml, under [exact.NAME]",
        )
    table = project.catalog.table(declared[name].table)
    assert isinstance(table, Table)  # or the declaration would have been refused
    return ExactPlan(declared=declared[name], table=table)


def earlier_than(project: Project, id_space: str) -> ChargedReleases:
    """Return all that was charged of an id space, with what the owner states of it now."""
    stated = [one.name for one in project.catalog.exact if one.holds_beside_noise]
    return charged_releases(project.ledger, id_space, stated)


def is_exact(description: Mapping[str, Any]) -> bool:
    """Tell whether an order paid for an exact release."""
    return description.get(KIND) == EXACT


def open_exact(project: Project, ticket: int) -> ExactRelease:
    """Return the exact release of a ticket. It costs nothing."""
    found = project.ledger.release_of(ticket)
    if found is None or found[0].get(KIND) != EXACT:
        raise InvalidArgument(
            "There is no exact release of this ticket",
            must="be the number of a ticket of one",
            got=str(ticket),
        )
    return release_of_body(project, *found, is_stored=True)


def release_of_body(
    project: Project, body: StoredBody, receipt: Receipt, *, is_stored: bool
) -> ExactRelease:
    """Return a release from what is stored, with how its certificate stands now."""
    space, ticket = receipt.charges[0].id_space, receipt.ticket.number
    earlier = earlier_than(project, space)
    (own,) = (one for one in earlier.exact if one.ticket == ticket)
    return ExactRelease(
        claim=own.claim,
        numbers=tuple(
            (one["of"], None if one["value"] is None else exact(one["value"]))
            for one in body.get("numbers", ())
        ),
        choice=(body["choice"]["of"], body["choice"]["is"]) if "choice" in body else None,
        receipt=receipt,
        is_stored=is_stored,
        remarks=(*standing(earlier, ticket), *receipt_remarks(project.ledger, receipt)),
        circumstances=_circumstances(project, own.claim, receipt),
    )


def _circumstances(
    project: Project, claim: ExactClaim, receipt: Receipt
) -> Callable[[], Circumstances] | None:
    declared = {one.name for one in project.catalog.exact}
    if claim.name not in declared:
        return None
    plan = exact_plan(project, claim.name)
    words = f"exact {claim.asserted['statistic']} of {claim.asserted['table']}: {claim.name}"
    return circumstances_of(project, words, plan.bounded, receipt, event=None)


def standing(earlier: ChargedReleases, ticket: int) -> tuple[str, ...]:
    """Say how the certificate of an exact release stands after what was released later."""
    (own,) = (one for one in earlier.exact if one.ticket == ticket)
    noisy = [number for number, _ in earlier.noisy if number > ticket]
    said = []
    if noisy and own.name in earlier.beside_noise:
        said.append(
            f"{counted(len(noisy), 'noisy answer')} came since; the owner states that the law "
            "holds for somebody who has them too"
        )
    elif noisy:
        said.append(
            f"{counted(len(noisy), 'noisy answer')} came since (the newest by ticket "
            f"{noisy[-1]}): the certificate is for somebody who has none of them, and says nothing "
            "of others"
        )
    for later in earlier.exact:
        if later.ticket > ticket:
            rule = later.claim.asserted["composed"]["rule"]
            said.append(f"{later.name} was published since, beside it by the rule '{rule}'")
    return tuple(said)
