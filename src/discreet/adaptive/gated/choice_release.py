"""A choice that went through the gate: the best of some candidates, for a population."""

from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.loss import PrivacyLoss, short
from discreet.core.numbers import float_up, written
from discreet.ledger.order import Receipt
from discreet.tables.unit_name import UnitName


@frozen(kw_only=True)
class ChoiceRelease:
    """What a holdout of a table says is the best of some candidates, nearly.

    Attributes:
        called: What units are called.
        candidates: What was asked of each person, in SQL: one for each candidate.
        names: What candidates are called; None if they have no names.
        place: Which of them it is, counted from 0.
        excess: By how much its mean over the population is worse than the best one at most, in the
            unit of the values. The width of the range, if nothing is promised.
        is_largest: Whether the best one has the largest mean; else it has the least.
        number: Which choice of the holdout it was, counted from 1.
        questions: How many choices there may be.
        beta: The chance that something that the holdout says is wrong.
        receipt: What was paid.
        is_stored: Whether it had been paid for before.
        remarks: What must be known besides.
    """

    called: UnitName
    candidates: tuple[str, ...]
    names: tuple[str, ...] | None
    place: int
    excess: Fraction
    is_largest: bool
    number: int
    questions: int
    beta: Fraction
    receipt: Receipt
    is_stored: bool
    remarks: tuple[str, ...] = ()

    @property
    def chosen(self) -> str:
        """The name of what was chosen; without names, its SQL."""
        return (self.names or self.candidates)[self.place]

    @property
    def question(self) -> str:
        """What was asked."""
        best = "largest" if self.is_largest else "least"
        return f"the {best} of {', '.join(self.names or self.candidates)}"

    @property
    def cost(self) -> PrivacyLoss:
        """What it cost when it was asked first."""
        return self.receipt.charges[0].loss

    def notes(self) -> tuple[str, ...]:
        """Return what must be known to read it."""
        if self.number > self.questions:
            first = f"asked beyond {self.questions:,} choices: nothing is promised of it"
        else:
            first = (
                f"choice {self.number:,} of {self.questions:,}; all that the holdout says holds for"
                f" the population together, but for a chance of {written(self.beta)}, if"
                f" {self.called.plural} are independent draws from it"
            )
        return (first, *self.remarks)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "candidates": list(self.candidates),
            **({} if self.names is None else {"names": list(self.names)}),
            "best": "largest" if self.is_largest else "least",
            "chosen": self.chosen,
            "place": self.place,
            "excess": float_up(self.excess),
            "number": self.number,
            "questions": self.questions,
            "beta": float_up(self.beta),
            "cost": self.cost.to_json(),
            "stored": self.is_stored,
            "notes": list(self.notes()),
        }

    def __str__(self) -> str:
        paid = "nothing: it is stored" if self.is_stored else str(self.cost)
        side = "below the largest" if self.is_largest else "above the least"
        found = f"{self.chosen}\nits mean is at most {short(self.excess)} {side}"
        return "\n".join([found, f"cost: {paid}", *self.notes()])
