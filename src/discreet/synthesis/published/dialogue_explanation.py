"""What a dialogue would be about and cost. Nothing private is looked at, and nothing is spent."""

from typing import Any

from attrs import frozen

from discreet.synthesis.passage_explanation import PassageExplanation
from discreet.synthesis.published.open_queries import DialoguePlan
from discreet.synthesis.published.publishing_method import noise_words, rows_within


@frozen(kw_only=True)
class DialogueExplanation(PassageExplanation):
    """Everything public about a dialogue, before it is paid for."""

    plan: DialoguePlan

    def steps(self) -> list[tuple[str, str]]:
        """Return a heading and a sentence for each step."""
        plan, called = self.plan, self.id_space.called
        rows = plan.offered.rows_per_unit
        checks, error = plan.mechanism.checks, plan.error()
        first = f"the first {plan.machine.queries:,} answers"
        known = "not known, for it may end early" if error is None else f"± {rows_within(error)}"
        return [
            ("Protects", f"{called.a}, with all of its rows in {plan.table}"),
            (
                "Limits",
                f"at most {_rows(rows)} of {called.a} count: one moves a count by so much",
            ),
            ("Machine", f"{plan.machine.name}, over {plan.mechanism.cells:,} kinds of rows"),
            *((one.column.name, one.description()) for one in plan.offered.cells),
            ("Guesses", f"answers that are off by less than about {checks.threshold:,} rows"),
            ("Measures", f"{checks.most_above} others at most, {noise_words(checks.value_noise)}"),
            ("Error", f"{known}, of all of {first} at 95 %"),
            *self.price_steps(),
            ("Answers", "cost nothing more, however many are asked for"),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        error = self.plan.error()
        return {
            "table": self.plan.table,
            "machine": self.plan.machine.name,
            "options": self.plan.machine.options(),
            "rows_per_unit": self.plan.offered.rows_per_unit,
            "columns": list(self.plan.offered.names),
            "error": None if error is None else str(error),
            **self.price_json(),
        }


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
