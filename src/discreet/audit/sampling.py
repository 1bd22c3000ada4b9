r"""The sampling auditor: a lower bound on :math:`\varepsilon` from outputs alone.

It needs no trust in the mechanism, only the power to run it on two neighbouring data sets. It can
refute a claim; it can never prove one.
"""

import math
import threading
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from functools import cached_property, singledispatch
from types import NoneType
from typing import Any

import numpy as np
from attrs import define, field

from discreet.audit.binomial import lower_confidence, upper_confidence, upper_tail_bound
from discreet.audit.bound_text import bound_in_words
from discreet.audit.choose_event import Stakes, choose_event
from discreet.audit.laws import ExactLaw
from discreet.audit.output_event import OutcomeSet, OutputEvent
from discreet.audit.verdict import LineAnswer, judge_line
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds

DEFAULT_CONFIDENCE = Fraction(999_999, 1_000_000)
"""One audit in a million may accuse a sound mechanism."""

_LEAST_SAMPLES = 4
_PLAIN = {int, bool, str, NoneType}


@define(frozen=True, slots=False, kw_only=True)
class AuditResult:
    r"""What an audit found: an event, how often it happened on each side, and what follows.

    Guarantee:
        With probability at least ``confidence`` over the samples, *both* true probabilities of the
        event respect ``likely_low`` and ``unlikely_high``; so every loss that :meth:`refutes`
        refuses is broken, and the true :math:`\varepsilon` at ``delta`` is at least
        ``epsilon_lower``.

        Proof. The event was chosen on one half of the samples and counted on the other. Fix the
        first half: then the event is one fixed set of outputs, whether it was picked from two
        candidates or from thousands, and the samples of the other half are independent of it. So
        each count is binomial, and each one-sided bound fails with probability at most
        :math:`(1 - confidence)/2` [CP34]; add the two. This holds whatever the first half was, and
        so on average over it. If the mechanism is
        :math:`(\varepsilon, \delta)`-DP then :math:`p \le e^\varepsilon p' + \delta`, hence
        :math:`\varepsilon \ge \ln((p - \delta)/p')`, which grows with :math:`p` and falls with
        :math:`p'`. The choice of direction is part of the choice of event.

    Assumes:
        The samples on each side are independent draws of the same mechanism.
    """

    event: OutputEvent
    likelier_on: str
    likely_hits: int
    likely_trials: int
    unlikely_hits: int
    unlikely_trials: int
    delta: Fraction = field(validator=check.below_one)
    confidence: Fraction

    @cached_property
    def likely_low(self) -> Fraction:
        """A lower confidence bound on the event's probability where it is likelier."""
        return lower_confidence(self.likely_hits, self.likely_trials, (1 - self.confidence) / 2)

    @cached_property
    def unlikely_high(self) -> Fraction:
        """An upper confidence bound on the event's probability on the other data set."""
        return upper_confidence(self.unlikely_hits, self.unlikely_trials, (1 - self.confidence) / 2)

    @cached_property
    def epsilon_lower(self) -> Fraction:
        """A lower confidence bound on the true ε at ``delta``; 0 says nothing."""
        above = self.likely_low - self.delta
        if above <= self.unlikely_high:
            return Fraction(0)
        return max(Fraction(0), log_bounds(above / self.unlikely_high)[0])

    def refutes(self, loss: PrivacyLoss) -> bool:
        """Tell whether the samples show, with this confidence, that ``loss`` does not hold."""
        return _refuted(loss, self)

    def __str__(self) -> str:
        bound = bound_in_words(self.epsilon_lower, self.delta, self.confidence)
        return (
            f"{bound}: {self.event} in {self.likely_hits} of {self.likely_trials} on the "
            f"{self.likelier_on} data set and in {self.unlikely_hits} of {self.unlikely_trials} "
            f"on the other"
        )


@singledispatch
def _refuted(loss: PrivacyLoss, result: AuditResult) -> bool:
    raise Unsupported(
        "The auditor does not know this measure",
        must="be pure, approximate or zcdp",
        got=loss.measure.value,
    )


@_refuted.register
def _(loss: Pure, result: AuditResult) -> bool:
    return result.likely_low > exp_bounds(loss.epsilon)[1] * result.unlikely_high


@_refuted.register
def _(loss: Approximate, result: AuditResult) -> bool:
    allowed = exp_bounds(loss.epsilon)[1] * result.unlikely_high + loss.delta
    return result.likely_low > allowed


@_refuted.register
def _(loss: Zcdp, result: AuditResult) -> bool:
    r"""Compare the Rényi divergences of the event alone: no more than those of the whole output.

    For :math:`p \ge q` the divergence of two coins grows with :math:`p` and falls with :math:`q`,
    in both directions. Without ρ the claim is that of a pure loss.
    """
    p, q = result.likely_low, result.unlikely_high
    if p <= q:
        return False
    if not loss.rho:
        return _refuted(Pure(loss.xi), result)
    likely, unlikely = ExactLaw({1: p, 0: 1 - p}), ExactLaw({1: q, 0: 1 - q})
    return any(
        judge_line(one, other, loss).line is LineAnswer.CROSSED
        for one, other in ((likely, unlikely), (unlikely, likely))
    )


def as_confidence(value: Number) -> Fraction:
    """Return a confidence exactly, refusing what does not lie strictly between 0 and 1."""
    found = exact(value)
    if not 0 < found < 1:
        raise InvalidArgument(
            "confidence is out of range", must="lie strictly between 0 and 1", got=str(found)
        )
    return found


def audit_outputs(
    first: Iterable[Any],
    second: Iterable[Any],
    *,
    delta: Number = 0,
    confidence: Number = DEFAULT_CONFIDENCE,
    statistic: Callable[[Any], Hashable] | None = None,
) -> AuditResult:
    """Audit outputs that were drawn on two neighbouring data sets, at least four on each.

    Args:
        first: independent outputs on one data set: an array (one output a row), or any values.
        second: independent outputs on its neighbour.
        delta: the δ at which ε is bounded.
        confidence: how sure the bound must be.
        statistic: what to look at instead of the output, for example the sum of a vector. Its
            values are looked at as outputs would be; a tuple of several things gets a look at each.

    What is looked at without being asked: half-lines and frequent outcomes, and the residues, low
    bits and lattices of the :func:`~discreet.audit.features.battery`; in a vector, all of that for
    each entry and each difference of two entries in a row, as far as
    :data:`~discreet.audit.outputs.MOST_ENTRIES`.

    Example:
        >>> told_the_truth = ["yes"] * 500
        >>> audit_outputs(told_the_truth, ["no"] * 500, confidence="0.99").epsilon_lower > 3
        True
        >>> print(audit_outputs(range(0, 4000, 2), range(1, 4001, 2)).event)
        the output modulo 2 is 0
    """
    delta, confidence = exact(delta), as_confidence(confidence)
    samples = {"first": outcomes(first, statistic), "second": outcomes(second, statistic)}
    if min(len(sample) for sample in samples.values()) < _LEAST_SAMPLES:
        raise InvalidArgument("There are too few samples", must="be at least 4 on each side")
    half = {name: sample[: len(sample) // 2] for name, sample in samples.items()}
    rest = {name: sample[len(sample) // 2 :] for name, sample in samples.items()}
    stakes = Stakes(delta=float(min(exact(delta), Fraction(1))), failure=float(1 - confidence))
    bet = choose_event(half["first"], half["second"], stakes)
    event = bet.event
    likely = rest.pop(bet.likelier_on)
    (unlikely,) = rest.values()
    return AuditResult(
        event=event,
        likelier_on=bet.likelier_on,
        likely_hits=event.count(likely),
        likely_trials=len(likely),
        unlikely_hits=event.count(unlikely),
        unlikely_trials=len(unlikely),
        delta=delta,
        confidence=confidence,
    )


def audit(
    on_first: Callable[[], Any],
    on_second: Callable[[], Any],
    *,
    samples: int,
    delta: Number = 0,
    confidence: Number = DEFAULT_CONFIDENCE,
    statistic: Callable[[Any], Hashable] | None = None,
) -> AuditResult:
    """Run a mechanism ``samples`` times on each of two neighbours, and audit the outputs.

    Example:
        >>> audit(lambda: 0, lambda: 0, samples=100).epsilon_lower
        Fraction(0, 1)
    """
    count = check.whole(samples)
    return audit_outputs(
        [on_first() for _ in range(count)],
        [on_second() for _ in range(count)],
        delta=delta,
        confidence=confidence,
        statistic=statistic,
    )


def outcomes(
    outputs: Iterable[Any], statistic: Callable[[Any], Hashable] | None = None
) -> list[Hashable]:
    """Return outputs as hashable values: arrays become tuples, and every NaN is the same."""
    plain = outputs.tolist() if isinstance(outputs, np.ndarray) else outputs
    values = plain if statistic is None else map(statistic, plain)
    return [_hashable(value) for value in values]


def _hashable(value: Any) -> Hashable:
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(_hashable(item) for item in value)
    if isinstance(value, float) and value != value:
        return math.nan
    if not isinstance(value, Hashable):
        raise InvalidArgument(
            "An output cannot be compared with others",
            must="be a number, a text, or a list of such",
            got=type(value).__name__,
            next="Say with statistic= what is to be looked at",
        )
    return value


class AuditSuite:
    r"""A family of audits that together raise a false alarm with probability at most ``alpha``.

    Guarantee:
        The :math:`k`-th audit may fail with probability :math:`\alpha / (k(k+1))`. These sum to
        less than :math:`\alpha` however many audits there are, so the number need not be known
        beforehand, and by the union bound all bounds of the suite hold at once with probability
        at least :math:`1 - \alpha`. A small share costs little: the number of samples needed grows
        with its logarithm.

    Assumes:
        Each audit draws its own samples; repeating one until it passes is not a new suite.

    Example:
        >>> suite = AuditSuite(alpha="0.001")
        >>> suite.take_share(), suite.take_share()
        (Fraction(1, 2000), Fraction(1, 6000))
    """

    def __init__(self, *, alpha: Number) -> None:
        self.alpha = exact(alpha)
        if not 0 < self.alpha < 1:
            raise InvalidArgument(
                "alpha is out of range", must="lie strictly between 0 and 1", got=str(alpha)
            )
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def audits(self) -> int:
        """How many audits the suite has paid for."""
        return self._taken

    def take_share(self) -> Fraction:
        """Return the failure probability of the next audit, and count it."""
        with self._lock:
            self._taken += 1
            return self.alpha / (self._taken * (self._taken + 1))

    def audit(
        self,
        on_first: Callable[[], Any],
        on_second: Callable[[], Any],
        *,
        samples: int,
        loss: PrivacyLoss | None = None,
        statistic: Callable[[Any], Hashable] | None = None,
    ) -> AuditResult:
        """Audit one mechanism with the next share; a claimed ``loss`` sets the δ to look at."""
        return audit(
            on_first,
            on_second,
            samples=samples,
            delta=loss.delta if isinstance(loss, Approximate) else 0,
            confidence=1 - self.take_share(),
            statistic=statistic,
        )


def detectable_epsilon(
    likely: Number,
    unlikely: Number,
    *,
    samples: int,
    delta: Number = 0,
    confidence: Number = DEFAULT_CONFIDENCE,
    power: Number = Fraction(9, 10),
) -> Fraction:
    r"""Return the :math:`\varepsilon` that an audit certifies with probability at least ``power``.

    Any claim below the returned number is refuted that often. The two masses are the probabilities
    of the event on the two data sets, for example from the exact verifier's laws; the gap between
    :math:`\ln((likely - \delta)/unlikely)` and the result is what this many samples cannot see.

    Guarantee:
        Proof. Half of the samples are counted. The certified bound grows with the count on the
        likely side and falls with the other count, and each count is on the wrong side of its
        limit below with probability at most :math:`(1 - power)/2`, by certified binomial tails.

    Assumes:
        The audit bets on this event, or on a better one.

    Example:
        >>> few, many = (detectable_epsilon("3/4", "1/4", samples=n) for n in (200, 20_000))
        >>> few < many < Fraction("1.0987")
        True
    """
    likely, unlikely, power = exact(likely), exact(unlikely), exact(power)
    if not (0 <= unlikely <= 1 and 0 <= likely <= 1 and 0 < power < 1):
        raise InvalidArgument("A probability is out of range", must="lie between 0 and 1")
    trials = check.whole(samples) - check.whole(samples) // 2
    if trials < 1:
        raise InvalidArgument("samples is out of range", must="be at least 1", got=str(samples))
    miss = (1 - power) / 2
    result = AuditResult(
        event=OutcomeSet(frozenset()),
        likelier_on="first",
        likely_hits=trials - _most(trials, 1 - likely, miss),
        likely_trials=trials,
        unlikely_hits=_most(trials, unlikely, miss),
        unlikely_trials=trials,
        delta=exact(delta),
        confidence=exact(confidence),
    )
    return result.epsilon_lower


def _most(trials: int, probability: Fraction, miss: Fraction) -> int:
    """Return a number that a binomial count exceeds with probability at most ``miss``."""
    low, high = -1, trials
    while high - low > 1:
        middle = (low + high) // 2
        if upper_tail_bound(middle + 1, trials, probability) <= miss:
            high = middle
        else:
            low = middle
    return high
