"""A certificate: what an exact release keeps, what that assumes, and how far it can be wrong."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from attrs import evolve, field, frozen

from discreet.core.canonical import digest
from discreet.core.check import chosen, optional_whole
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_heading, html_notes, html_page, html_steps, html_table
from discreet.core.loss import short
from discreet.core.numbers import Number, exact, written
from discreet.core.terminal_text import lines, text_steps, text_table
from discreet.noiseless.advice import Advice, Advised
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.inference import Inference, inferred
from discreet.noiseless.inversion import decimal_up, least_epsilon

FORMAT = "discreet.certificate/2"
"""The name of the stored form."""

_WITHOUT_DIGEST = "discreet.certificate/1"
"""The form of the first versions."""


def _by_way(values: Mapping[Way, Fraction]) -> Mapping[Way, Fraction]:
    return dict(values)


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


def _limits(values: Iterable[BreakingPoint]) -> tuple[BreakingPoint, ...]:
    return tuple(values)


def _asserted(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict(values)


@frozen
class CertifiedPoint:
    """Upper bounds of δ at one ε, by each way."""

    epsilon: Fraction
    deltas: Mapping[Way, Fraction] = field(converter=_by_way)

    @property
    def delta(self) -> Fraction:
        """The least of the bounds, which all hold."""
        return min(self.deltas.values())


def _points(values: Iterable[CertifiedPoint]) -> tuple[CertifiedPoint, ...]:
    return tuple(values)


@frozen(kw_only=True)
class Certificate:
    """What was certified of an exact statistic, before a row of it was read.

    Attributes:
        statistic: What is released, in words.
        rows: How many rows it is of; None if the statistic does not say.
        known: How many of them the adversary may know.
        law: What is asserted of a row, in words.
        target: The ε and δ that were asked for.
        points: Upper bounds of δ at several ε, by each way.
        simulator: What imitates the release without one person's row.
        assumptions: All that is assumed, a sentence each.
        breaking_points: How far each can be wrong before the target is missed.
        inference: What a reader concludes of anybody, at most.
        noise: What differential privacy would add instead; None if it cannot.
        advice: The verdict.
        asserted: All that is asserted, as it is written to a ledger.

    Guarantee:
        Every δ is an upper bound if the assumptions are true, and worth nothing if they are not.
        ``epsilon`` and ``delta`` never say less than a point of the curve does.
    """

    statistic: str
    rows: int | None = field(converter=optional_whole)
    known: int | None = field(converter=optional_whole)
    law: str
    target: PrivacyTarget
    points: tuple[CertifiedPoint, ...] = field(converter=_points)
    simulator: str
    assumptions: tuple[str, ...] = field(converter=_texts)
    breaking_points: tuple[BreakingPoint, ...] = field(converter=_limits)
    inference: Inference | None
    noise: NoiseInstead | None
    advice: Advice
    asserted: Mapping[str, Any] = field(converter=_asserted)
    live: Callable[[Fraction], Mapping[Way, Fraction]] | None = field(
        default=None, eq=False, repr=False
    )
    """The curve itself; one that was read from a file has only its points."""

    @property
    def may_publish(self) -> bool:
        """Whether the exact statistic keeps the target as it is."""
        return self.advice.verdict is Advised.PUBLISH

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways that there are for this statistic, in their order."""
        found = {way for point in self.points for way in point.deltas}
        return tuple(way for way in Way if way in found)

    def delta(self, epsilon: Number, *, way: Way | str | None = None) -> Fraction:
        """Return an upper bound of δ at ``epsilon``, by the best way or by one of them.

        A certificate that was read from a file knows its points alone. It takes the nearest one
        below: δ falls as ε grows.
        """
        wanted = exact(epsilon)
        if wanted < 0:
            raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(wanted))
        return self._at(wanted, None if way is None else self._way(way))

    def epsilon(self, delta: Number, *, way: Way | str | None = None) -> Fraction | None:
        """Return an ε at which δ is at most ``delta``, close to the least; None if none is found.

        Of a certificate that was read from a file it is the least of its points.
        """
        wanted, by = exact(delta), None if way is None else self._way(way)
        if not 0 <= wanted <= 1:
            raise InvalidArgument(
                "delta is out of range", must="lie between 0 and 1", got=str(wanted)
            )
        if self.live is not None:
            start = self.target.epsilon or Fraction(1)
            return least_epsilon(partial(self._at, way=by), wanted, start=start)
        will_do = [p.epsilon for p in self.points if _of(p.deltas, by) <= wanted]
        return min(will_do, default=None)

    def _at(self, epsilon: Fraction, way: Way | None) -> Fraction:
        if self.live is not None:
            return _of(self.live(epsilon), way)
        below = [p for p in self.points if p.epsilon <= epsilon]
        return min((_of(p.deltas, way) for p in below), default=Fraction(1))

    def _way(self, way: Way | str) -> Way:
        found = chosen(Way, way, noun="way")
        if found not in self.ways:
            raise InvalidArgument(
                f"This statistic has no curve by way of {found.value}",
                must=f"be one of {', '.join(one.value for one in self.ways)}",
            )
        return found

    # ------------------------------------------------------------ for people

    def steps(self) -> list[tuple[str, str]]:
        """Return everything but the curve, as headings and sentences."""
        asked = f"ε = {short(self.target.epsilon)} and δ = {short(self.target.delta)}"
        found = [
            ("Verdict", self.advice.headline()),
            ("Because", self.advice.because),
            ("Statistic", self.statistic),
            ("Law", "" if self.law in self.assumptions else self.law),
            ("Asked for", asked),
            ("Simulator", self.simulator),
        ]
        found += [("Assumed" if not i else "", one) for i, one in enumerate(self.assumptions)]
        for index, point in enumerate(self.breaking_points):
            found.append(("Breaks" if not index else "", breaking_sentence(point)))
        if self.inference is not None:
            found.append(("A reader concludes", self.inference.sentence()))
        if self.noise is not None:
            found.append(("With noise instead", self.noise.words))
        # A law stays as it was written, so that it can be asserted again.
        cased = ((name, text if name == "Law" else _sentence_case(text)) for name, text in found)
        return [(name, text) for name, text in cased if text]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the curve as a table: ε, and δ by each way."""
        headings = ["ε", *(f"δ ({way.value})" for way in self.ways)]
        cells = [
            [
                short(point.epsilon),
                *(_shown(point.deltas[w]) if w in point.deltas else "" for w in self.ways),
            ]
            for point in self.points
        ]
        return headings, cells

    def __str__(self) -> str:
        """Return the certificate for people who read it in a terminal."""
        return "\n\n".join([text_steps(self.steps()), text_table(*self.cells()), lines(CAVEAT)])

    def _repr_html_(self) -> str:
        head, *rest = self.steps()
        return html_page(
            html_heading(head[1]), html_steps(rest), html_table(*self.cells()), html_notes([CAVEAT])
        )

    # ------------------------------------------------------------ stored

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values, with their digest; every number is exact."""
        found = {"format": FORMAT, **self._said()}
        return {**found, DIGEST: digest(found)}

    def _said(self) -> dict[str, Any]:
        return {
            "statistic": self.statistic,
            "rows": self.rows,
            "known": self.known,
            "law": self.law,
            "target": _numbers(epsilon=self.target.epsilon, delta=self.target.delta),
            "points": [
                {
                    "epsilon": written(point.epsilon),
                    "deltas": {way.value: written(point.deltas[way]) for way in point.deltas},
                }
                for point in self.points
            ],
            "simulator": self.simulator,
            "assumptions": list(self.assumptions),
            "breaking_points": [
                {
                    "what": point.what,
                    "limit": None if point.limit is None else written(point.limit),
                    "words": point.words,
                }
                for point in self.breaking_points
            ],
            "inference": None if self.inference is None else self.inference.to_json(),
            "noise": None
            if self.noise is None
            else _numbers(scale=self.noise.scale, error=self.noise.error)
            | {"words": self.noise.words},
            "advice": self.advice.to_json(),
            "asserted": dict(self.asserted),
        }

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> "Certificate":
        """Return a certificate that was stored. It has its points, and the curve no more.

        Its numbers are not worked out again. That they agree is looked at: the verdict with the
        points, the reading with the curve, and what is said with what is asserted. So is the
        digest, which finds what was changed since; it is no signature, and whoever writes a file
        can write another. Certify again what comes from somebody whom you do not trust.
        """
        try:
            found = _read(stored)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise InvalidArgument(
                "That is no certificate", must=f"be what to_json returned, of format {FORMAT}"
            ) from None
        for words, is_so in _agreements(found):
            if not is_so:
                raise InvalidArgument(f"The certificate contradicts itself: {words}", must="agree")
        if stored["format"] == FORMAT:
            _require_digest(stored)
        return found

    def stored(self) -> "Certificate":
        """Return the certificate as it would be read again: its points without the curve."""
        return evolve(self, live=None)


CAVEAT = (
    "No row was read for this. It follows from what is asserted of the rows, and is worth as much "
    "as that. It covers this one release: nothing adds up over several exact releases."
)


def breaking_sentence(point: BreakingPoint) -> str:
    """Return a breaking point as a sentence.

    Example:
        >>> print(breaking_sentence(BreakingPoint("known rows", Fraction(1200), "It is lost.")))
        known rows: 1,200 will do. It is lost.
    """
    if point.limit is None:
        return f"{point.what}: no value will do. {point.words}"
    limit = point.limit
    shown = f"{limit.numerator:,}" if limit.denominator == 1 else short(limit)
    return f"{point.what}: {shown} will do. {point.words}"


def _of(deltas: Mapping[Way, Fraction], way: Way | None) -> Fraction:
    return min(deltas.values()) if way is None else deltas[way]


def _shown(delta: Fraction) -> str:
    return short(decimal_up(delta, 3))


def _sentence_case(text: str) -> str:
    """Begin with a capital letter; ε and δ stay as they are, for other letters mean other things.

    Example:
        >>> _sentence_case("δ is small"), _sentence_case("the sum")
        ('δ is small', 'The sum')
    """
    return text[:1].upper() + text[1:] if text[:1].isascii() else text


def _numbers(**values: Fraction) -> dict[str, str]:
    return {name: written(value) for name, value in values.items()}


DIGEST = "digest"


def _require_digest(stored: Mapping[str, Any]) -> None:
    try:
        is_same = stored.get(DIGEST) == digest({k: v for k, v in stored.items() if k != DIGEST})
    except TypeError:  # a float, which no certificate has
        is_same = False
    if not is_same:
        raise InvalidArgument(
            "The certificate was changed since it was written",
            must="have the digest of all that it says",
            next="Certify again",
        )


_NEARLY = Fraction(9, 10)
"""Bounds may not fall as exactly as what they bound."""


def _agreements(found: Certificate) -> Iterator[tuple[str, bool]]:
    """Yield what must be so between the parts of a certificate, and whether it is."""
    deltas = [delta for point in found.points for delta in point.deltas.values()]
    yield "a δ is no probability", bool(deltas) and all(0 <= one <= 1 for one in deltas)
    epsilons = [point.epsilon for point in found.points]
    yield "its points are out of order", epsilons == sorted({*epsilons}) and epsilons[0] >= 0
    yield "it asks for no δ", 0 <= found.target.delta < 1
    if found.rows is not None and found.known is not None:
        yield "all rows are known, or more", 0 <= found.known < found.rows
    at = [point.delta for point in found.points if point.epsilon == found.target.epsilon]
    yield "it has no point at the ε that was asked for", len(at) == 1
    yield (
        "the verdict is not that of its point",
        found.may_publish == (at[0] <= found.target.delta),
    )
    for name, said in (("rows", found.rows), ("known", found.known)):
        is_same = said is None or found.asserted.get(name, said) == said
        yield f"other {name} are asserted than it says", is_same
    if found.inference is not None:
        yield "the reading is of other people", found.inference.people == (found.rows or 1)
        # The curve falls, so at the reading's ε it is at least what it is at the next point.
        loss = found.inference.epsilon / 3
        beyond = max((p.delta for p in found.points if p.epsilon >= loss), default=Fraction(0))
        least = inferred(loss, beyond * _NEARLY, people=found.inference.people)
        is_enough = found.inference.failure >= least.failure
        yield (
            "the reading says less than the curve",
            is_enough and (found.inference.delta >= least.delta),
        )


def _read(stored: Mapping[str, Any]) -> Certificate:
    if stored["format"] not in (FORMAT, _WITHOUT_DIGEST):
        raise ValueError
    noise, inferred = stored["noise"], stored["inference"]
    return Certificate(
        statistic=stored["statistic"],
        rows=stored["rows"],
        known=stored["known"],
        law=stored["law"],
        target=PrivacyTarget(exact(stored["target"]["epsilon"]), exact(stored["target"]["delta"])),
        points=[
            CertifiedPoint(
                exact(point["epsilon"]),
                {Way(way): exact(value) for way, value in point["deltas"].items()},
            )
            for point in stored["points"]
        ],
        simulator=stored["simulator"],
        assumptions=stored["assumptions"],
        breaking_points=[
            BreakingPoint(
                point["what"],
                None if point["limit"] is None else exact(point["limit"]),
                point["words"],
            )
            for point in stored["breaking_points"]
        ],
        inference=None if inferred is None else Inference.from_json(inferred),
        noise=None
        if noise is None
        else NoiseInstead(exact(noise["scale"]), exact(noise["error"]), noise["words"]),
        advice=Advice.from_json(stored["advice"]),
        asserted=stored["asserted"],
    )
