"""From a statistic and its asserted law to a certificate: curve, reading, verdict."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from attrs import define, field

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advice import advise
from discreet.noiseless.certifiable import Certifiable, PrivacyTarget, Way
from discreet.noiseless.certificate import Certificate, CertifiedPoint
from discreet.noiseless.inference import Inference, inferred
from discreet.noiseless.inversion import decimal_up, least_epsilon

Curve = Callable[[Fraction], Mapping[Way, Fraction]]
"""Upper bounds of δ at an ε, by each way."""

DIGITS = 6
"""How many digits of a δ are kept, rounded up."""

_AROUND = (Fraction(1, 2), Fraction(3, 4), Fraction(5, 4), Fraction(3, 2))
_APART, _FURTHEST = Fraction(1, 6), Fraction(3, 2)
"""Points are at least so far apart, and none is further out than the last by more than that."""

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


def certified(
    subject: Certifiable, target: PrivacyTarget, *, given: Iterable[str] = (), law: str = ""
) -> Certificate:
    """Return the certificate of a statistic for a target; ``law`` is how its law was written.

    Guarantee:
        The δ of every point is the statistic's own bound, rounded up to six digits.

    Assumes:
        All that the certificate lists as assumed.
    """
    curve = _Curve(subject.deltas)
    points = _points(curve, target)
    return Certificate(
        statistic=subject.statistic,
        rows=_said(subject, "rows"),
        known=_said(subject, "known"),
        law=law or _law(subject),
        target=target,
        points=points,
        simulator=subject.simulator,
        assumptions=(*_own(subject), CHOSEN_BLINDLY, _before(tuple(given))),
        breaking_points=subject.breaking_points(target),
        inference=_reading(curve, _said(subject, "rows") or 1),
        noise=subject.noise_instead(target),
        advice=advise(subject, target, curve.least(target.epsilon)),
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


@define
class _Curve:
    """The curve with short numbers that are not below its own, each worked out once."""

    deltas: Curve
    known: dict[Fraction, Mapping[Way, Fraction]] = field(factory=dict)

    def __call__(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        if epsilon not in self.known:
            found = self.deltas(epsilon)
            if not found:
                raise InvalidArgument(
                    "The statistic has no curve", must="have a bound of δ by one way at least"
                )
            self.known[epsilon] = {way: _shortened(value) for way, value in found.items()}
        return self.known[epsilon]

    def least(self, epsilon: Fraction) -> Fraction:
        """Return the least bound at an ε."""
        return min(self(epsilon).values())


def _shortened(delta: Fraction) -> Fraction:
    """Return a short number from 0 to 1 that is not below; what is not 0 stays above 1e-300."""
    if delta <= 0:
        return Fraction(0)
    return min(Fraction(1), decimal_up(max(delta, _SMALLEST), DIGITS))


_SMALLEST = Fraction(1, 10**300)
"""Nobody needs a smaller δ, and exact ones can have thousands of digits."""


def _points(curve: _Curve, target: PrivacyTarget) -> tuple[CertifiedPoint, ...]:
    """Return what was looked at on the way to the ε at the wanted δ, and a little around.

    A bound can take a second to work out, so that nothing is worked out for the table alone. Of
    two that are close together one is shown.
    """
    wanted = target.epsilon
    enough = least_epsilon(curve.least, target.delta, start=wanted)
    around = [middle * factor for middle in (wanted, enough) if middle for factor in _AROUND]
    kept = {Fraction(0), wanted, *([] if enough is None else [enough])}
    for epsilon in (*sorted(curve.known), *(decimal_up(one, 4) for one in around)):
        if epsilon <= _FURTHEST * max(kept) and all(
            abs(epsilon - other) >= _APART * other for other in kept
        ):
            kept.add(epsilon)
    return tuple(CertifiedPoint(epsilon, curve(epsilon)) for epsilon in sorted(kept))


def _reading(curve: _Curve, people: int) -> Inference:
    """Return what a reader concludes at most, at the point of the curve that says it best.

    A smaller ε says more of beliefs, and has a larger δ, which makes an exception more likely. So
    it is the smallest one with a rare exception; if there is none, the one with the rarest.
    """
    found = [inferred(at, curve.least(at), people=people) for at in sorted(curve.known)]
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
