"""Random discarding: throw a few rows away, so that nobody knows how many were counted."""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, written
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import dyadic_up, exp_up, log_up, short_up
from discreet.noiseless.histograms.size_laws import MOST_SIZES, OtherRows
from discreet.randomness.samplers import discrete_laplace, uniform_integers

_BITS = 96


@frozen(kw_only=True)
class RandomDiscarding:
    r"""Keep :math:`N = n - [L + shift]_+` of the rows, chosen at random, with discrete Laplace L.

    Guarantee:
        The truncated histogram of the rows that are kept has the δ that
        :func:`discreet.noiseless.histograms.spread_cells.spread_sides` gives for ``sizes()``, if
        rows are independent of one law, also for somebody who knows how many there were.

        Proof. Let :math:`\pi(n')` be the probability that :math:`n'` are kept. The person is then
        among them with probability :math:`n'/n`, and the release is that of :math:`n'-1` others
        and the person; else that of :math:`n'` others. The simulator has the :math:`n-1` others,
        draws a number from the same law and keeps so many of them (all, if it is :math:`n`). Both
        are sums over :math:`n'`; the parts without the person are the same in both, and a
        divergence of sums is at most the sum of divergences. What is left has weights
        :math:`w(n') = \pi(n')n'/n`: :math:`n'-1` others with the person beside :math:`n'` others.
        So ``real`` of :math:`s` others is :math:`w(s+1)` and ``simulated`` is :math:`w(s)`. They
        differ by the noise's :math:`e^{1/scale}`, and only where fewer than one row is thrown away
        has the simulator nothing beside the release: with probability at most
        :math:`e^{-shift/scale}/(1+e^{-1/scale})`. ∎ The source draws Laplace noise, which would
        have to be rounded [Gro14, section 6.2]; this is an integer from the start.

        *Known rows* are thrown away like the others. So with :math:`\nu` of them the count of a
        cell is not that of the others plus a number that the adversary knows, and sizes are told
        from one another by it a little. Let both worlds also say which known rows were thrown away.
        Of :math:`s` others that are kept, :math:`\lambda` known ones are missing with the
        hypergeometric probability :math:`h(\lambda, s)`, the same in both, so that ``beside`` has
        the weights :math:`w(s+1) h(\lambda, s)` and :math:`w(s) h(\lambda, s)` for each
        :math:`\lambda`, and ``spread_sides`` of all of them together is a bound. To know fewer rows
        is to be told a function of it.

    Assumes:
        ``rng`` is unpredictable, and what was thrown away is released nowhere.

    Utility:
        Of n rows about ``shift`` are lost; more than ``loss_quantile(beta)`` with probability at
        most beta.

    Attributes:
        rows: n.
        scale: Of the noise: larger hides the number of rows better, and needs a larger shift.
        shift: How many rows are thrown away on average.

    Example:
        >>> discarding = RandomDiscarding.calibrate(rows=10_000, epsilon="0.2", delta="1e-6")
        >>> discarding.shift, discarding.loss_quantile("0.05")
        (70, 84)
    """

    rows: int = field(converter=check.whole, validator=check.between(1, 1 << 40))
    scale: Fraction = field(converter=exact, validator=check.positive)
    shift: int = field(converter=check.whole, validator=check.between(0, MOST_SIZES // 4))

    @classmethod
    def calibrate(cls, *, rows: int, epsilon: Number, delta: Number) -> "RandomDiscarding":
        """Return the discarding whose sizes are within e^ε, up to δ."""
        wanted, level = exact(epsilon), check.level(delta)
        if wanted <= 0:
            raise InvalidArgument("epsilon is out of range", must="be above 0", got=str(wanted))
        shift = math.ceil(log_up(1 / level) / wanted)
        return cls(rows=rows, scale=1 / wanted, shift=max(0, shift))

    def discarded(self, rng: Rng) -> IntArray:
        """Return the places of the rows that are thrown away, in rising order."""
        noise = int(discrete_laplace(self.scale, (1,), rng)[0])
        count = min(self.rows, max(0, noise + self.shift))
        # The first steps of a shuffle of all places; only what was moved is kept.
        moved: dict[int, int] = {}
        chosen = []
        for step in range(count):
            place = step + int(uniform_integers(self.rows - step, (1,), rng)[0])
            chosen.append(moved.get(place, place))
            moved[place] = moved.get(step, step)
        return np.array(sorted(chosen), dtype=np.int64)

    def loss_quantile(self, beta: Number) -> int:
        """Return a number of rows that is exceeded by those thrown away at most ``beta`` often."""
        level = check.level(beta)
        if level >= Fraction(1, 2):
            return self.shift
        bound = self.scale * log_up(1 / (level * (1 + exp_up(-1 / self.scale) / 2)))
        return min(self.rows, self.shift + max(0, math.ceil(bound)))

    def sizes(self) -> OtherRows:
        """Return the law of the number of other rows that are kept, for a certificate."""
        return _sizes(self)

    def beside(self, known: int) -> tuple[OtherRows, ...]:
        """Return the same by how many known rows were thrown away; what is unlikely is beyond.

        Example:
            >>> discarding = RandomDiscarding.calibrate(rows=10_000, epsilon=1, delta="1e-6")
            >>> len(discarding.beside(0)), len(discarding.beside(100))
            (1, 16)
        """
        return _beside(self, known) if known else (self.sizes(),)


@lru_cache(maxsize=64)
def _sizes(discarding: RandomDiscarding) -> OtherRows:
    rows, scale, shift = discarding.rows, discarding.scale, discarding.shift
    far = min(rows, shift + math.ceil(scale * 50))
    half = exp_up(-1 / scale)
    unit = (1 - half) / (1 + half)
    chances = {lost: unit * exp_up(-abs(lost - shift) / scale) for lost in range(1, far + 1)}
    chances[0] = exp_up(-shift / scale) / (1 + half)
    weights = {
        rows - lost: dyadic_up(chance * (rows - lost) / rows, _BITS)
        for lost, chance in chances.items()
        if lost < rows
    }
    first = min(weights) - 1
    real = tuple(weights.get(others + 1, Fraction(0)) for others in range(first, rows))
    simulated = [weights.get(others, Fraction(0)) for others in range(first, rows)]
    simulated[-1] += weights.get(rows, Fraction(0))
    words = (
        f"{rows} less what is thrown away at random: about {shift}, with discrete Laplace noise of "
        f"scale {written(scale)}"
    )
    beyond = short_up(exp_up(-(far - shift) / scale) * 2)
    return OtherRows(first, real, tuple(simulated), beyond, Fraction(1, 1 << 60), words)


_LEAST = Fraction(1, 1 << 60)
_MOST_PARTS = 60_000
"""So many pairs of a size and a number of known rows are looked at."""


@lru_cache(maxsize=64)
def _beside(discarding: RandomDiscarding, known: int) -> tuple[OtherRows, ...]:
    whole, others = discarding.sizes(), discarding.rows - 1
    if not known <= others:
        raise InvalidArgument(
            "The adversary knows all rows", must="leave at least one row unknown", got=str(known)
        )
    parts: dict[int, dict[int, Fraction]] = {}
    missing, pairs = Fraction(0), 0
    for place, weights in enumerate(zip(whole.real, whole.simulated, strict=True)):
        size, weight = whole.first + place, max(weights)
        found = _missing_known(others, known, others - size) if weight > _LEAST / 8 else {}
        missing += weight * (1 - sum(found.values()))
        pairs += len(found)
        for lost, chance in found.items():
            parts.setdefault(lost, {})[size] = chance
        if pairs > _MOST_PARTS:
            raise InvalidArgument(
                "So many rows are thrown away that known ones cannot be followed",
                must="have a larger ε of discarding, or no known rows",
                got=f"{known:,} known of {discarding.rows:,}",
            )
    beyond = short_up((whole.beyond + missing) / len(parts))
    return tuple(_part(whole, chances, beyond) for _, chances in sorted(parts.items()))


def _missing_known(others: int, known: int, lost: int) -> dict[int, Fraction]:
    """Return how likely it is that so many of the lost rows are known ones, where it is likely."""
    ways, unit = math.comb(others, lost), 1 << 60
    least = max(0, lost - (others - known))
    found = {}
    way = math.comb(known, least) * math.comb(others - known, lost - least)
    for count in range(least, min(known, lost) + 1):
        if way * unit > ways:
            found[count] = Fraction(way, ways)
        up = (known - count) * (lost - count)
        way = way * up // ((count + 1) * (others - known - lost + count + 1))
    return found


def _part(whole: OtherRows, chances: Mapping[int, Fraction], beyond: Fraction) -> OtherRows:
    """Return the part of a law of sizes that has these chances among each size."""
    first, last = min(chances), max(chances)
    real, simulated = (
        tuple(
            dyadic_up(of(size) * chances.get(size, Fraction(0)), _BITS)
            for size in range(first, last + 1)
        )
        for of in (whole.real_at, whole.simulated_at)
    )
    return OtherRows(first, real, simulated, beyond, 2 * whole.rounded, whole.words)
