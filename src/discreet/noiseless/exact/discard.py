r"""Random discarding: leave out a random number of rows, so that nobody knows how many there were.

[Gro14, section 6.2] makes a known number of rows :math:`n_0` uncertain by keeping
:math:`n_0 - [L + \ln(1/\delta)/\epsilon]_+` random ones, with Laplace noise :math:`L`. Rows are
whole, so here :math:`L` is discrete and the shift is rounded up; the source leaves that open.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from attrs import field, frozen

from discreet.core import check
from discreet.core.numbers import exact, log_bounds, written
from discreet.core.protocols import Rng
from discreet.randomness.samplers import discrete_laplace, uniform_integers


@frozen(kw_only=True)
class Discarding:
    """How many rows are left out: a shift and discrete Laplace noise, and never fewer than none.

    Guarantee:
        Which rows are left out is uniform among all choices of so many. Each draw is exact.

    Example:
        >>> Discarding(epsilon="0.5", delta="1e-6").shift
        28
    """

    epsilon: Fraction = field(converter=exact, validator=check.positive)
    delta: Fraction = field(converter=exact, validator=check.positive)

    @property
    def shift(self) -> int:
        """The usual number of rows that are left out: ln(1/δ)/ε, rounded up."""
        _, most = log_bounds(1 / self.delta)
        return max(0, math.ceil(most / self.epsilon))

    def to_json(self) -> dict[str, str]:
        """Return it as plain values."""
        return {"epsilon": written(self.epsilon), "delta": written(self.delta)}

    def keep(self, counts: Sequence[int], rng: Rng) -> list[int]:
        """Return the counts of the rows that are kept.

        Places of rows are drawn without replacement, by Floyd's method: with :math:`m` rows and
        :math:`d` to leave out, for each :math:`j` from :math:`m - d` to :math:`m - 1` a uniform
        place up to :math:`j` is left out, or :math:`j` itself if that one is gone already.
        """
        total = sum(counts)
        noise = int(discrete_laplace(1 / self.epsilon, 1, rng)[0])
        wanted = min(total, max(0, self.shift + noise))
        gone: set[int] = set()
        for last in range(total - wanted, total):
            place = int(uniform_integers(last + 1, 1, rng)[0])
            gone.add(last if place in gone else place)
        ends = list(accumulate(counts))
        begins = [0, *ends[:-1]]
        return [
            count - sum(begin <= place < end for place in gone)
            for count, begin, end in zip(counts, begins, ends, strict=True)
        ]
