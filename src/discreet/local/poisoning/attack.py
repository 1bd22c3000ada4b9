"""The reports of dishonest people who raise an estimate as far as they can."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.protocols import Rng
from discreet.local.condensed.condensed_response import CondensedResponse
from discreet.local.device.words import spelled
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.frequency.walsh_hadamard import parity
from discreet.local.numbers import linear
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.poisoning.influence import possible_numbers
from discreet.local.rappor.bit_reports import packed
from discreet.local.rappor.decode import decoder
from discreet.local.rappor.rappor import Rappor
from discreet.local.report_numbers import Reports, as_reports
from discreet.local.words.hashed_words import HashedWords
from discreet.randomness.samplers import uniform_integers

_MOST_BYTES = 1 << 22
"""How many bytes of honest reports are drawn at once."""


def attack(
    scheme: FrequencyScheme | NumberScheme | CondensedResponse | HashedWords | Rappor,
    target: Any,
    count: int,
    rng: Rng,
    *,
    candidates: Sequence[str] = (),
) -> Reports:
    """Return the reports of so many people who together raise one value as far as can be.

    Each of their reports is one that honest devices make too, so that no check of single reports
    can catch it. Of a scheme for numbers the mean is moved, to the end of the grid that ``target``
    names. Of words each group gets as many of the reports, for a word is found only if it is found
    in all. Of RAPPOR the worst report depends on the ``candidates`` that are looked for.

    Example:
        >>> from discreet import SystemRng
        >>> from discreet.local import OneBitMean
        >>> attack(OneBitMean.calibrate(most=9, epsilon=1), 9, 3, SystemRng()).ravel().tolist()
        [1, 1, 1]
    """
    times = check.whole(count)
    if times < 0:
        raise InvalidArgument("count is out of range", must="be at least 0", got=str(times))
    if candidates or isinstance(scheme, Rappor):
        return np.repeat(_worst_text(scheme, target, candidates), times, axis=0)
    return _reports(scheme, target, times, rng)


@singledispatch
def _reports(scheme: object, target: Any, times: int, rng: Rng) -> Reports:
    raise Unsupported(
        "No attack on what this estimates is built",
        must="be a scheme for shares, numbers or texts, or of condensed privacy",
        got=type(scheme).__name__,
    )


@_reports.register
def _(scheme: FrequencyScheme, target: Any, times: int, rng: Rng) -> Reports:
    """Repeat one report that supports the target, found among honest ones: ever more, then halved.

    Few may support it: of d-bit flip those alone that drew its bucket.
    """
    number, most = 1, max(1, _MOST_BYTES // scheme.size)
    reports = scheme.randomise_many(np.array([target], dtype=np.int64), rng)
    while not _supported(scheme, target, reports):
        number = min(2 * number, most)
        reports = scheme.randomise_many(np.full(number, target, dtype=np.int64), rng)
    while len(reports) > 1:
        half = len(reports) // 2
        first = reports[:half]
        reports = first if _supported(scheme, target, first) else reports[half:]
    return np.repeat(reports, times, axis=0)


def _supported(scheme: FrequencyScheme, target: Any, reports: Reports) -> bool:
    return bool(scheme.supports(scheme.tally(reports))[target])


@_reports.register
def _(scheme: NumberScheme, target: Any, times: int, _: Rng) -> Reports:
    if target not in (0, scheme.most):
        raise InvalidArgument(
            "target is no end of the grid", must=f"be 0 or {scheme.most}", got=str(target)
        )
    told = possible_numbers(scheme)
    worths = scheme.worths()[told]
    worst = told[worths.argmax() if target else worths.argmin()]
    return as_reports(np.full(times, worst, dtype=np.int64), scheme.outcomes)


@_reports.register
def _(scheme: CondensedResponse, target: Any, times: int, _: Rng) -> Reports:
    values = scheme.distance.values
    if target not in range(values):
        raise InvalidArgument("target is no value", must=f"be 0 to {values - 1}", got=str(target))
    worst = linear.decoder(scheme.law(), np.eye(values))[:, target].argmax()
    return as_reports(np.full(times, worst, dtype=np.int64), values)


@_reports.register
def _(scheme: HashedWords, target: Any, times: int, rng: Rng) -> Reports:
    spelling = spelled(scheme.recipe(), target)
    buckets = np.concatenate([scheme.buckets_of(g, [spelling]) for g in range(scheme.groups)])
    group = np.arange(times, dtype=np.int64) % scheme.groups
    row = uniform_integers(scheme.buckets, times, rng)
    told = 2 * row + parity(row & buckets[group])
    return np.hstack([as_reports(group, scheme.groups), as_reports(told, 2 * scheme.buckets)])


def _worst_text(scheme: object, target: Any, candidates: Sequence[str]) -> Reports:
    """Return the report of the cohort, and with the bits, that add most to a candidate."""
    if not isinstance(scheme, Rappor) or target not in candidates:
        raise InvalidArgument(
            "The attack is not on a candidate of RAPPOR",
            must="name the candidates that are looked for, and one of them as the target",
        )
    weights = decoder(scheme, candidates).weights[list(candidates).index(target)]
    zero = float(scheme.coins.told_zero)
    adds = np.maximum(weights, 0.0).sum(axis=1) - zero * weights.sum(axis=1)
    cohort = np.array([adds.argmax()], dtype=np.int64)
    return np.hstack([as_reports(cohort, scheme.cohorts), packed(weights[cohort] > 0.0)])
