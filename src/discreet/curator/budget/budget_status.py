"""The status of a budget: what is spent of it and left, by everybody and by one analyst."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.accounting.losses.loss_json import decimals
from discreet.core.html_text import html_notes, html_page
from discreet.core.loss import PrivacyLoss
from discreet.core.overview import Overview
from discreet.core.terminal_text import WIDEST, lines, text_table
from discreet.ledger.budget import budget_bar
from discreet.ledger.ledger import Ledger
from discreet.ledger.memory_store import MemoryStore
from discreet.project.frame_ledgers import IN_MEMORY
from discreet.project.worst_case import void_remarks
from discreet.tables.catalog import IdSpace

BAR_WIDTH = 24
AMOUNTS = ("spent", "left", "of")


@frozen(kw_only=True)
class BudgetStatus:
    """How much of an id space's budget is spent and left."""

    id_space: str
    unit: str
    cap: PrivacyLoss
    spent: PrivacyLoss
    remaining: PrivacyLoss
    analyst: str | None = None
    """Whose share is shown besides, if anybody's."""
    own_spent: PrivacyLoss | None = None
    own_remaining: PrivacyLoss | None = None
    """What this analyst could still spend: never more than what is left of the whole."""
    is_in_memory: bool = False
    """Whether nobody knows of it any more when the process has ended."""
    void: tuple[str, ...] = ()
    """That an exact release has ended the worst-case claim, if one has."""

    def to_json(self) -> dict[str, Any]:
        """Return the status as plain values."""
        losses = {name: getattr(self, name).to_json() for name in ("cap", "spent", "remaining")}
        own = {
            name: None if loss is None else loss.to_json()
            for name, loss in (("spent", self.own_spent), ("remaining", self.own_remaining))
        }
        whose = {} if self.analyst is None else {"analyst": {"name": self.analyst} | own}
        shown = {
            "cap": decimals(self.cap, rounding=ROUND_FLOOR),
            "spent": decimals(self.spent),
            "remaining": decimals(self.remaining, rounding=ROUND_FLOOR),
        }
        names = {"id_space": self.id_space, "unit": self.unit}
        where = {"in_memory": True} if self.is_in_memory else {}
        void = {"worst_case": list(self.void)} if self.void else {}
        return names | losses | {"decimals": shown} | whose | where | void

    def _repr_html_(self) -> str:
        return Budgets([self])._repr_html_()


def budget_status(ledger: Ledger, space: IdSpace, analyst: str) -> BudgetStatus:
    """Return what is spent and left in an id space, by everybody and by one analyst."""
    return BudgetStatus(
        id_space=space.name,
        unit=space.unit,
        cap=space.cap,
        spent=ledger.spent(space.name),
        remaining=ledger.remaining(space.name),
        analyst=analyst,
        own_spent=ledger.spent(space.name, analyst),
        own_remaining=ledger.remaining(space.name, analyst),
        is_in_memory=isinstance(ledger.store, MemoryStore),
        void=void_remarks(ledger, space.name),
    )


class Budgets(Overview[BudgetStatus]):
    """The status of every id space, as a table with bars."""

    __slots__ = ()

    def headings(self) -> tuple[str, ...]:
        """Return what is shown of a budget."""
        return ("id space", "", *AMOUNTS)

    def cells(self) -> list[list[str]]:
        """Return each budget as texts."""
        return [
            [status.id_space, bar(status), str(status.spent), left_words(status), str(status.cap)]
            for status in self
        ]

    def __repr__(self) -> str:
        """Show the budgets, and what one analyst has left of them where that is less."""
        table = text_table(self.headings(), self.cells())
        is_wide = any(len(line) > WIDEST for line in table.splitlines())
        notes = (lines(text) for text in self._notes())
        return "\n".join([_below(self.cells()) if is_wide else table, *notes])

    def _repr_html_(self) -> str:
        bars = (budget_bar(status.id_space, status.spent, status.cap) for status in self)
        return html_page(*bars, html_notes(self._notes()))

    def _notes(self) -> list[str]:
        """Return what one analyst has left where that is less, and what does not hold."""
        shares = [text for text in map(_share, self) if text]
        void = [_sentence(text) for status in self for text in status.void]
        return [
            *shares,
            *void,
            *([IN_MEMORY] if any(status.is_in_memory for status in self) else []),
        ]


def _below(rows: Sequence[Sequence[str]]) -> str:
    """Return the amounts below each other, where they are too long to stand side by side."""
    return "\n".join(
        "\n".join(
            [
                f"{name}  {full}",
                *(f"  {word:5}  {amount}" for word, amount in zip(AMOUNTS, amounts, strict=True)),
            ]
        )
        for name, full, *amounts in rows
    )


def _share(status: BudgetStatus) -> str:
    """Return what an analyst has left, where that is less than everybody has."""
    own = status.own_remaining
    if own is None or own == status.remaining:
        return ""
    left_over = own.shown(rounding=ROUND_FLOOR)
    return f"{status.analyst} has spent {status.own_spent} of {status.id_space}: {left_over} left"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def left_words(status: BudgetStatus) -> str:
    """Return what is left: never more than there is."""
    return status.remaining.shown(rounding=ROUND_FLOOR)


def bar(status: BudgetStatus) -> str:
    """Return a bar of what is spent; full only when nothing is left.

    Example:
        >>> from discreet import Pure
        >>> bar(BudgetStatus(id_space="p", unit="a person", cap=Pure(2), spent=Pure(1),
        ...                  remaining=Pure(1)))
        '████████████░░░░░░░░░░░░'
    """
    share = min(Fraction(1), status.spent.share_of(status.cap))
    full = int(share * BAR_WIDTH)
    return "█" * full + "░" * (BAR_WIDTH - full)
