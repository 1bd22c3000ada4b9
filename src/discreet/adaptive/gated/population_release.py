"""An answer about a population that went through the gate, with its interval and receipt."""

from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.adaptive.population_answers import shown_interval
from discreet.core.loss import PrivacyLoss
from discreet.core.numbers import float_down, float_up, written
from discreet.ledger.order import Receipt
from discreet.tables.unit_name import UnitName


@frozen(kw_only=True)
class PopulationRelease:
    """What a holdout of a table says: an answer, and the interval for the population.

    Attributes:
        called: What units are called.
        question: What was asked of each person, in SQL; or how many people there are.
        value: The answer, in the declared range.
        low: The lower end of the interval for the population.
        high: The upper end.
        number: Which question of the holdout it was, counted from 1; 0 is the number of people.
        questions: How many there may be.
        beta: The chance that some interval of the holdout is wrong.
        receipt: What was paid.
        is_stored: Whether it had been paid for before.
        remarks: What must be known besides.
    """

    called: UnitName
    question: str
    value: Fraction
    low: Fraction
    high: Fraction
    number: int
    questions: int
    beta: Fraction
    receipt: Receipt
    is_stored: bool
    remarks: tuple[str, ...] = ()

    @property
    def cost(self) -> PrivacyLoss:
        """What it cost when it was asked first."""
        return self.receipt.charges[0].loss

    def notes(self) -> tuple[str, ...]:
        """Return what must be known to read it."""
        if self.number == 0:
            first = (
                f"the number of {self.called.plural} in the table, of which all answers are shares"
            )
        elif self.number > self.questions:
            first = f"asked beyond {self.questions:,} questions: nothing is promised of it"
        else:
            first = (
                f"question {self.number:,} of {self.questions:,}; all intervals hold for the"
                f" population together, but for a chance of {written(self.beta)}, if"
                f" {self.called.plural} are independent draws from it"
            )
        return (first, *self.remarks)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "question": self.question,
            "value": float(self.value),
            "low": float_down(self.low),
            "high": float_up(self.high),
            "number": self.number,
            "questions": self.questions,
            "beta": float_up(self.beta),
            "cost": self.cost.to_json(),
            "stored": self.is_stored,
            "notes": list(self.notes()),
        }

    def __str__(self) -> str:
        paid = "nothing: it is stored" if self.is_stored else str(self.cost)
        answer = f"{float(self.value):.6g} {shown_interval(self.low, self.high)}"
        return "\n".join([answer, f"cost: {paid}", *self.notes()])
