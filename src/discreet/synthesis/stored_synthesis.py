"""A synthetic release that the ledger keeps, opened again by the ticket that paid for it."""

from typing import Any

from discreet.core.canonical import digest
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.project.passage import KIND, StoredBody
from discreet.project.project import Project
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.plan import SYNTHESIS, bounded_plan, found_keys, private_table
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
    found = project.ledger.release_of(ticket)
    if found is None or "cells" not in found[0]:
        raise InvalidArgument(
            "There are no synthetic rows of this ticket",
            must="be the number of a ticket that paid for some",
            got=str(ticket),
            next="connection.releases() lists them, and so does 'discreet releases'",
        )
    body, receipt = found
    space = receipt.charges[0].id_space
    names = {one.name: one.called for one in project.catalog.id_spaces}
    counted = counted_again(project, body)
    version = project.ledger.known_version(space)
    is_replaced = version is not None and version.number != receipt.data_version
    remark = f"the data are those of version {receipt.data_version}, which were replaced since"
    return SyntheticRelease(
        table=body["table"],
        cells=tuple(map(ValueCells.from_json, body["cells"])) if counted is None else counted[0],
        measured=MeasuredMarginals.from_json(body["measured"]),
        rows_per_unit=body["rows_per_unit"],
        units=names.get(space, UNIT).plural,
        cost=receipt.charges[0].loss,
        receipt=receipt,
        is_stored=True,
        remarks=(remark,) if is_replaced else (),
    )


def counted_again(
    project: Project, body: StoredBody
) -> tuple[tuple[ValueCells, ...], BoundedPlan] | None:
    """Return the cells and the plan of what is stored, if today's declarations still give these.

    The digest of the plan that was run stands in the body, so that no column that is read in
    another way by now is taken for the one that was counted.
    """
    try:
        table = private_table(project, body["table"])
        cells = found_keys(table, [one["name"] for one in body["cells"]], body["keys"])
        plan = bounded_plan(table, cells, body["rows_per_unit"])
    except DiscreetError:  # there is no such table or column any more, or it has other values
        return None
    is_same = digest(plan.to_json()) == body["counted"]
    return (cells, plan) if is_same else None
