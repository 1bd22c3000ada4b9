"""Publishing some rows as they are: the baseline that a large δ lets through, with its warning."""

from fractions import Fraction

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.loss import short
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.core.stated_event import ApproximateEvent
from discreet.randomness.samplers import bernoulli
from discreet.synthesis.counted.counted_rows import CountedRows, Integers
from discreet.synthesis.one_way_marginals.one_way_sums import Counts, OneWaySums, rows_of_unit

_AT_ONCE = 1 << 20


@frozen(kw_only=True)
class RowSample:
    r"""Keep each row with probability ``rate``, and publish the exact sums of the rows kept.

    Guarantee:
        :math:`(0, \delta)`-DP with :math:`\delta = 1 - (1 - rate)^m` for a unit of at most ``m``
        rows. *Proof.* With that probability a row of the unit is kept; otherwise the rows kept have
        exactly the law that they have without it. [Ste16, Section 4.1] draws a fixed number of
        rows, for which δ depends on the private ``n``; with a coin for each row it does not.

        **This is not a release that anyone should make**: with probability δ a person's row is
        published as it is. It meets its δ all the same. That is why a δ must be far below one over
        the number of people: at :math:`\delta \ge 1/n` the definition allows publishing one of
        them outright.

    Assumes:
        Of a unit at most ``rows_per_unit`` rows are counted. ``rng`` is unpredictable: who can tell
        which coins fall can tell whose rows are kept.

    Utility:
        A sum errs by about :math:`\sqrt{n(1/rate - 1)}`.

    Example:
        >>> RowSample(sums=OneWaySums(sizes=[2, 2]), rate="1/1000").event(rows_per_unit=1).delta
        Fraction(1, 1000)
    """

    sums: OneWaySums
    rate: Fraction = field(converter=exact, validator=[check.positive, check.below_one])

    @property
    def warning(self) -> str:
        """What must be said wherever this is offered."""
        return (
            f"A sample of rows publishes each row as it is with probability {short(self.rate)}. "
            "It meets its δ, and protects nobody who is in it."
        )

    def event(self, rows_per_unit: Number) -> ApproximateEvent:
        """Describe one use, where a unit has at most so many rows."""
        return ApproximateEvent(0, 1 - (1 - self.rate) ** rows_of_unit(rows_per_unit))

    def measure(self, rows: CountedRows, rng: Rng) -> Integers:
        """Return the exact sums of the rows that were kept."""
        kept = np.array([self._kept(int(count), rng) for count in rows.counts], dtype=np.int64)
        return self.sums.of(CountedRows(rows.sizes, rows.codes, kept))

    def estimate(self, measured: Integers) -> tuple[Counts, ...]:
        """Return how many rows have each value of each column."""
        return tuple(part / float(self.rate) for part in self.sums.estimate(measured))

    def _kept(self, count: int, rng: Rng) -> int:
        parts = range(0, count, _AT_ONCE)
        return sum(
            int(bernoulli(self.rate, min(_AT_ONCE, count - start), rng).sum()) for start in parts
        )
