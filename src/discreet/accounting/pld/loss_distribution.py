"""A privacy-loss distribution: the laws of the losses of some uses, on one grid, on both sides."""

import math
from collections.abc import Iterable

import numpy as np
from attrs import evolve, frozen

from discreet.accounting.pld.delta_curve import LowerCurve, UpperCurve
from discreet.accounting.pld.laws.float_assumptions import RELATIVE
from discreet.accounting.pld.laws.grid import FloatArray, LossGrid, Split
from discreet.accounting.pld.laws.law import LossLaw
from discreet.accounting.pld.loss_sum import Coverage, Cumulant, Weighted, compose
from discreet.core.errors import Unsupported


@frozen(eq=False)
class LossPart:
    """Some events of one kind on the grid, and how often each is used."""

    split: Split
    counts: FloatArray
    slack: float

    def upper(self) -> Weighted:
        """Return the masses above the truth."""
        return Weighted(self.split.grid.losses(), self.split.upper, self.counts)

    def lower(self) -> Weighted:
        """Return the masses below the truth, but for the noise of the split."""
        return Weighted(self.split.grid.losses(), self.split.lower, self.counts)


@frozen(eq=False)
class LossDistribution:
    r"""The privacy loss of several uses together, above and below the truth.

    Guarantee:
        :math:`\delta(\varepsilon)` of a product is :math:`E[\delta_1(\varepsilon - Z_2)]`: it grows
        with the curve of each factor, so what is above stays above and what is below stays below,
        whatever it is composed with, also for mechanisms chosen adaptively [ZDW22].

    Example:
        >>> from discreet.accounting.pld.laws.continuous import LaplaceLaw
        >>> laplace = LossDistribution.of(LaplaceLaw(np.array([0.1])), [1], step=2**-10)
        >>> low, high = laplace.power(100).epsilon(1e-5)
        >>> low < 4.2203 < high < low + 0.01
        True
    """

    step: float
    parts: tuple[LossPart, ...]

    @staticmethod
    def of(
        law: LossLaw, counts: Iterable[int], *, step: float, tail: float = 1e-30
    ) -> "LossDistribution":
        """Put ``law`` on a grid, leaving out at most ``tail``."""
        low, high = law.span(tail)
        split = law.split(LossGrid.covering(low, high, step))
        times = np.asarray(list(counts), dtype=np.float64)
        return LossDistribution(step, (LossPart(split, times, law.slack() + split.moved),))

    def compose(self, other: "LossDistribution") -> "LossDistribution":
        """Return the loss of both; they must be on the same grid."""
        if other.step != self.step:
            raise Unsupported(
                "These distributions are on different grids", must="have one and the same step"
            )
        return LossDistribution(self.step, self.parts + other.parts)

    def power(self, count: int) -> "LossDistribution":
        """Return the loss of ``count`` times as many uses."""
        parts = tuple(evolve(part, counts=part.counts * count) for part in self.parts)
        return LossDistribution(self.step, parts)

    @property
    def noise(self) -> float:
        r"""How far the split can move the sum: :math:`\kappa = \sqrt{n}\,h/2` for n noisy uses."""
        uses = sum(float(part.counts.sum()) for part in self.parts if part.split.noisy)
        return math.sqrt(uses) * self.step / 2 * (1 + 1e-9)

    @property
    def slack(self) -> float:
        """How far thresholds can be off, all together."""
        return sum(float(part.counts.sum()) * part.slack for part in self.parts)

    def cumulant(self) -> Cumulant:
        """Return the cumulant function of the upper masses."""
        return Cumulant([part.upper() for part in self.parts])

    def upper(self, theta: float, reach: Coverage = Coverage.ALL) -> UpperCurve:
        """Return the curve above the truth, most accurate near the tilt's mean."""
        first = [part.split.grid.first for part in self.parts]
        law = compose(self.step, first, [part.upper() for part in self.parts], theta, reach)
        infinite = _infinite(
            [(p.split.upper, p.split.upper_infinite, p.counts) for p in self.parts]
        )
        return UpperCurve(law, infinite * (1 + law.share), self.slack)

    def lower(self, theta: float) -> LowerCurve:
        """Return the curve below the truth, most accurate near the tilt's mean."""
        first = [part.split.grid.first for part in self.parts]
        law = compose(self.step, first, [part.lower() for part in self.parts], theta, Coverage.ALL)
        infinite = _infinite(
            [(p.split.lower, p.split.lower_infinite, p.counts) for p in self.parts]
        )
        return LowerCurve(law, infinite * (1 - law.share), self.slack, self.noise)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Enclose δ at ``epsilon``."""
        theta = self.cumulant().tilt_at_epsilon(epsilon)
        return self.lower(theta).delta(epsilon), min(1.0, self.upper(theta).delta(epsilon))

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Enclose the least ε at ``delta``; it is infinite where no ε is enough."""
        theta = self.cumulant().tilt_at_delta(math.log(delta))
        high = self.upper(theta).epsilon(delta)
        return self.lower(theta).epsilon(delta), math.inf if high is None else high


def _infinite(rows: list[tuple[FloatArray, FloatArray, FloatArray]]) -> float:
    r"""Return :math:`\prod T_i - \prod F_i` with the finite masses :math:`F_i`, all being T_i."""
    log_total = log_finite_share = 0.0
    for masses, infinite, counts in rows:
        total = masses.sum(axis=1) + infinite
        with np.errstate(divide="ignore"):
            log_finite_share += float(counts @ np.log1p(-np.minimum(infinite / total, 1.0)))
        log_total += float(counts @ np.log(total))
    return math.exp(min(log_total, 700.0)) * -math.expm1(log_finite_share) * (1 + RELATIVE)
