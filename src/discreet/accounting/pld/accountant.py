r"""The accountant of privacy-loss distributions: events to an interval that contains the truth."""

import math
from fractions import Fraction

from discreet.accounting.conversions.from_gaussian import gaussian_to_approximate
from discreet.accounting.losses.result import Result, best
from discreet.accounting.pld.counted_events import Events, Uses, count_events
from discreet.accounting.pld.enclosure import enclose_delta, enclose_epsilon
from discreet.accounting.pld.simple_bounds import simple_results
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Approximate, GaussianDp
from discreet.core.numbers import Number, exact, float_down, float_up

_THEOREM = "ZDW22; docs/proofs/pld.md"
_LEAST_DELTA = Fraction(1, 10**280)
_LEAST_WIDTH = Fraction(1, 10**7)
_LARGEST_EPSILON = 10**4
_FEW = 64
_STEEP = 50.0
"""A δ is narrow if its interval, as a share, is at most this times the width that ε would have."""
_NARROW = "pld"
_WIDE = "pld, wider than asked for"


def pld_epsilon(events: Events, *, delta: Number, width: Number = "1e-3") -> Result:
    r"""Return an ε at which all ``events`` together are (ε, ``delta``)-DP; ``lower`` is below it.

    Guarantee:
        ``loss`` is certified: the discretisation, the tails that were cut off, the round-off of the
        transform and of every float are on the safe side. So is ``lower``: neighbours exist for
        which no smaller ε is true (for events that state a guarantee only: mechanisms and
        neighbours). The two are at most ``width`` times the larger of 1 and ε apart, where a finer
        grid can bring that about; otherwise ``method`` says that they are not. At ``delta`` 0 it is
        the sum of the largest losses.

        Mechanisms may be chosen adaptively, but the events must be fixed beforehand.

    Assumes:
        The bounds of :mod:`discreet.accounting.pld.laws.float_assumptions` on the machine's
        functions.

    Example:
        >>> from discreet.events import LaplaceEvent
        >>> print(pld_epsilon(LaplaceEvent(scale=10) * 100, delta="1e-5"))
        ε = 4.221, δ = 0.00001 (pld: ZDW22; docs/proofs/pld.md)
    """
    counts, target, aim = count_events(events), _delta(delta), _width(width)
    found: list[Result] = []
    refusal = Unsupported(
        "There is no finite loss at a δ of 0",
        must="consist of events with a finite largest loss",
        next="Ask at a δ above 0",
    )
    if target:
        try:
            found.append(_epsilon(counts, target, aim))
        except Unsupported as reason:
            refusal = reason
    found += _simple(counts, found, delta=target)
    if not found:
        raise refusal
    return best(found)


def pld_delta(events: Events, *, epsilon: Number, width: Number = "1e-3") -> Result:
    r"""Return a δ at which all ``events`` together are (``epsilon``, δ)-DP; ``lower`` is below it.

    Guarantee:
        As for :func:`pld_epsilon`; the grid is as fine as ``width`` asks for there. The interval is
        called narrow if its ends differ by at most 50 times ``width`` as a share of δ: about what
        ``width`` in ε makes of it.

    Example:
        >>> from discreet.events import LaplaceEvent
        >>> result = pld_delta(LaplaceEvent(scale=10) * 100, epsilon=4)
        >>> float(result.lower.delta) < 2.67e-5 < float(result.loss.delta)
        True
    """
    counts, at, aim = count_events(events), exact(epsilon), _width(width)
    if not 0 <= at <= _LARGEST_EPSILON:
        raise InvalidArgument(
            "epsilon is out of range",
            must=f"lie between 0 and {_LARGEST_EPSILON}",
            got=str(epsilon),
        )
    found: list[Result] = []
    try:
        found.append(_delta_at(counts, at, aim))
    except Unsupported as reason:
        refusal = reason
    found += _simple(counts, found, at=at)
    if not found:
        raise refusal
    return best(found, by="delta")


def _simple(
    counts: dict[Event, int],
    found: list[Result],
    *,
    delta: Fraction | None = None,
    at: Fraction | None = None,
) -> list[Result]:
    """Return other bounds where they might be better, or where nothing else was found."""
    if found and found[0].method == _NARROW and len(counts) > _FEW:
        return []
    needed = not found or found[0].method == _WIDE
    return simple_results(counts, delta=delta, at=at, concentrated_too=needed)


def _epsilon(counts: dict[Event, int], delta: Fraction, width: Fraction) -> Result:
    if delta < _LEAST_DELTA:
        raise Unsupported("This δ is too small for floats", must=f"be at least {_LEAST_DELTA}")
    uses = Uses.of(counts)
    if not uses.pairs:
        return _gaussian(uses, delta=delta)
    found = enclose_epsilon(uses, float_down(delta), float_up(width))
    if not math.isfinite(found.high):
        raise Unsupported(
            "No ε could be certified at this δ",
            must="be above the chance that something is told with certainty",
            got=f"{float(delta):g}",
            next="Ask at a larger δ",
        )
    narrow = found.high - found.low <= width * max(1.0, found.high)
    return _result(
        Approximate(Fraction(found.high), delta), Approximate(Fraction(found.low), delta), narrow
    )


def _delta_at(counts: dict[Event, int], epsilon: Fraction, width: Fraction) -> Result:
    uses = Uses.of(counts)
    if not uses.pairs:
        return _gaussian(uses, epsilon=epsilon)
    share = float(width) * _STEEP
    found = enclose_delta(uses, float_down(epsilon), float_up(width), share)
    if found.high >= 1.0:
        raise Unsupported("Together these events promise nothing at this ε", next="Use a larger ε")
    low, high = (Approximate(epsilon, Fraction(end)) for end in (found.low, found.high))
    narrow = found.high - found.low <= share * found.high
    return _result(high, low, narrow)


def _result(loss: Approximate, lower: Approximate, narrow: bool) -> Result:
    method = _NARROW if narrow else _WIDE
    says_nothing = not narrow and (lower.epsilon == 0 or lower.delta == 0)
    known = None if says_nothing else lower
    return Result(loss=loss, lower=known, method=method, theorem=_THEOREM)


def _gaussian(
    uses: Uses, *, delta: Fraction | None = None, epsilon: Fraction | None = None
) -> Result:
    """Read the closed form: continuous Gaussians together are one."""
    if not uses.gaussian_squared:
        nothing = Approximate(epsilon or 0, delta or 0)
        return _result(nothing, nothing, narrow=True)
    loss = GaussianDp(mu_squared=uses.gaussian_squared)
    found = gaussian_to_approximate(loss, delta=delta, epsilon=epsilon)
    return Result(loss=found.loss, lower=found.lower, method=_NARROW, theorem=found.theorem)


def _delta(delta: Number) -> Fraction:
    value = exact(delta)
    if not 0 <= value < 1:
        raise InvalidArgument(
            "delta is out of range", must="be at least 0 and below 1", got=str(delta)
        )
    return value


def _width(width: Number) -> Fraction:
    value = exact(width)
    if not _LEAST_WIDTH <= value <= 1:
        raise InvalidArgument(
            "width is out of range", must=f"lie between {_LEAST_WIDTH} and 1", got=str(width)
        )
    return value
