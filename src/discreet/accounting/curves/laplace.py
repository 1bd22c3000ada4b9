"""The Rényi curve of continuous Laplace noise."""

import math
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.accounting.curves.tight_pure import pure_to_kl
from discreet.core import check
from discreet.core.numbers import exact
from discreet.core.rounding import BITS, exp_up, log_up, short_up


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
