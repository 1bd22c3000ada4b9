"""The life of published counts, read downwards.

.. code-block:: text

    method → columns → cells → noise → price     public: declarations
       gate: engine.execute → measure            the only two lines with private numbers
    estimate                                     public again, and free

``explain`` is the same life, stopped at the gate.
"""

from collections.abc import Sequence

from discreet.core.errors import UnknownTable
from discreet.ledger.order import Receipt
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import StoredBody, foresee, go_through
from discreet.project.project import Project
from discreet.project.terms import Terms, terms_that_hold
from discreet.project.worst_case import receipt_remarks
from discreet.synthesis.plan import private_table
from discreet.synthesis.published.given_keys import GivenKeys
from discreet.synthesis.published.published_counts import PublishedCounts
from discreet.synthesis.published.publishing_explanation import PublishingExplanation
from discreet.synthesis.published.publishing_method import PublishingMethod
from discreet.synthesis.published.publishing_plan import (
    PublishingPlan,
    measured_in,
    publishing_plan,
)
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Key
from discreet.tables.relations.relation import Distinct
from discreet.tables.relations.scan import PublicScan


def publish(
    project: Project,
    name: str,
    method: PublishingMethod,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    columns: Sequence[str] | None = None,
    keys: GivenKeys | None = None,
    fresh: bool = False,
) -> PublishedCounts:
    """Return counts of a table by a method: the stored ones, or new ones that are charged.

    Guarantee:
        The plan keeps at most ``rows_per_unit`` rows of each unit, and the event of the method is
        for units with so many. It is charged before a row is read. What is stored are the numbers
        that the method measured; everything else is made of them and of declarations.
    """
    plan = plan_of(project, name, method, terms, default, columns, keys)
    passed = go_through(project, plan.passage(), analyst=analyst, fresh=fresh)
    (body,) = passed.bodies
    return published_counts(project, plan, body, passed.receipt, is_stored=passed.is_stored)


def published_counts(
    project: Project,
    plan: PublishingPlan,
    body: StoredBody,
    receipt: Receipt,
    *,
    is_stored: bool,
) -> PublishedCounts:
    """Return counts from a stored body, and the plan that measured them."""
    return PublishedCounts(
        plan=plan,
        measured=measured_in(body),
        units=project.catalog.id_space(plan.table.unit.id_space).called.plural,
        cost=receipt.charges[0].loss,
        receipt=receipt,
        is_stored=is_stored,
        remarks=receipt_remarks(project.ledger, receipt),
        circumstances=circumstances_of(
            project, plan.in_words(), plan.plan, receipt, event=plan.ready.event()
        ),
    )


def explain_publishing(
    project: Project,
    name: str,
    method: PublishingMethod,
    *,
    terms: Terms,
    default: Terms,
    analyst: str,
    columns: Sequence[str] | None = None,
    keys: GivenKeys | None = None,
) -> PublishingExplanation:
    """Return what :func:`publish` would measure and cost; nothing is read or spent."""
    plan = plan_of(project, name, method, terms, default, columns, keys)
    return PublishingExplanation(
        plan=plan, foreseen=foresee(project, plan.passage(), analyst=analyst)
    )


def plan_of(
    project: Project,
    name: str,
    method: PublishingMethod,
    terms: Terms,
    default: Terms,
    columns: Sequence[str] | None,
    keys: GivenKeys | None,
) -> PublishingPlan:
    """Return what would be measured, for which price; nothing private is looked at."""
    table = private_table(project, name)

    def public(other: str, names: Sequence[str]) -> Sequence[tuple[Key | None, ...]]:
        return _paths_of(project, other, names)

    return publishing_plan(
        table,
        project.catalog.id_space(table.unit.id_space).cap,
        terms_that_hold(terms, Terms(), (default,)),
        method,
        public,
        columns=columns,
        keys=keys,
        rows_per_unit=terms.rows_per_unit,
    )


def _paths_of(
    project: Project, name: str, columns: Sequence[str]
) -> Sequence[tuple[Key | None, ...]]:
    """Return the combinations of values in some columns of a public table."""
    table = project.catalog.table(name)
    if not isinstance(table, PublicTable):
        raise UnknownTable(
            f"'{name}' is a private table", must="be public: which places there are is told"
        )
    scan = PublicScan(table=table, columns=tuple(table.column(one) for one in columns))
    return project.engine.public_rows(Distinct(source=scan))
