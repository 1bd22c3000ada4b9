"""Output laws: what a mechanism may say on one data set, and how likely each answer is."""

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from attrs import define, field, frozen

from discreet.audit.exponential_sum import (
    Exactly,
    ExponentialSum,
    as_sum,
    exp,
    exp_bounds_relative,
    total,
)
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.rounding import dyadic_down, dyadic_up

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
        >>> from discreet.audit import exp
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


OutputLaw = ExactLaw | EnclosedLaw
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


def enclosed(law: OutputLaw, *, bits: int = BITS) -> EnclosedLaw:
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


def all_exact(laws: Sequence[OutputLaw]) -> list[ExactLaw] | None:
    """Return the laws if every one of them is exact, else ``None``."""
    exact_laws = [law for law in laws if isinstance(law, ExactLaw)]
    return exact_laws if len(exact_laws) == len(laws) else None


@frozen(kw_only=True, repr=False)
class DiscreteGaussianLaw(EnclosedLaw):
    """Bounds on a law that is known by name: discrete Gaussian noise around a centre.

    The bounds can be made narrower at will, and theorems about the noise can be used.
    """

    sigma_squared: Fraction
    centre: int
    radius: int
    bits: int

    def refined(self) -> "DiscreteGaussianLaw":
        """Return the same law with narrower bounds: twice as far out, with twice as many bits."""
        return discrete_gaussian_law(
            self.sigma_squared, centre=self.centre, radius=2 * self.radius, bits=2 * self.bits
        )

    def clamped(self, low: int, high: int) -> EnclosedLaw:
        """Return the law of the outcome, moved into a window, with nothing outside.

        Guarantee:
            What is not listed is beyond the listed outcomes, so it is at an end of the window.
        """
        listed = self.centre - self.radius, self.centre + self.radius
        if not listed[0] <= low < high <= listed[1]:
            raise InvalidArgument(
                "The window does not fit",
                must=f"be inside what the law lists, {listed[0]} to {listed[1]}",
                got=f"{low} to {high}",
                next="Take a larger radius",
            )
        within = push_forward(self, lambda outcome: min(max(outcome, low), high))
        masses = dict(enclosed(within).masses)
        for end in (low, high):
            masses[end] = masses[end][0], masses[end][1] + self.outside
        return EnclosedLaw(masses=masses, outside=Fraction(0))


@frozen(kw_only=True, repr=False)
class ProductLaw(EnclosedLaw):
    """Bounds on a law of independent coordinates, each of which is known by itself."""

    parts: tuple[OutputLaw, ...]


def discrete_gaussian_law(
    sigma_squared: Number, *, centre: int, radius: int, bits: int = BITS
) -> DiscreteGaussianLaw:
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
    centre, radius = check.whole(centre), check.whole(radius)
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
    return DiscreteGaussianLaw(
        masses=masses,
        outside=outside,
        sigma_squared=variance,
        centre=centre,
        radius=radius,
        bits=bits,
    )


def discrete_laplace_law(scale: Number, *, centre: int, window: tuple[int, int]) -> ExactLaw:
    r"""Return the law of ``centre`` plus discrete Laplace noise, clamped to ``window``.

    The outcome at an end of the window stands for everything at or beyond it.

    Guarantee:
        For two centres inside one window and the same scale, every divergence between the two laws
        is that of the laws without the clamp.

        Proof. With :math:`q = e^{-1/scale}` the unclamped probability of :math:`z` is
        :math:`\frac{1-q}{1+q} q^{|z - centre|}`. Beyond both centres the ratio of two such
        probabilities does not depend on :math:`z`, and a divergence of the form
        :math:`\sum Q f(P/Q)` (or a largest ratio) does not change when outcomes of equal ratio are
        merged. The weights here are those probabilities times :math:`1 + q`: inside,
        :math:`q^k - q^{k+1}`; at an end that is :math:`k` away, the geometric sum :math:`q^k`, or
        :math:`1` if the centre itself is that end.

    Assumes:
        Nothing if the scales differ, except that clamping is a function of the outcome, so that
        divergences can only be smaller than the true ones.

    Example:
        >>> discrete_laplace_law(2, centre=0, window=(-3, 3))
        ExactLaw of 7 outcomes
    """
    scale = exact(scale)
    centre, low, high = check.whole(centre), check.whole(window[0]), check.whole(window[1])
    if scale <= 0:
        raise InvalidArgument("scale is out of range", must="be greater than 0", got=str(scale))
    if not low <= centre <= high or low == high:
        raise InvalidArgument(
            "The window does not fit",
            must="hold the centre and at least two outcomes",
            got=f"{low} to {high} around {centre}",
        )

    def beyond(distance: int) -> ExponentialSum:
        return exp(Fraction(-distance) / scale)

    weights = {
        z: beyond(abs(z - centre)) - beyond(abs(z - centre) + 1) for z in range(low, high + 1)
    }
    weights[low] = beyond(centre - low)
    weights[high] = beyond(high - centre)
    return ExactLaw(weights)


def product(*laws: OutputLaw) -> OutputLaw:
    """Return the law of independent coordinates; an outcome is the tuple of theirs.

    Guarantee:
        Probabilities of independent outcomes multiply. What is not listed has mass at most the sum
        of the laws' own ``outside``, by the union bound.

    Example:
        >>> coin = ExactLaw({0: 1, 1: 1})
        >>> sorted(product(coin, coin).weights)
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    exact_laws = all_exact(laws)
    if exact_laws is not None:
        return _exact_product(exact_laws)
    known = [enclosed(law) for law in laws]
    masses: dict[Any, tuple[Fraction, Fraction]] = {}
    for cells in itertools.product(*(law.masses.items() for law in known)):
        low = math.prod((ends[0] for _, ends in cells), start=Fraction(1))
        high = math.prod((ends[1] for _, ends in cells), start=Fraction(1))
        masses[tuple(outcome for outcome, _ in cells)] = _rounded(low, high)
    outside = min(Fraction(1), sum((law.outside for law in known), Fraction(0)))
    return ProductLaw(masses=masses, outside=outside, parts=laws)


def _exact_product(laws: list[ExactLaw]) -> ExactLaw:
    weights: dict[tuple[Any, ...], ExponentialSum] = {(): as_sum(1)}
    for law in laws:
        weights = {
            (*before, outcome): old * new
            for before, old in weights.items()
            for outcome, new in law.weights.items()
        }
    return ExactLaw(weights)


def mixture(parts: Sequence[tuple[Number, OutputLaw]]) -> OutputLaw:
    """Return the law of first choosing a part by its share, and then an outcome from it.

    Example:
        >>> half = Fraction(1, 2)
        >>> sorted(mixture([(half, ExactLaw({0: 1})), (half, ExactLaw({1: 1}))]).weights)
        [0, 1]
    """
    shares = [exact(share) for share, _ in parts]
    if any(share < 0 for share in shares) or sum(shares) != 1:
        raise InvalidArgument("Those are not shares", must="be at least 0 and sum to 1")
    laws = [law for _, law in parts]
    exact_laws = all_exact(laws)
    if exact_laws is not None:
        return _exact_mixture(shares, exact_laws)
    masses: dict[Any, tuple[Fraction, Fraction]] = {}
    outside = Fraction(0)
    for share, law in zip(shares, map(enclosed, laws), strict=True):
        outside += share * law.outside
        for outcome, (low, high) in law.masses.items():
            before = masses.get(outcome, (Fraction(0), Fraction(0)))
            masses[outcome] = _rounded(before[0] + share * low, before[1] + share * high)
    return EnclosedLaw(masses=masses, outside=outside)


def _exact_mixture(shares: list[Fraction], laws: list[ExactLaw]) -> ExactLaw:
    weights: dict[Any, ExponentialSum] = {}
    for index, (share, law) in enumerate(zip(shares, laws, strict=True)):
        others = (other.total for place, other in enumerate(laws) if place != index)
        factor = math.prod(others, start=as_sum(share))
        for outcome, weight in law.weights.items():
            weights[outcome] = weights.get(outcome, as_sum(0)) + factor * weight
    return ExactLaw(weights)


def push_forward(law: OutputLaw, function: Callable[[Any], Hashable]) -> OutputLaw:
    """Return the law of ``function`` of the outcome, for example of a noisy value after rounding.

    Guarantee:
        The mass of an outcome is the sum of the masses of all that lead to it. Unlisted mass stays
        unlisted: wherever the function sends it, its total is the same.

    Example:
        >>> die = ExactLaw({face: 1 for face in range(6)})
        >>> push_forward(die, lambda face: face % 2).weights[0]
        3·e^(0)
    """
    if isinstance(law, ExactLaw):
        weights: dict[Any, ExponentialSum] = {}
        for outcome, weight in law.weights.items():
            image = function(outcome)
            weights[image] = weights.get(image, as_sum(0)) + weight
        return ExactLaw(weights)
    masses: dict[Any, tuple[Fraction, Fraction]] = {}
    for outcome, (low, high) in law.masses.items():
        image = function(outcome)
        before = masses.get(image, (Fraction(0), Fraction(0)))
        masses[image] = (before[0] + low, before[1] + high)
    return EnclosedLaw(masses=masses, outside=law.outside)


def _rounded(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    return dyadic_down(low, BITS), dyadic_up(high, BITS)
