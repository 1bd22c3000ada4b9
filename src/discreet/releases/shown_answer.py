"""An answer as people see it: a table, what must be known first above it, and the rest below."""

from attrs import frozen

from discreet.core.html_text import html_heading, html_notes, html_page, html_table
from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_table
from discreet.releases.left_out import LeftOut
from discreet.releases.shown_column import BAR, RANGE, SAMPLE, TOTAL, ShownColumn

_OF_SAMPLES = (
    "noise and who is in the table: where the number of the population is, if the units of the"
    " table are a random sample of it"
)

MOST_ROWS_IN_HTML = 1_000
"""A notebook keeps what it shows, so it is not shown more rows than anybody looks at."""


@frozen(kw_only=True)
class ShownAnswer:
    """What is shown of a release, as text and as HTML."""

    columns: tuple[ShownColumn, ...]
    left_out: LeftOut | None
    cost: PrivacyLoss | None
    """What was charged; None if it is a stored release."""
    headline: tuple[str, ...] = ()
    """What must be read before the numbers."""
    notes: tuple[str, ...]
    is_rounded: bool = False
    """Whether some total interval is wider because values are rounded."""

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        return [column.name for column in self.columns]

    def text(self) -> str:
        """Return it for a terminal."""
        table = text_table(self.names, self.rows())
        return "\n".join([*self.headline, table, *self._footer()])

    def html(self) -> str:
        """Return it for a notebook."""
        rows = self.rows()
        beyond = len(rows) - MOST_ROWS_IN_HTML
        more = [f"{beyond:,} more rows are in rows and in to_pandas()"] if beyond > 0 else []
        return html_page(
            *map(html_heading, self.headline),
            html_table(self.names, rows[:MOST_ROWS_IN_HTML]),
            html_notes([*more, *self._footer()]),
        )

    def rows(self) -> list[list[str]]:
        """Return the cells, as they are shown."""
        columns = [column.texts() for column in self.columns]
        return [list(row) for row in zip(*columns, strict=True)]

    def _footer(self) -> list[str]:
        stored = "a stored release, nothing more is charged"
        cost = stored if self.cost is None else f"cost {self.cost}"
        marks = {column.mark() for column in self.columns}
        known = [mark for mark in (BAR, RANGE) if mark in marks]
        verb = "hold" if len(known) > 1 else "holds"
        claim = f"{' and '.join(known)} {verb} for 95 % of values, noise only; " if known else ""
        if any(column.has_total() for column in self.columns):
            claim += f"{TOTAL} holds for 95 % of values, noise and {self._besides()}; "
        if any(column.has_samples() for column in self.columns):
            claim += f"{SAMPLE} holds for 95 % of samples, {_OF_SAMPLES}; "
        return [f"{claim}{cost}", *self.notes]

    def _besides(self) -> str:
        """Say what the total interval takes account of besides noise."""
        rounded = ["rounding"] if self.is_rounded else []
        return ", and ".join([*self._cutting(), *rounded])

    def _cutting(self) -> list[str]:
        found = self.left_out
        if found is None:
            return []
        if not any(found.clamps) and not found.clamps_totals:
            return ["what limits left out" if found.by_limits else "what clamps cut"]
        both = "what limits left out and clamps cut"
        return [both if found.by_limits else "what clamps cut"]
