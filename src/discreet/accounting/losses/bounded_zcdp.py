"""Bounded zCDP: a straight Rényi curve that ends at some order."""

from fractions import Fraction
from typing import Self

from attrs import Attribute, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Measure, PrivacyLoss
from discreet.core.numbers import exact


@frozen(repr=False, order=False)
class BoundedZcdp(PrivacyLoss):
    r""":math:`m`-bounded :math:`(\xi, \rho)`-zCDP; ``order`` is :math:`m` [BS16, Definition 8.4].

    Guarantee:
        :math:`D_\alpha(M(x) \| M(x')) \le \xi + \rho\alpha` for every
        :math:`\alpha \in (1, m)`; at :math:`m` and above nothing is said. Sums compose below the
        smaller of the two orders, because Rényi divergences do, order by order
        [Mir17, Proposition 1].

    Example:
        >>> BoundedZcdp(rho=1, order=32) + BoundedZcdp(rho=2, order=8)
        BoundedZcdp(ρ = 3, m = 8)
    """

    measure = Measure.BOUNDED_ZCDP
    rho: Fraction = field(converter=exact, validator=check.non_negative)
    order: Fraction = field(converter=exact)
    xi: Fraction = field(default=Fraction(0), converter=exact, validator=check.non_negative)

    @order.validator
    def _above_one(self, attribute: "Attribute[Fraction]", order: Fraction) -> None:
        if order <= 1:
            raise InvalidArgument("order is out of range", must="be greater than 1", got=str(order))

    def __add__(self, other: Self) -> Self:
        """Compose, below the smaller order."""
        self._require_same_measure(other)
        order = min(self.order, other.order)
        return type(self)(self.rho + other.rho, order, self.xi + other.xi)

    def __mul__(self, count: int | Fraction) -> Self:
        """Compose ``count`` times."""
        factor = exact(count)
        if factor < 0:
            raise InvalidArgument("count is out of range", must="be at least 0", got=str(count))
        return type(self)(self.rho * factor, self.order, self.xi * factor)

    __rmul__ = __mul__

    def __le__(self, other: Self) -> bool:
        """Compare the two lines on (1, m) of ``other``: at both ends, as they are straight."""
        self._require_same_measure(other)
        if self.order < other.order:
            return False
        pairs = ((self.at(end), other.at(end)) for end in (Fraction(1), other.order))
        return all(own <= limit for own, limit in pairs)

    def at(self, alpha: Fraction) -> Fraction:
        """Return the height of the line at ``alpha``."""
        return self.xi + self.rho * alpha

    def share_of(self, cap: Self) -> Fraction:
        """Return the largest share of the line of ``cap`` on (1, m) that this one takes up."""
        self._require_same_measure(cap)
        if self.order < cap.order:
            raise Unsupported(
                "This loss says nothing at some orders of the other",
                must=f"be bounded up to the order {cap.order}",
                got=str(self.order),
            )
        pairs = [(self.at(end), cap.at(end)) for end in (Fraction(1), cap.order)]
        return max(own / limit if limit else Fraction(own > 0) for own, limit in pairs)
