"""What all explanations say alike: who pays, out of how much, and what is stored already."""

from typing import Any, Protocol

from attrs import frozen

from discreet.core.html_text import html_page, html_steps
from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_steps
from discreet.project.passage import Foreseen
from discreet.tables.catalog import IdSpace


class PaidPlan(Protocol):
    """A plan whose price is known."""

    @property
    def loss(self) -> PrivacyLoss:
        """What is charged."""
        ...


@frozen(kw_only=True)
class PassageExplanation:
    """Everything public about a passage through the gate, before it is paid for."""

    plan: PaidPlan
    foreseen: Foreseen

    @property
    def id_space(self) -> IdSpace:
        """Whose budget pays."""
        return self.foreseen.id_space

    @property
    def remaining(self) -> PrivacyLoss:
        """What may still be spent, before it."""
        return self.foreseen.remaining

    @property
    def is_stored(self) -> bool:
        """Whether somebody has paid for it already."""
        return self.foreseen.stored is not None

    @property
    def cost(self) -> PrivacyLoss:
        """What it would cost now: nothing, if it is stored already."""
        return self.plan.loss * 0 if self.is_stored else self.plan.loss

    def is_affordable(self) -> bool:
        """Tell whether the budget admits it now."""
        return self.cost <= self.remaining

    def steps(self) -> list[tuple[str, str]]:
        """Return a heading and a sentence for each step."""
        raise NotImplementedError

    def price_steps(self) -> list[tuple[str, str]]:
        """Return the last steps: what it costs, and what is left."""
        why = ", because it is stored" if self.is_stored else ""
        void = [("Worst case", text) for text in self.foreseen.void]
        return [("Costs", f"{self.cost}{why}"), ("Left", f"{self.remaining} before it"), *void]

    def price_json(self) -> dict[str, Any]:
        """Return the same as plain values."""
        return {
            "cost": self.cost.to_json(),
            "stored": self.is_stored,
            "affordable": self.is_affordable(),
            **({"worst_case": list(self.foreseen.void)} if self.foreseen.void else {}),
        }

    def __str__(self) -> str:
        """Show the steps, each with its heading."""
        return text_steps(self.steps())

    def _repr_html_(self) -> str:
        return html_page(html_steps(self.steps()))
