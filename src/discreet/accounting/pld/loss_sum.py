"""The law of a sum of losses, tilted, by one fast Fourier transform, with a bound on its error."""

import math
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cached_property

import numpy as np
from attrs import define, frozen
from numpy.typing import NDArray

from discreet.accounting.pld.laws.float_assumptions import (
    LARGEST_LOSS,
    RELATIVE,
    TINY,
    UNIT,
    transform_error,
)
from discreet.accounting.pld.laws.grid import FloatArray, indices
from discreet.core.optional import load


@define(frozen=True, eq=False, slots=False)
class Weighted:
    """Masses of some events on one grid, and how often each of them is composed."""

    losses: FloatArray
    masses: FloatArray
    counts: FloatArray

    def summed(self, weights: FloatArray) -> FloatArray:
        """Return the sums of the masses times ``weights``, by row."""
        if len(self.masses) == 1:
            return np.array([(self.masses[0] * weights).sum()])
        return np.asarray(np.einsum("ij,j->i", self.masses, weights))

    @cached_property
    def occupied(self) -> slice:
        """The grid points from the first that has any mass to the last."""
        places = np.nonzero(self.masses.max(axis=0))[0]
        return slice(int(places[0]), int(places[-1]) + 1)


@frozen(eq=False)
class Cumulant:
    """The cumulant function of all the parts together; floats that decide nothing by themselves."""

    parts: Sequence[Weighted]

    def at(self, theta: float) -> tuple[float, float, float]:
        """Return the function and its first two derivatives, the tilted mean and variance."""
        total = mean = variance = 0.0
        for part in self.parts:
            exponent = theta * part.losses
            top = float(exponent[part.occupied].max())
            weight = np.exp(np.minimum(exponent - top, 0.0))
            zeroth = part.summed(weight)
            first = part.summed(weight * part.losses)
            second = part.summed(weight * part.losses**2)
            centre = first / zeroth
            total += float(part.counts @ (np.log(zeroth) + top))
            mean += float(part.counts @ centre)
            variance += float(part.counts @ np.maximum(second / zeroth - centre**2, 0.0))
        return total, mean, variance

    def values(self, thetas: FloatArray) -> FloatArray:
        """Return the function at several points."""
        total = np.zeros(len(thetas))
        for part in self.parts:
            for place, theta in enumerate(thetas):
                exponent = theta * part.losses
                top = float(exponent[part.occupied].max())
                sums = part.summed(np.exp(np.minimum(exponent - top, 0.0)))
                total[place] += float(part.counts @ (np.log(sums) + top))
        return total

    def steepest(self) -> float:
        """Return the largest tilt that is of use: beyond it nothing would change but overflow."""
        largest = max(float(np.abs(part.losses).max()) for part in self.parts)
        return LARGEST_LOSS / max(largest, 1e-6)

    def tilt_at_delta(self, log_delta: float) -> float:
        r"""Return a tilt that is good near the ε at which :math:`\ln\delta` is ``log_delta``.

        By the saddle-point estimate :math:`\delta \approx e^{K - \theta K'} / (\theta (1 + \theta)
        \sqrt{2 \pi K''})`. Any tilt is valid; a good one keeps the errors small.
        """

        def excess(theta: float) -> float:
            value, mean, variance = self.at(theta)
            spread = math.sqrt(2 * math.pi * variance + (1 + theta) ** -2.0)
            return value - theta * mean - math.log((1 + theta) * (1 + theta * spread)) - log_delta

        return self._root(excess)

    def tilt_at_epsilon(self, epsilon: float) -> float:
        """Return the tilt under which the mean loss is ``epsilon``."""
        return self._root(lambda theta: epsilon - self.at(theta)[1])

    def _root(self, falling: Callable[[float], float]) -> float:
        low, high = math.log(1e-3), math.log(self.steepest())
        if falling(math.exp(low)) <= 0:
            return math.exp(low)
        for _ in range(14):
            middle = (low + high) / 2
            low, high = (middle, high) if falling(math.exp(middle)) > 0 else (low, middle)
        return math.exp(low)


ComplexArray = NDArray[np.complex128]

LARGEST_WINDOW = 1 << 21
_CUT = 28.0
_TRIED = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0])
"""Rates of the bound on the tails, in deviations: small ones suit laws with a long tail."""
_CHUNK = 1 << 18
_HIGH_POWER = 64
_SHORTER = 8
_SHORT = 3.0
_STEEP = 3.0
_FAR_END = 7.0
_MANY = 8
_LEFT_OUT = 1e-30


@define(frozen=True, eq=False, slots=False)
class Composed:
    r"""The tilted law :math:`\tilde c_j = c_j e^{\theta j h} / M` of a sum, in a window.

    Guarantee:
        Within the window each :math:`\tilde c_j` is within ``error`` of ``masses[j]``, up to a
        share ``share``; with a short window, it is at most that much larger than ``masses[j]``.
        Under the window lies at most ``below`` of the tilted law, over it at most ``beyond``.
        Proof in ``docs/proofs/pld.md``.
    """

    step: float
    first: int
    masses: FloatArray
    error: float
    theta: float
    log_scale: float
    r""":math:`\ln M`"""
    below: float
    beyond: float
    share: float

    @property
    def ends(self) -> tuple[float, float]:
        """The first loss of the window, and the first one beyond it."""
        return self.first * self.step, (self.first + len(self.masses)) * self.step

    def losses(self) -> FloatArray:
        """Return the losses of the window."""
        return self._losses

    @cached_property
    def _losses(self) -> FloatArray:
        return indices(self.first, self.first + len(self.masses)) * self.step


class Coverage(Enum):
    """How much of the law the window must hold."""

    ALL = "all"
    """All but a negligible part, on both sides."""
    UPWARDS = "upwards"
    """Little below the tilted mean. Masses may then be too large, but never too small."""


@frozen
class LossWindow:
    """The indices that are looked at, and how much of the tilted law is below and above them."""

    first: int
    last: int
    below: float
    beyond: float

    def shortened(
        self, step: float, theta: float, moments: tuple[float, float, float]
    ) -> "LossWindow":
        """Cut off most of what is below the mean, if the tilt is steep.

        What is outside of a window is folded into it: masses only grow, and they do at the far
        end, where they count least.
        """
        _, mean, variance = moments
        deviation = math.sqrt(variance)
        start = math.floor((mean - _SHORT * deviation) / step) - 1
        if start <= self.first or theta * deviation < _STEEP:
            return self
        last = max(self.last, math.ceil((mean + _FAR_END * deviation) / step))
        return LossWindow(start, last, 1.0, self.beyond)


def compose(
    step: float, first: Sequence[int], parts: Sequence[Weighted], theta: float, reach: Coverage
) -> Composed:
    """Compose the ``parts``, whose grids start at the indices ``first``, under a tilt."""
    uses = float(sum(part.counts.sum() for part in parts))
    tilted, log_scale, lowest, highest = [], 0.0, 0, 0
    for start, part in zip(first, parts, strict=True):
        masses, log_masses = _tilt(part, theta)
        tilted.append(masses)
        log_scale += float(part.counts @ log_masses)
        count = int(part.counts.sum())
        lowest += count * start
        highest += count * (start + part.masses.shape[1] - 1)
    share = math.expm1(8 * RELATIVE * (uses + abs(log_scale) + 16))
    window = _window(step, lowest, highest, Cumulant(parts), theta)
    if reach is Coverage.UPWARDS:
        window = window.shortened(step, theta, Cumulant(parts).at(theta))
    if uses == 1:
        (only,) = tilted
        return Composed(step, lowest, only[0], TINY, theta, log_scale, 0.0, 0.0, share)
    size = load("scipy.fft").next_fast_len(window.last - window.first + 1, real=True)
    factors = [
        factor
        for masses, part in zip(tilted, parts, strict=True)
        for factor in _factors(masses, part.counts, size)
    ]
    masses, error = _transformed(factors, size)
    masses = np.roll(masses, (lowest - window.first) % size)
    if reach is Coverage.ALL:
        error += window.below + window.beyond
    below, beyond, error = window.below, window.beyond, error + TINY
    return Composed(step, window.first, masses, error, theta, log_scale, below, beyond, share)


def _tilt(part: Weighted, theta: float) -> tuple[FloatArray, FloatArray]:
    """Return the tilted masses, each row of sum 1, and the logarithms of what they were."""
    exponent = theta * part.losses
    top = float(exponent[part.occupied].max())
    masses = part.masses * np.exp(np.minimum(exponent - top, 0.0))
    sums = masses.sum(axis=1)
    return masses / sums[:, None], np.log(sums) + top


def _window(step: float, lowest: int, highest: int, cumulant: Cumulant, theta: float) -> LossWindow:
    r"""Return a window outside of which at most :math:`2 e^{-28}` of the tilted law lies.

    By Chernoff's bound, :math:`\tilde P[S \ge s] \le e^{K(\theta+\lambda) - K(\theta) - \lambda s}`
    for every positive :math:`\lambda`, and alike below.
    """
    value, _, variance = cumulant.at(theta)
    rates = np.minimum(_TRIED / max(math.sqrt(variance), step), cumulant.steepest() / 10)
    above = cumulant.values(theta + rates) - value
    under = cumulant.values(theta - rates) - value
    error = RELATIVE * (abs(value) + np.abs(above) + np.abs(under) + 1)
    last = math.ceil(float(((above + _CUT + error) / rates).min()) / step)
    start = math.floor(float((-(under + _CUT + error) / rates).max()) / step)
    tail = math.exp(-_CUT)
    return LossWindow(
        max(start, lowest),
        min(last, highest),
        0.0 if start <= lowest else tail,
        0.0 if last >= highest else tail,
    )


@frozen(eq=False)
class Factor:
    """Laws of sum 1 that are each used ``count`` times, and the 2-norm of the error of a row."""

    rows: FloatArray
    count: int
    error: float = 0.0


def _factors(masses: FloatArray, counts: FloatArray, size: int) -> Iterator[Factor]:
    """Yield rows with equal counts; many that are used once are composed in groups first.

    A group is so small that its sum fits on a short grid, on which transforms are cheap.
    """
    for count in np.unique(counts):
        rows = masses[counts == count]
        length = rows.shape[1]
        together = min(len(rows), (size // _SHORTER) // length)
        if count == 1 and together >= _MANY:
            short = load("scipy.fft").next_fast_len(together * length, real=True)
            for start in range(0, len(rows), together):
                group = Factor(rows[start : start + together], 1)
                found, error = _transformed([group], short)
                yield Factor(found[None, :], 1, error * math.sqrt(short))
        else:
            yield Factor(_folded(rows, size), int(count))


def _transformed(factors: Sequence[Factor], size: int) -> tuple[FloatArray, float]:
    r"""Return the circular convolution of all uses, and a bound on each entry's error.

    Guarantee:
        Let :math:`\hat F_i` be the computed transforms, :math:`\|\hat F_i - F_i\|_2 \le \gamma
        \|F_i\|_2 = \sqrt N \eta_i`. The uses are dealt into two halves with products :math:`G_1`
        and :math:`G_2`. Replacing one factor after the other, and taking the other half out by
        Cauchy and Schwarz, the mean over the frequencies of :math:`|\hat G_1 \hat G_2 - G_1 G_2|`
        is at most :math:`(n_2 \sum_1 \eta_i + n_1 \sum_2 \eta_i) \prod (1 + \sqrt N \eta_i)` with
        :math:`n = \|G\|_2 / \sqrt N`, because the law of a use has sum 1. That bounds every entry
        of the inverse; multiplications and the inverse transform add their own shares. If a row
        is itself known up to an error only, its 2-norm is added to :math:`\eta_i`.
    """
    fft = load("scipy.fft")
    gamma = transform_error(size)
    halves: list[ComplexArray] = [np.ones(size // 2 + 1, dtype=np.complex128) for _ in range(2)]
    errors, total, side = [0.0, 0.0], 0, 0
    for factor in _chunks(factors, size):
        spectra = fft.rfft(factor.rows, size, axis=1)
        norms = gamma * np.sqrt((factor.rows * factor.rows).sum(axis=1)) * (1 + 1e-6) + factor.error
        half, odd = divmod(factor.count, 2)
        if half:
            power = _power(np.multiply.reduce(spectra, axis=0), half)
            halves = [_times(whole, power) for whole in halves]
            errors = [error + half * float(norms.sum()) for error in errors]
        for place in (side, 1 - side) if odd else ():
            first = abs(place - side)
            halves[place] = _times(halves[place], np.multiply.reduce(spectra[first::2], axis=0))
            errors[place] += float(norms[first::2].sum())
        side = (side + odd * len(spectra)) % 2
        total += factor.count * len(factor.rows)
    growth = math.exp(math.sqrt(size) * sum(errors))
    rounding = 4 * UNIT * (total + 4)
    means = [
        math.sqrt(2 * float((half.real**2 + half.imag**2).sum()) / size) * (1 + rounding)
        + growth * error
        for half, error in zip(halves, errors, strict=True)
    ]
    result = fft.irfft(_times(*halves), size)
    spread = growth * (means[1] * errors[0] + means[0] * errors[1])
    bound = spread + rounding * means[0] * means[1] * growth + _LEFT_OUT
    whole = math.sqrt(float((result * result).sum()))
    return result, 1.01 * (bound + 2 * gamma * (whole + bound * math.sqrt(size)))


def _chunks(factors: Sequence[Factor], size: int) -> Iterator[Factor]:
    """Yield a few rows at a time, so that what is worked on stays near."""
    height = max(1, _CHUNK // size)
    for factor in factors:
        for start in range(0, len(factor.rows), height):
            yield Factor(factor.rows[start : start + height], factor.count, factor.error)


def _folded(masses: FloatArray, size: int) -> FloatArray:
    length = masses.shape[1]
    if length <= size:
        return masses
    laps = -(-length // size)
    padded = np.pad(masses, ((0, 0), (0, laps * size - length)))
    return np.asarray(padded.reshape(masses.shape[0], laps, size).sum(axis=1))


def _power(spectrum: ComplexArray, exponent: int) -> ComplexArray:
    """Multiply ``spectrum`` with itself by repeated squaring.

    Of a high power, the frequencies after the last one at which it exceeds e^-80 are left out.
    """
    base = spectrum
    if exponent >= _HIGH_POWER:
        square = spectrum.real**2 + spectrum.imag**2
        last = int(np.nonzero(square > math.exp(-160.0 / exponent))[0][-1])
        base = spectrum[: last + 1]
    result = None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if exponent:
            base = base * base
    assert result is not None
    return result


def _times(first: ComplexArray, second: ComplexArray) -> ComplexArray:
    """Multiply two spectra; frequencies that one of them leaves out are left out."""
    length = min(len(first), len(second))
    return first[:length] * second[:length]
