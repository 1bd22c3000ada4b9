"""What a holdout says: an answer or a choice, and what it promises of the population."""

from fractions import Fraction

from attrs import frozen


@frozen
class PopulationAnswer:
    """An answer about the population, with what holds for all answers together.

    Attributes:
        value: The answer, in the declared range.
        low: The lower end of the interval for the population; that of the range, if the promise
            is one on average.
        high: The upper end.
        number: How many questions were asked up to this one.
        is_from_training: Whether it is the answer of the training rows, which the holdout let be.
    """

    value: Fraction
    low: Fraction
    high: Fraction
    number: int
    is_from_training: bool = False

    def __str__(self) -> str:
        return f"{float(self.value):.4g} [{float(self.low):.4g} to {float(self.high):.4g}]"


@frozen
class PopulationChoice:
    """The best of some choices, as far as a holdout can tell.

    Attributes:
        place: Which one it is, counted from 0.
        excess: By how much its mean loss over the population is above the least one at most, in
            the unit of the losses.
        number: How many questions were asked up to this one.
    """

    place: int
    excess: Fraction
    number: int

    def __str__(self) -> str:
        return f"choice {self.place}, at most {float(self.excess):.4g} worse than the best"
