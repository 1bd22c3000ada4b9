"""Which texts of a list are held, and by how many: regression on the bits, with sure findings."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.local.rappor.rappor import Rappor

Floats = NDArray[np.float64]
_FALSE_DISCOVERIES = Fraction(1, 20)
_CLEAR = 1e-9
_OUTWARDS = 1 + 1e-9


@frozen(kw_only=True, eq=False)
class TextEstimate:
    r"""How many of the people who reported hold each candidate, and which of them are surely held.

    Guarantee:
        Let :math:`X` have a column for each candidate with the share of its filters, and one more
        for texts that are not listed. The weights :math:`A` are the pseudo-inverse, so
        :math:`AX = I`. The estimate of candidate :math:`s` is a sum over people of
        :math:`Y = \sum_i A_{s,(j,i)} (S_i - p^*)/(q^* - p^*)`, for the cohort :math:`j` that the
        device drew and the bits :math:`S` that it told. Over both, :math:`E[Y]` is
        :math:`(AX)_{s,r}` for a person who holds :math:`r`: 1 for :math:`s`, and 0 for any other
        candidate. So it is unbiased, exactly, and a sum of independent numbers in an interval of
        known ends, each of a variance of at most :math:`V`, the largest of any candidate. By
        Bennett's inequality [BLM13, Theorem 2.9],

        .. math:: P[\hat n - n \ge t] \le e^{-(nV/b^2)\, h(bt/(nV))}, \quad
                  h(u) = (1+u)\ln(1+u) - u,

        with :math:`b` the largest distance of :math:`Y` above its mean; alike below. It holds for
        every number of people. ``p_values`` are this bound at :math:`n = 0`, and ``found`` is
        Holm's choice among them [Hol79]: with probability at least ``1 - false_discoveries``, no
        text that nobody holds is found, however they depend on one another. All intervals hold
        together with the same probability.

    Assumes:
        People hold candidates. Texts that nobody listed have bits of their own: on average, over
        hash functions, the column of others takes them up, but one that many people hold adds to
        candidates with common bits, less so with more cohorts. Devices report as the scheme says.

    Utility:
        ``errors`` are bounds on standard deviations: :math:`\sqrt{nV}`.
    """

    candidates: tuple[str, ...]
    counts: Floats
    errors: Floats
    low: Floats
    high: Floats
    p_values: Floats
    found: tuple[str, ...]
    people: int
    false_discoveries: Fraction

    def shares(self) -> Floats:
        """Return the estimated share of each candidate."""
        return self.counts / self.people


@frozen(kw_only=True, eq=False)
class Decoder:
    """The weights of a list of candidates: they do not depend on any report."""

    candidates: tuple[str, ...]
    weights: Floats
    """By candidate, cohort and bit: what a bit that is told adds, before chances are taken out."""
    variance: Floats
    """Of what one person adds to each candidate, at most."""
    least: Floats
    most: Floats
    """The ends of what one report can add to each candidate."""


def decoder(scheme: Rappor, candidates: Sequence[str]) -> Decoder:
    """Return the weights, refusing lists that the filters cannot tell apart."""
    names = tuple(candidates)
    if not names or len(set(names)) < len(names):
        raise InvalidArgument("The candidates are not a list of texts", must="be some, each once")
    columns = scheme.filters(names).reshape(len(names), -1).astype(np.float64)
    others = np.full((1, columns.shape[1]), 1 - (1 - 1 / scheme.bits) ** scheme.hashes)
    design = np.concatenate([columns, others]).T / scheme.cohorts
    left, scales, right = np.linalg.svd(design, full_matrices=False)
    if len(names) >= len(design) or scales[-1] < _CLEAR * scales[0]:
        raise InvalidArgument(
            "The filters cannot tell these candidates apart",
            must=f"be fewer than {len(design)}, with other bits each",
            got=str(len(names)),
            next="Declare more bits or cohorts, or shorten the list",
        )
    solved = ((right.T / scales) @ left.T)[: len(names)]
    weights = solved.reshape(len(names), scheme.cohorts, scheme.bits)
    variance, least, most = _spread(scheme, weights, columns)
    return Decoder(candidates=names, weights=weights, variance=variance, least=least, most=most)


def _spread(scheme: Rappor, weights: Floats, columns: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the largest variance of what a person adds, whatever is held, and its ends."""
    one, zero = float(scheme.coins.told_one), float(scheme.coins.told_zero)
    gap = one - zero
    by_cohort = columns.reshape(len(columns), scheme.cohorts, scheme.bits)
    of_one, of_zero = one * (1 - one) / gap**2, zero * (1 - zero) / gap**2
    squares = weights**2
    second = (squares.sum(axis=(1, 2)) * of_zero)[:, None] + (of_one - of_zero) * np.einsum(
        "sji,rji->sr", squares, by_cohort, optimize=True
    )
    for cohort in range(scheme.cohorts):
        second += (weights[:, cohort] @ by_cohort[:, cohort].T) ** 2
    up, down = weights * ((1 - zero) / gap), weights * (-zero / gap)
    variance = second.max(axis=1) / scheme.cohorts * _OUTWARDS
    least = np.minimum(up, down).sum(axis=2).min(axis=1)
    most = np.maximum(up, down).sum(axis=2).max(axis=1)
    return variance, least * _OUTWARDS, most * _OUTWARDS


def decode(
    scheme: Rappor,
    tally: IntArray,
    candidates: Sequence[str] | Decoder,
    *,
    false_discoveries: Number = _FALSE_DISCOVERIES,
    repeats: int = 1,
) -> TextEstimate:
    r"""Return how many people hold each candidate, from the tally of their reports.

    The counts of bits are first freed of bias, :math:`t = (c - (p + fq/2 - fp/2)N)/((1-f)(q-p))`
    by cohort [EPK14, section 4]; then they are regressed on the filters of the candidates. Up to
    ``repeats`` of the reports may be of one device and repeat an answer that it keeps.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.local import RapporCoins
        >>> coins = RapporCoins.calibrate(epsilon=4, hashes=1)
        >>> scheme = Rappor(bits=16, hashes=1, cohorts=4, salt="pets", coins=coins)
        >>> reports = scheme.randomise_many(["cat"] * 3000 + ["dog"] * 2000, SystemRng())
        >>> decode(scheme, scheme.tally(reports), ["ant", "bee", "cat", "dog"]).found
        ('cat', 'dog')
    """
    made = candidates if isinstance(candidates, Decoder) else decoder(scheme, candidates)
    level = check.level(false_discoveries)
    told, cohorts = tally[:, :-1].astype(np.float64), tally[:, -1:].astype(np.float64)
    people = int(tally[:, -1].sum())
    if people < 1:
        raise InvalidArgument("There are no reports", must="give at least one report")
    one, zero = float(scheme.coins.told_one), float(scheme.coins.told_zero)
    unbiased = (told - zero * cohorts) / (one - zero)
    counts = np.einsum("sji,ji->s", made.weights, unbiased)
    total = people * repeats * made.variance
    above, below = repeats * made.most, repeats * (1.0 - made.least)
    tests = len(made.candidates)
    share = float(level) / (2 * tests)
    log_p = np.array([_log_tail(c, v, b) for c, v, b in zip(counts, total, above, strict=True)])
    low = [c - _reach(v, b, share) for c, v, b in zip(counts, total, above, strict=True)]
    high = [c + _reach(v, b, share) for c, v, b in zip(counts, total, below, strict=True)]
    return TextEstimate(
        candidates=made.candidates,
        counts=counts,
        errors=np.sqrt(total),
        low=np.clip(low, 0.0, people),
        high=np.clip(high, 0.0, people),
        p_values=np.exp(log_p),
        found=_holm(made.candidates, log_p, math.log(float(level))),
        people=people,
        false_discoveries=level,
    )


def _log_tail(excess: float, variance: float, reach: float) -> float:
    """Return the logarithm of Bennett's bound."""
    if excess <= 0:
        return 0.0
    u = reach * excess / variance
    return -variance / reach**2 * ((1 + u) * math.log1p(u) - u) * (1 - _CLEAR)


def _reach(variance: float, reach: float, level: float) -> float:
    """Return an excess at which the bound is at most ``level``."""
    low, high, wanted = 0.0, 1.0, math.log(level)
    while _log_tail(high, variance, reach) > wanted:
        high *= 2
    while high - low > _CLEAR * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _log_tail(middle, variance, reach) > wanted else (low, middle)
    return high


def _holm(names: tuple[str, ...], log_p: Floats, log_level: float) -> tuple[str, ...]:
    """Return the names whose tests are passed, from the smallest p-value on, in their order."""
    passed = set[int]()
    for done, place in enumerate(np.argsort(log_p, kind="stable").tolist()):
        if log_p[place] > log_level - math.log(len(names) - done):
            break
        passed.add(place)
    return tuple(name for place, name in enumerate(names) if place in passed)
