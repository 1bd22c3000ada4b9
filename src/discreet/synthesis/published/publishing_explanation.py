"""What published counts would measure and cost. Nothing private is looked at; nothing is spent."""

from typing import Any

from attrs import frozen

from discreet.synthesis.passage_explanation import PassageExplanation
from discreet.synthesis.published.publishing_plan import PublishingPlan


@frozen(kw_only=True)
class PublishingExplanation(PassageExplanation):
    """Everything public about counts, before they are paid for."""

    plan: PublishingPlan

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
            *self.price_steps(),
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
            **self.price_json(),
        }
