r"""Where the number of a population lies, if the units of a table are a sample of it.

*Noise* is what a mechanism added, *total* is noise and what limits left out; both are about the
table. *Sampling* is about the population that the units of the table were drawn from: how far a
number would be off even if it were exact. Everything here is made of what was released.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import frozen

from discreet.releases.body import Body
from discreet.releases.estimates.estimate import Calculation, Estimate, MeanOf, TotalOf
from discreet.releases.estimates.groups import Groups
from discreet.releases.estimates.rules import intervals_of
from discreet.releases.estimates.shares import share_of
from discreet.releases.left_out import LeftOut
from discreet.releases.view import View, margins
from discreet.tables.arithmetic.enclosures import Interval, Intervals

_OF_UNITS = "count_units"
_COUNTS = ("count", _OF_UNITS)


@frozen(kw_only=True)
class PopulationSample:
    r"""What is needed to say how far the numbers of a sample are from those of its population.

    Assumes:
        The units of the table are drawn from the population independently of each other, or at
        random without putting back. All rows of a unit come with it.

    Utility:
        With probability at least :math:`1 - \beta` over the noise *and* over which units are in
        the table, the number of the population is in the interval.

        Proof. Half of :math:`\beta` is for the noise: except with that, each exact number is
        within its margin. The other half is for sampling, with
        :math:`L = \ln(4/\beta)`, so that each of two tails has :math:`e^{-L} = \beta/4`. By the
        union bound both hold, and each interval below grows with the noise's, so its worst end
        over the noise holds the number.

        *Means and shares.* Let a unit have :math:`n_u \le r` rows in the group, with values in
        an interval of width ``R`` that add up to :math:`s_u`. The mean of the population is
        :math:`\theta = E[s_u]/E[n_u]`, so :math:`D_u = s_u - \theta n_u` has mean 0, and is 0 for
        units without rows. Let values be in units of ``R`` above the lower end, so that they and
        :math:`\theta` are between 0 and 1; then :math:`D_u/r` lies between :math:`-\theta` and
        :math:`1 - \theta`. Given which units have rows, ``m`` of them and :math:`n \ge m` rows,
        each tail of :math:`m \cdot KL(\theta + \sum D_u/(rm), \theta) \le L` fails with
        probability :math:`e^{-L}` at most, with the divergence ``KL`` of two shares (Hoeffding,
        JASA 1963, Theorem 1; by his Theorem 4 also without putting back). As ``m`` grows the left
        side falls: :math:`m f(c/m)` does for each convex ``f`` with :math:`f(0) = 0`. So it holds
        with ``n`` for ``m``, and with any smaller number before ``KL``. There :math:`\sum D_u/(rn)`
        is :math:`(\hat\theta - \theta)/r` with the mean :math:`\hat\theta` of the sample, hence

        .. math:: n \cdot KL(\theta + (\hat\theta - \theta)/r, \theta) \le L.

        In :math:`\theta` the left side is convex, as ``KL`` is in both of its arguments together,
        and 0 at :math:`\hat\theta`; so these :math:`\theta` are an interval around it, whose ends
        grow with :math:`\hat\theta`. By Pinsker's inequality it is within
        :math:`rR\sqrt{L/(2n)}`, which Hoeffding's Theorem 2 would give. It is far narrower where
        the mean is near an end of its range, as for skewed values it is: with
        :math:`\hat\theta` near 0 and :math:`r = 1` it reaches about
        :math:`\hat\theta + \sqrt{2\hat\theta L/n}`. (A bound by the variance would need one to be
        released, which costs noise, and :math:`\hat\theta(1 - \hat\theta)` is above it always.)

        *Counts and sums* of values that are not negative: what is meant is the expected number of
        a sample of as many units. A unit adds between 0 and ``w``. In units of ``w`` the sum ``x``
        of a mean :math:`\lambda` keeps :math:`\lambda - x + x\ln(x/\lambda) \le L` (Chernoff's
        bound for independent variables between 0 and 1), whatever the number of units is.

        Nothing is known of a number that limits or clamps may change, where noisy numbers chose the
        groups, and of other numbers.
    """

    view: View
    body: Body
    left_out: LeftOut | None
    beta: Fraction

    def intervals(self, estimate: Estimate, groups: Groups) -> Intervals:
        """Return for each group where the population's number lies, if that is known."""
        found: Callable[[Interval, Fraction], Interval | None] | None = None
        count: int | None = None
        is_cut = self.left_out is not None and self.left_out.touches(estimate)
        if not is_cut and groups.threshold is None:
            found, count = self._rule(estimate, groups)
        if found is None:
            return Intervals.unknown(groups.size)
        noise = intervals_of(estimate, groups, margins(self.body), beta=self.beta / 2).each()
        sizes = [Fraction(0)] * groups.size if count is None else self._fewest(count, groups)
        pairs = zip(noise, sizes, strict=True)
        return Intervals.of([None if one is None else found(one, size) for one, size in pairs])

    @property
    def _doubt(self) -> float:
        return math.log(4 / self.beta)

    def _fewest(self, count: int, groups: Groups) -> list[Fraction]:
        """Return how many rows there are in each group at least."""
        margin = margins(self.body)(count, self.beta / 4)
        return [(number or Fraction(0)) - margin for number in groups.values[count].scalars()]

    def _rule(
        self, estimate: Estimate, groups: Groups
    ) -> tuple[Callable[[Interval, Fraction], Interval] | None, int | None]:
        """Return how an interval of noise becomes one of sampling, and whose size that needs."""
        if isinstance(estimate, MeanOf):
            ends, rows = (estimate.lower, estimate.upper), self.body.limits.rows_per_group
            return (lambda noise, size: self._mean(noise, size, ends, rows)), estimate.count
        share = share_of(estimate, groups.parts) if isinstance(estimate, Calculation) else None
        if share is not None:
            factor, whole = share
            rows = self._rows(whole)
            return (lambda noise, size: self._share(noise, size, factor, rows)), whole
        most = self._most(estimate.index) if isinstance(estimate, TotalOf) else None
        return (None if most is None else lambda noise, _: self._sum(noise, most)), None

    def _rows(self, index: int) -> int:
        is_once = self.body.aggregates[index].kind == _OF_UNITS
        return 1 if is_once else self.body.limits.rows_per_group

    def _most(self, index: int) -> Fraction | None:
        """Return the most that one unit adds to a group, if it cannot take anything away."""
        if self.body.aggregates[index].kind in _COUNTS:
            return Fraction(self._rows(index))
        bounds = self.view.ranges[index] if self.view.ranges else None
        is_plain = self.body.aggregates[index].centre == "0"
        if bounds is None or bounds.lower < 0 or not is_plain:
            return None
        return bounds.upper * self._rows(index)

    def _mean(self, noise: Interval, size: Fraction, ends: Interval, rows: int) -> Interval:
        lower, upper = ends
        if size < 1:
            return ends
        width, most = upper - lower, self._doubt / float(size)
        low, high = (min(max((end - lower) / width, Fraction(0)), Fraction(1)) for end in noise)
        return (
            upper - width * _highest_mean(1 - low, most, rows),
            lower + width * _highest_mean(high, most, rows),
        )

    def _share(self, noise: Interval, size: Fraction, factor: Fraction, rows: int) -> Interval:
        whole = (Fraction(0), Fraction(1))
        low, high = sorted(end / factor for end in noise)
        found = self._mean((low, high), size, whole, rows)
        first, last = sorted(factor * end for end in found)
        return first, last

    def _sum(self, noise: Interval, most: Fraction) -> Interval:
        low, high = (max(Fraction(0), end / most) for end in noise)
        return most * _least_mean(low, self._doubt), most * _largest_mean(high, self._doubt)


_SLACK = Fraction(1, 10**9)
"""By how much, of its size, what floating point finds is moved outwards."""

_HALVINGS = 100


def _up(value: float) -> Fraction:
    return Fraction(value) * (1 + _SLACK)


def _last(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Return a number just beyond the last for which something holds that holds at ``low``."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _highest_mean(mean: Fraction, most: float, rows: int) -> Fraction:
    """Return the largest ``p`` for which a mean between 0 and 1 diverges by at most so much.

    Each unit has so many ``rows`` at most.

    Example:
        >>> round(float(_highest_mean(Fraction(0), 0.01, 1)), 4)  # 1 - exp(-0.01)
        0.01
    """
    given = float(mean)

    def divergence(p: float) -> float:
        near = p + (given - p) / rows
        own = 0.0 if near <= 0 else near * math.log(near / p)
        rest = 0.0 if near >= 1 else (1 - near) * (math.log1p(-near) - math.log1p(-p))
        return own + rest

    found = _last(given, 1.0, lambda p: p < 1 and divergence(p) <= most) if given < 1 else 1.0
    return min(Fraction(1), _up(found))


def _poisson(count: float, mean: float) -> float:
    return mean - count + (count * math.log(count / mean) if count > 0 else 0.0)


def _largest_mean(count: Fraction, doubt: float) -> Fraction:
    """Return the largest mean from which a sum is not too far.

    Example:
        >>> round(float(_largest_mean(Fraction(0), 3.0)), 6)
        3.0
    """
    given = float(count)
    beyond = given + 2 * doubt + math.sqrt(2 * given * doubt) + 1
    return _up(_last(given, beyond, lambda mean: _poisson(given, mean) <= doubt))


def _least_mean(count: Fraction, doubt: float) -> Fraction:
    """Return the least mean from which a sum is not too far; of nothing it is 0."""
    given = float(count)
    if given <= 0:
        return Fraction(0)
    found = given - _last(
        0.0, given, lambda less: less < given and _poisson(given, given - less) <= doubt
    )
    return max(Fraction(0), Fraction(found) - Fraction(given) * _SLACK)
