"""Two related tables that the ledger keeps, opened again by the ticket that paid for them."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from discreet.core.canonical import digest
from discreet.core.errors import DiscreetError
from discreet.project.passage import KIND
from discreet.project.project import Project
from discreet.synthesis.counted.value_cells import ValueCells
from discreet.synthesis.marginals.measured import MeasuredMarginals
from discreet.synthesis.plan import counted_table, private_table
from discreet.synthesis.related.clusters import read_links
from discreet.synthesis.related.draw_related import UnitTable
from discreet.synthesis.related.joined_rows import JoinedRows, joined_rows, require_related
from discreet.synthesis.related.measure_children import MeasuredChildren
from discreet.synthesis.related.related_plan import RELATED
from discreet.synthesis.related.related_release import RelatedRelease
from discreet.synthesis.stored_synthesis import (
    replaced_remarks,
    stored_circumstances,
    stored_release,
)
from discreet.tables.unit_name import UNIT

RELATED_JUDGEMENT = "judgement of related tables"
"""What the ledger calls a judgement of two tables."""


def is_related(description: Mapping[str, Any]) -> bool:
    """Tell whether an order paid for two tables that can be opened by its ticket."""
    return description.get(KIND) == RELATED


def open_related(project: Project, ticket: int) -> RelatedRelease:
    """Return the two tables that a ticket paid for. It costs nothing."""
    body, receipt = stored_release(project, ticket, "parent_cells", "related tables")
    parent, child = map(UnitTable.from_json, body["tables"])
    names = {one.name: one.called for one in project.catalog.id_spaces}
    release = RelatedRelease(
        parent=parent,
        child=child,
        parent_cells=tuple(map(ValueCells.from_json, body["parent_cells"])),
        child_cells=tuple(map(ValueCells.from_json, body["child_cells"])),
        of_parents=MeasuredMarginals.from_json(body["parents"]),
        of_children=MeasuredChildren.from_json(body["children"]),
        links=read_links(body["children"]["links"]),
        rows_per_unit=body["rows_per_unit"],
        counted=(body["counted"][0], body["counted"][1]),
        unit=names.get(receipt.charges[0].id_space, UNIT),
        cost=receipt.charges[0].loss,
        receipt=receipt,
        is_stored=True,
        remarks=replaced_remarks(project, receipt),
    )
    rows = declared_rows(project, release)
    if rows is None:
        return release
    known = stored_circumstances(project, ticket, rows.children_plan(), receipt)
    return evolve(release, circumstances=known)


def is_related_judgement(description: Mapping[str, Any]) -> bool:
    """Tell whether an order paid for a judgement of two tables."""
    return description.get(KIND) == RELATED_JUDGEMENT


def declared_rows(project: Project, release: RelatedRelease) -> JoinedRows | None:
    """Return what counts the rows of a release, if today's declarations still give its plans."""
    names = [
        [one.column.name for one in cells]
        for cells in (release.parent_cells[:-1], release.child_cells)
    ]
    try:
        first, second = (
            private_table(project, table.name) for table in (release.parent, release.child)
        )
        require_related(first, second)
        parents = counted_table(first, names[0], 1)
        children = counted_table(second, names[1], release.rows_per_unit)
    except DiscreetError:  # there is no such table or column any more, or it has other values
        return None
    rows = joined_rows(first, second, parents, children)
    counted = (digest(rows.parents_plan().to_json()), digest(rows.children_plan().to_json()))
    return rows if counted == release.counted else None
