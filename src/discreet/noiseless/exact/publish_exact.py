"""The life of an exact release, read downwards.

.. code-block:: text

    declared → plan → statistic and law → certificate     public: declarations, and the ledger
       note what is asserted, and that the worst case is void: one durable transaction
       gate: engine.execute → leave out what is too few   the only two lines with private numbers
    release                                                public again

``certify_exact`` is the same life, stopped before anything is noted.
"""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve

from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument, LedgerError, WrittenBefore
from discreet.core.numbers import exact
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.order import Receipt
from discreet.noiseless.exact.charged_releases import ChargedReleases, charged_releases
from discreet.noiseless.exact.exact_certificate import ExactCertificate, certify_plan
from discreet.noiseless.exact.exact_plan import EXACT, ExactPlan
from discreet.noiseless.exact.exact_release import ExactRelease
from discreet.noiseless.exact.exact_statistics import statistic_of
from discreet.noiseless.exact.same_rows import names_of_rows, require_one_id_space
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import KIND, ExactLeg, Passage, StoredBody, find_stored, go_through
from discreet.project.project import Project
from discreet.project.worst_case import receipt_remarks
from discreet.releases.card import Circumstances
from discreet.tables.catalog import Table

TRIES = 5
"""How often a release is certified again because something was charged meanwhile."""


def publish_exact(project: Project, name: str, *, analyst: str) -> ExactRelease:
    """Publish a declared statistic exactly, or give again what was published.

    Guarantee:
        The certificate follows from declarations and from the ledger alone. What is asserted is
        durable in the ledger, and the worst-case claim of the id space is void, before a row is
        read. It is looked at beside every earlier charge: if another one comes in between, all of
        it is done again. The same again costs nothing, reads nothing and notes nothing.
    """
    plan = exact_plan(project, name)
    space = plan.table.unit.id_space
    version = project.data_version(space).number
    passage = _passage(project, plan)
    stored = find_stored(project, passage, version)
    if stored is not None:
        return release_of_body(project, stored.bodies[0], stored.receipt, is_stored=True)
    for _ in range(TRIES):
        newest = project.ledger.claims(space).newest_charge
        certificate = _certified(project, plan, version)
        claim = ExactClaim(
            id_space=space,
            name=name,
            plan_digest=passage.name,
            data_version=version,
            asserted=certificate.asserted(),
            checked=newest,
        )
        try:
            passed = go_through(project, evolve(passage, claim=claim), analyst=analyst)
        except WrittenBefore:
            raise
        except LedgerError:
            if project.ledger.claims(space).newest_charge == newest:
                raise
            continue
        (body,) = passed.bodies
        return release_of_body(project, body, passed.receipt, is_stored=passed.is_stored)
    raise LedgerError(
        f"'{name}' was not published: questions about '{space}' are asked all the time",
        next="Nothing was read. Publish it when fewer are asked",
    )


def certify_exact(project: Project, name: str) -> ExactCertificate:
    """Return what :func:`publish_exact` would note; nothing is read, noted or published."""
    plan = exact_plan(project, name)
    version = project.ledger.known_version(plan.table.unit.id_space)
    return _certified(project, plan, 1 if version is None else version.number)


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


def _certified(project: Project, plan: ExactPlan, version: int) -> ExactCertificate:
    earlier = _earlier(project, plan.table.unit.id_space)
    require_one_id_space(project.catalog, project.ledger, plan.table)
    released = {one.claim.asserted["table"] for one in earlier.exact}
    aliases = names_of_rows(project.catalog, plan.table, released)
    return certify_plan(plan, statistic_of(plan), earlier, version, aliases)


def _earlier(project: Project, id_space: str) -> ChargedReleases:
    stated = [one.name for one in project.catalog.exact if one.holds_beside_noise]
    return charged_releases(project.ledger, id_space, stated)


def _passage(project: Project, plan: ExactPlan) -> Passage:
    space = project.catalog.id_space(plan.table.unit.id_space)
    declared = plan.declared
    return Passage(
        name=plan.name(),
        loss=space.cap * 0,
        legs=(ExactLeg(plan=plan.bounded, certified=plan.published),),
        size=plan.largest_release,
        description={
            KIND: EXACT,
            "sql": f"exact {declared.kind.value} of {plan.table.name}: {declared.name}",
            "columns": list(declared.columns),
        },
    )


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
    earlier = _earlier(project, space)
    (own,) = (one for one in earlier.exact if one.ticket == ticket)
    return ExactRelease(
        claim=own.claim,
        numbers=tuple(
            (one["of"], None if one["value"] is None else exact(one["value"]))
            for one in body["numbers"]
        ),
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
