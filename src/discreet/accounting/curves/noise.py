"""Rényi curves of noise: continuous Gaussian and Laplace, and discrete Laplace."""

import math
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.bounded import pure_to_kl
from discreet.accounting.curves.curve import CurvePiece, require_order
from discreet.core import check
from discreet.core.numbers import exact, exp_bounds, float_up, log_bounds
from discreet.core.rounding import BITS, bits_above_one, exp_up, log_up, short_up


@frozen
class GaussianPiece(CurvePiece):
    r"""Two normal laws whose means are :math:`\mu` standard deviations apart.

    Guarantee:
        :math:`D_\alpha = \alpha\mu^2/2` with equality for every order [BS16, Lemma 2.4], and
        :math:`\mu`-Gaussian DP has at most this curve, by post-processing.

    Example:
        >>> GaussianPiece(mu_squared="1/4").upper(Fraction(8))
        Fraction(1, 1)
    """

    kind = "gaussian"
    mu_squared: Fraction = field(converter=exact, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the exact value."""
        require_order(order)
        return self.mu_squared * order / 2

    def estimate(self, order: float) -> float:
        """Return about the same."""
        return float_up(self.mu_squared) * order / 2

    def line(self) -> tuple[Fraction, Fraction]:
        r"""Return :math:`\rho = \mu^2/2`."""
        return Fraction(0), self.mu_squared / 2


@frozen
class LaplacePiece(CurvePiece):
    r"""Two Laplace laws whose centres are ``shift`` scales apart in the L1 norm.

    Guarantee:
        In one dimension, with shift :math:`t`,

        .. math:: D_\alpha = t + \frac{1}{\alpha-1}
            \ln\frac{\alpha + (\alpha-1)e^{-(2\alpha-1)t}}{2\alpha-1}

        [Mir17, Proposition 6]. In several, the divergences of the entries add up, and the sum is at
        most that of one entry moved by the whole L1 distance: the curve is convex in :math:`t` (a
        logarithm of a sum of exponentials) and 0 at 0, so it is superadditive.

    Example:
        >>> round(float(LaplacePiece(shift=1).upper(Fraction(2))), 6)
        0.619124
    """

    kind = "laplace"
    shift: Fraction = field(converter=exact, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the value, rounded up; at order 1 it is :math:`t + e^{-t} - 1`."""
        require_order(order)
        if order == 1:
            return short_up(self.shift + exp_up(-self.shift) - 1, BITS)
        far = exp_up(-(2 * order - 1) * self.shift)
        gain = log_up((order + (order - 1) * far) / (2 * order - 1))
        return min(self.shift, short_up(self.shift + gain / (order - 1), BITS))

    def estimate(self, order: float) -> float:
        """Return about the same."""
        shift, power = float(self.shift), max(order - 1, 1e-9)
        far = math.exp(-(2 * order - 1) * shift)
        return shift + math.log((order + power * far) / (2 * order - 1)) / power

    def line(self) -> tuple[Fraction, Fraction]:
        """Return the line of a pure mechanism of the same loss."""
        return Fraction(0), pure_to_kl(self.shift)


@frozen
class DiscreteLaplacePiece(CurvePiece):
    r"""Two discrete Laplace laws of ``scale`` whose centres are ``distance`` steps apart.

    Guarantee:
        With :math:`q = e^{-1/scale}`, :math:`r = q^{2\alpha-1}` and whole distance :math:`d`,

        .. math:: D_\alpha = \frac{d}{scale} + \frac{1}{\alpha-1} \ln\left(
            \frac{1 + r^d}{1 + q} + \frac{(1-q)(r - r^d)}{(1+q)(1-r)}\right).

        Proof. Sum :math:`P(z)^\alpha P(z-d)^{1-\alpha}` over :math:`z \le 0`, over
        :math:`z \ge d` and over the integers between: three geometric series. Collecting powers,
        the sum is :math:`A e^{(\alpha-1)d/scale} + B e^{-\alpha d/scale}` with positive :math:`A`
        and :math:`B`, so its logarithm is convex in :math:`d`, and 0 at 0; hence moving one entry
        by the whole L1 distance is the worst. For :math:`d = 1` it is the curve of randomised
        response, which every mechanism of that loss stays below.

    Example:
        >>> round(float(DiscreteLaplacePiece(scale=1, distance=1).upper(Fraction(2))), 6)
        0.735326
    """

    kind = "discrete_laplace"
    scale: Fraction = field(converter=exact, validator=check.positive)
    distance: int = field(converter=check.whole, validator=check.non_negative)

    def upper(self, order: Fraction) -> Fraction:
        """Return the value, rounded up; at order 1, that of an order a little above."""
        require_order(order)
        if self.distance == 0:
            return Fraction(0)
        order = max(order, _LEAST)
        shift, power = self.distance / self.scale, order - 1
        bits = BITS + 2 * bits_above_one(self.scale) + bits_above_one(1 / power)
        q_low = exp_bounds(-1 / self.scale, bits)[0]
        r_high = exp_bounds(-(2 * order - 1) / self.scale, bits)[1]
        far_low, far_high = exp_bounds(-(2 * order - 1) * shift, bits)
        ends = (1 + far_high) / (1 + q_low)
        between = (1 - q_low) * max(Fraction(0), r_high - far_low) / ((1 + q_low) * (1 - r_high))
        gain = log_bounds(ends + between, bits)[1]
        return min(shift, short_up(shift + gain / power, BITS))

    def estimate(self, order: float) -> float:
        """Return about the same."""
        scale, shift, power = float(self.scale), self.distance / float(self.scale), order - 1
        if power < 1e-7 or not shift:
            return shift**2 / 2
        q, far = math.exp(-1 / scale), math.exp(-(2 * order - 1) * shift)
        r = math.exp(-(2 * order - 1) / scale)
        between = -math.expm1(-1 / scale) * (r - far) / -math.expm1(-(2 * order - 1) / scale)
        return shift + math.log((1 + far + between) / (1 + q)) / power

    def line(self) -> tuple[Fraction, Fraction]:
        """Return the line of a pure mechanism of the same loss."""
        return Fraction(0), pure_to_kl(self.distance / self.scale)


_LEAST = 1 + Fraction(1, 1 << 20)
