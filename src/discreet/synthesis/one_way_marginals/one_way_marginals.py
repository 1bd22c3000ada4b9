"""One-way marginals with noise: what is measured of the rows, and what is made of it for free."""

from attrs import field, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.core.errors import InvalidArgument
from discreet.core.event import Event
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.protocols import Rng
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.one_way_marginals.one_way_sums import Counts, OneWaySums
from discreet.synthesis.one_way_marginals.two_stage_noise import TwoStageNoise

OneWayNoise = DiscreteLaplace | DiscreteGaussian | LinfExponential | TwoStageNoise


@frozen(kw_only=True)
class OneWayMarginals:
    r"""Measure the sums of some columns with noise.

    Guarantee:
        That of ``noise``, for numbers that a unit moves as
        :meth:`~discreet.synthesis.one_way_marginals.one_way_sums.OneWaySums.contribution` says.
        Laplace noise pays by :math:`\ell_1`, which grows with the number of columns; Gaussian noise
        by :math:`\ell_2`, which grows as its root; the cube by :math:`\ell_\infty`, which does not
        grow (its noise does, with the dimension); the two stages by the last two. The law of the
        noise has no data in it. :meth:`estimate` sees only what was measured, so it is free.

    Assumes:
        A unit has at most ``rows_per_unit`` of the counted rows; the columns and their values are
        public.

    Utility:
        :func:`~discreet.synthesis.one_way_marginals.choose_one_way.choose_one_way` says what to
        expect, and which noise is the best.

    Example:
        >>> marginals = OneWayMarginals(
        ...     sums=OneWaySums(sizes=[2] * 9), noise=DiscreteLaplace(scale=20)
        ... )
        >>> pure_loss([marginals.event(rows_per_unit=1)])
        Pure(ε = 0.5)
    """

    sums: OneWaySums
    noise: OneWayNoise = field()

    @noise.validator
    def _fits(self, _: object, noise: OneWayNoise) -> None:
        dimension = getattr(noise, "dimension", self.sums.dimension)
        if dimension != self.sums.dimension:
            raise InvalidArgument(
                "The noise is for another number of sums",
                must=f"have dimension = {self.sums.dimension}",
                got=str(dimension),
            )

    def event(self, rows_per_unit: Number) -> Event:
        """Describe one use, where a unit has at most so many rows."""
        return self.noise.event(self.sums.contribution(rows_per_unit))

    def loss(self, rows_per_unit: Number) -> Pure | Zcdp:
        """Return the loss of one use: pure where the noise is, and otherwise zCDP."""
        event = self.event(rows_per_unit)
        is_pure = isinstance(self.noise, DiscreteLaplace | LinfExponential)
        return pure_loss([event]) if is_pure else zcdp_loss([event])

    def measure(self, rows: CountedRows, rng: Rng) -> Integers:
        """Return the noisy sums: public. The gate already holds the loss."""
        return self.noise.release(self.sums.of(rows), rng)

    def estimate(self, measured: Integers, *, rows: Number | None = None) -> tuple[Counts, ...]:
        """Return how many rows have each value of each column; free, as often as one likes."""
        return self.sums.estimate(measured, rows=rows)
