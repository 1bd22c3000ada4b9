"""The output laws of a mechanism on two neighbours, and what they are made of."""

import math
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.audit.laws import (
    BITS,
    DiscreteGaussianLaw,
    OutputLaw,
    ProductLaw,
    product,
    push_forward,
)
from discreet.core import check

Cost = Fraction | float
"""A ρ; the only float is infinity."""


@frozen(kw_only=True)
class LawPair:
    """The output laws of one mechanism on two neighbouring data sets."""

    first: OutputLaw
    second: OutputLaw
    source: "LawPair | None" = field(default=None, repr=False)
    """What both were computed from by one function, if it is known."""

    def directions(self) -> tuple[tuple[OutputLaw, OutputLaw], tuple[OutputLaw, OutputLaw]]:
        """Return the pair in both orders: privacy must hold both ways."""
        return (self.first, self.second), (self.second, self.first)

    def after(self, function: Callable[[Any], Hashable]) -> "LawPair":
        """Return the laws of ``function`` of the outcome, for example of noise that is clamped.

        Example:
            >>> from discreet import Zcdp
            >>> from discreet.audit import discrete_gaussian_law, verify
            >>> noisy = LawPair(
            ...     first=discrete_gaussian_law(4, centre=0, radius=30),
            ...     second=discrete_gaussian_law(4, centre=1, radius=30),
            ... )
            >>> verify(noisy.after(lambda noise: max(0, noise)), Zcdp(rho="1/8")).answer.value
            'holds'
        """
        first, second = (push_forward(law, function) for law in (self.first, self.second))
        return LawPair(first=first, second=second, source=self)

    def clamped(self, low: int, high: int) -> "LawPair":
        """Return the laws of the outcome, moved into a window: nothing is unlisted then.

        Example:
            >>> from discreet import Pure
            >>> from discreet.audit import discrete_gaussian_law, verify
            >>> noisy = LawPair(
            ...     first=discrete_gaussian_law(4, centre=0, radius=30),
            ...     second=discrete_gaussian_law(4, centre=1, radius=30),
            ... )
            >>> verify(noisy.clamped(-5, 5), Pure("1.439")).answer.value
            'holds'
        """
        ends = check.whole(low), check.whole(high)
        first, second = (
            law.clamped(*ends)
            if isinstance(law, DiscreteGaussianLaw)
            else push_forward(law, lambda outcome: min(max(outcome, ends[0]), ends[1]))
            for law in self._laws()
        )
        return LawPair(first=first, second=second, source=self)

    def split(self) -> "tuple[Cost, LawPair | None]":
        r"""Return the least ρ of all discrete Gaussian coordinates, and the pair of all others.

        Guarantee:
            Coordinates are independent, so their divergences add. Those of two equal laws are 0,
            and left out. For two discrete Gaussian laws with whole centres and one width the
            divergence of order :math:`\alpha` is at most
            :math:`\alpha (c - c')^2 / 2\sigma^2` [CKS20, Theorem 4], and exactly that at whole
            orders: there the sum in question is over the integers again, moved by a whole number.
            So a smaller ρ is crossed at some whole order, whatever ξ. If the widths differ,
            :math:`P(k)^\alpha Q(k)^{1 - \alpha}` grows with :math:`|k|` for the wider law as
            :math:`P` and large :math:`\alpha`: no ρ and no ε is enough.
        """
        found = [*_coordinates(self.first, self.second)]
        costs = [_cost(*pair) for pair in found]
        others = [pair for pair, cost in zip(found, costs, strict=True) if cost is None]
        cost = sum((cost for cost in costs if cost is not None), Fraction(0))
        if not others:
            return cost, None
        if len(others) == len(found):
            return cost, self
        first, second = zip(*others, strict=True)
        return cost, LawPair(first=_together(first), second=_together(second))

    def refined(self) -> "LawPair | None":
        """Return the pair with narrower bounds, if one of its laws has any to offer."""
        laws = [
            law.refined() if isinstance(law, DiscreteGaussianLaw) else law for law in self._laws()
        ]
        return None if laws == self._laws() else LawPair(first=laws[0], second=laws[1])

    def bits(self) -> int:
        """Return the precision of the laws."""
        return max(
            (law.bits for law in self._laws() if isinstance(law, DiscreteGaussianLaw)), default=BITS
        )

    def _laws(self) -> list[OutputLaw]:
        return [self.first, self.second]


def _coordinates(first: OutputLaw, second: OutputLaw) -> Iterator[tuple[OutputLaw, OutputLaw]]:
    """Return the pairs of laws of the coordinates, where both laws have the same ones."""
    parts = [law.parts for law in (first, second) if isinstance(law, ProductLaw)]
    if len(parts) < 2 or len(parts[0]) != len(parts[1]):
        yield first, second
        return
    for one, other in zip(*parts, strict=True):
        yield from _coordinates(one, other)


def _cost(first: OutputLaw, second: OutputLaw) -> Cost | None:
    """Return the least ρ of a coordinate, if there is a closed form."""
    if first is second:
        return Fraction(0)
    if not isinstance(first, DiscreteGaussianLaw) or not isinstance(second, DiscreteGaussianLaw):
        return None
    if first.sigma_squared != second.sigma_squared:
        return math.inf
    return Fraction((first.centre - second.centre) ** 2) / (2 * first.sigma_squared)


def _together(laws: tuple[OutputLaw, ...]) -> OutputLaw:
    return laws[0] if len(laws) == 1 else product(*laws)
