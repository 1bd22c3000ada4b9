"""The noise that methods add to whole numbers of rows, and what one unit moves in a table."""

from collections.abc import Iterable
from fractions import Fraction

from discreet.accounting.accountants.approximate import approximate_loss
from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.core import check
from discreet.core.contribution import Contribution, of_kept_rows
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric

MOST_CELLS = 2**62
"""An axis has at most so many cells, so that the sum of two places fits into 64 bits."""

IntegerNoise = DiscreteLaplace | DiscreteGaussian
"""Noise whose loss is pure, or zCDP."""


def table_contribution(cells: int, rows_per_unit: int) -> Contribution:
    r"""Return what a unit moves in a table of which each row is in one cell.

    Guarantee:
        A unit with at most :math:`m` kept rows adds :math:`v \ge 0` with :math:`\sum v \le m`. So
        at most :math:`m` cells move, each by at most :math:`m`, and
        :math:`\|v\|_2^2 \le \|v\|_1 \|v\|_\infty \le m^2`.

    Example:
        >>> table_contribution(10, 3)
        Contribution(l0=3, linf=3, l1=3, l2_squared=9, metric=add_remove)
    """
    rows = require_rows(rows_per_unit)
    return of_kept_rows(each=1, groups=cells, in_a_group=rows, in_all=rows)


def require_rows(rows_per_unit: int) -> int:
    """Return how many rows a unit has at most; refuse what is no limit."""
    rows = check.whole(rows_per_unit)
    if rows < 1:
        raise InvalidArgument(
            "rows_per_unit is out of range", must="be at least 1", got=str(rows_per_unit)
        )
    return rows


def noise_for(loss: PrivacyLoss, d_in: Contribution) -> IntegerNoise:
    """Return the noise that spends exactly ``loss``: Laplace for ε, Gaussian for ρ."""
    noise: IntegerNoise
    if isinstance(loss, Pure):
        noise = DiscreteLaplace.calibrate(d_in=d_in, loss=loss)
    elif isinstance(loss, Zcdp) and not loss.xi:
        noise = DiscreteGaussian.calibrate(d_in=d_in, loss=loss)
    else:
        raise Unsupported(
            "No noise is known for this measure",
            must="be pure, or zCDP with ξ = 0",
            got=str(loss),
            next="Give Pure(epsilon) or Zcdp(rho=...)",
        )
    if not noise.can_be_drawn:  # said here, for later it would be paid for
        raise InvalidArgument(
            "Noise for this loss is too small, or too large, to be drawn exactly",
            got=str(loss),
            next="Spend less if it is a large loss, and more if it is a tiny one",
        )
    return noise


def whole_sizes(sizes: Iterable[int]) -> tuple[int, ...]:
    """Return how many cells each axis has; refuse no axes, and axes that have none.

    Example:
        >>> whole_sizes([4, 2.0])
        (4, 2)
    """
    found = tuple(check.whole(size) for size in sizes)
    if not found or not all(1 <= size <= MOST_CELLS for size in found):
        raise InvalidArgument(
            "Each axis has cells",
            must="be one number for each axis, from 1 to 2**62",
            got=str(found),
        )
    return found


def whole_cells(cells: int) -> int:
    """Return how many cells an axis has; refuse none."""
    return whole_sizes([cells])[0]


def share_of(loss: PrivacyLoss, share: Fraction) -> Pure | Zcdp:
    """Return a part of a loss, so that parts that add up to 1 cost the whole."""
    if isinstance(loss, Pure):
        return Pure(loss.epsilon * share)
    if isinstance(loss, Zcdp) and not loss.xi:
        return Zcdp(rho=loss.rho * share)
    raise Unsupported(
        "This measure cannot be divided here", must="be pure, or zCDP with ξ = 0", got=str(loss)
    )


def loss_of(event: Event, *noises: IntegerNoise | TruncatedGeometric) -> Pure | Zcdp | Approximate:
    """Return the loss of an event in the measure of its noises."""
    if any(isinstance(noise, TruncatedGeometric) for noise in noises):
        return approximate_loss([event])
    if all(isinstance(noise, DiscreteLaplace) for noise in noises):
        return pure_loss([event])
    return zcdp_loss([event])


def variance_of(noise: IntegerNoise | TruncatedGeometric) -> float:
    r"""Return a bound on the variance: :math:`2\,scale^2`, or :math:`\sigma^2`."""
    if isinstance(noise, DiscreteGaussian):
        return float(noise.sigma_squared)
    return 2 * float(noise.scale) ** 2
