r"""Likely histograms: what the numbers of units behind the noise of a histogram may be.

Of many units nearly everything is known, of few nearly nothing; limits have to be chosen for both.
So a noisy histogram is read as a *set of pictures*, each as likely as the others: shapes that
contributions of people often have, moved towards the noisy numbers as far as these are clear, and
beside them *strays*, some units of one bin that no shape explains: a few machines among people, or
the wards of a hospital among its patients.

Everything here is worked out from noisy numbers, which are public, so it costs nothing. It is about
utility alone: no bound and no guarantee rests on it.
"""

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from attrs import evolve, frozen

from discreet.core.errors import Unsupported
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.releases.histogram import Floats, Histogram
from discreet.releases.profile import Profile

PICTURES = 25
"""How many pictures there are of a histogram."""

_MIDDLES, _WIDTHS = 0.5, (0.3, 0.7, 1.0, 1.4, 2.0)
"""Logarithms of contributions: how far apart the middles of shapes are, and their widths."""

_POWERS = (0.8, 1.2, 1.8)
"""How quickly heavy tails fall: as these powers of the number."""

_ENDLESS = 0.9
"""How likely it is that the tail of a shape goes on to the last bin, and ends nowhere before."""

_MISFIT = 0.6
"""How far numbers of units usually are from those of a shape, as a part of them."""

_DEVIATIONS = np.linspace(-2, 2, 7)
"""How many standard deviations the number of all units may be off."""

_LIKELY_ENOUGH = 1e-3

_STRAYS = 2
"""In how many bins there are units that belong to no shape, as may be expected."""

_SIZES = 60
"""How many numbers of such units are tried, from one to all."""


@frozen(eq=False)
class LikelyHistogram:
    """Pictures of one histogram, from the one with the least in all to the one with the most."""

    histogram: Histogram
    units: Floats
    """In each picture, how many units there are of each bin."""
    sure: Floats
    """The same without the heavy ones who may be noise alone."""

    def without_unsure(self) -> "LikelyHistogram":
        """Return it as it is if what noise alone may be is noise."""
        return evolve(self, units=self.sure)

    def beyond(self, limit: int) -> Floats:
        """Return about how much lies beyond a limit for each unit, in each picture."""
        cut = np.maximum(self.histogram.typical - limit, 0)
        return np.asarray(self.units @ cut)

    def total(self) -> Floats:
        """Return about how much all units have together, in each picture."""
        return self.beyond(0)


@frozen(eq=False)
class LikelyProfile:
    """Pictures of the histograms of a profile: the lightest of each belong together, and so on."""

    rows: LikelyHistogram
    groups: LikelyHistogram
    """As the rows, where groups are of no profiled column."""
    busiest: LikelyHistogram

    @staticmethod
    def of(profile: Profile, column: str | None) -> "LikelyProfile":
        """Return the pictures for questions that group by a column, if it is profiled."""
        return _pictures(profile, column)

    def without_unsure(self) -> "LikelyProfile":
        """Return it as it is if what noise alone may be is noise."""
        return LikelyProfile(
            rows=self.rows.without_unsure(),
            groups=self.groups.without_unsure(),
            busiest=self.busiest.without_unsure(),
        )


@lru_cache(maxsize=32)
def _pictures(profile: Profile, column: str | None) -> LikelyProfile:
    """Return the pictures of a profile, which is known by its identity: answers share them."""
    known = _number_of_units([profile.rows, *profile.groups.values(), *profile.busiest.values()])
    rows = likely(profile.rows, known)
    if column is None:
        return LikelyProfile(rows=rows, groups=rows, busiest=rows)
    return LikelyProfile(
        rows=rows,
        groups=likely(profile.groups[column], known),
        busiest=likely(profile.busiest[column], known),
    )


def _number_of_units(histograms: Iterable[Histogram]) -> tuple[float, float]:
    """Return about how many units there are, and the standard deviation of that.

    Every unit is in one bin of each histogram, so each of them tells their number. Noise of
    different ones is independent, and they are weighed by how little of it they have.
    """
    found = [(sum(one.values), len(one.values) * _variance(one.noise)) for one in histograms]
    weight = sum(1 / variance for _, variance in found)
    about = sum(number / variance for number, variance in found) / weight
    return max(about, 1.0), math.sqrt(1 / weight)


def likely(histogram: Histogram, known: tuple[float, float]) -> LikelyHistogram:
    r"""Return pictures of a histogram, given about how many units there are in all.

    A shape gives each bin a share of the units: that of a log-normal law or of one with a heavier
    tail (Pareto's, moved to start at 0), which may end at a bin.
    Let :math:`m` be the number that a shape gives a bin, :math:`s^2` the variance of the noise and
    :math:`\tau m` how far people usually are from a shape. Then the noisy number :math:`y` has the
    variance :math:`s^2 + \tau^2 m^2` about :math:`m`, which says how likely a shape is; and
    given the shape, the number of units is about :math:`m + \tau^2 m^2/(s^2 + \tau^2 m^2)(y - m)`.
    Tails that clearly stand out of the noise are in every picture, whatever shapes there are;
    strays are in as many of them as they are likely.
    """
    noisy = np.array(histogram.values, dtype=np.float64)
    shares, priors = _shapes(histogram.ends, _is_closed(histogram))
    numbers = np.maximum(known[0] + known[1] * _DEVIATIONS, 1.0)
    means = (numbers[:, None, None] * shares[None]).reshape(-1, len(noisy))
    own = (_MISFIT * means) ** 2
    variances = own + _variance(histogram.noise)
    fits = -0.5 * ((noisy - means) ** 2 / variances + np.log(variances)).sum(axis=1)
    weights = np.exp(fits - fits.max()) * np.tile(priors, len(numbers))
    kept = weights > _LIKELY_ENOUGH * weights.max()
    means, own, variances, weights = means[kept], own[kept], variances[kept], weights[kept]
    units = np.maximum(means + own / variances * (noisy - means), 0)
    places = _evenly(units @ histogram.typical, weights)
    found = _with_clear(units[places], histogram.cleaned)
    strays, odds = _strays(found, histogram, known[0])
    sure = np.minimum(found, np.maximum(units[places], _surely(histogram)))
    sure = sure + np.where(odds >= _CLEAR_ODDS, strays, 0.0)
    return LikelyHistogram(histogram, found + strays, sure)


def _surely(histogram: Histogram) -> Floats:
    """Return the cleaned numbers up to the last tail that noise alone hardly ever is."""
    bins = np.arange(len(histogram.values))
    tails = [
        place
        for place in np.flatnonzero(histogram.cleaned > 0)
        if histogram.least((bins >= place).astype(int).tolist(), 1 / _CLEAR_ODDS / len(bins)) > 0
    ]
    return np.where(bins <= max(tails, default=-1), histogram.cleaned, 0.0)


def _evenly(amounts: Floats, weights: Floats) -> list[int]:
    """Return the places of pictures that are as likely as one another, by how much is in them."""
    order = np.argsort(amounts, kind="stable")
    up_to = weights[order].cumsum()
    steps = (np.arange(PICTURES) + 0.5) / PICTURES * up_to[-1]
    return [int(place) for place in order[np.searchsorted(up_to, steps)]]


def _with_clear(units: Floats, clear: Floats) -> Floats:
    """Return pictures in which no tail has fewer units than clearly are there."""
    tails = np.maximum(units[:, ::-1].cumsum(axis=1), clear[::-1].cumsum())[:, ::-1]
    return np.asarray(-np.diff(tails, axis=1, append=0.0))


def _strays(units: Floats, histogram: Histogram, number: float) -> tuple[Floats, Floats]:
    r"""Return the strays of pictures, the likeliest in most of them, the others in the heaviest.

    And the odds that they are none of the noise.

    Let a bin have ``r`` more than a picture has, with deviations as of a Laplace law of scale
    ``b``. That there are ``c`` strays in it makes this :math:`\exp((|r| - |r - c|)/b)` times as
    likely. Every order of magnitude of ``c`` is as likely as the others, up to all units; and few
    bins have any, so each has a small chance beforehand. Six to seven times the scale of the noise
    has even odds, which the noise of fifty bins reaches in about one profile of twenty.
    """
    rest = np.maximum(np.array(histogram.values, dtype=np.float64) - units, 0)
    scales = np.sqrt((_variance(histogram.noise) + (_MISFIT * units) ** 2) / 2)
    sizes = np.geomspace(1.0, max(number, 2.0), _SIZES)
    nearer = (rest[..., None] - np.abs(rest[..., None] - sizes)) / scales[..., None]
    odds = _STRAYS / units.shape[1] * np.exp(np.minimum(nearer, _SURE)).mean(axis=-1)
    heavier = 1 - (np.arange(len(units)) + 0.5) / len(units)
    return np.where(odds / (1 + odds) >= heavier[:, None], rest, 0.0), odds


_CLEAR_ODDS = 1e4
"""With such odds for them, strays are hardly ever noise."""

_SURE = 500.0
"""Beyond this, the exponential is as good as without end."""


def _is_closed(histogram: Histogram) -> bool:
    """Tell whether nobody can be beyond the last bin."""
    return histogram.most is not None and histogram.most <= histogram.ends[-1]


@lru_cache(maxsize=64)
def _shapes(ends: tuple[int, ...], is_closed: bool) -> tuple[Floats, Floats]:
    """Return the share of units of each bin, for every shape, and how likely shapes are."""
    below = _laws(ends)
    shapes, priors = [], []
    stops = sorted({*_stops(ends), len(ends) - 1})
    for stop in stops:
        is_last = stop == len(ends) - 1
        is_open = is_last and not is_closed
        # Of a law that has little before its end nothing is left that is like it.
        laws_here = below[below[:, stop] > _LEFT_OF_A_LAW]
        whole = np.ones((len(laws_here), 1)) if is_open else laws_here[:, stop : stop + 1]
        reached = np.minimum(laws_here / whole, 1.0)
        reached = np.hstack([reached, np.ones((len(laws_here), 1))])
        shapes.append(np.diff(reached, axis=1, prepend=0.0))
        share = _ENDLESS if is_last else (1 - _ENDLESS) / max(len(stops) - 1, 1)
        priors.append(np.full(len(laws_here), share / max(len(laws_here), 1)))
    return np.vstack(shapes), np.concatenate(priors)


def _laws(ends: tuple[int, ...]) -> Floats:
    """Return which share of the units has no more than each end, for every law."""
    edges = np.array(ends) + 0.5
    middles = np.arange(0, math.log(ends[-1]) + 1e-9, _MIDDLES)
    found = [
        [_normal((math.log(edge) - middle) / width) for edge in edges]
        for middle in middles
        for width in _WIDTHS
    ]
    heavy = [
        1 - (1 + edges / math.exp(middle)) ** -power for middle in middles for power in _POWERS
    ]
    return np.vstack([found, heavy])


_LEFT_OF_A_LAW = 0.2


def _stops(ends: tuple[int, ...]) -> Iterable[int]:
    """Return the bins at which shapes may end: those of the powers of two."""
    power = 1
    while power < ends[-1]:
        yield int(np.searchsorted(ends, power))
        power *= 2


def _normal(number: float) -> float:
    return 0.5 * (1 + math.erf(number / math.sqrt(2)))


def _variance(noise: AggregateMechanism) -> float:
    if isinstance(noise, DiscreteLaplace):
        return 2 * float(noise.scale) ** 2
    if isinstance(noise, DiscreteGaussian):
        return float(noise.sigma_squared)
    raise Unsupported("The variance of this noise is not known", got=type(noise).__name__)
