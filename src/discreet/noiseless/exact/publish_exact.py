"""The life of an exact release, read downwards.

.. code-block:: text

    declared → plan → statistic and law → certificate     public: declarations, and the ledger
       note what is asserted, and that the worst case is void: one durable transaction
       gate: engine.execute → leave out what is too few   the only two lines with private numbers
    release                                                public again

``certify_exact`` is the same life, stopped before anything is noted.
"""

from attrs import evolve

from discreet.core.errors import LedgerError, WrittenBefore
from discreet.ledger.exact_claims import ExactClaim
from discreet.noiseless.exact.exact_certificate import ExactCertificate, certify_plan
from discreet.noiseless.exact.exact_plan import EXACT, ExactPlan
from discreet.noiseless.exact.exact_release import ExactRelease
from discreet.noiseless.exact.exact_statistics import statistic_of
from discreet.noiseless.exact.same_rows import names_of_rows, require_one_id_space
from discreet.noiseless.exact.stored_exact import earlier_than, exact_plan, release_of_body
from discreet.project.exact_rows import PLACE, place_of
from discreet.project.passage import KIND, ExactLeg, Passage, find_stored, go_through
from discreet.project.project import Project

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
            asserted=certificate.asserted() | _place(project, plan),
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


def _certified(project: Project, plan: ExactPlan, version: int) -> ExactCertificate:
    earlier = earlier_than(project, plan.table.unit.id_space)
    require_one_id_space(project.catalog, project.ledger, plan.table)
    released = {one.claim.asserted["table"] for one in earlier.exact}
    aliases = names_of_rows(project.catalog, plan.table, released)
    return certify_plan(plan, statistic_of(plan), earlier, version, aliases)


def _place(project: Project, plan: ExactPlan) -> dict[str, str]:
    """Return where the rows are, for the day on which their table has another name."""
    found = place_of(project.catalog, plan.table.source)
    return {} if found is None else {PLACE: found}


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
