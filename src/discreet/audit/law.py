"""Output laws: what a mechanism may say on one data set, and how likely each answer is."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from attrs import define, field, frozen

from discreet.audit.dyadic import dyadic_down, dyadic_up
from discreet.audit.exponential_sum import Exactly, ExponentialSum, as_sum, total
from discreet.core import check
from discreet.core.errors import InvalidArgument

BITS = 96
"""The usual number of significant bits of an enclosure."""


def _exact_weights(weights: Mapping[Any, Exactly]) -> dict[Any, ExponentialSum]:
    converted = {outcome: as_sum(weight) for outcome, weight in weights.items()}
    if any(weight.sign() < 0 for weight in converted.values()):
        raise InvalidArgument("A weight is out of range", must="be at least 0")
    positive = {outcome: weight for outcome, weight in converted.items() if weight.terms}
    if not positive:
        raise InvalidArgument("That is not a law", must="give some outcome a weight above 0")
    return positive


@define(frozen=True, slots=False)
class ExactLaw:
    r"""A law with finitely many outcomes, each with an exact weight; weights need not sum to 1.

    A weight is a fraction or an :class:`~discreet.audit.exponential_sum.ExponentialSum`. The
    probability of an outcome is its weight over the total.

    Example:
        >>> from discreet.audit.exponential_sum import exp
        >>> ExactLaw({"truth": exp(1), "lie": 1})
        ExactLaw of 2 outcomes
    """

    weights: Mapping[Any, ExponentialSum] = field(converter=_exact_weights)

    @cached_property
    def total(self) -> ExponentialSum:
        """The sum of all weights."""
        return total(self.weights.values())

    def __repr__(self) -> str:
        return f"ExactLaw of {len(self.weights)} outcomes"


@frozen(kw_only=True)
class EnclosedLaw:
    r"""A law known up to certified bounds, with any number of outcomes.

    The law is a sum of two measures: one on the listed outcomes, where the mass of each lies
    between the two ends of ``masses``; and one of total mass at most ``outside``, which may lie
    *anywhere*, on listed outcomes too. So every operation on laws (products, mixtures, functions
    of the outcome) keeps the bounds valid.

    Example:
        >>> half = (Fraction(49, 100), Fraction(51, 100))
        >>> EnclosedLaw(masses={0: half, 1: half}, outside=Fraction(1, 50))
        EnclosedLaw of 2 outcomes, at most 0.02 elsewhere
    """

    masses: Mapping[Any, tuple[Fraction, Fraction]]
    outside: Fraction = field(validator=check.probability)

    def __attrs_post_init__(self) -> None:
        """Refuse bounds that no distribution meets."""
        if any(not 0 <= low <= high for low, high in self.masses.values()):
            raise InvalidArgument("A mass is out of range", must="be at least 0, lower end first")
        least = sum((low for low, _ in self.masses.values()), Fraction(0))
        most = sum((high for _, high in self.masses.values()), self.outside)
        if not least <= 1 <= most:
            raise InvalidArgument("That is not a law", must="be able to sum to 1")

    def __repr__(self) -> str:
        elsewhere = f"{float(self.outside):.3g}"
        return f"EnclosedLaw of {len(self.masses)} outcomes, at most {elsewhere} elsewhere"


Law = ExactLaw | EnclosedLaw
"""What the verifier accepts."""


def finite_law(masses: Mapping[Any, Fraction]) -> ExactLaw:
    """Return the law with these exact probabilities, which must sum to 1.

    Example:
        >>> finite_law({"yes": Fraction(3, 4), "no": Fraction(1, 4)})
        ExactLaw of 2 outcomes
    """
    law = ExactLaw(masses)
    if law.total != 1:
        raise InvalidArgument("That is not a law", must="have probabilities that sum to exactly 1")
    return law


def enclosed(law: Law, *, bits: int = BITS) -> EnclosedLaw:
    """Return the same law with an interval around each probability."""
    if isinstance(law, EnclosedLaw):
        return law
    whole_low, whole_high = law.total.bounds(bits)
    masses = {}
    for outcome, weight in law.weights.items():
        low, high = weight.bounds(bits)
        ends = dyadic_down(low / whole_high, bits), dyadic_up(high / whole_low, bits)
        masses[outcome] = ends
    return EnclosedLaw(masses=masses, outside=Fraction(0))


def all_exact(laws: Sequence[Law]) -> list[ExactLaw] | None:
    """Return the laws if every one of them is exact, else ``None``."""
    exact_laws = [law for law in laws if isinstance(law, ExactLaw)]
    return exact_laws if len(exact_laws) == len(laws) else None
