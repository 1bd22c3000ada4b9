"""What a holdout says: an answer or a choice, and what it promises of the population."""

from decimal import ROUND_FLOOR
from fractions import Fraction

from attrs import frozen

from discreet.core.loss import short


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
        return f"{float(self.value):.4g} {shown_interval(self.low, self.high)}"


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
        return f"choice {self.place}, at most {short(self.excess)} worse than the best"


def shown_interval(low: Fraction, high: Fraction) -> str:
    """Return an interval in a few digits, rounded outwards: what is read holds as well.

    Example:
        >>> shown_interval(Fraction(1, 3), Fraction(2, 3))
        '[0.3333 to 0.6667]'
        >>> shown_interval(Fraction(2, 3), Fraction(4, 3))
        '[0.6666 to 1.334]'
    """
    return f"[{short(low, rounding=ROUND_FLOOR)} to {short(high)}]"
