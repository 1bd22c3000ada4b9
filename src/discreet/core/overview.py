"""An overview: several things in order, which are shown together as one table."""

from typing import TypeVar

from discreet.core.html_text import html_notes, html_page, html_table
from discreet.core.terminal_text import text_table

T = TypeVar("T")

MOST_SHOWN_IN_HTML = 1_000
"""A notebook keeps what it shows, so it is not shown more than anybody looks at."""


class Overview(tuple[T, ...]):
    """A tuple that is shown as a table: as text at a prompt, and as HTML in a notebook."""

    __slots__ = ()

    def headings(self) -> tuple[str, ...]:
        """Return what the columns of the table are called."""
        raise NotImplementedError

    def cells(self) -> list[list[str]]:
        """Return the rows of the table, one for each thing."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Show the table as text."""
        return text_table(self.headings(), self.cells())

    def _repr_html_(self) -> str:
        cells = self.cells()
        beyond = len(cells) - MOST_SHOWN_IN_HTML
        more = [f"{beyond:,} more come before these"] if beyond > 0 else []
        table = html_table(self.headings(), cells[-MOST_SHOWN_IN_HTML:])
        return html_page(html_notes(more), table)
