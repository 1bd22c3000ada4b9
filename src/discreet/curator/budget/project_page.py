"""A project as a notebook shows it: who looks at it, the budgets, and what may be asked about."""

from collections.abc import Iterable

from discreet.core.html_text import html_heading, html_notes, html_page, html_table
from discreet.curator.budget.budget_status import Budgets
from discreet.project.frame_ledgers import IN_MEMORY
from discreet.project.terms import Terms
from discreet.tables.catalog import Catalog, PublicTable, Table


def project_html(heading: str, catalog: Catalog, budgets: Budgets, notes: Iterable[str]) -> str:
    """Return the budgets with their bars, the tables in one line each, and notes below."""
    rows = [*map(_private, catalog.tables), *map(_public, catalog.public_tables)]
    return html_page(
        html_heading(heading),
        budgets._repr_html_(),
        html_table(["table", "", "id space", "columns"], rows),
        html_notes(notes),
    )


def project_line(who: str, catalog: Catalog) -> str:
    """Return a project as Python shows it in one line, and what must be known of its ledger."""
    names = ", ".join(table.name for table in catalog.tables)
    return f"<{who} {names}>" + (f" {IN_MEMORY}." if catalog.is_in_memory else "")


def price_sentence(default: Terms, catalog: Catalog) -> str:
    """Say what a question costs that names no price: what the connection says, or the owner."""
    if default.accuracy is not None:
        return f"A question that says no price costs what {default.accuracy} needs"
    price = default.price() if default.has_price() else catalog.default
    if price is None:
        return "No default price: each question says its own, such as epsilon=0.1"
    return f"A question that says no price costs {price}"


def _private(table: Table) -> list[str]:
    columns = ", ".join(column.name for column in table.columns)
    return [table.name, "private", table.unit.id_space, columns]


def _public(table: PublicTable) -> list[str]:
    columns = ", ".join(column.name for column in table.columns)
    return [table.name, "public", "", columns]
