"""Tracing: who of a list of candidates is in the data that a release of means was made from."""

from collections.abc import Iterable, Iterator
from enum import Enum
from hashlib import blake2b
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.statistics.false_discovery import (
    DiscoveryControl,
    checked_level,
    discoveries,
)
from discreet.attacks.statistics.score_test import ScoreTest, TracingNull, thirds_for, variances_for
from discreet.attacks.statistics.sign_data import Floats, inner, means_of, people_of
from discreet.attacks.statistics.tracing_weights import TracingStatistic, weights_of
from discreet.core.check import chosen
from discreet.core.errors import InvalidArgument

_TELLING = 32
"""So many attributes tell people apart, if nobody is nearly like another."""

_APART = 4
"""In so many attributes at least others differ from a row that can be one person's alone."""


class TracingVerdict(Enum):
    """What can be said of the list of candidates."""

    FOUND = "found"
    NOBODY = "nobody"
    CANNOT_TELL = "cannot tell"


@frozen(kw_only=True, eq=False, repr=False)
class Tracing:
    """Whom a release gives away. Private: who is accused *is* the data.

    Attributes:
        scores: For each candidate, how much more they agree with the release than references do.
        p_values: For each, a bound on the chance of such a score for somebody who is not in it.
        accused: For each, whether they are accused at the level.
        verdict: ``CANNOT_TELL`` if nobody is accused, and no candidate by themselves could have
            been: too few references, or a release with too little in it; or if the references
            contradict what was assumed of those who are not in the data.
        level: The level of false accusations.
        control: What that level bounds.
        null: What was assumed of those who are not in the data.
        why: Why nothing can be told; empty if something can.
    """

    scores: Floats
    p_values: Floats
    accused: NDArray[np.bool_]
    verdict: TracingVerdict
    level: float
    control: DiscoveryControl
    null: TracingNull
    why: str = ""

    def __str__(self) -> str:
        if self.verdict is TracingVerdict.CANNOT_TELL:
            return f"Cannot tell: {self.why}."
        count = int(self.accused.sum())
        if not count:
            return (
                f"No candidate is traced (level {self.level:g}, {self.control.value}; null: "
                f"{self.null.value}). That does not show that none of them is in the data."
            )
        return (
            f"{count} of {len(self.accused)} candidates are traced to the data "
            f"(level {self.level:g}, {self.control.value}; null: {self.null.value})."
        )

    def __repr__(self) -> str:
        return f"Tracing({self.verdict.value!r}, {len(self.accused)} candidates)"


def trace_people(
    release: ArrayLike,
    candidates: ArrayLike,
    references: ArrayLike,
    *,
    statistic: TracingStatistic | str = TracingStatistic.CORRELATION,
    pool: ArrayLike | None = None,
    distortion: float | None = None,
    null: TracingNull | str = TracingNull.PRODUCT,
    level: float = 0.05,
    control: DiscoveryControl | str = DiscoveryControl.BENJAMINI_YEKUTIELI,
) -> Tracing:
    r"""Tell which candidates are in the data that the released means were made from.

    A candidate :math:`y` scores :math:`\langle y - \bar z, w \rangle`, where :math:`\bar z` is the
    mean of :math:`r` references and the weights :math:`w` come from the release (and from the pool,
    which must be other people than the references).

    Args:
        release: The released mean of each attribute, in [−1, 1]; ``as_means`` makes them of
            shares.
        candidates: One row of signs for each candidate; ``as_signs`` makes them of 0 and 1.
        references: One row for each reference.
        statistic: How attributes are weighted.
        pool: More references, for statistics that compare with the population's means: other
            people, for with the same ones strangers are accused. Where it shows, it is refused.
        distortion: How far the release may be from these, for the clipped statistic.
        null: What is known of people who are not in the data.
        level: The level of false accusations.
        control: What that level bounds, over the whole list.

    Guarantee:
        *Soundness.* Somebody who is not in the data has a p-value of at most :math:`t` with
        probability at most :math:`t`, whatever the release is and however it was made.

        Proof. Fix :math:`w`. For ``PRODUCT`` the score is a sum of independent terms of mean 0:
        each :math:`y_j w_j` has range :math:`2|w_j|`, and each of :math:`r` references one of
        :math:`2|w_j|/r`. By Hoeffding's inequality [Hoe63, theorem 2] the chance to reach :math:`s`
        is at most :math:`\exp(-s^2 / (2(1 + 1/r)\|w\|_2^2))`. One reference and :math:`|w_j| \le 1`
        give the threshold :math:`2\sqrt{d \ln(1/\beta)}`. The one that is printed in
        [Ste16, figure 5.1], :math:`\sqrt{8 d \ln(1/\beta)}`, has level :math:`\beta^2`.
        For ``GAUSSIAN`` the score is normal with variance :math:`(1 + 1/r)\|w\|_2^2`. For
        ``REFERENCES`` the candidate's place among the references is uniform, by exchangeability.
        ``PLUG_IN`` has no proof.

        *What contradicts it.* If attributes are independent, the scores of :math:`m + 1` references
        are independent and sub-Gaussian, with the variance above as :math:`\sigma^2`, and
        :math:`S` is the sum of the squares of their distances from their mean. For a normal
        vector :math:`g` off the mean, :math:`E e^{sS} = E e^{\sqrt{2s}\langle g, X \rangle}`,
        so the moments of :math:`S/\sigma^2` are at most those of a :math:`\chi^2_m`, and by
        Chernoff's bound it exceeds :math:`m + 2\sqrt{mt} + 2t` with probability at most
        :math:`e^{-t}`. Beyond that for :math:`e^{-t} = 10^{-3}` nobody is accused. One reference
        shows nothing of it, and a few show little: then correlated attributes accuse strangers.

    Assumes:
        References and pool are people from the same population who are not in the data, and the
        candidates were not chosen by looking at the release. That all candidates share the
        references makes their p-values dependent; ``BENJAMINI_YEKUTIELI`` allows for that.

    Utility:
        With exact means of :math:`n` people and one reference about :math:`6.5 n^2` attributes
        trace 95 % of the people at level 5 % with ``PLUG_IN`` (``expected_attributes``), and
        :math:`32 n^2` about two thirds with ``PRODUCT``. Against a private
        release no attack can do better than :math:`e^\varepsilon` times its level, plus δ.

    Example:
        >>> people = np.array([[1, 1, 1, 1, -1, 1, -1, -1] * 8, [1, -1] * 32, [-1, 1] * 32])
        >>> stranger = np.array([1, 1, -1, -1] * 16)
        >>> found = trace_people(people[0], people, stranger, control="each")
        >>> found.accused.tolist()
        [True, False, False]
        >>> print(found)
        1 of 3 candidates are traced to the data (level 0.05, each; null: product).
    """
    null = chosen(TracingNull, null, noun="null")
    control = chosen(DiscoveryControl, control, noun="control")
    statistic = chosen(TracingStatistic, statistic, noun="statistic")
    real = null is TracingNull.GAUSSIAN
    means = means_of(release, real=real)
    if real and statistic not in (TracingStatistic.CORRELATION, TracingStatistic.HOMER):
        raise InvalidArgument(
            f"The statistic {statistic.value!r} is one of signs",
            must="be 'correlation' or 'homer' for Gaussian data",
        )
    size = len(means)
    people = people_of(candidates, size, "candidates", real=real)
    others = people_of(references, size, "references", real=real)
    pooled = None if pool is None else people_of(pool, size, "pool", real=real)
    if pooled is not None:
        _require_others(pooled, others)
    weights = weights_of(statistic, means, pooled, distortion=distortion)
    raw, theirs = inner(people, weights), inner(others, weights)
    scores = raw - theirs.mean()
    test = ScoreTest(
        null=null,
        weights=weights,
        theirs=theirs,
        variances=variances_for(null, others),
        thirds=thirds_for(others),
        alone=others[0] if null is TracingNull.PLUG_IN and len(others) == 1 else None,
    )
    why = test.contradiction()
    p_values = np.ones(len(scores)) if why else test.p_values(scores, people)
    accused = discoveries(p_values, level, control)
    if not why and not accused.any():
        why = test.cannot_tell(checked_level(level), len(people), control)
    return Tracing(
        scores=scores,
        p_values=p_values,
        accused=accused,
        verdict=_verdict(why, accused),
        level=float(level),
        control=control,
        null=null,
        why=why,
    )


def _require_others(pool: NDArray[Any], references: NDArray[Any]) -> None:
    """Refuse a pool that has people of the references in it: the weights would be against them.

    Two equal rows are one person where nobody else is nearly like them; and two equal lists are one
    list.
    """
    ours, theirs = ([_hashed(row) for row in rows] for rows in (pool, references))
    both = set(ours) & set(theirs)
    is_one = bool(both) and (
        (ours == theirs and pool.size >= _TELLING)
        or any(_stands_apart(pool[ours.index(one)], (pool, references)) for one in sorted(both))
    )
    if is_one:
        raise InvalidArgument(
            "The pool and the references have people in common",
            must="be different people: strangers would look like members beside these references",
            next="Divide the references: some for the pool, and the others to compare with",
        )


def _stands_apart(row: NDArray[Any], lists: Iterable[NDArray[Any]]) -> bool:
    """Tell whether a row is once in each list, and all others differ in many attributes."""
    for rows in lists:
        away = (rows != row).sum(axis=1)
        if (away == 0).sum() != 1 or ((away > 0) & (away < _APART)).any():
            return False
    return len(row) >= _TELLING


def _hashed(row: NDArray[Any]) -> bytes:
    """Return the same few bytes for the same numbers, of whatever type."""
    return blake2b(row.astype(np.float64).tobytes(), digest_size=16).digest()


def _verdict(why: str, accused: NDArray[np.bool_]) -> TracingVerdict:
    if why:
        return TracingVerdict.CANNOT_TELL
    return TracingVerdict.FOUND if accused.any() else TracingVerdict.NOBODY


def threshold_of(level: float, attributes: int) -> float:
    r"""Return the score above which one candidate with one reference is accused, for any release.

    It is :math:`2\sqrt{d \ln(1/\beta)}`, by the proof of :func:`trace_people`.

    Example:
        >>> round(threshold_of(0.05, 100), 2)
        34.62
    """
    return float(2 * np.sqrt(attributes * np.log(1 / checked_level(level))))


def standard_score(level: float) -> float:
    """Return how many standard deviations a normal score exceeds with probability ``level``.

    Example:
        >>> round(standard_score(0.05), 3)
        1.645
    """
    return -NormalDist().inv_cdf(checked_level(level))


def accused_of(found: Tracing) -> Iterator[int]:
    """Give the places of the accused among the candidates, the most certain first."""
    order = np.argsort(found.p_values, kind="stable")
    return (int(place) for place in order if found.accused[place])
