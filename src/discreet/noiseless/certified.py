"""From a statistic and its asserted law to a certificate: curve, reading, verdict."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advice import advise
from discreet.noiseless.certifiable import Certifiable, Target, Way
from discreet.noiseless.certificate import Certificate, CertifiedPoint
from discreet.noiseless.inference import Inference, inferred
from discreet.noiseless.inversion import decimal_up, least_epsilon

Curve = Callable[[Fraction], Mapping[Way, Fraction]]
"""Upper bounds of δ at an ε, by each way."""

DIGITS = 6
"""How many digits of a δ are kept, rounded up."""

_AROUND = tuple(Fraction(quarters, 4) for quarters in (2, 3, 4, 5, 6))

LARGEST_FAILURE = Fraction(1, 1000)
"""The reading for people has an exception at most this likely, wherever the curve allows it."""

CHOSEN_BLINDLY = (
    "The statistic, its clamps, its bins and the law were chosen without looking at the rows, and "
    "so was the decision to publish."
)
NOTHING_BEFORE = (
    "Nothing else was or will be released of these rows or of another version of them, neither "
    "exact nor noisy; or the law holds given all of it."
)


def certified(subject: Certifiable, target: Target, *, given: Iterable[str] = ()) -> Certificate:
    """Return the certificate of a statistic for a target.

    Guarantee:
        The δ of every point is the statistic's own bound, rounded up to six digits.

    Assumes:
        All that the certificate lists as assumed.
    """
    curve = _remembered(subject.deltas)
    deltas = curve(target.epsilon)
    points = _points(curve, target)
    return Certificate(
        statistic=subject.statistic,
        rows=_said(subject, "rows"),
        known=_said(subject, "known"),
        law=_law(subject),
        target=target,
        points=points,
        simulator=subject.simulator,
        assumptions=(*_own(subject), CHOSEN_BLINDLY, _before(tuple(given))),
        breaking_points=subject.breaking_points(target),
        inference=_reading(points, _said(subject, "rows") or 1),
        noise=subject.noise_instead(target),
        advice=advise(subject, target, min(deltas.values())),
        asserted=subject.to_json(),
        live=curve,
    )


def _own(subject: Certifiable) -> tuple[str, ...]:
    return tuple(one for one in subject.assumptions if one not in _IMPLIED)


_IMPLIED = frozenset(
    {
        "The law holds given all that was released of these people before.",
        "Law, clamps and statistic were chosen before anybody looked at the data.",
        "The cells were fixed before anyone saw the rows.",
        "The threshold was fixed before anyone saw the rows.",
        "Columns, clamps, boxes, centres and blocks were chosen without looking at the data.",
        "Nothing else is released of these rows, or the law holds given what is.",
    }
)
"""What the two sentences say that every certificate has."""


def _before(given: tuple[str, ...]) -> str:
    if not given:
        return NOTHING_BEFORE
    named = ", ".join(repr(one) for one in given)
    return (
        f"The law holds given what was released before: {named}. Nothing else was or will be "
        "released of these rows or of another version of them."
    )


def _remembered(deltas: Curve) -> Curve:
    """Return the curve with short numbers that are not below its own, each worked out once."""
    known: dict[Fraction, Mapping[Way, Fraction]] = {}

    def curve(epsilon: Fraction) -> Mapping[Way, Fraction]:
        if epsilon not in known:
            found = deltas(epsilon)
            if not found:
                raise InvalidArgument(
                    "The statistic has no curve", must="have a bound of δ by one way at least"
                )
            known[epsilon] = {
                way: min(Fraction(1), decimal_up(max(Fraction(0), value), DIGITS))
                for way, value in found.items()
            }
        return known[epsilon]

    return curve


def _points(curve: Curve, target: Target) -> tuple[CertifiedPoint, ...]:
    """Return the curve around the ε that was asked for, and around the ε at the δ that was."""
    wanted = target.epsilon
    enough = least_epsilon(
        lambda epsilon: min(curve(epsilon).values()), target.delta, start=wanted or Fraction(1)
    )
    middles = [wanted or Fraction(1), *([enough] if enough else [])]
    around = {decimal_up(middle * factor, 4) for middle in middles for factor in _AROUND}
    exactly = {Fraction(0), wanted, *([] if enough is None else [enough])}
    return tuple(CertifiedPoint(epsilon, curve(epsilon)) for epsilon in sorted(around | exactly))


def _reading(points: tuple[CertifiedPoint, ...], people: int) -> Inference:
    """Return what a reader concludes at most, at the point of the curve that says it best.

    A smaller ε says more of beliefs, and has a larger δ, which makes an exception more likely. So
    it is the smallest one with a rare exception; if there is none, the one with the rarest.
    """
    found = [inferred(point.epsilon, point.delta, people=people) for point in points]
    rare = [one for one in found if one.failure <= LARGEST_FAILURE]
    if rare:
        return min(rare, key=lambda one: one.belief(Fraction(1, 2)))
    return min(found, key=lambda one: one.failure)


def _said(subject: Certifiable, name: str) -> Any:
    """Return what a statistic says beside what all of them do; None if it does not."""
    return getattr(subject, name, None)


def _law(subject: Certifiable) -> str:
    law = _said(subject, "law")
    words = getattr(law, "words", None)
    return "" if law is None else words() if callable(words) else str(law)
