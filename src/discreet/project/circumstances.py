"""Circumstances: what is known of a release besides its numbers, for its card."""

from collections.abc import Callable, Sequence
from functools import partial

from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import short
from discreet.ledger.order import Receipt
from discreet.project.costs import costs
from discreet.project.project import Project
from discreet.project.worst_case import void_remarks
from discreet.releases.card import Circumstances, Translation
from discreet.tables.catalog import PrivacyUnit
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.scan import Scan


def circumstances_of(
    project: Project, sql: str, plan: BoundedPlan, receipt: Receipt, *, event: Event | None
) -> Callable[[], Circumstances]:
    """Return what finds out the circumstances of a release when a card is asked for.

    Without the ``event`` that was charged, its loss in other measures is not known.
    """
    tables = {scan.table.name: None for scan in plan.scans() if isinstance(scan, Scan)}
    return partial(_found, project, sql, plan.owner().unit, tuple(tables), receipt, event)


def _found(
    project: Project,
    sql: str,
    unit: PrivacyUnit,
    tables: Sequence[str],
    receipt: Receipt,
    event: Event | None,
) -> Circumstances:
    space = project.catalog.id_space(unit.id_space)
    deadline = project.catalog.gate.deadline
    return Circumstances(
        sql=sql,
        tables=tuple(tables),
        id_space=space.name,
        unit=space.unit,
        unit_columns=unit.owner_columns(),
        period=None if unit.period is None else unit.period.length.value,
        cap=space.cap,
        remaining=project.ledger.remaining(space.name),
        charged_at=project.ledger.charged_at(receipt.ticket.number),
        deadline=None if deadline is None else short(deadline),
        translations=tuple if event is None else partial(_translations, event),
        void=void_remarks(project.ledger, space.name),
    )


def _translations(event: Event) -> tuple[Translation, ...]:
    composed = event if isinstance(event, ComposedEvent) else ComposedEvent.of([event])
    return tuple((cost.loss, cost.theorem) for cost in costs(composed))
