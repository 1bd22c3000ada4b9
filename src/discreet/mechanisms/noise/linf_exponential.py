"""Noise for a whole vector of which every entry may move: pure privacy by the largest move."""

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Self

from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure
from discreet.core.mechanism_event import LinfExponentialEvent
from discreet.core.numbers import Number, exact, exp_bounds, float_up
from discreet.core.protocols import IntArray, Rng
from discreet.core.search import smallest
from discreet.mechanisms.noise.cube_radius import cube_radius, gamma_tail
from discreet.mechanisms.noise.integers import LARGEST_VALUE, integers
from discreet.randomness.samplers import uniform_integers

LARGEST_SIZE = 2**50
"""The dimension (or 2) times the scale is at most this: noise stays far below 2**62, and the
envelope of its radius, which is wider than the scale by the root of the dimension, can be drawn."""


@frozen(kw_only=True)
class LinfExponential:
    r"""Add noise with :math:`P(z) \propto e^{-\|z\|_\infty / scale}` to a vector of integers.

    Guarantee:
        If neighbouring inputs are integer vectors at :math:`L_\infty` distance at most
        ``d_in.linf``, the output is ε-DP with :math:`\varepsilon = d_{in}.linf / scale`, in any
        dimension: :math:`\|z\|_\infty` changes by at most that when the centre moves
        [Ste16, Theorem 4.4.1].

        The law is that of the theorem, on the integers. Choose a radius ``M`` with
        :math:`P(m) \propto (2m + 1)^d e^{-m/scale}` and then a point of the cube
        :math:`\{-M..M\}^d` uniformly: a point of norm ``r`` gets
        :math:`\sum_{m \ge r} e^{-m/scale} \propto e^{-r/scale}`. (``M`` is the integer form of the
        Gamma radius :math:`R = -scale \sum_{i=0}^d \ln U_i`, whose minus sign is lost in print.)

    Assumes:
        The caller proved the bound; ``rng`` is unpredictable to the reader. Radii are capped at
        :math:`2^{62}`, which has probability below :math:`2^{-5000}`.

    Utility:
        Unbiased; the largest error is about ``dimension * scale``, where independent Laplace
        noise of the same ε has ``dimension * ln(dimension)`` times the scale. Every quantile
        rests on the exact Gamma tail.

    Example:
        >>> noise = LinfExponential(scale=2, dimension=10)
        >>> noise.loss(Contribution(linf=1))
        Pure(ε = 0.5)
        >>> noise.error_quantile("0.05")
        Fraction(33, 1)
    """

    scale: Fraction = field(converter=exact, validator=check.positive)
    dimension: int = field(converter=check.whole, validator=check.positive)

    @dimension.validator
    def _fits(self, _: object, dimension: int) -> None:
        if max(2, dimension) * self.scale > LARGEST_SIZE:
            raise InvalidArgument(
                "The noise is too large",
                must="have dimension * scale at most 2**50, and scale at most 2**49",
                got=f"dimension = {dimension} and scale = {self.scale}",
            )

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Pure, dimension: int) -> Self:
        """Return the mechanism that spends exactly ``loss`` at distance ``d_in``."""
        distance = d_in.bound("linf")
        if loss.epsilon <= 0 or distance <= 0:
            raise InvalidArgument(
                "No scale fits",
                must="have an ε above 0 and a contribution above 0",
                got=f"ε = {loss.epsilon} and linf = {distance}",
            )
        return cls(scale=distance / loss.epsilon, dimension=dimension)

    def event(self, d_in: Contribution) -> LinfExponentialEvent:
        """Describe one use for the accountants."""
        return LinfExponentialEvent(
            scale=self.scale, distance=d_in.bound("linf"), metric=d_in.metric
        )

    def loss(self, d_in: Contribution) -> Pure:
        """Return the loss of one use."""
        return pure_loss([self.event(d_in)])

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the values plus noise, same shape and type. The gate already holds the loss."""
        values = integers(exact_values)
        if values.size == 0:
            return values.copy()
        if values.size != self.dimension:
            raise InvalidArgument(
                "The vector has another dimension", must=f"have {self.dimension} entries"
            )
        radius = min(LARGEST_VALUE, cube_radius(self.scale, self.dimension, rng))
        return values + (uniform_integers(2 * radius + 1, values.shape, rng) - radius)

    def error_quantile(self, beta: Number) -> Fraction:
        r"""Return a whole ``t`` that the *largest* of all errors exceeds with at most ``beta``.

        The norm is ``r`` with probability proportional to :math:`e^{-r/scale}` times
        :math:`(2r+1)^d - (2r-1)^d = \int_{r-1/2}^{r+1/2} d\,2^d x^{d-1} dx`. So it is a rounded
        variable whose density is that of a Gamma variable of shape ``d``, times a factor
        :math:`e^{(x - r)/scale}` between :math:`e^{\pm 1/(2\,scale)}`, and
        :math:`P[r > t] \le e^{1/scale} P[G > (t + 1/2)/scale]`.
        """
        limit = check.level(beta)
        factor = exp_bounds(1 / self.scale, bits=96)[1]

        def holds(t: int) -> bool:
            x = (t + Fraction(1, 2)) / self.scale
            return factor * gamma_tail(self.dimension, x) <= limit

        return Fraction(smallest(holds, near=self._likely_quantile(limit)))

    def _likely_quantile(self, beta: Fraction) -> int:
        """Guess the quantile by the cube root of a Gamma variable, which is nearly normal."""
        d = self.dimension
        away = -NormalDist().inv_cdf(min(max(float_up(beta), 1e-300), 0.999))
        root = max(Fraction(0), exact(1 - 1 / (9 * d) + away / (3 * math.sqrt(d))))
        return math.floor(d * root**3 * self.scale)
