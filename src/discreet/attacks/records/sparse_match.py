"""Approximate matching of sparse rows: a few ratings that somebody told find all the others."""

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.attacks.records.coded_rows import CodedRows, plain_value
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray

FloatArray = NDArray[np.float64]

STAND_INS = 199
"""So many published people stand in for strangers, if there are as many."""

MOST_ALIKE = 8
"""For each of them the ratings are chosen that make so many others most alike, one by one."""


@frozen(kw_only=True, eq=False, repr=False)
class SparseRows:
    """Who did what with which of many things, how and when: a line for each. Private."""

    people: tuple[Any, ...]
    items: tuple[Any, ...]
    person: IntArray
    item: IntArray
    value: FloatArray | None
    day: FloatArray | None

    def __repr__(self) -> str:
        """Return how many there are."""
        return f"SparseRows({self.person.size:,} lines of {len(self.people):,} people)"


def sparse_rows(
    rows: CodedRows, *, person: str, item: str, value: str | None = None, date: str | None = None
) -> SparseRows:
    """Return lines of people and things, sorted by the thing.

    Lines without a person or a thing are left out. A value or a date that is NULL agrees with none.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> sparse_rows(code_rows({"who": [1, 1, 2], "film": ["a", "b", "a"]}),
        ...     person="who", item="film")
        SparseRows(3 lines of 2 people)
    """
    if value is None and date is None and person == item:
        raise InvalidArgument("A person is no thing", must="be two columns", got=person)
    whose, what = rows.column(person), rows.column(item)
    is_named = np.array([one is not None for one in whose.values], dtype=np.bool_)[whose.codes]
    is_named &= np.array([one is not None for one in what.values], dtype=np.bool_)[what.codes]
    kept = np.flatnonzero(is_named)
    if kept.size == 0:
        raise InvalidArgument("No line has both a person and a thing", got=f"{person}, {item}")
    kept = kept[np.argsort(what.codes[kept], kind="stable")]
    # NULL is a value of a column, and nobody's name.
    names, numbers = np.unique(whose.codes[kept], return_inverse=True)
    return SparseRows(
        people=tuple(whose.values[code] for code in names.tolist()),
        items=what.values,
        person=numbers.astype(np.int64),
        item=what.codes[kept],
        value=None if value is None else _numbers(rows, value)[kept],
        day=None if date is None else _numbers(rows, date)[kept],
    )


def _numbers(rows: CodedRows, name: str) -> FloatArray:
    found = rows.column(name)
    return np.array([_number(one, name) for one in found.values], dtype=np.float64)[found.codes]


def _number(one: Any, name: str) -> float:
    if one is None:
        return math.nan
    if isinstance(one, datetime):
        return one.toordinal() + (one.hour * 60 + one.minute) / 1440
    if isinstance(one, date):
        return float(one.toordinal())
    try:
        return float(one)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(
            f"{name} cannot be compared", must="be numbers, or dates as in 2026-11-30"
        ) from None


class MatchVerdict(Enum):
    """What a match says."""

    MATCHED = "matched"
    CANNOT_TELL = "cannot tell"


@frozen(kw_only=True)
class SparseMatch:
    """Which published person somebody is, if that can be told. Private."""

    verdict: MatchVerdict
    known_as: Any
    """Whose ratings were known."""
    published_as: Any
    """Who that is among the published, ``None`` if it cannot be told."""
    eccentricity: float
    """How far the best score is above the second, in standard deviations of all."""
    agreeing: int
    """In how many known things the best agrees, within both scales."""
    known: int
    """How many things are known."""
    by_chance: float
    """How many of the published would agree in as many, if ratings were independent."""
    strangers: int = 0
    """How many who are certainly others would be named as surely, of those that were tried."""
    tried: int = 0

    def __str__(self) -> str:
        """Return the finding in a sentence, and nobody's name."""
        seen = (
            f"eccentricity {self.eccentricity:.3g}, {self.agreeing} of {self.known} known agree, "
            f"{self.by_chance:.2g} people expected by chance"
        )
        if self.tried:
            seen += f"; as surely, {self.strangers} of {self.tried} strangers are named"
        if self.verdict is MatchVerdict.MATCHED:
            return f"One published person matches ({seen})."
        return f"Cannot tell: nobody stands out ({seen})."

    def to_json(self) -> dict[str, Any]:
        """Return the match for other programs."""
        return {
            "verdict": self.verdict.value,
            "known_as": plain_value(self.known_as),
            "published_as": plain_value(self.published_as),
            "eccentricity": self.eccentricity,
            "agreeing": self.agreeing,
            "known": self.known,
            "by_chance": self.by_chance,
            "strangers": self.strangers,
            "tried": self.tried,
        }


def _float(value: Number) -> float:
    try:
        return float(exact(value))
    except OverflowError:
        raise InvalidArgument("A scale is out of range", must="be a float") from None


@frozen(kw_only=True)
class MatchScales:
    """How far ratings and dates may be off, and how much one person must stand out.

    The scales and the eccentricity are those of [NS08, section 5].
    """

    rating: float = field(default=1.5, converter=_float)
    days: float = field(default=30.0, converter=_float)
    eccentricity: float = field(default=1.5, converter=_float)
    chance: float = field(default=0.05, converter=_float)
    """The most people who may be expected to agree as much by chance, and the largest share of
    strangers who may be named as surely."""

    def __attrs_post_init__(self) -> None:
        if not (self.rating > 0 and self.days > 0 and self.eccentricity >= 0 < self.chance):
            raise InvalidArgument(
                "A scale is out of range",
                must="be above 0 for ratings, days and chance, and from 0 for the eccentricity",
            )


def match_sparse(
    released: SparseRows,
    known: SparseRows,
    *,
    scales: MatchScales | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> tuple[SparseMatch, ...]:
    r"""Return for each person of whom a little is known who that is among the published.

    Guarantee:
        The score of a published person is the sum over the known ratings that the person has of
        :math:`w (e^{-|\Delta r|/\rho_0} + e^{-|\Delta d|/d_0})` with
        :math:`w = 1/\ln \max(2, n)`, where :math:`n` published people have the thing
        [NS08, sections 4 and 5]. (Without the 2 a thing that one person has would weigh
        infinitely.) The best is named if it is above the second by so many standard deviations of
        all scores.

        That test alone is fooled where hardly anybody shares anything: one accidental agreement
        among :math:`n` scores of 0 is :math:`\sqrt n` deviations above them. So the best must also
        agree in more things than chance explains; a thing of which several ratings are known counts
        once, and agrees if all of them do. If people agreed in the known things independently,
        each as often as the other published people do (one more added to these, so that none is
        never), the number of agreements would be a sum of independent bits, whose tail is computed;
        times the number of people it must be small.

        Things are not independent, though: whoever saw one part of a series saw the others. So
        published people stand in for strangers, and are matched with all *other* published people.
        Nobody knows how the known ratings were chosen, and those of one series say the least.
        So for each stand-in those of the ratings are taken, as many as are known, by which somebody
        else is most alike. If more than a share of stand-ins would be named as surely, that is how
        a stranger would look, and the verdict is "cannot tell", as it is wherever a test fails. A
        stranger who is like the published ones has a place among the stand-ins that is as likely as
        any other, and ratings that were chosen in another way name nobody more surely. So such a
        stranger is named in about that share of cases at most, if what is known of them is true.
        All of this is tests, and no proof: who is named may be somebody alike.

    Assumes:
        Values and dates are on the same scales in both. Where neither table has them, having the
        thing is all that agrees.

    Utility:
        [NS08] found 99 % of subscribers from eight ratings, two of them wrong, and dates within 14
        days. What is found in a table depends on how sparse it is.

    Example:
        >>> from discreet.attacks.records.coded_rows import code_rows
        >>> films, marks = list("abcdefgh"), [5, 1, 4, 2, 5, 3, 1, 2]
        >>> rated = {"who": [7] * 8 + list(range(20, 60)), "film": films + ["a"] * 40,
        ...     "mark": marks + [3] * 40}
        >>> told = {"name": ["Ann"] * 4, "film": films[:4], "mark": [5, 1, 5, 2]}
        >>> (found,) = match_sparse(
        ...     sparse_rows(code_rows(rated), person="who", item="film", value="mark"),
        ...     sparse_rows(code_rows(told), person="name", item="film", value="mark"),
        ... )
        >>> found.published_as
        7
    """
    used = MatchScales() if scales is None else scales
    if (released.value is None) != (known.value is None) or (released.day is None) != (
        known.day is None
    ):
        raise InvalidArgument(
            "The tables do not have the same columns", must="both have values, and both dates"
        )
    places = {value: place for place, value in enumerate(released.items)}
    starts = np.searchsorted(released.item, np.arange(len(released.items) + 1))
    strangers: dict[int, FloatArray] = {}
    found = []
    for whose in range(len(known.people)):
        lines = np.flatnonzero(known.person == whose)
        match = _matched(released, known, lines, places, starts, used)
        if match.verdict is MatchVerdict.MATCHED:
            if match.known not in strangers:
                strangers[match.known] = _stand_ins(released, match.known, starts, used)
            match = _compared(match, strangers[match.known], used)
        found.append(match)
        if on_step is not None:
            on_step(whose + 1, len(known.people))
    return tuple(found)


def _stand_ins(
    released: SparseRows, size: int, starts: IntArray, scales: MatchScales
) -> FloatArray:
    """Return how surely published people are taken for somebody else, by so many ratings."""
    order = np.argsort(released.person, kind="stable")
    ends = np.searchsorted(released.person[order], np.arange(len(released.people) + 1))
    rich = np.flatnonzero(np.diff(ends) >= size)
    rich = rich if rich.size else np.arange(len(released.people))
    chosen = rich[np.linspace(0, rich.size - 1, min(STAND_INS, rich.size)).astype(np.int64)]
    lines = [order[ends[whose] : ends[whose + 1]] for whose in chosen.tolist()]
    return np.array([_surest(released, one, size, starts, scales) for one in lines])


def _surest(
    released: SparseRows, lines: IntArray, size: int, starts: IntArray, scales: MatchScales
) -> float:
    """Return how many would agree by chance, for the choice of ratings that makes them fewest.

    A choice is made for each of those who agree most: what they agree in, the rarest first.
    """
    whose, count = int(released.person[lines[0]]), len(released.people)
    agreeing: dict[int, IntArray] = {}
    for line in lines.tolist():
        thing = int(released.item[line])
        there = np.arange(starts[thing], starts[thing + 1])
        near = released.person[there[_alike(released, released, there, line, scales)[1]]]
        people = np.unique(near[near != whose])
        before = agreeing.get(thing, people)
        agreeing[thing] = np.intersect1d(people, before, assume_unique=True)
    rarest = sorted(agreeing.values(), key=len)
    gains, taken = np.zeros(count), np.zeros(count, dtype=np.int64)
    for people in rarest:
        still = people[taken[people] < size]
        taken[still] += 1
        gains[still] += math.log((count + 1) / max(1, people.size))
    found = []
    for other in np.argsort(gains)[-MOST_ALIKE:].tolist():
        is_own = [bool((people == other).any()) for people in rarest]
        own = [one.size for one, agrees in zip(rarest, is_own, strict=True) if agrees][:size]
        rest = [one.size + 1 for one, agrees in zip(rarest, is_own, strict=True) if not agrees]
        sizes = [*own, *rest[: size - len(own)]]
        found.append(count * _tail([one / (count + 1) for one in sizes], len(own)))
    return min(found)


def _compared(match: SparseMatch, strangers: FloatArray, scales: MatchScales) -> SparseMatch:
    """Name nobody if too many strangers would be named as surely."""
    surer = int((strangers <= match.by_chance).sum())
    found = evolve(match, strangers=surer, tried=strangers.size)
    if surer + 1 <= max(1.0, scales.chance * (strangers.size + 1)):
        return found
    return evolve(found, verdict=MatchVerdict.CANNOT_TELL, published_as=None)


def _matched(
    released: SparseRows,
    known: SparseRows,
    lines: IntArray,
    places: dict[Any, int],
    starts: IntArray,
    scales: MatchScales,
) -> SparseMatch:
    """Match one person by what is known."""
    size = len(released.people)
    scores = np.zeros(size)
    agreeing: dict[int, IntArray] = {}
    for line in lines.tolist():
        thing = int(known.item[line])
        place = places.get(known.items[thing])
        if place is None:
            agreeing[thing] = np.zeros(0, dtype=np.int64)
            continue
        there = np.arange(starts[place], starts[place + 1])
        alike, near = _alike(released, known, there, line, scales)
        whose = released.person[there]
        # Whoever has a thing twice is as alike as the more alike of both.
        best = np.zeros(size)
        np.maximum.at(best, whose, alike)
        scores += best / math.log(max(2, np.unique(whose).size))
        people = np.unique(whose[near])
        before = agreeing.get(thing, people)
        agreeing[thing] = np.intersect1d(people, before, assume_unique=True)
    name = known.people[known.person[lines[0]]]
    return _judged(released, scores, list(agreeing.values()), name, scales)


def _alike(
    released: SparseRows, known: SparseRows, there: IntArray, line: int, scales: MatchScales
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return how alike these lines are to a known one, and which agree within the scales."""
    pairs = [
        (ours, theirs, scale)
        for ours, theirs, scale in (
            (released.value, known.value, scales.rating),
            (released.day, known.day, scales.days),
        )
        if ours is not None and theirs is not None
    ]
    if not pairs:
        return np.ones(there.size), np.ones(there.size, dtype=np.bool_)
    gaps = [np.abs(ours[there] - theirs[line]) / scale for ours, theirs, scale in pairs]
    alike = sum((np.where(np.isnan(gap), 0, np.exp(-gap)) for gap in gaps), np.zeros(there.size))
    near = np.all([gap <= 1 for gap in gaps], axis=0)
    return alike, np.asarray(near, dtype=np.bool_)


def _judged(
    released: SparseRows,
    scores: FloatArray,
    agreeing: Sequence[IntArray],
    name: Any,
    scales: MatchScales,
) -> SparseMatch:
    best = int(scores.argmax())
    rest = np.delete(scores, best)
    spread = float(scores.std())
    above = (float(scores[best]) - float(rest.max())) / spread if rest.size and spread > 0 else 0.0
    is_own = [bool((people == best).any()) for people in agreeing]
    others = [people.size - own for people, own in zip(agreeing, is_own, strict=True)]
    tail = _tail([(count + 1) / (scores.size + 1) for count in others], sum(is_own))
    chance = scores.size * tail
    is_found = above > scales.eccentricity and chance <= scales.chance
    return SparseMatch(
        verdict=MatchVerdict.MATCHED if is_found else MatchVerdict.CANNOT_TELL,
        known_as=name,
        published_as=released.people[best] if is_found else None,
        eccentricity=above,
        agreeing=sum(is_own),
        known=len(agreeing),
        by_chance=chance,
    )


def _tail(probabilities: Sequence[float], least: int) -> float:
    """Return how probably at least so many of independent bits are 1."""
    law = np.ones(1)
    for probability in probabilities:
        law = np.convolve(law, [1 - probability, probability])
    return float(law[least:].sum())
