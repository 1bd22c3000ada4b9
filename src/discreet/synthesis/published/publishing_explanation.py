"""What published counts would measure and cost. Nothing private is looked at; nothing is spent."""

from typing import Any

from attrs import frozen

from discreet.core.html_text import html_page, html_steps
from discreet.core.loss import PrivacyLoss
from discreet.core.terminal_text import text_steps
from discreet.synthesis.published.publishing_plan import PublishingPlan
from discreet.tables.catalog import IdSpace


@frozen(kw_only=True)
class PublishingExplanation:
    """Everything public about counts, before they are paid for."""

    plan: PublishingPlan
    id_space: IdSpace
    remaining: PrivacyLoss
    is_stored: bool

    @property
    def cost(self) -> PrivacyLoss:
        """What it would cost now: nothing, if it is stored already."""
        return self.plan.loss * 0 if self.is_stored else self.plan.loss

    def is_affordable(self) -> bool:
        """Tell whether the budget admits it now."""
        return self.cost <= self.remaining

    def steps(self) -> list[tuple[str, str]]:
        """Return a heading and a sentence for each step."""
        plan, called = self.plan, self.id_space.called
        rows = "1 row" if plan.rows_per_unit == 1 else f"{plan.rows_per_unit} rows"
        return [
            ("Protects", f"{called.a}, with all of its rows in {plan.table.name}"),
            ("Limits", f"at most {rows} of {called.a} count: one moves every count by so much"),
            ("Method", f"{plan.method.name}: {plan.method.summary}"),
            *((one.column.name, one.description()) for one in plan.offered.cells),
            *plan.ready.expected(),
            ("Costs", f"{self.cost}" + (", because it is stored" if self.is_stored else "")),
            ("Left", f"{self.remaining} before it"),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        plan = self.plan
        return {
            "table": plan.table.name,
            "method": plan.method.name,
            "options": plan.method.options(),
            "rows_per_unit": plan.rows_per_unit,
            "columns": [
                {"name": one.column.name, "cells": size, "binned": one.description()}
                for one, size in zip(plan.offered.cells, plan.offered.sizes, strict=True)
            ],
            "expected": [list(step) for step in plan.ready.expected()],
            "event": plan.ready.event().to_json(),
            "cost": self.cost.to_json(),
            "stored": self.is_stored,
            "affordable": self.is_affordable(),
        }

    def __str__(self) -> str:
        """Show the steps, each with its heading."""
        return text_steps(self.steps())

    def _repr_html_(self) -> str:
        return html_page(html_steps(self.steps()))
