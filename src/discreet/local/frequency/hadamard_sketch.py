"""A count-mean sketch with signs of Hadamard's matrix: few public maps for a very large domain."""

import math
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.local.coins import most_odds, part
from discreet.local.device.draws import UNIT
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.k_ary import respond, truth_of
from discreet.local.frequency.share_estimate import CONFIDENCE, ShareEstimate, estimate_shares
from discreet.local.frequency.walsh_hadamard import mapped, parity, walsh_hadamard
from discreet.local.report_numbers import Reports, as_numbers, as_reports, bytes_below
from discreet.randomness.samplers import uniform_integers

MOST_CATEGORIES = 2**31
MOST_ASKED = 2**22
"""Beyond it shares are estimated for the values that are asked for alone."""

_MOST_MAPS = 2**16
_MOST_BITS = 16
_HALF = Fraction(1, 2)
_STEPS = 200
_OUTWARDS = 1e-12

Maps = tuple[tuple[int, ...], ...]


def _whole_maps(maps: Any) -> Maps:
    return tuple(tuple(check.whole(row) for row in rows) for rows in maps)


@frozen(kw_only=True)
class HadamardSketch(FrequencyScheme):
    r"""Report one of the public ``maps``, a row of Hadamard's matrix, and its sign at the value.

    A map is linear over the field of two elements: it takes the bits of a category to
    :math:`\log_2 w` bits, one for each of its rows. Devices choose among :math:`L` maps, so the
    collector keeps :math:`2Lw` counts, however large the domain is [App17].

    Guarantee:
        A map and a row are drawn without looking at the value, and the sign is told truly with
        probability :math:`p` = ``truth / UNIT``: the odds are :math:`p/(1-p)`, for every choice of
        maps. A pair of values that no map takes apart has none; ``worst_pair`` is one that some
        map does.

    Assumes:
        The device's bytes are unpredictable to whoever reads the report. For what is said of
        estimates: :meth:`draw` made the maps, without looking at what people hold.

    Utility:
        Let :math:`c(x, x')` be the share of maps that take two values to one place. A report of
        :math:`x'` supports :math:`x` with probability :math:`1/2 + (p - 1/2)\,c(x, x')`, exactly,
        for any maps. So the supports of :math:`x` estimate
        :math:`s_x = f_x + \sum_{x' \ne x} f_{x'} c(x, x')`: *given the maps, values that collide
        are biased towards each other*. Over the choice of maps the places of two values are
        independent and uniform, :math:`E\,c = 1/w`, and :math:`(s_x - 1/w)/(1 - 1/w)` is unbiased.
        Collisions of different pairs with :math:`x` are independent too (two different non-zero
        vectors are linearly independent), so the variance over maps and devices is that of coins
        with ``held`` and ``other``, plus
        :math:`(\sum_{x' \ne x} f_{x'}^2 - (1 - f_x)/n)/(L(w-1))`, which no number of people
        removes. ``errors`` have :math:`(1 - f_x)^2/(L(w-1))` for that, the most it can be.

        *Intervals* hold over maps and devices together. Half of the doubt is for
        :math:`s_x`, as in
        :class:`~discreet.local.frequency.share_estimate.ShareEstimate`. The other half is for
        :math:`\kappa`, the mean over the maps of the share of all others that each takes to the
        place of :math:`x`: independent, in :math:`[0, 1]`, of mean :math:`1/w`, so
        :math:`P[\kappa \ge u] \le e^{-L\,KL(u \| 1/w)}` and the same below [Hoe63, Theorem 1].
        Then :math:`f_x = (s_x - \kappa)/(1 - \kappa)`, which falls with :math:`\kappa`.

    Example:
        >>> from discreet import SystemRng
        >>> scheme = HadamardSketch.draw(
        ...     categories=2**31, epsilon=1, maps=64, width=256, rng=SystemRng()
        ... )
        >>> scheme.size, round(float(scheme.event().epsilon), 9)
        (2, 1.0)
    """

    kind: ClassVar[str] = "hadamard_sketch"
    categories: int = field(converter=check.whole, validator=check.between(2, MOST_CATEGORIES))
    maps: Maps = field(converter=_whole_maps, repr=lambda maps: f"<{len(maps)} maps>")
    truth: int = field(converter=check.whole, validator=check.between(UNIT // 2 + 1, UNIT - 1))

    @maps.validator
    def _alike(self, _: object, maps: Maps) -> None:
        sizes = {len(rows) for rows in maps}
        below = 1 << (self.categories - 1).bit_length()
        if (
            not 1 <= len(maps) <= _MOST_MAPS
            or len(sizes) != 1
            or not 1 <= max(sizes) <= _MOST_BITS
            or not all(0 <= row < below for rows in maps for row in rows)
        ):
            raise InvalidArgument(
                "maps are out of range",
                must=f"be at most {_MOST_MAPS} with equally many rows, at most {_MOST_BITS}, "
                "each of as many bits as a category",
            )

    @classmethod
    def draw(cls, *, categories: int, epsilon: Number, maps: int, width: int, rng: Rng) -> Self:
        """Return a scheme with so many random maps to ``width`` places, a power of two.

        The maps are public. If what people hold can depend on them, nothing but privacy is left.
        """
        every, places = check.whole(categories), check.whole(width)
        bits = places.bit_length() - 1
        if bits < 1 or places != 1 << bits:
            raise InvalidArgument(
                "width is out of range", must="be a power of two, at least 2", got=str(width)
            )
        rows = uniform_integers(1 << (every - 1).bit_length(), (check.whole(maps), bits), rng)
        return cls(categories=every, maps=rows.tolist(), truth=truth_of(2, most_odds(epsilon)))

    @property
    def width(self) -> int:
        """To how many places a map takes categories."""
        return 1 << len(self.maps[0])

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return bytes_below(self._numbers())

    def recipe(self) -> dict[str, Any]:
        """Return the public part of the scheme."""
        return {
            "kind": self.kind,
            "categories": self.categories,
            "maps": [list(rows) for rows in self.maps],
            "truth": self.truth,
        }

    def odds(self) -> Fraction:
        """Return the largest ratio of the probabilities of a report under two values.

        If all rows are 0 there are no two values with other reports, and the odds are 1.
        """
        return self.held / (1 - self.held) if self._some_row() else Fraction(1)

    def worst_pair(self) -> tuple[int, int]:
        """Return 0 and a value that some map takes elsewhere: a single bit that some row has."""
        row = self._some_row()
        return 0, row & -row if row else 1

    @property
    def held(self) -> Fraction:
        """How likely a report supports the value of its person."""
        return part(self.truth)

    @property
    def other(self) -> Fraction:
        """How likely a report supports any one other value, over the choice of maps too."""
        return _HALF + (self.held - _HALF) / self.width

    def variance(
        self, people: int, *, share: Fraction = Fraction(0), squares: Fraction | None = None
    ) -> Fraction:
        """Return the exact variance of an estimated share over maps and devices.

        ``squares`` is the sum of the squared shares of all other values; without it, the most that
        it can be, which is all others holding one value.
        """
        most = (1 - share) ** 2 if squares is None else squares
        collisions = (most - (1 - share) / people) / (len(self.maps) * (self.width - 1))
        return super().variance(people, share=share) + collisions

    def randomise_many(self, values: IntArray, rng: Rng) -> Reports:
        """Return the report of each person; the words used do not depend on the values."""
        held = self.check_values(values)
        drawn = uniform_integers(len(self.maps), held.size, rng)
        row = uniform_integers(self.width, held.size, rng)
        places = mapped(np.array(self.maps, dtype=np.int64).T[:, drawn], held)
        told = respond(parity(row & places), 2, self.held, rng)
        return as_reports((drawn * self.width + row) * 2 + told, self._numbers())

    def told_below(self) -> int:
        """Return how many different reports there are."""
        return self._numbers()

    def tally(self, reports: Reports) -> IntArray:
        """Return how many reports there are of each map, row and sign."""
        told = as_numbers(self.check_possible(reports))
        return np.bincount(told, minlength=self._numbers())

    def supports(self, tally: IntArray) -> IntArray:
        """Return how many reports support each value."""
        if self.categories > MOST_ASKED:
            raise InvalidArgument(
                "There are too many values to estimate them all",
                must=f"be at most {MOST_ASKED:,}",
                got=f"{self.categories:,}",
                next="Ask for some with estimate_of",
            )
        return self.supports_of(tally, np.arange(self.categories))

    def supports_of(self, tally: IntArray, values: IntArray) -> IntArray:
        """Return how many reports support each of some values."""
        asked = self.check_values(values)
        signs = tally.reshape(len(self.maps), self.width, 2)
        sketch = walsh_hadamard(signs[:, :, 0] - signs[:, :, 1])
        found = np.full(asked.size, int(tally.sum()), dtype=np.int64)
        for rows, counted in zip(self.maps, sketch, strict=True):
            found += counted[mapped(rows, asked)]
        return found >> 1

    def estimate_tally(
        self,
        tally: IntArray,
        people: int,
        *,
        confidence: Number = CONFIDENCE,
        together: bool = False,
    ) -> ShareEstimate:
        """Return the share of each value from the tally of the reports of so many people."""
        return self._estimate(self.supports(tally), people, exact(confidence), together=together)

    def estimate_of(
        self,
        tally: IntArray,
        people: int,
        values: IntArray,
        *,
        confidence: Number = CONFIDENCE,
        together: bool = False,
    ) -> ShareEstimate:
        """Return the shares of some values alone: their number matters, not that of the domain."""
        supports = self.supports_of(tally, values)
        return self._estimate(supports, people, exact(confidence), together=together)

    def _estimate(
        self, supports: IntArray, people: int, level: Fraction, *, together: bool
    ) -> ShareEstimate:
        plain = estimate_shares(
            supports, people, held=self.held, other=self.other, confidence=level
        )
        seen = estimate_shares(
            supports,
            people,
            held=self.held,
            other=_HALF,
            confidence=1 - (1 - level) / 2,
            together=together,
        )
        least, most = self._collided(float(1 - level) / (4 * (supports.size if together else 1)))
        rest = 1.0 - np.clip(plain.shares, 0.0, 1.0)
        collisions = np.square(rest) / (len(self.maps) * (self.width - 1))
        return evolve(
            plain,
            low=np.clip((seen.low - most) / max(1.0 - most, _OUTWARDS), 0.0, 1.0),
            high=np.clip((seen.high - least) / (1.0 - least), 0.0, 1.0),
            errors=np.sqrt(np.square(plain.errors) + collisions),
        )

    def _collided(self, beta: float) -> tuple[float, float]:
        """Return ends for the share of others at a value's place, each missed with ``beta``."""
        mean, wanted = 1.0 / self.width, -math.log(beta) / len(self.maps)
        ends = []
        for end in (0.0, 1.0):
            near, far = mean, end
            for _ in range(_STEPS):
                middle = (near + far) / 2
                near, far = (middle, far) if _divergence(middle, mean) < wanted else (near, middle)
            ends.append(far + (_OUTWARDS if end else -_OUTWARDS))
        return max(ends[0], 0.0), min(ends[1], 1.0)

    def _some_row(self) -> int:
        return max(row for rows in self.maps for row in rows)

    def _numbers(self) -> int:
        return 2 * len(self.maps) * self.width


def _divergence(first: float, second: float) -> float:
    """Return the Kullback-Leibler divergence of two coins."""
    return sum(
        a * math.log(a / b) for a, b in ((first, second), (1.0 - first, 1.0 - second)) if a > 0
    )
