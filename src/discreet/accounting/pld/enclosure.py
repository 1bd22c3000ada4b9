"""Choose a grid, compose, and refine until the interval is narrow enough."""

import math
from collections.abc import Sequence

import numpy as np
from attrs import evolve, frozen

from discreet.accounting.pld.counted_events import Batch, Direction, Uses
from discreet.accounting.pld.laws.grid import FloatArray, LossGrid, Split, short_step
from discreet.accounting.pld.laws.law import LossLaw
from discreet.accounting.pld.loss_distribution import LossDistribution, LossPart
from discreet.accounting.pld.loss_sum import LARGEST_WINDOW, Coverage, Cumulant, Weighted
from discreet.core.errors import Unsupported

_COARSE = 1024
_COARSEST = 64
_LOSS_PER_NOISE = 2.4
_MOST_CELLS = 1 << 19
_TRIES = 7
_FINER = 4.0
"""The upper curve has a grid so much finer than the lower one: it is the one that is charged."""
_LEAST_REFINED = 1e-100
_UPPER_SHARE = 6.0
_NO_BETTER = 0.9
"""A finer grid that leaves this much of an interval is the last one."""
_HARDLY = 1e-3
_FAR = 1e-60
_WIDEST = 690.0


@frozen
class FloatInterval:
    """A number between two floats; the upper one may be infinite."""

    low: float
    high: float

    def worse(self, other: "FloatInterval") -> "FloatInterval":
        """Return the interval of the larger number."""
        return FloatInterval(max(self.low, other.low), max(self.high, other.high))


@frozen(eq=False)
class Composition:
    """All uses in one direction, ready to be put on grids of any step."""

    batches: tuple[Batch, ...]
    coarse: Cumulant

    @staticmethod
    def of(uses: Uses, direction: Direction, tail: float) -> "Composition":
        """Look at each law on a coarse grid of its own, down to ``tail``."""
        batches = tuple(uses.batches(direction))
        parts = []
        for batch in batches:
            low, high = (max(-_WIDEST, min(end, _WIDEST)) for end in batch.upper.span(tail))
            cells = max(_COARSEST, min(_COARSE, (1 << 16) // batch.upper.rows))
            grid = LossGrid.covering(low, high, short_step(max(high - low, 1e-9) / cells))
            split = batch.upper.split(grid)
            parts.append(Weighted(grid.losses(), split.upper, batch.counts))
        return Composition(batches, Cumulant(parts))

    @property
    def total(self) -> float:
        """The number of uses."""
        return float(sum(batch.counts.sum() for batch in self.batches))

    @property
    def has_lower(self) -> bool:
        """Whether anything is known from below."""
        return all(batch.lower is not None for batch in self.batches)

    @property
    def is_attained(self) -> bool:
        """Whether a finer grid narrows the interval as far as one likes."""
        return all(batch.lower is batch.upper for batch in self.batches)

    @property
    def deviation(self) -> float:
        """About the standard deviation of the sum; 1 if floats see a single loss."""
        return math.sqrt(self.coarse.at(_HARDLY)[2]) or 1.0

    def step_for(self, theta: float, width: float) -> float:
        r"""Return a step for which the interval of ε is likely to be ``width``.

        The bump takes :math:`2.3\kappa^2` times the density off δ, whose slope in ε is about the
        density over :math:`1 + \theta`.
        """
        deviation = self.deviation
        noise = math.sqrt(width / (_LOSS_PER_NOISE * (1 + theta)))
        step = 2 * noise / math.sqrt(self.total)
        step = min(step, max(deviation / 4, 1e-9), 0.5)
        return self.aligned(max(step, 24 * deviation / LARGEST_WINDOW))

    def aligned(self, step: float) -> float:
        """Return about ``step``, such that atoms lie on the grid where they have one unit."""
        if step <= 0:
            raise Unsupported("These losses are too far apart for one grid")
        units = {batch.upper.lattice for batch in self.batches} - {None}
        if len(units) == 1:
            (unit,) = units
            assert unit is not None
            if unit >= step / 4:
                return short_step(unit / math.ceil(unit / step))
        return short_step(step)

    def on_grid(self, step: float, tail: float) -> LossDistribution:
        """Put all laws on one grid, leaving out at most ``tail`` of each."""
        return LossDistribution(step, tuple(_part(batch, step, tail) for batch in self.batches))

    def widest(self, tail: float) -> float:
        """Return the widest span of a law."""
        laws = (law for batch in self.batches for law in (batch.upper, batch.lower) if law)
        spans = [law.span(tail) for law in laws]
        return max(high - low for low, high in spans)


def _part(batch: Batch, step: float, tail: float) -> LossPart:
    laws = [batch.upper] if batch.lower is None else [batch.upper, batch.lower]
    spans = [law.span(tail) for law in laws]
    if max(abs(end) for span in spans for end in span) > _WIDEST:
        raise Unsupported(
            "These losses are too large for a grid", must=f"be at most {_WIDEST:g} each"
        )
    grid = LossGrid.covering(min(low for low, _ in spans), max(high for _, high in spans), step)
    split, slack = batch.upper.split(grid), batch.upper.slack()
    if batch.lower is not batch.upper:
        split, more = _with_lower(split, batch.lower, grid)
        slack = max(slack, more)
    return LossPart(split, batch.counts, slack + split.moved)


def _with_lower(split: Split, lower: LossLaw | None, grid: LossGrid) -> tuple[Split, float]:
    if lower is None:
        nothing = np.zeros_like(split.lower)
        return evolve(split, lower=nothing, lower_infinite=np.zeros(len(nothing))), 0.0
    other = lower.split(grid)
    changed = evolve(
        split, lower=other.lower, lower_infinite=other.lower_infinite, noisy=other.noisy
    )
    return changed, lower.slack() + other.moved


def enclose_epsilon(uses: Uses, delta: float, width: float) -> FloatInterval:
    """Enclose the least ε at ``delta``, to ``width`` times the larger of 1 and ε if possible."""
    found: FloatInterval | None = None
    for composition in _directions(uses, min(1e-18, delta * 1e-6)):
        theta = composition.coarse.tilt_at_delta(math.log(delta))
        found = _epsilon(composition, delta, width, theta, found)
    assert found is not None
    return found


def _epsilon(
    composition: Composition, delta: float, width: float, theta: float, before: FloatInterval | None
) -> FloatInterval:
    tail = delta * 1e-7 / composition.total
    likely = composition.coarse.at(theta)[1]
    aim = width * max(1.0, likely)
    if before is not None and likely < before.high:
        aim = max(aim, before.high - likely)
    # What is not attained is looked at once, so it had better be fine enough.
    step = composition.step_for(theta, (0.8 if composition.is_attained else 0.3) * aim)
    best = FloatInterval(0.0, math.inf)
    for tries in range(_TRIES):
        least = short_step(composition.widest(tail) / _MOST_CELLS)
        finer = composition.aligned(step / _FINER)
        distribution = composition.on_grid(max(finer, least), tail)
        curve = distribution.upper(theta, Coverage.UPWARDS)
        high = curve.epsilon(delta)
        if high is None:
            curve = distribution.upper(theta)
            high = curve.epsilon(delta)
        if curve.infinite >= delta:
            return FloatInterval(0.0, math.inf)
        best = FloatInterval(best.low, min(best.high, math.inf if high is None else high))
        if before is not None and best.high <= before.high:
            return before
        if composition.has_lower:
            distribution = composition.on_grid(max(step, least), tail)
            best = FloatInterval(max(best.low, distribution.lower(theta).epsilon(delta)), best.high)
        wanted = width * max(1.0, best.low)
        gap = best.high - max(best.low, before.low if before else 0.0)
        if gap <= wanted or not composition.is_attained or delta < _LEAST_REFINED:
            break
        factor = min(0.4 if tries else 0.7, math.sqrt(0.7 * wanted / gap))
        step = composition.aligned(step * max(0.1, factor))
    return best if before is None else best.worse(before)


def enclose_delta(uses: Uses, epsilon: float, width: float, share: float = 1.0) -> FloatInterval:
    """Enclose δ at ``epsilon``, about as well as ε would be enclosed to ``width`` at that δ.

    If the interval is then wider than ``share`` times its upper end, the grid is made finer.
    """
    found: FloatInterval | None = None
    for composition in _directions(uses, _FAR):
        one = _delta(composition, epsilon, width, share)
        found = one if found is None else found.worse(one)
    assert found is not None
    return found


def _delta(composition: Composition, epsilon: float, width: float, share: float) -> FloatInterval:
    theta, step, tail = _near(composition, epsilon, width)
    best = FloatInterval(0.0, 1.0)
    for _ in range(_TRIES):
        distribution = composition.on_grid(step, tail)
        high = min(best.high, distribution.upper(theta).delta(epsilon))
        low = distribution.lower(theta).delta(epsilon) if composition.has_lower else 0.0
        gap, before = high - max(best.low, low), best.high - best.low
        best = FloatInterval(max(best.low, low), high)
        finer = composition.aligned(step * _shorter(share * high, gap))
        finer = max(finer, short_step(composition.widest(tail) / _MOST_CELLS))
        is_enough = gap <= share * high or not composition.is_attained or high < _LEAST_REFINED
        if is_enough or finer >= step or gap > _NO_BETTER * before:
            break
        step = finer
    return best


def _shorter(wanted: float, gap: float) -> float:
    """Return how much shorter a step is needed: what is lost grows with its square."""
    return max(0.1, min(0.7, math.sqrt(0.7 * wanted / gap))) if gap else 1.0


def enclose_deltas(uses: Uses, epsilons: Sequence[float], accuracy: float) -> list[FloatInterval]:
    """Enclose δ at many ε, at least 0, to about ``accuracy`` itself and not to a share of δ.

    The law of the sum is not tilted, so one does for all.
    """
    found: list[FloatInterval] | None = None
    at = np.array(epsilons)
    for composition in _directions(uses, _FAR):
        lows, highs = _deltas(composition, at, accuracy)
        one = [FloatInterval(low, high) for low, high in zip(lows, highs, strict=True)]
        found = one if found is None else [a.worse(b) for a, b in zip(found, one, strict=True)]
    assert found is not None
    return found


def _deltas(
    composition: Composition, at: FloatArray, accuracy: float
) -> tuple[list[float], list[float]]:
    tail = accuracy * 1e-7 / composition.total
    step = composition.step_for(0.0, accuracy * min(1.0, 2 * composition.deviation))
    for _ in range(_TRIES):
        step = max(step, short_step(composition.widest(tail) / _MOST_CELLS))
        distribution = composition.on_grid(step, tail)
        highs = np.minimum(distribution.upper(0.0).deltas(at), 1.0)
        lows = np.zeros(len(at))
        if composition.has_lower:
            lows = np.minimum(distribution.lower(0.0).deltas(at), highs)
        gap = float((highs - lows).max())
        finer = composition.aligned(step * _shorter(accuracy, gap))
        if gap <= accuracy or not composition.is_attained or finer >= step:
            break
        step = finer
    return lows.tolist(), highs.tolist()


def upper_delta(uses: Uses, epsilon: float, width: float) -> float:
    """Return the upper end of :func:`enclose_delta` alone."""
    return max(_upper_delta(composition, epsilon, width) for composition in _directions(uses, _FAR))


def _upper_delta(composition: Composition, epsilon: float, width: float) -> float:
    theta, step, tail = _near(composition, epsilon, _UPPER_SHARE * width)
    distribution = composition.on_grid(step, tail)
    curve = distribution.upper(theta, Coverage.UPWARDS)
    if not curve.covers(epsilon):
        curve = distribution.upper(theta)
    return min(1.0, curve.delta(epsilon))


def _near(composition: Composition, epsilon: float, width: float) -> tuple[float, float, float]:
    """Return a good tilt at ``epsilon``, a step that suits it, and what may be left out."""
    theta = composition.coarse.tilt_at_epsilon(epsilon)
    step = composition.step_for(theta, 0.8 * width * max(1.0, epsilon))
    likely = min(0.0, composition.coarse.at(theta)[0] - theta * epsilon)
    tail = math.exp(max(likely - 25.0, -650.0)) / composition.total
    return theta, max(step, short_step(composition.widest(tail) / _MOST_CELLS)), tail


def _directions(uses: Uses, tail: float) -> Sequence[Composition]:
    if uses.is_symmetric:
        return [Composition.of(uses, Direction.REMOVAL, tail)]
    return [Composition.of(uses, direction, tail) for direction in Direction]
