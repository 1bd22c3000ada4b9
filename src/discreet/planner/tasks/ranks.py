"""Quantiles, and how many people are up to each value: what is told by ranks."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.counted import counted
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import exact
from discreet.core.rounding import log_down, log_up, short_up, sqrt_up
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.selection.binary_search_quantile import BinarySearchQuantile
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantiles import Quantiles
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from discreet.planner.bounds.packing import Packing, RankPacking
from discreet.planner.bounds.wanted import LowerBound, Wanted
from discreet.planner.tasks.counts import PEOPLE, cube
from discreet.planner.tasks.known_way import (
    KnownWay,
    affordable,
    noises,
    ordered,
    possible,
    sum_error,
)
from discreet.synthesis.intervals.prefix_sums import MOST_CELLS, PrefixSums
from discreet.synthesis.intervals.tree_counts import MOST_CELLS as MOST_LEAVES

MOST_VALUES = 10**18
_MOST_TIED = 10**11
"""With more people than that, too many may have equal random digits."""
_ONE_ROW = Contribution(l1=1)
_CONTINUUM = "on the continuum, without a grid, nobody can for an ε or a ρ [BLR13]"
_LOG_STAR = "with a δ the number of values is known to matter as log*, a rate without constants"


@frozen
class QuantilesTask:
    """Quantiles of numbers on a grid, by how many ranks they are off; one is the median.

    Example:
        >>> [way.name for way in QuantilesTask(1_000).ways(Pure(1), Fraction(1, 20), 500)]
        ['exponential mechanism', 'binary search with noisy counts']
    """

    values: int = field(converter=check.whole, validator=check.between(1, MOST_VALUES))
    count: int = field(default=1, converter=check.whole, validator=check.between(1, 1_000))
    name: ClassVar[str] = "quantiles"
    share_of: ClassVar[str] = "the ranks"

    @property
    def words(self) -> str:
        """The task, in words."""
        which = "the median" if self.count == 1 else f"{self.count:,} quantiles"
        return f"{which} of numbers with {counted(self.values, 'value')}"

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """Where the quantiles lie: evenly."""
        return tuple(Fraction(place, self.count + 1) for place in range(1, self.count + 1))

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss and so many people, the most exact first."""
        best: dict[str, KnownWay] = {}
        for one in affordable(loss).each():
            for way in self._each(one, beta, people):
                if way is not None and (way.name not in best or way.error < best[way.name].error):
                    best[way.name] = way
        return ordered(best.values())

    def _each(self, loss: Pure | Zcdp, beta: Fraction, people: int) -> Iterator[KnownWay | None]:
        upper = self.values - 1

        def chosen() -> Fraction:
            if self.count == 1:
                one = Quantile.calibrate(
                    d_in=_ONE_ROW, loss=loss, quantile="1/2", lower=0, upper=upper
                )
                return one.error_quantile(beta)
            if people > _MOST_TIED:
                raise InvalidArgument("There are too many people to bound ties")
            many = Quantiles.calibrate(
                d_in=_ONE_ROW, loss=loss, quantiles=self.shares, lower=0, upper=upper
            )
            return many.error_quantile(beta, rows=people)

        def searched() -> Fraction:
            part = loss * Fraction(1, self.count)
            errors = (
                BinarySearchQuantile.calibrate(
                    d_in=_ONE_ROW, loss=part, quantile=share, lower=0, upper=upper
                ).error_quantile(beta / self.count)
                for share in self.shares
            )
            return max(errors)

        yield possible("exponential mechanism", chosen)
        yield possible("binary search with noisy counts", searched)

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: that of the quantile in the middle."""
        middle = min(self.shares, key=lambda share: abs(share - Fraction(1, 2)))
        return (RankPacking(log_down(Fraction(self.values)), middle),)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return what is known of many values."""
        return _of_many_values(wanted)


@frozen
class ThresholdsTask:
    """How many people are up to each of so many values: the distribution function.

    Example:
        >>> [way.name for way in ThresholdsTask(1_000).ways(Zcdp("0.1"), Fraction(1, 20), 500)][:2]
        ['factorised prefix sums', 'tree with Gaussian noise']
    """

    values: int = field(converter=check.whole, validator=check.between(1, MOST_VALUES))
    name: ClassVar[str] = "thresholds"
    share_of: ClassVar[str] = PEOPLE

    @property
    def words(self) -> str:
        """The task, in words."""
        return f"counts of people up to each of {self.values:,} values"

    def ways(self, loss: PrivacyLoss, beta: Fraction, people: int) -> tuple[KnownWay, ...]:
        """Return what can be done with a loss and so many people, the most exact first."""
        own = affordable(loss)
        found: list[KnownWay | None] = [cube(loss, beta, self.values)]
        if self.values <= MOST_LEAVES:
            found += self._summed(loss, beta)
            found += [self._tree(one, beta) for one in own.each() if self.values > 1]
        if own.zcdp is not None and self.values <= MOST_CELLS:
            found.append(self._factorised(own.zcdp, beta))
        if isinstance(loss, Approximate) and self.values > MOST_LEAVES:
            found.append(self._on_demand(loss, beta, people))
        return ordered(found)

    def _summed(self, loss: PrivacyLoss, beta: Fraction) -> Iterator[KnownWay]:
        """Yield noise on each value's count, and the counts added up."""
        for name, noise in noises(Contribution(l0=1, linf=1), loss):
            yield KnownWay(f"{name}, added up", sum_error(noise, beta / self.values, self.values))

    def _tree(self, loss: Pure | Zcdp, beta: Fraction) -> KnownWay | None:
        r"""Return a tree of noisy counts in which each level halves the one above.

        A prefix is a sum of at most one node of each level below the top, and that of all values
        of the two just below it. So an unbiased linear estimate has :math:`m` times the variance of
        a node, with the number :math:`m` of levels, or 2 if there is one; and that of least
        squares has no more (Gauss and Markov): weights :math:`w` with
        :math:`\sum w^2 \le m`. Gaussian noise is sub-Gaussian. For Laplace noise of scale
        :math:`b`, :math:`\ln E e^{\lambda wZ} \le -\ln(1 - \lambda^2b^2w^2)`, which is convex in
        :math:`w^2`, so the sum is at most that for one weight of :math:`\sqrt m`; with
        :math:`u = \lambda b\sqrt m`, :math:`P[|S| > t] \le 2e^{-ut/(b\sqrt m)}/(1 - u^2)`.
        """
        levels = (self.values - 1).bit_length()
        nodes = max(2, levels)
        one = Contribution(l0=1, linf=1)
        log = log_up(2 * self.values / beta)
        if isinstance(loss, Zcdp):
            noise = DiscreteGaussian.calibrate(d_in=one, loss=Zcdp(rho=loss.rho / levels))
            error = sqrt_up(short_up(2 * nodes * noise.sigma_squared * log))
            return KnownWay("tree with Gaussian noise", error) if noise.can_be_drawn else None
        laplace = DiscreteLaplace.calibrate(d_in=one, loss=Pure(loss.epsilon / levels))
        if not laplace.can_be_drawn:
            return None
        rates = [Fraction(part, 64) for part in range(32, 64)]
        width = min((log + log_up(1 / (1 - rate**2))) / rate for rate in rates)
        return KnownWay(
            "tree with Laplace noise", short_up(laplace.scale * sqrt_up(Fraction(nodes)) * width)
        )

    def _factorised(self, loss: Zcdp, beta: Fraction) -> KnownWay | None:
        """Return prefix sums by a factorised matrix: the noise is sub-Gaussian."""
        sums = PrefixSums.calibrate(cells=self.values, loss=loss, rows_per_unit=1)
        if not sums.noise.can_be_drawn:
            return None
        square = sums.noise.sigma_squared * _weights_square(self.values)
        error = sqrt_up(short_up(2 * square * log_up(2 * self.values / beta)))
        return KnownWay("factorised prefix sums", error)

    def _on_demand(self, loss: Approximate, beta: Fraction, people: int) -> KnownWay | None:
        """Return the machine whose price forgets the domain, in as many chunks as it can have."""
        errors = []
        for depth in range(2, 12):
            try:
                least, cuts = _machine(loss, beta, self.values, depth)
            except DiscreetError:
                break  # a loss for which no machine is known
            if least > people:
                break
            errors.append(Fraction(people, 1 << depth) + cuts)
        return KnownWay("thresholds on demand", min(errors)) if errors else None

    def bounds(self) -> tuple[LowerBound, ...]:
        """Return what says that something is impossible: the people who join have one value."""
        return (Packing(log_down(Fraction(self.values))),)

    def remarks(self, wanted: Wanted) -> tuple[str, ...]:
        """Return what is known of many values."""
        return _of_many_values(wanted)


def _of_many_values(wanted: Wanted) -> tuple[str, ...]:
    """Return what is known of many values, which decides nothing."""
    return (_CONTINUUM,) if isinstance(wanted.loss, Pure | Zcdp) else (_LOG_STAR,)


@lru_cache(maxsize=64)
def _machine(loss: Approximate, beta: Fraction, values: int, depth: int) -> tuple[int, Fraction]:
    """Return how many people chunks need, and what cuts add to the error, in people.

    There are two to the power of ``depth`` chunks.
    """
    machine = AdaptiveThresholds.calibrate(
        d_in=Contribution(linf=1),
        loss=loss,
        alpha=Fraction(2, 1 << depth),
        beta=beta,
        queries=values,
    )
    least = machine.least_size(beta, queries=values)
    error = machine.error_quantile(beta, queries=values, size=least)
    return least, least * (error - Fraction(1, machine.chunks))


@lru_cache(maxsize=64)
def _weights_square(cells: int) -> Fraction:
    """Return the sum of the squares of the weights of the longest prefix, rounded up."""
    sums = PrefixSums(cells=cells, noise=DiscreteGaussian(sigma_squared=1))
    return exact(float(np.square(sums.deviation(0, cells - 1)))) * (1 + Fraction(1, 10**9))
