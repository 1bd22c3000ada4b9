"""Calibrate: the least noise that a target allows, for one mechanism or a whole workload."""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import singledispatch

from attrs import evolve, frozen

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.accounting.accounting_question import account
from discreet.accounting.conversions.choose import AUTO
from discreet.accounting.losses.result import Result
from discreet.accounting.pld.parameters import first_within, least_scale, of_digits, place_of
from discreet.accounting.pld.parameters import most_uses as most_uses_within
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp, short

DIGITS = 6
"""Scales are whole numbers of this many digits, times a power of ten."""

_BETTER = Fraction(999, 1000)
"""If the accountant is content with so much less noise, it has a better theorem."""

SMALLEST_EXPONENT, LARGEST_EXPONENT = -12, 15

MOST_USES = 10**15
"""What may be used more often costs next to nothing, and how often is not told."""

SMALLEST_EXCESS = 1e-12


@frozen(kw_only=True, repr=False)
class Calibration:
    """The scale that was found, what it means, and what it spends."""

    scale: Fraction
    event: Event
    result: Result

    @property
    def epsilon(self) -> Fraction:
        """The exact ε that is spent."""
        return self.result.epsilon

    @property
    def delta(self) -> Fraction:
        """The exact δ that is spent."""
        return self.result.delta

    @property
    def rho(self) -> Fraction:
        """The exact ρ that is spent."""
        return self.result.rho

    def __repr__(self) -> str:
        """Show the scale, which is a short decimal, and what it spends, rounded up."""
        return f"scale = {short(self.scale)}: {self.result!r}"


def calibrate(
    make: Callable[[Fraction], Event], *, target: PrivacyLoss, measure: str = AUTO
) -> Calibration:
    """Return the least scale with which ``make(scale)`` spends no more than ``target``.

    A workload is calibrated as one: ``make`` may compose many events whose scales are multiples of
    the one that is looked for.

    Guarantee:
        What ``result`` says is certified, and at most ``target``. The scale has ``DIGITS``
        significant digits, and the next smaller such scale is not certified to stay within the
        target (with one exception: the result need not be monotone to the last bit, so the search
        checks the neighbour that it rejects).

        An (ε, δ) is looked for by privacy-loss distributions at that one ε
        (:func:`discreet.accounting.pld.parameters.least_scale`), on a finer grid than ``account``
        uses. If another theorem allows for less noise, that one is asked at each scale, and the
        whole accountant at the end; if several do, or ``measure`` asks for it, at each scale.

    Assumes:
        The loss falls as the scale grows.

    Example:
        >>> from discreet.events import GaussianEvent
        >>> found = calibrate(GaussianEvent, target=Approximate(1, "1e-6"))
        >>> found
        scale = 4.22468: ε ≤ 1 at δ = 0.000001 (gaussian)
        >>> found.scale, found.epsilon <= 1
        (Fraction(105617, 25000), True)
    """
    _require_target(target)
    if not callable(make):
        raise InvalidArgument(
            "There is nothing to calibrate",
            must="be a function of the scale, such as GaussianEvent or a lambda",
            got=type(make).__name__,
        )
    if isinstance(target, Approximate) and target.delta and target.epsilon and measure == AUTO:
        quick = _quickly(make, target)
        if quick is not None:
            return quick
    return _step_by_step(make, target, measure)


def _quickly(make: Callable[[Fraction], Event], target: Approximate) -> Calibration | None:
    """Search at the target's ε alone, or by the one method that knows better; ``None`` if not."""
    try:
        scale = least_scale(make, epsilon=target.epsilon, delta=target.delta, digits=DIGITS)
    except (Unsupported, InvalidArgument):
        return None
    better = _spend(make(scale * _BETTER), target, AUTO)
    if better is not None:
        return _by_one_method(make, target, better.method)
    event = make(scale)
    result = account(event, delta=target.delta)
    if not result.loss <= target:
        result = evolve(result, loss=target, method="pld", theorem="ZDW22; docs/proofs/pld.md")
    return Calibration(scale=scale, event=event, result=result)


def _by_one_method(
    make: Callable[[Fraction], Event], target: Approximate, method: str
) -> Calibration | None:
    """Search by one method alone; ``None`` if the others allow for less noise together.

    What one method certifies the whole accountant does, so its scale is the whole accountant's if
    the whole accountant is not content with the next smaller one. That takes two of its slow looks,
    and not one at each scale.
    """
    try:
        scale = _step_by_step(make, target, method).scale
    except (Unsupported, InvalidArgument):
        return None
    smaller = of_digits(place_of(scale, DIGITS) - 1, DIGITS)
    if _spend(make(smaller), target, AUTO) is not None:
        return None
    result = _spend(make(scale), target, AUTO)
    if result is None:
        return None
    return Calibration(scale=scale, event=make(scale), result=result)


def _step_by_step(
    make: Callable[[Fraction], Event], target: PrivacyLoss, measure: str
) -> Calibration:
    """Search by asking the whole accountant at each scale."""
    decade = _decade(make, target, measure)
    unit = Fraction(10) ** (decade - DIGITS)
    fails, holds = 10 ** (DIGITS - 1), 10**DIGITS
    best = _spend(make(holds * unit), target, measure)
    if best is None:
        raise _unreachable(target)
    while holds - fails > 1:
        middle = (fails + holds) // 2
        found = _spend(make(middle * unit), target, measure)
        if found is None:
            fails = middle
        else:
            holds, best = middle, found
    scale = holds * unit
    return Calibration(scale=scale, event=make(scale), result=best)


def most_uses(events: Event | Iterable[Event], *, target: PrivacyLoss) -> int:
    """Return how often all ``events`` together can be used within ``target``; 0 if not even once.

    Guarantee:
        That many uses are certified, and one more use is not: by plain sums for a pure or a zCDP
        target; for an (ε, δ) by privacy-loss distributions, and where another theorem allows for
        more, by the whole accountant. Events that may be used more than ``MOST_USES`` times are
        refused.

    Example:
        >>> from discreet.events import GaussianEvent, LaplaceEvent
        >>> most_uses(LaplaceEvent(scale=10), target=Approximate(4, "1e-5"))
        91
        >>> most_uses(LaplaceEvent(scale=10), target=Pure(1))
        10
        >>> most_uses(GaussianEvent(scale=10**6), target=Approximate(1, "1e-6")) // 10**6
        56028
    """
    _require_target(target)
    parts = [events] if isinstance(events, Event) else list(events)
    event = ComposedEvent.of(parts)
    if isinstance(target, Approximate) and target.delta:
        return _most_within(event, target)
    once = _measured(target, event, AUTO).loss
    uses = None if once == once * 0 else math.floor(1 / once.share_of(target))
    if uses is None or uses > MOST_USES:
        raise _costs_nothing()
    return uses


def _most_within(event: Event, target: Approximate) -> int:
    """Count with privacy-loss distributions, and go on where another theorem allows for more."""
    try:
        counted = most_uses_within([event], epsilon=target.epsilon, delta=target.delta)
    except Unsupported:
        counted = 0
    if _spend(event * (counted + 1), target, AUTO) is None:
        return counted

    def over(fewer: int) -> float:
        if -fewer <= counted:
            return -math.inf
        if -fewer > MOST_USES:
            raise _costs_nothing()
        try:
            found = account(event * -fewer, delta=target.delta)
        except Unsupported:
            return math.inf
        # In the square root, because losses of many uses grow about as that does.
        more = math.sqrt(found.epsilon / target.epsilon) - 1
        return min(more, 0.0) if found.loss <= target else max(more, SMALLEST_EXCESS)

    reached = counted + 1
    while over(-8 * reached) <= 0:
        reached *= 8
    return -first_within(over, -reached, 7 * reached)


def _decade(make: Callable[[Fraction], Event], target: PrivacyLoss, measure: str) -> int:
    """Return the first power of ten that is large enough, when the one before it is not."""
    low, high = SMALLEST_EXPONENT, LARGEST_EXPONENT
    if _spend(make(Fraction(10) ** high), target, measure) is None:
        raise _unreachable(target)
    while high - low > 1:
        middle = (low + high) // 2
        is_enough = _spend(make(Fraction(10) ** middle), target, measure) is not None
        low, high = (low, middle) if is_enough else (middle, high)
    return high


def _spend(event: Event, target: PrivacyLoss, measure: str) -> Result | None:
    """Return what ``event`` spends if that is within ``target``."""
    try:
        result = _measured(target, event, measure)
    except Unsupported:
        return None
    return result if result.loss <= target else None


def _costs_nothing() -> Unsupported:
    return Unsupported(
        "These events cost nothing, or next to nothing",
        must=f"be used up within {MOST_USES:,} times",
        next="They may be used as often as one likes",
    )


@singledispatch
def _measured(target: PrivacyLoss, event: Event, measure: str) -> Result:
    raise Unsupported(
        "No accountant answers in this measure",
        must="be a pure, an approximate or a zCDP loss",
        got=target.measure.value,
    )


@_measured.register
def _(target: Pure, event: Event, measure: str) -> Result:
    return Result(loss=pure_loss([event]), method="basic", theorem="DR14, Theorem 3.14")


@_measured.register
def _(target: Zcdp, event: Event, measure: str) -> Result:
    return Result(loss=zcdp_loss([event]), method="zcdp", theorem="BS16, Lemma 2.3")


@_measured.register
def _(target: Approximate, event: Event, measure: str) -> Result:
    return account(event, delta=target.delta, measure=measure)


def _require_target(target: PrivacyLoss) -> None:
    if not isinstance(target, Pure | Approximate | Zcdp) or target == target * 0:
        raise InvalidArgument(
            "No scale meets this target",
            must="be a pure, approximate or zCDP loss above 0",
            got=str(target),
        )


def _unreachable(target: PrivacyLoss) -> Unsupported:
    return Unsupported(
        "No scale that we can account for meets this target",
        must=f"be reached below a scale of 1e{LARGEST_EXPONENT}",
        got=str(target),
        next="Raise the target, lower the count, or give a δ above 0",
    )
