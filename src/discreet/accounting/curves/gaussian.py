"""The Rényi curve of continuous Gaussian noise, which is exact at every order."""

from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.core import check
from discreet.core.numbers import exact, float_up


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
