"""The averages that a least-squares line needs: moments of a row, and how far a row moves them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from attrs import field, frozen

from discreet.noiseless.regression.design import RegressionDesign, Span
from discreet.noiseless.regression.polynomial import Polynomial


def _sorted(factors: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(factors)


@frozen
class RowMoment:
    """A column, or a product of two, each less its centre.

    Example:
        >>> str(RowMoment(("g",))), str(RowMoment(("g", "g"))), str(RowMoment(("g", "h")))
        ('g', 'g^2', 'g h')
    """

    factors: tuple[str, ...] = field(converter=_sorted)

    def __str__(self) -> str:
        first, *rest = self.factors
        return f"{first}^2" if rest == [first] else " ".join(self.factors)

    @property
    def is_square(self) -> bool:
        """Whether it is a column with itself."""
        return len(self.factors) == 2 and self.factors[0] == self.factors[1]

    def polynomial(self, design: RegressionDesign) -> Polynomial:
        """Return it as a polynomial of the free columns, less their centres."""
        product = Polynomial.constant(1)
        for factor in self.factors:
            product = product * design.centred(factor)
        return product

    def span(self, design: RegressionDesign) -> Span:
        """Return the least and the largest value that a row within the clamps can have."""
        ends = [design.column(factor).clamped for factor in self.factors]
        if len(ends) == 1:
            return ends[0]
        (a, b), (c, d) = ends
        products = (a * c, a * d, b * c, b * d)
        if self.is_square:
            return (Fraction(0) if a <= 0 <= b else min(products)), max(products)
        return min(products), max(products)


class NamedColumn(Protocol):
    """A column, and the public constant that is subtracted from it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def centre(self) -> Fraction:
        """What is subtracted."""


class LineDesign(Protocol):
    """What of a design decides which averages a line is made of."""

    @property
    def has_intercept(self) -> bool:
        """Whether the line has a constant term."""

    @property
    def regressors(self) -> Sequence[NamedColumn]:
        """The columns that explain."""

    @property
    def outcome(self) -> NamedColumn:
        """The column that is explained."""

    @property
    def columns(self) -> Sequence[NamedColumn]:
        """The regressors, and then the outcome."""


def moments_of(design: LineDesign) -> tuple[RowMoment, ...]:
    r"""Return every moment that the least-squares line needs.

    The line solves :math:`(\sum g g^T) \beta = \sum g h`: with d regressors these are
    :math:`d(d+1)/2 + d` averages, and :math:`d + 1` more with an intercept. The d + 1 averages
    :math:`(\|g\|^2, g_1 h, \ldots, g_d h)` of [Gro14, section 6.4] are enough for d = 1 alone.

    Example:
        >>> design = RegressionDesign.uniform({"a": (0, 1), "b": (0, 1)}, {"h": (0, 1)})
        >>> ", ".join(map(str, moments_of(design)))
        'a, b, h, a^2, a b, a h, b^2, b h'
    """
    names = [column.name for column in design.columns]
    first = [RowMoment((name,)) for name in names] if design.has_intercept else []
    second = [
        RowMoment((left, right)) for index, left in enumerate(names[:-1]) for right in names[index:]
    ]
    return (*first, *second)
