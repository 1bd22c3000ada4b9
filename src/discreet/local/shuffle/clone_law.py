"""The loss of one report among clones: a pair of laws of counts, put on a grid from above."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.atomic import AtomicLaw
from discreet.accounting.pld.laws.grid import FloatArray, short_step
from discreet.core.protocols import IntArray

_LOG_TAIL = 60.0
_CELLS = 2**15
_BUDGET = 2.0**24
_MOST_BLOCKS = 64
_CHUNK = 2**21
_ROUNDED = 1e-9


@frozen(kw_only=True)
class CloneLaw:
    r"""What one report tells if each of ``others`` reports is a clone with a known chance.

    Guarantee:
        Let two values make a report with laws :math:`r_0` and :math:`r_1`, let :math:`E` be the
        odds, and :math:`\tau` their total variation.

        *Any scheme* [FMT21]: :math:`r_0 = (E q_0 + q_1)/(E+1)` and :math:`r_1` alike, and every
        report of anybody is with probability :math:`1/E` a clone, which is :math:`q_0` or
        :math:`q_1` with equal chances.

        *Schemes in which any two values have the same* :math:`\tau`: put
        :math:`u_0 = (r_0 - r_1)_+/(E-1)` and :math:`u_1 = (r_1 - r_0)_+/(E-1)`, each of mass
        :math:`\alpha = \tau/(E-1)`. Then :math:`r_0 = E u_0 + u_1 + c` and
        :math:`r_1 = u_0 + E u_1 + c` with a common :math:`c \ge 0` of mass
        :math:`\gamma = 1 - (E+1)\alpha` (where :math:`r_0 \ge r_1`, it is
        :math:`(E r_1 - r_0)/(E-1)`). Each report of anybody is at least
        :math:`\max(r_0, r_1)/E = u_0 + u_1 + c/E`: a clone with probability
        :math:`s = 2\alpha + \gamma/E`, and of :math:`u_0`, :math:`u_1` or :math:`c` by their
        masses.

        Who reports no clone can be told to everybody, since it does not depend on the first
        person. What is left are the numbers :math:`c_0, c_1, c_c` of reports of each kind, the
        first person's among them. If :math:`N - 1` of the others are clones, and :math:`M` is the
        law of the counts of :math:`N` clones, then :math:`dP/dM` is proportional to
        :math:`E c_0 + c_1 + E c_c = EN - (E-1)c_1` and :math:`dQ/dM` to :math:`EN - (E-1)c_0`, so
        the loss is

        .. math:: Z = \ln \frac{EN - (E-1)c_1}{EN - (E-1)c_0}.

        Fewer clones lose more: a clone can be added by whoever sees the counts. So numbers of
        clones are put together in blocks, as if they were the least of their block. Losses are
        rounded up to a grid. Chances are ratios of products, from the largest on, over the sum of
        those that are looked at, so never below the truth but for roundings, for which all are
        raised by a billionth; what is not looked at, by Bernstein's inequality less than
        :math:`e^{-60}` at each end, counts as an infinite loss.

        [FMT23] does without clones of :math:`c`, but its proof has a gap where :math:`\gamma > 0`,
        as its authors say: two people with one of four values refute it (in our tests).
    """

    odds: Fraction
    others: int
    clones: Fraction
    telling: Fraction
    r"""How likely a clone is one of the two kinds that tell: :math:`2\alpha/s`, or 1."""

    @staticmethod
    def general(odds: Fraction, people: int) -> "CloneLaw":
        """Return the law for any scheme with these odds."""
        return CloneLaw(odds=odds, others=people - 1, clones=1 / odds, telling=Fraction(1))

    @staticmethod
    def even(odds: Fraction, variation: Fraction, people: int) -> "CloneLaw":
        """Return the law for a scheme in which any two values have this total variation."""
        alpha = variation / (odds - 1)
        clones = 2 * alpha + (1 - (odds + 1) * alpha) / odds
        return CloneLaw(odds=odds, others=people - 1, clones=clones, telling=2 * alpha / clones)

    def on_grid(self) -> AtomicLaw:
        """Return a law of the loss that is nowhere below, on a grid."""
        starts, chances = self._blocks()
        top = max(self._largest_loss(int(start)) for start in starts)
        unit = short_step(top / _CELLS * (1 + _ROUNDED))
        masses = np.zeros(2 * _CELLS + 5)
        for start, chance in zip(starts.tolist(), chances.tolist(), strict=True):
            for place, mass in self._atoms(start + 1, unit):
                masses += chance * np.bincount(place + _CELLS + 2, mass, len(masses))
        losses = (np.arange(float(len(masses))) - (_CELLS + 2)) * unit
        raised = masses * (1 + _ROUNDED)
        left_out = 12 * math.exp(-_LOG_TAIL)
        return AtomicLaw(losses[None, :], raised[None, :], np.zeros(1), unit, left_out)

    def _blocks(self) -> tuple[IntArray, FloatArray]:
        """Return the least number of clones of each block, and at most how likely the block is."""
        found, chances = _binomial(self.others, self.clones)
        middle = float(self.others * self.clones) + 1
        rows = min(middle, 16 * math.sqrt(middle)) if self.telling < 1 else 1.0
        each = rows * min(middle, 16 * math.sqrt(middle))
        count = max(1, min(len(found), _MOST_BLOCKS, int(_BUDGET / each)))
        if each * len(found) <= _BUDGET / 16:
            count = len(found)
        first = np.unique(np.linspace(0, len(found), count, endpoint=False).astype(np.int64))
        return found[first], np.add.reduceat(chances, first)

    def _largest_loss(self, start: int) -> float:
        """Return a bound of the losses that are looked at if there are so many clones."""
        # What strays from the middle is the same for all rows but for a half; it weighs most where
        # most clones tell, of an even number or an odd one.
        last = _binomial(start + 1, self.telling)[0][-2:]
        return float(self._losses(start + 1, last, _halves(last)[0]).max()) * (1 + _ROUNDED)

    def _losses(self, number: int, telling: IntArray, ones: IntArray) -> FloatArray:
        more = float(self.odds - 1)
        rest = float(self.odds) * number - more * ones
        return np.asarray(np.log1p(more * (2.0 * ones - telling[:, None]) / rest))

    def _atoms(self, number: int, unit: float) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the cells of losses, rounded up, and their chances under P, some rows at a time."""
        telling, chances = _binomial(number, self.telling)
        weight = float(1 / (self.odds - (self.odds - 1) * self.telling / 2))
        more = float(self.odds - 1)
        height = max(1, _CHUNK // (2 * _reach(int(telling[-1])) + 1))
        for start in range(0, len(telling), height):
            rows = telling[start : start + height]
            ones, shares = _halves(rows)
            place = np.ceil(self._losses(number, rows, ones) / unit + _ROUNDED).astype(np.int64)
            ratio = float(self.odds) - more * (rows[:, None] - ones) / number
            mass = chances[start : start + height, None] * shares * ratio * weight
            kept = mass > 0
            yield np.maximum(place[kept], -_CELLS - 2), mass[kept]


def _reach(trials: int) -> int:
    """Return how far fair coins stray from the middle, but for twice the tail."""
    return min(trials, math.ceil(math.sqrt(trials * _LOG_TAIL / 2)) + 1)


def _binomial(trials: int, chance: Fraction) -> tuple[IntArray, FloatArray]:
    """Return numbers of successes and their chances, rounded up, but for a tail at each end."""
    if chance == 1:
        return np.array([trials], dtype=np.int64), np.ones(1)
    p = float(chance)
    spread = math.sqrt(2 * trials * p * (1 - p) * _LOG_TAIL) + _LOG_TAIL / 3 + 1
    first = max(0, math.floor(trials * p - spread))
    last = min(trials, math.ceil(trials * p + spread))
    found = np.arange(first, last + 1, dtype=np.int64)
    ratio = (trials - found[:-1]) / (found[:-1] + 1.0) * (p / (1 - p))
    middle = min(max(math.floor(trials * p), first), last) - first
    up = np.cumprod(np.concatenate(([1.0], ratio[middle:])))
    down = np.cumprod(1 / ratio[:middle][::-1])[::-1]
    weights = np.concatenate((down, up))
    return found, weights / weights.sum()


def _halves(trials: IntArray) -> tuple[IntArray, FloatArray]:
    """Return for each number of fair coins how many may fall on one side, and the chances."""
    reach = _reach(int(trials.max()))
    middle = trials[:, None] // 2
    steps = np.arange(1, reach + 2)[None, :]
    rest = trials[:, None] - middle
    up = np.cumprod(np.maximum(rest - steps + 1.0, 0.0) / (middle + steps), axis=1)
    down = np.cumprod(np.maximum(middle - steps + 1.0, 0.0) / (rest + steps), axis=1)
    weights = np.concatenate((down[:, ::-1], np.ones((len(trials), 1)), up), axis=1)
    ones = middle + np.arange(-reach - 1, reach + 2)[None, :]
    ones = np.clip(ones, 0, trials[:, None])
    return ones, weights / weights.sum(axis=1, keepdims=True)
