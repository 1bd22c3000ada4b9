"""Circumstances: what is known of an answer besides its release, for its card."""

from collections.abc import Callable
from functools import partial

from discreet.core.event import ComposedEvent
from discreet.core.loss import short
from discreet.curator.price.costs import costs
from discreet.ledger.order import Receipt
from discreet.project.project import Project
from discreet.releases.card import Circumstances, Translation
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.scan import Scan


def circumstances_of(
    project: Project, sql: str, plan: BoundedPlan, receipt: Receipt, *, event: ComposedEvent | None
) -> Callable[[], Circumstances]:
    """Return what finds out the circumstances of an answer when a card is asked for.

    Without the ``event`` that was charged, its loss in other measures is not known.
    """
    return partial(_found, project, sql, plan, receipt, event)


def _found(
    project: Project, sql: str, plan: BoundedPlan, receipt: Receipt, event: ComposedEvent | None
) -> Circumstances:
    owner = plan.owner().unit
    space = project.catalog.id_space(owner.id_space)
    tables = {scan.table.name: None for scan in plan.scans() if isinstance(scan, Scan)}
    deadline = project.catalog.gate.deadline
    return Circumstances(
        sql=sql,
        tables=tuple(tables),
        id_space=space.name,
        unit=space.unit,
        unit_columns=owner.owner_columns(),
        period=None if owner.period is None else owner.period.length.value,
        cap=space.cap,
        remaining=project.ledger.remaining(space.name),
        charged_at=project.ledger.charged_at(receipt.ticket.number),
        deadline=None if deadline is None else short(deadline),
        translations=tuple if event is None else partial(_translations, event),
    )


def _translations(event: ComposedEvent) -> tuple[Translation, ...]:
    return tuple((cost.loss, cost.theorem) for cost in costs(event))
