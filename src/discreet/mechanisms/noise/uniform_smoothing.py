"""Uniform smoothing: blur an answer within a box, and turn computational into real privacy."""

import math
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.mechanism_event import UniformNoiseEvent
from discreet.core.numbers import Number, exact, exp_bounds
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.integers import LARGEST_VALUE, integers
from discreet.randomness.samplers import uniform_integers


@frozen(kw_only=True)
class UniformSmoothing:
    r"""Add independent uniform noise on ``-radius..radius`` to each entry of an integer array.

    Guarantee:
        On its own it is :math:`(0, \delta)`-DP with :math:`\delta = d_{in}.l1 / (2r + 1)`, exactly
        for one entry, and no :math:`\varepsilon` lowers it: the outcomes that only one of the two
        inputs can have carry that mass. What it is for is :func:`smoothed_delta`.

    Assumes:
        The caller proved the L1 bound; ``rng`` is unpredictable to the reader.

    Utility:
        Unbiased; variance :math:`r(r + 1)/3`; no error is ever above ``radius``.

    Example:
        >>> UniformSmoothing(radius=50).loss(Contribution(l1=1))
        Approximate(ε = 0, δ ≤ 0.009901)
    """

    radius: int = field(converter=check.whole, validator=check.non_negative)

    @radius.validator
    def _fits(self, _: object, radius: int) -> None:
        if radius > LARGEST_VALUE:
            raise InvalidArgument("radius is out of range", must="be below 2**62", got=str(radius))

    @classmethod
    def calibrate(cls, *, d_in: Contribution, loss: Approximate) -> "UniformSmoothing":
        """Return the mechanism with the smallest radius whose δ is at most that of ``loss``."""
        distance = d_in.bound("l1")
        if loss.delta <= 0:
            raise InvalidArgument(
                "No radius fits", must="have a δ above 0", got=f"δ = {loss.delta}"
            )
        return cls(radius=max(0, math.ceil((distance / loss.delta - 1) / 2)))

    def event(self, d_in: Contribution) -> UniformNoiseEvent:
        """Describe one use for the accountants."""
        return UniformNoiseEvent(radius=self.radius, distance=d_in.bound("l1"), metric=d_in.metric)

    def loss(self, d_in: Contribution) -> Approximate:
        """Return the loss of one use."""
        return approximate_loss([self.event(d_in)])

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the values plus noise, same shape and type. The gate already holds the loss."""
        values = integers(exact_values)
        return values + (uniform_integers(2 * self.radius + 1, values.shape, rng) - self.radius)

    def error_quantile(self, beta: Number) -> Fraction:
        r"""Return the smallest whole ``t`` with :math:`2 (r - t) / (2r + 1) \le \beta`."""
        least = math.ceil(self.radius - check.level(beta) * (2 * self.radius + 1) / 2)
        return Fraction(max(0, least))


@frozen(kw_only=True)
class Smoothed:
    """What smoothing makes of a computationally private mechanism; all bounds rounded up."""

    radius: Fraction
    delta: Fraction
    error: Fraction


def smoothed_delta(
    *,
    epsilon: Number,
    distinguishing: Number,
    error: Number,
    dimension: int = 1,
    order: int = 1,
    delta: Number = 0,
    grid_bits: int = 64,
) -> Smoothed:
    r"""Return the radius, :math:`\hat\delta` and error of uniform smoothing.

    Args:
        epsilon: of the ideal mechanism :math:`G` that :math:`F` cannot be told from.
        distinguishing: :math:`\nu`, a bound on the advantage of every efficient test.
        error: a bound on :math:`E \|F(x) - q(x)\|_p^v`, for a norm with :math:`p \ge 1`.
        dimension: ``d``, the number of entries of an answer.
        order: ``v``, at least 1.
        delta: of the smoothed ideal mechanism.
        grid_bits: answers lie on multiples of ``2**-grid_bits``.

    Guarantee:
        With :math:`c = \nu^{1/4d}` and :math:`z = \nu^{-1/4d}`, both rounded up to the grid, and
        :math:`w = 2^{v-1} v (d^v + d (err + 1))`, adding uniform noise from the box of radius
        :math:`c` gives an error of at most :math:`err + cw`, and
        :math:`(\varepsilon, \hat\delta)`-DP against every reader with

        .. math:: \hat\delta = (e^\varepsilon + 1)\left[\left(\frac{z+1}{c}\right)^d \nu
            + \frac{err + wc}{z}\right] + e^\varepsilon \nu + \delta

        [Gro14, Theorem 4.2; in its Lemma 4.2 the printed ``n`` must be ``d``, and
        ``p > 0`` must be :math:`p \ge 1`]. Needs :math:`c \le 1`.

    Example:
        >>> smoothed = smoothed_delta(epsilon=1, distinguishing=Fraction(1, 2**40), error=1)
        >>> smoothed.radius, float(smoothed.delta)
        (Fraction(1, 1024), 0.0036...)
    """
    ideal, advantage, err = exact(epsilon), exact(distinguishing), exact(error)
    d, v = check.whole(dimension), check.whole(order)
    if not (0 < advantage < 1 and ideal >= 0 and err >= 0 and d >= 1 and v >= 1):
        raise InvalidArgument(
            "The bounds are out of range",
            must="have 0 < distinguishing < 1, epsilon and error at least 0, "
            "dimension and order at least 1",
        )
    bits = check.whole(grid_bits)
    radius = _root_up(advantage, 4 * d, bits)
    far = _root_up(1 / advantage, 4 * d, bits)
    weight = 2 ** (v - 1) * v * (d**v + d * (err + 1))
    e_high = exp_bounds(ideal, bits=96)[1]
    inner = ((far + 1) / radius) ** d * advantage + (err + weight * radius) / far
    total = (e_high + 1) * inner + e_high * advantage + exact(delta)
    return Smoothed(radius=radius, delta=total, error=err + weight * radius)


def _root_up(value: Fraction, degree: int, bits: int) -> Fraction:
    """Return the smallest multiple of ``2**-bits`` that is at least the root of ``value``."""
    scaled = value * Fraction(2) ** (degree * bits)
    low, high = 0, 1 << (math.ceil(scaled).bit_length() // degree + 2)
    while high - low > 1:
        middle = (low + high) // 2
        if middle**degree >= scaled:
            high = middle
        else:
            low = middle
    return Fraction(high, 1 << bits)
