"""The Rényi curve of discrete Laplace noise: exact, and a little above the continuous one."""

import math
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.accounting.curves.tight_pure import pure_to_kl
from discreet.core import check
from discreet.core.numbers import exact, exp_bounds, log_bounds
from discreet.core.rounding import BITS, bits_above_one, short_up


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
