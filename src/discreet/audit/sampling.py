r"""The sampling auditor: a lower bound on :math:`\varepsilon` from outputs alone.

It needs no trust in the mechanism, only the power to run it on two neighbouring data sets. It can
refute a claim; it can never prove one.
"""

import math
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from functools import cached_property, singledispatch
from types import NoneType
from typing import Any

import numpy as np
from attrs import define, field

from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.audit.choose_event import Stakes, choose_event
from discreet.audit.judge_zcdp import Line, judge_line
from discreet.audit.law import ExactLaw
from discreet.audit.output_event import OutputEvent
from discreet.core import check
from discreet.core.check import whole
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
        return (
            f"ε is at least {float(self.epsilon_lower):.4g} at δ = {float(self.delta):.4g}, with "
            f"confidence {float(self.confidence):.10g}: {self.event} in {self.likely_hits} of "
            f"{self.likely_trials} on the {self.likelier_on} data set and in "
            f"{self.unlikely_hits} of {self.unlikely_trials} on the other"
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
        judge_line(one, other, loss).line is Line.CROSSED
        for one, other in ((likely, unlikely), (unlikely, likely))
    )


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
    bits and lattices of the :func:`~discreet.audit.battery.battery`; in a vector, all of that for
    each entry and each difference of two entries in a row, as far as
    :data:`~discreet.audit.output_part.MOST_ENTRIES`.

    Example:
        >>> told_the_truth = ["yes"] * 500
        >>> audit_outputs(told_the_truth, ["no"] * 500, confidence="0.99").epsilon_lower > 3
        True
        >>> print(audit_outputs(range(0, 4000, 2), range(1, 4001, 2)).event)
        the output modulo 2 is 0
    """
    delta, confidence = exact(delta), exact(confidence)
    if not 0 < confidence < 1:
        raise InvalidArgument(
            "confidence is out of range", must="lie strictly between 0 and 1", got=str(confidence)
        )
    samples = {"first": outcomes(first, statistic), "second": outcomes(second, statistic)}
    if min(len(sample) for sample in samples.values()) < _LEAST_SAMPLES:
        raise InvalidArgument("There are too few samples", must="be at least 4 on each side")
    half = {name: sample[: len(sample) // 2] for name, sample in samples.items()}
    rest = {name: sample[len(sample) // 2 :] for name, sample in samples.items()}
    stakes = Stakes(delta=float(delta), failure=float(1 - confidence))
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
    count = whole(samples)
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
    return value  # type: ignore[no-any-return]
