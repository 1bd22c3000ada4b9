"""Laws of the loss that have atoms: stated ones, responses, and noise on integers."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.float_assumptions import (
    LARGEST_LOSS,
    LARGEST_MU,
    RELATIVE,
    TINY,
    UNIT,
)
from discreet.accounting.pld.laws.grid import FloatArray, LossGrid, Split, Tails, indices
from discreet.accounting.pld.laws.law import LossLaw
from discreet.core.errors import Unsupported
from discreet.core.optional import load
from discreet.core.protocols import IntArray

_ON_THE_GRID = 1e-6
"""An atom this close above a grid point, in steps, counts as lying on it when rounded down."""


@frozen
class AtomicLaw(LossLaw):
    r"""Losses :math:`z_j` with chances :math:`p_j` under :math:`P`, in rows of equal length.

    The chance under :math:`Q` is :math:`p_j e^{-z_j}`. What is left out of the chances, at most
    ``left_out`` under either law, may have any loss.
    """

    losses: FloatArray
    masses: FloatArray
    at_infinity: FloatArray
    unit: float | None = None
    left_out: float = 0.0

    @property
    def infinite(self) -> FloatArray:
        """The chance of an infinite loss."""
        return self.at_infinity

    @property
    def dropped(self) -> float:
        """What is left out."""
        return self.left_out

    @property
    def lattice(self) -> float | None:
        """The unit of the losses."""
        return self.unit

    def span(self, tail: float) -> tuple[float, float]:
        """Return the least and the largest loss, without atoms that are too small to matter."""
        kept = self.losses[self._larger > tail / self.losses.shape[1]]
        if not kept.size:
            return 0.0, 0.0
        return float(kept.min()), float(kept.max())

    @cached_property
    def _larger(self) -> FloatArray:
        """The larger chance of each atom, under P or Q; spans are asked for again and again."""
        return np.maximum(self.masses, self.masses * np.exp(-self.losses))

    def tails(self, losses: FloatArray) -> Tails:
        """Add up the atoms on either side, with more than double precision where there are many."""
        p, q = self.masses, self.masses * np.exp(-self.losses)
        found = [
            _row_tails(
                self.losses[row], p[row], q[row], losses if losses.ndim == 1 else losses[row]
            )
            for row in range(self.rows)
        ]
        return Tails(*(np.stack(values) for values in zip(*found, strict=True)))

    def split(self, grid: LossGrid) -> Split:
        """Split each atom between its two neighbours; no difference of large numbers occurs.

        Atoms outside the grid are treated as in
        :func:`discreet.accounting.pld.laws.grid.split_tails`. If all atoms are on the grid but for
        a millionth of a step, they are moved there.
        """
        low, high = grid.first * grid.step, grid.last * grid.step
        nearest = np.rint(self.losses / grid.step)
        off = np.abs(self.losses - nearest * grid.step)
        on_grid = bool(((off <= _ON_THE_GRID * grid.step) | (self.masses == 0)).all())
        losses = nearest * grid.step if on_grid else self.losses
        below, beyond, inside = losses < low, losses > high, np.clip(losses, low, high)
        cell = np.minimum(np.floor(inside / grid.step).astype(np.int64), grid.last - 1)
        over = np.clip(inside - cell * grid.step, 0.0, grid.step)
        share = np.expm1(-over) / math.expm1(-grid.step)
        rough = RELATIVE + UNIT * self.losses.shape[1]
        error = 0.0 if on_grid else rough + self.slack() / grid.step
        place = cell - grid.first
        kept, lost = np.where(beyond, 0.0, self.masses), np.where(beyond, self.masses, 0.0)
        share = np.rint(share) if on_grid else share
        return Split(
            grid,
            _scattered(kept * (1 + rough), np.minimum(share + error, 1.0), place, grid),
            _scattered(
                np.where(below, 0.0, self.masses) * (1 - rough),
                np.maximum(share - error, 0.0),
                place,
                grid,
            ),
            (self.at_infinity + lost.sum(axis=1)) * (1 + rough) + (self.left_out + TINY),
            self.at_infinity * (1 - RELATIVE),
            noisy=not on_grid,
            moved=_ON_THE_GRID * grid.step if on_grid else 0.0,
        )


def _scattered(
    masses: FloatArray, share: FloatArray, place: IntArray, grid: LossGrid
) -> FloatArray:
    size = grid.last - grid.first + 1
    shift = size * np.arange(masses.shape[0]).reshape(-1, 1)
    top = (masses * share).ravel()
    where = (place + shift).ravel()
    total = masses.shape[0] * size
    placed = np.bincount(where, masses.ravel() - top, total)
    placed += np.bincount(where + 1, top, total)
    return np.asarray(placed.reshape(masses.shape[0], size), dtype=np.float64)


def _row_tails(
    atoms: FloatArray, p: FloatArray, q: FloatArray, thresholds: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    order = np.argsort(atoms, kind="stable")
    place = np.searchsorted(atoms[order], thresholds, side="right")
    right_p, left_p = _sums(p[order])
    right_q, left_q = _sums(q[order])
    return right_p[place], right_q[place], left_p[place], left_q[place]


def _sums(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the values from each place on, and before it."""
    wide = values.astype(np.longdouble)
    left = np.concatenate(([0.0], np.cumsum(wide)))
    right = np.concatenate((np.cumsum(wide[::-1])[::-1], [0.0]))
    return right.astype(np.float64), left.astype(np.float64)


def response_law(epsilon: float, *, categories: int = 2, told: float = 0.0) -> AtomicLaw:
    r"""Return the law of randomised response, which tells all with probability ``told``.

    Guarantee:
        Otherwise the truth is :math:`e^\varepsilon` times as likely as each of the other
        categories; two values differ in two of them, so the loss is :math:`\varepsilon`,
        :math:`-\varepsilon`, or 0 for a third one.
    """
    others = max(categories - 1, 0)
    small = math.exp(-epsilon)
    total = 1 + others * small
    chances = np.array([small, (others - 1) * small, 1.0]) / total * (1 - told)
    losses = np.array([-epsilon, 0.0, epsilon])
    if epsilon == 0.0 or others == 0:
        losses, chances = np.zeros(3), np.array([0.0, 1 - told, 0.0])
    unit = epsilon or None
    return AtomicLaw(losses[None, :], chances[None, :], np.array([told]), unit)


def coin_law(first: Fraction, second: Fraction) -> AtomicLaw:
    """Return the law of a coin that says yes with probability ``first``, or ``second``."""
    pairs = [(first, second), (1 - first, 1 - second)]
    finite = [(math.log1p((p - q) / q), float(p)) for p, q in pairs if p > 0 and q > 0]
    infinite = sum((p for p, q in pairs if q == 0), Fraction(0))
    finite = sorted(finite) or [(0.0, 0.0)]
    losses = np.array([[loss for loss, _ in finite]])
    return AtomicLaw(losses, np.array([[p for _, p in finite]]), np.array([float(infinite)]))


def stated_law(epsilons: FloatArray, deltas: FloatArray) -> AtomicLaw:
    r"""Return a symmetric law whose curve is nowhere below any with these points.

    Guarantee:
        Let a mechanism be :math:`(\varepsilon_i, \delta_i)`-DP for every :math:`i`, with
        :math:`0 = \varepsilon_0 < \varepsilon_1 < \dots`. Its curve is convex in
        :math:`e = e^\varepsilon`, at most :math:`\delta_i` at :math:`\varepsilon_i`, at most
        :math:`1 - e^{-\varepsilon_i} (1 - \delta_i)` at :math:`-\varepsilon_i` (exchange the two
        laws), 1 at :math:`e = 0`, and at most :math:`\delta_n` beyond :math:`\varepsilon_n`. So it
        is at most the largest convex function through these points, which is the curve of a law
        with atoms at the :math:`\pm\varepsilon_i` [DGKKM22].

        Where the slope in :math:`e` changes by :math:`q`, the law has an atom of chance :math:`q`
        under :math:`Q`. Left of :math:`e = 1` what exceeds :math:`1 - e` is what is looked at, so
        that nothing small is a difference of large numbers; all chances are raised by a share that
        is larger than every rounding.

    Example:
        >>> law = stated_law(np.array([0.0, 1.0]), np.array([0.5, 0.0]))
        >>> law.losses.round(6).tolist(), law.at_infinity.tolist()
        ([[-1.0, 0.0, 1.0]], [0.0])
    """
    falling = np.minimum.accumulate(np.minimum(deltas, 1.0)) * (1 + 8 * RELATIVE)
    if falling[-1] >= 1.0 or not np.all(np.diff(epsilons) > 0):
        raise Unsupported("These points say nothing together")
    right = _hull(np.expm1(epsilons), falling)
    over = np.append(np.exp(-epsilons[:0:-1]) * falling[:0:-1], falling[0])
    left = _hull(
        np.append(-1.0, np.expm1(-epsilons[::-1])),
        np.append(0.0, over),
    )
    right, left = _joined(right, left)
    falls = np.append(-_slopes(right), 0.0)
    rises = _slopes(left)
    chances = np.concatenate((np.diff(rises), [1 - rises[-1] - falls[0]], -np.diff(falls)))
    places = np.concatenate((left[1:-1, 0], right[:, 0]))
    masses = np.maximum(chances, 0.0) * (1 + places) * (1 + 64 * RELATIVE)
    return AtomicLaw(np.log1p(places)[None, :], masses[None, :], np.array([float(right[-1, 1])]))


def _slopes(corners: FloatArray) -> FloatArray:
    return np.asarray(np.diff(corners[:, 1]) / np.diff(corners[:, 0]))


def _joined(right: FloatArray, left: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower the point at ε = 0 until the two sides are convex together."""
    while True:
        (x, at_x), (y, at_y) = right[1], left[-2]
        chord = at_x + (at_y - y - at_x) * x / (x - y)
        if right[0, 1] <= chord:
            return right, left
        right, left = right.copy(), left.copy()
        right[0, 1] = left[-1, 1] = chord
        right, left = _hull(right[:, 0], right[:, 1]), _hull(left[:, 0], left[:, 1])


def _hull(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the corners of the largest convex function that is nowhere above the points."""
    corners: list[tuple[float, float]] = []
    for point in zip(x.tolist(), y.tolist(), strict=True):
        while len(corners) > 1 and not _is_convex(corners[-2:], point):
            corners.pop()
        corners.append(point)
    return np.array(corners)


def _is_convex(corners: Sequence[tuple[float, float]], point: tuple[float, float]) -> bool:
    (a, at_a), (b, at_b) = corners
    c, at_c = point
    return (at_b - at_a) * (c - b) < (at_c - at_b) * (b - a)


MOST_ATOMS = 1 << 21


def discrete_laplace_law(scale: Fraction, distance: int) -> AtomicLaw:
    r"""Return the law of the loss if one entry moves by ``distance``.

    Guarantee:
        With :math:`r = e^{-1/scale}`, noise :math:`y` has probability :math:`r^{|y|}(1-r)/(1+r)`.
        The loss is :math:`d/scale` for all :math:`y \le 0`, :math:`-d/scale` for all
        :math:`y \ge d` and :math:`(d - 2y)/scale` between.
    """
    if distance > MOST_ATOMS:
        raise Unsupported(
            "This noise has too many losses for a grid",
            must=f"move by at most {MOST_ATOMS} steps",
            got=str(distance),
        )
    if distance == 0:
        return AtomicLaw(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1))
    rate = float(1 / scale)
    between = np.arange(distance - 1, 0, -1)
    whole = 1 + math.exp(-rate)
    middle = np.exp(-rate * between) * (-math.expm1(-rate) / whole)
    first, last = math.exp(-rate * distance) / whole, 1 / whole
    steps = np.concatenate(([-distance], distance - 2 * between, [distance]))
    masses = np.concatenate(([first], middle, [last]))
    unit = rate if distance % 2 or distance == 0 else 2 * rate
    return AtomicLaw((steps * rate)[None, :], masses[None, :], np.zeros(1), unit)


LEAST_SIGMA = 20_000
"""From here on the tails below are right to far more digits than are assumed."""

_BEYOND = 1e4
"""In deviations: as good as infinity."""

LARGEST_SIGMA = 10**120


@frozen
class WideDiscreteGaussianLaw(LossLaw):
    r"""One entry moves by ``shift`` whole steps; the noise has a deviation of ``sigma`` steps.

    Guarantee:
        :math:`P(y) \propto e^{-y^2/2\sigma^2}` on the integers, and the loss
        :math:`s(s - 2y)/(2\sigma^2)` falls with :math:`y`, so its tails are sums of :math:`P` up
        to some :math:`m`. By the midpoint form of Euler's and Maclaurin's sum, with
        :math:`f(y) = e^{-y^2/2\sigma^2}`,

        .. math:: \sum_{y \le m} f(y) = \int_{-\infty}^{m + 1/2} f
                  - \tfrac{1}{24} f'(m + \tfrac12) + R, \qquad
                  |R| \le \tfrac{7}{5760} \int_{-\infty}^{m+1/2} |f''''|,

        where :math:`|f''''| \le \sigma^{-4} (t^4 + 6t^2 + 3) f` at :math:`t = y/\sigma`. Within 38
        deviations, and for :math:`\sigma \ge 20000`, :math:`R` is below :math:`10^{-13}` of the
        sum. The sum of all :math:`f` is :math:`\sigma\sqrt{2\pi}` up to
        :math:`2e^{-2\pi^2\sigma^2}` of it (Poisson's summation).
    """

    sigma: float
    shift: int

    @property
    def infinite(self) -> FloatArray:
        """No outcome has an infinite loss."""
        return np.zeros(1)

    def span(self, tail: float) -> tuple[float, float]:
        """Return the losses at the normal quantiles, a step further out."""
        mu = self.shift / self.sigma
        far = max(0.0, -float(load("scipy.special").ndtri(max(tail / 2, 1e-300))))
        high = mu * (far + 1 / self.sigma) + mu * mu / 2
        return -high, high

    def tails(self, losses: FloatArray) -> Tails:
        """Return the corrected normal tails at the last value whose loss is above."""
        mu = self.shift / self.sigma
        # The last value with a loss above z: below s/2 - z σ²/s, counted in deviations.
        last = np.floor((mu / 2 - np.atleast_2d(losses) / mu) * self.sigma)
        place = np.clip(last / self.sigma + 0.5 / self.sigma, -_BEYOND, _BEYOND)
        return Tails(
            self._below(place),
            self._below(place - mu),
            self._below(-place),
            self._below(mu - place),
        )

    def _below(self, place: FloatArray) -> FloatArray:
        """Return the chance of a value below ``place``, in deviations, between two integers."""
        density = np.exp(-place * place / 2) / math.sqrt(2 * math.pi)
        corrected = place * density / (24 * self.sigma * self.sigma)
        return np.asarray(load("scipy.special").ndtr(place) + corrected)


_FAR = 38.0


def discrete_gaussian_law(sigma_squared: Fraction, shift: int) -> LossLaw:
    r"""Return the law of the loss if one entry moves by ``shift``.

    Noise of many values is a :class:`WideDiscreteGaussianLaw`; other noise is listed.

    Guarantee:
        :math:`P(y) \propto e^{-y^2/(2\sigma^2)}` on the integers, and the loss is
        :math:`s(s - 2y)/(2\sigma^2)`. What is beyond 38 deviations, or a loss of 600, is left out
        and counts as an infinite loss: under either law at most
        :math:`4 (1 + \sigma) e^{-(y - s)^2/(2\sigma^2)}` at the last :math:`y`.
    """
    if shift == 0:
        return AtomicLaw(np.zeros((1, 1)), np.ones((1, 1)), np.zeros(1))
    if sigma_squared > LARGEST_SIGMA**2:
        raise Unsupported("This noise is too wide for floats", must="have a sigma of at most 1e120")
    sigma = math.sqrt(sigma_squared)
    if sigma >= LEAST_SIGMA:
        if shift > LARGEST_MU * sigma:
            raise Unsupported("This noise is too small for a grid", got=f"sigma = {sigma:g}")
        return WideDiscreteGaussianLaw(sigma, shift)
    far = min(math.ceil(_FAR * sigma), math.floor(LARGEST_LOSS * float(sigma_squared) / shift))
    if far - shift < 12 * sigma:
        raise Unsupported("This noise is too small for a grid", got=f"sigma = {sigma:g}")
    y = -indices(-far, far + 1)
    weights = np.exp(-(y * y) / (2 * float(sigma_squared)))
    unit = float(shift / (2 * sigma_squared))
    losses = (shift - 2 * y) * unit
    masses = weights / weights.sum()
    beyond = 4 * math.exp(-((far - shift) ** 2) / (2 * float(sigma_squared))) * (1 + sigma)
    lattice = unit if shift % 2 else 2 * unit
    return AtomicLaw(losses[None, :], masses[None, :], np.zeros(1), lattice, beyond)
