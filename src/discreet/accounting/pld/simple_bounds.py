"""Bounds that need no grid: the largest loss, and zCDP. They hold where floats give up."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from discreet.accounting.accountants.pure import epsilon
from discreet.accounting.accountants.sampling import is_sampled, unsampled
from discreet.accounting.accountants.zcdp import line
from discreet.accounting.conversions.from_zcdp import zcdp_to_approximate
from discreet.accounting.losses.result import Result
from discreet.core.errors import Unsupported
from discreet.core.event import (
    ComposedEvent,
    Event,
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)
from discreet.core.loss import Approximate, Zcdp


def concentrated(event: Event) -> Zcdp:
    r"""Return the zCDP line of an event, or refuse.

    Guarantee:
        A sampled mechanism tells no more than the mechanism itself
        (:func:`discreet.accounting.accountants.sampling.unsampled`): its curve is lower everywhere,
        and a lower curve has lower Rényi divergences. Where it has a pure loss, the square of that
        may be lower still. A mixture has the line of its worst part.
    """
    if isinstance(event, MixtureEvent):
        lines = [concentrated(part) for part, weight in event.parts if weight]
        return Zcdp(rho=max(one.rho for one in lines), xi=max(one.xi for one in lines))
    if isinstance(event, ComposedEvent):
        return sum((concentrated(part) * count for part, count in event.parts), Zcdp(rho=0))
    if not isinstance(event, PoissonSampledEvent | FixedSizeSampledEvent):
        return line(event)
    whole = concentrated(unsampled(event))
    try:
        pure = Zcdp(rho=epsilon(event) ** 2 / 2)
    except Unsupported:
        return whole
    return pure if pure.rho < whole.rho else whole


NOT_USED = "sampling was not used"
"""What ``method`` says where a bound looks at the whole instead of a sample."""


def _is_ignored(event: Event) -> bool:
    return is_sampled(event) and concentrated(event) == concentrated(unsampled(event))


def simple_results(
    counts: Mapping[Event, int],
    *,
    delta: Fraction | None = None,
    at: Fraction | None = None,
    concentrated_too: bool,
) -> list[Result]:
    """Return what the largest loss, and perhaps zCDP, say at a δ, or at an ε (``at``)."""
    ways: list[Callable[[], Result]] = [lambda: _pure(counts, delta, at)]
    if concentrated_too:
        ways.append(lambda: _concentrated(counts, delta, at))
    found = []
    for way in ways:
        try:
            found.append(way())
        except Unsupported:
            continue
    return found


def _pure(counts: Mapping[Event, int], delta: Fraction | None, at: Fraction | None) -> Result:
    total = sum((count * epsilon(event) for event, count in counts.items()), Fraction(0))
    if at is not None and at < total:
        raise Unsupported("The largest loss says nothing below it")
    loss = Approximate(total if at is None else at, delta or 0)
    return Result(loss=loss, method="largest loss", theorem="DR14, Theorem 3.16")


def _concentrated(
    counts: Mapping[Event, int], delta: Fraction | None, at: Fraction | None
) -> Result:
    if delta == 0:
        raise Unsupported("zCDP says nothing at a δ of 0")
    total = Zcdp(rho=0)
    for event, count in counts.items():
        total = total + concentrated(event) * count
    result = zcdp_to_approximate(total, delta=delta, epsilon=at)
    method = f"zCDP, {NOT_USED}" if any(_is_ignored(event) for event in counts) else "zCDP"
    return Result(loss=result.loss, method=method, theorem=result.theorem)
