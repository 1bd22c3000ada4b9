"""Counts of a net of halfspaces, in the space itself or in random projections of it."""

import statistics
from collections.abc import Sequence
from typing import Self

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent, DiscreteLaplaceEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.counted.counted_rows import CountedRows
from discreet.synthesis.counted.integer_noise import IntegerNoise, loss_of, noise_for, require_rows
from discreet.synthesis.counted.usefulness import Usefulness
from discreet.synthesis.halfspaces.direction_net import DirectionNet
from discreet.synthesis.halfspaces.halfspace_answers import HalfspaceAnswers, HalfspaceRehearsal
from discreet.synthesis.halfspaces.halfspace_net import EXACT_FLOAT, HalfspaceNet, Signs, Space

_CHUNK = 1 << 22


@frozen(kw_only=True)
class HalfspaceCounts:
    r"""Measure how many rows have :math:`\langle x, y \rangle \ge 0`, for each ``y`` of a net.

    Without projections the net is in the space itself: right for few dimensions. With them, each
    projection has a net of its own, and the answer is the median over projections
    [BLR13, the printed parameters are in
    :class:`~discreet.synthesis.halfspaces.paper_halfspaces.PaperHalfspaces`].

    Guarantee:
        A row moves each count by at most 1. There are :math:`|N|` of them for each of :math:`p`
        projections, :math:`q = p|N|` over all; a unit with at most :math:`m` kept rows moves all
        together by at most :math:`mq` in :math:`\ell_1` and :math:`m^2 q` in :math:`\ell_2^2`. So
        Laplace noise of scale :math:`mq/\varepsilon` is :math:`\varepsilon`-DP, which is what basic
        composition over all of them gives, and Gaussian noise of
        :math:`\sigma^2 = m^2 q/(2\rho)` is :math:`\rho`-zCDP: its deviation grows with
        :math:`\sqrt{q}` and not with :math:`q`. Projections are drawn without a look at the data,
        and published.

    Assumes:
        The space is public. ``rng`` is unpredictable.

    Utility:
        Without projections :meth:`usefulness` is a theorem. With few of them there is none: what
        they do to near rows is measured on made-up rows, by
        :func:`rehearsed_halfspaces`.

    Example:
        >>> plane = Space(sizes=(64, 64), constant=64)
        >>> counts = HalfspaceCounts.calibrate(
        ...     space=plane, resolution=4, loss=Zcdp(rho="1/2"), rows_per_unit=1
        ... )
        >>> counts.net.size, counts.loss(rows_per_unit=1)
        (386, Zcdp(ρ = 0.5))
        >>> print(counts.usefulness(rows=100_000, beta="0.05"))
        (0.00075, 0.05, 0.177)-useful
    """

    net: HalfspaceNet
    noise: IntegerNoise

    @classmethod
    def calibrate(
        cls,
        *,
        space: Space,
        resolution: int,
        loss: PrivacyLoss,
        rows_per_unit: int,
        projections: Sequence[Signs] = (),
    ) -> Self:
        """Return the counts that spend exactly ``loss``."""
        if not all(signs and signs[0] for signs in projections):
            raise InvalidArgument("A projection has a sign for each pair of coordinates")
        across = len(projections[0][0]) if projections else space.dimension
        directions = DirectionNet(dimension=across, resolution=resolution)
        net = HalfspaceNet(space=space, directions=directions, projections=tuple(projections))
        return cls(net=net, noise=noise_for(loss, _contribution(net.size, rows_per_unit)))

    def contribution(self, rows_per_unit: int) -> Contribution:
        """Return what a unit with at most so many kept rows moves."""
        return _contribution(self.net.size, rows_per_unit)

    def event(self, rows_per_unit: int) -> DiscreteLaplaceEvent | DiscreteGaussianEvent:
        """Describe one measurement, of units with at most so many kept rows."""
        return self.noise.event(self.contribution(rows_per_unit))

    def loss(self, *, rows_per_unit: int) -> Pure | Zcdp | Approximate:
        """Return the loss of one measurement."""
        return loss_of(self.event(rows_per_unit), self.noise)

    def measure(self, rows: CountedRows, rng: Rng) -> IntArray:
        """Return the noisy counts, a row for each projection. The gate already holds the loss."""
        return self.noise.release(self.exact_counts(rows), rng)

    def exact_counts(self, rows: CountedRows) -> IntArray:
        """Return the exact counts of exact rows: private."""
        if rows.sizes != self.net.space.sizes:
            raise InvalidArgument(
                "The rows are not of this space",
                must=f"have columns of {self.net.space.sizes} cells",
            )
        total = sum(rows.counts.tolist())
        if total >= EXACT_FLOAT:
            raise InvalidArgument("There are too many rows", must="be below 2**53")
        found = np.zeros(self.net.shape, dtype=np.int64)
        directions = self.net.directions.directions.T.astype(np.float64)
        step = max(1, _CHUNK // self.net.shape[1])
        for start in range(0, len(rows.counts), step):
            places = self.net.space.coordinates(rows.codes[start : start + step])
            weights = rows.counts[start : start + step].astype(np.float64)
            for one, points in enumerate(self.net.projected(places)):
                # Whole numbers below 2**53 in size: products and sums of floats are exact.
                sides = points.astype(np.float64) @ directions >= 0
                found[one] += (weights @ sides).astype(np.int64)
        return found

    def estimate(self, measured: IntArray, *, rows_per_unit: int) -> HalfspaceAnswers:
        """Return measured counts as an object that answers any halfspace, and says what it cost."""
        return HalfspaceAnswers(
            net=self.net, noise=self.noise, counts=measured, event=self.event(rows_per_unit)
        )

    def usefulness(self, *, rows: int, beta: Number) -> Usefulness:
        r"""Return what is promised of all halfspaces at once, for a *declared* number of rows.

        The answer to :math:`y` is the noisy count of a ``y'`` of the net that is within its
        nearness of :math:`y`, and all noises are at most the quantile at :math:`\beta/|N|`, but for
        a probability of :math:`\beta`.
        """
        if self.net.projections:
            raise InvalidArgument(
                "Nothing is promised of projections to few dimensions",
                next="Leave them out, or see what rehearsed_halfspaces measures",
            )
        if self.net.directions.nearness >= 1:  # no sine is larger, so that would be any halfspace
            raise InvalidArgument(
                "Nothing is promised of a net in which every direction is near to every other",
                must="have a nearness below 1",
                got=f"{float(self.net.directions.nearness):.3g}",
                next="Take a finer resolution, or fewer dimensions",
            )
        size = check.whole(rows)
        if size < 1:
            raise InvalidArgument("rows is out of range", must="be at least 1", got=str(rows))
        most = self.noise.error_quantile(check.level(beta) / self.net.size)
        return Usefulness(
            error=most / size, failure=exact(beta), nearness=self.net.directions.nearness
        )


def rehearsed_halfspaces(
    method: HalfspaceCounts, rows: CountedRows, directions: Sequence[Sequence[float]], rng: Rng
) -> HalfspaceRehearsal:
    """Measure made-up rows, ask for some directions, and return how far the answers were off.

    Of private rows this would be an answer that nobody paid for: give it made-up ones.
    """
    total = int(rows.counts.sum())
    if not len(directions) or total < 1:
        raise InvalidArgument("A rehearsal has at least one direction, and one row")
    answers = method.estimate(method.measure(rows, rng), rows_per_unit=1)
    points = method.net.space.coordinates(rows.codes).astype(np.float64)
    errors = []
    for direction in directions:
        truth = int(rows.counts[points @ np.asarray(direction, dtype=np.float64) >= 0].sum())
        errors.append(abs(answers.count(direction) - truth) / total)
    return HalfspaceRehearsal(len(errors), max(errors), statistics.fmean(errors))


def _contribution(questions: int, rows_per_unit: int) -> Contribution:
    return Contribution(l0=questions, linf=require_rows(rows_per_unit))
