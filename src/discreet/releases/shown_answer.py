"""An answer as people see it: a table, what must be known first above it, and the rest below."""

from html import escape

from attrs import frozen

from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_table
from discreet.releases.left_out import LeftOut
from discreet.releases.notes import headline
from discreet.releases.shown_column import BAR, RANGE, TOTAL, ShownColumn


@frozen(kw_only=True)
class ShownAnswer:
    """What is shown of a release, as text and as HTML."""

    columns: tuple[ShownColumn, ...]
    left_out: LeftOut | None
    cost: PrivacyLoss | None
    """What was charged; None if it is a stored release."""
    notes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        return [column.name for column in self.columns]

    def text(self) -> str:
        """Return it for a terminal."""
        table = text_table(self.names, self.rows())
        return "\n".join([*headline(self.left_out), table, *self._footer()])

    def html(self) -> str:
        """Return it for a notebook."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.names)
        lines = (
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows()
        )
        below = "<br>".join(escape(line) for line in self._footer())
        first = map(escape, headline(self.left_out))
        above = "".join(f"<p><strong>{line}</strong></p>" for line in first)
        return (
            f"{above}<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
            f"<p><small>{below}</small></p>"
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
            claim += f"{TOTAL} holds for 95 % of values, noise and what {self._cutting()}; "
        return [f"{claim}{cost}", *self.notes]

    def _cutting(self) -> str:
        """Say what the total interval takes account of besides noise."""
        found = self.left_out
        if found is None or not any(found.clamps):
            return "limits left out"
        return "limits left out and clamps cut" if found.by_limits else "clamps cut"
