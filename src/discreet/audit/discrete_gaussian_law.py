"""Certified bounds on the law of discrete Gaussian noise around a centre."""

from fractions import Fraction

from attrs import frozen

from discreet.audit.dyadic import dyadic_down, dyadic_up
from discreet.audit.exponential_sum import exp_bounds_relative
from discreet.audit.law import BITS, EnclosedLaw
from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


@frozen(kw_only=True, repr=False)
class GaussianLaw(EnclosedLaw):
    """Bounds on a law that is known by name: discrete Gaussian noise around a centre.

    The bounds can be made narrower at will, and theorems about the noise can be used.
    """

    sigma_squared: Fraction
    centre: int
    radius: int
    bits: int

    def refined(self) -> "GaussianLaw":
        """Return the same law with narrower bounds: twice as far out, with twice as many bits."""
        return discrete_gaussian_law(
            self.sigma_squared, centre=self.centre, radius=2 * self.radius, bits=2 * self.bits
        )


@frozen(kw_only=True, repr=False)
class GaussianVectorLaw(EnclosedLaw):
    """Bounds on a law of independent coordinates that are all discrete Gaussian."""

    coordinates: tuple[GaussianLaw, ...]


def gaussian_coordinates(law: EnclosedLaw | object) -> tuple[GaussianLaw, ...]:
    """Return the coordinates of a law that is known to be Gaussian; none, if it is not."""
    if isinstance(law, GaussianVectorLaw):
        return law.coordinates
    return (law,) if isinstance(law, GaussianLaw) else ()


def discrete_gaussian_law(
    sigma_squared: Number, *, centre: int, radius: int, bits: int = BITS
) -> GaussianLaw:
    r"""Return the law of ``centre`` plus discrete Gaussian noise, listed up to ``radius`` away.

    Guarantee:
        Each listed probability is enclosed, and so is the mass that is not listed.

        Proof. The weight of :math:`k` is :math:`w(k) = e^{-k^2 / 2\sigma^2}`
        [CKS20, Definition 1]. For :math:`k > R`, :math:`w(k+1)/w(k) = e^{-(2k+1)/2\sigma^2}` is at
        most :math:`r = e^{-(2R+3)/2\sigma^2}`, so both tails together weigh at most
        :math:`2 w(R+1) / (1 - r)`. The total weight is therefore between the listed sum and the
        listed sum plus that tail, and every quotient is rounded outwards.

    Example:
        >>> discrete_gaussian_law(4, centre=0, radius=20).outside < Fraction(1, 10**20)
        True
    """
    variance = exact(sigma_squared)
    centre, radius = whole(centre), whole(radius)
    if variance <= 0 or radius < 1:
        raise InvalidArgument(
            "The law is out of range",
            must="have sigma_squared above 0 and a radius of at least 1",
            got=f"{variance} and {radius}",
        )
    weights = [
        exp_bounds_relative(Fraction(-k * k) / (2 * variance), bits) for k in range(radius + 2)
    ]
    _, ratio = exp_bounds_relative(Fraction(-(2 * radius + 3)) / (2 * variance), bits)
    if ratio >= 1:
        raise InvalidArgument("The precision is too low", must="use more bits for so large a scale")
    tail = dyadic_up(2 * weights[radius + 1][1] / (1 - ratio), bits)
    listed_low = weights[0][0] + 2 * sum(low for low, _ in weights[1 : radius + 1])
    listed_high = weights[0][1] + 2 * sum(high for _, high in weights[1 : radius + 1])
    masses = {}
    for k in range(-radius, radius + 1):
        low, high = weights[abs(k)]
        least, most = low / (listed_high + tail), high / listed_low
        masses[centre + k] = dyadic_down(least, bits), dyadic_up(most, bits)
    outside = min(Fraction(1), dyadic_up(tail / listed_low, bits))
    return GaussianLaw(
        masses=masses,
        outside=outside,
        sigma_squared=variance,
        centre=centre,
        radius=radius,
        bits=bits,
    )
