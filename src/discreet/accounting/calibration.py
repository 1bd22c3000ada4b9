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
from discreet.accounting.pld.parameters import least_scale, of_digits, place_of
from discreet.accounting.pld.parameters import most_uses as most_uses_within
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp, short

DIGITS = 6
"""Scales are whole numbers of this many digits, times a power of ten."""

_BETTER = Fraction(999, 1000)
"""If the accountant is content with so much less noise, it has a better theorem."""

SMALLEST_EXPONENT, LARGEST_EXPONENT = -12, 15


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
        That many uses are certified: by plain sums for a pure or a zCDP target, by privacy-loss
        distributions for an (ε, δ), and then one more use is not.

    Example:
        >>> from discreet.events import LaplaceEvent
        >>> most_uses(LaplaceEvent(scale=10), target=Approximate(4, "1e-5"))
        91
        >>> most_uses(LaplaceEvent(scale=10), target=Pure(1))
        10
    """
    _require_target(target)
    parts = [events] if isinstance(events, Event) else list(events)
    if isinstance(target, Approximate):
        return most_uses_within(parts, epsilon=target.epsilon, delta=target.delta)
    event = ComposedEvent.of(parts)
    once = _measured(target, event, AUTO).loss
    if once == once * 0:
        raise Unsupported(
            "These events cost nothing", next="They may be used as often as one likes"
        )
    return math.floor(1 / once.share_of(target))


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
