"""Differencing and averaging: two sets of people that differ in one tell that one's bit."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.reconstruction.subset_counts import Subset
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import QueryInterface, Rng
from discreet.randomness.samplers import bernoulli

CANNOT_TELL = "Nothing was recovered: answers that it takes were refused."


@frozen(kw_only=True)
class DifferencedBit:
    """What a combination of answers says about one person's bit."""

    guess: bool | None
    """The bit; ``None`` if it cannot be told."""
    estimate: Fraction | None
    """The mean of the differences, whose exact value is the bit; ``None`` if there are none."""
    queries: int
    """How many queries were asked."""
    refused: int
    """How many of them were refused."""

    def __str__(self) -> str:
        """Return the finding in a sentence."""
        asked = f"{self.queries:,} queries, {self.refused:,} refused"
        if self.guess is None:
            return f"{CANNOT_TELL} ({asked}.)"
        told = f"The person {'has' if self.guess else 'does not have'} the bit"
        if self.estimate is not None:
            told += f": the differences are {float(self.estimate):.3g} on average"
        return f"{told} ({asked})."

    def to_json(self) -> dict[str, object]:
        """Return the finding for other programs."""
        shown = None if self.estimate is None else float(self.estimate)
        counts = {"queries": self.queries, "refused": self.refused}
        return {"guess": self.guess, "estimate": shown, **counts}


def difference(interface: QueryInterface, pairs: Sequence[tuple[Any, Any]]) -> DifferencedBit:
    r"""Guess a bit from pairs of queries: one that counts the person, and one of the others alone.

    The same pair again averages noise away; other pairs of the same person do so where answers are
    memoised (:func:`padded_pairs`).

    Guarantee:
        With exact answers the difference of each pair *is* the bit, so the guess is right always.
        With independent noise of variance :math:`v` on each answer the mean of :math:`k`
        differences has variance :math:`2v/k`, so by Chebyshev's inequality the guess is wrong with
        probability at most :math:`8v/k`. That is no contradiction to privacy: the loss grows with
        :math:`k`, and at any :math:`k` the guess is right no more often than
        :func:`~discreet.attacks.reconstruction.guess_ceiling.guess_ceiling` of the loss of all
        answers together.

    Assumes:
        Both queries of a pair count the same other people. A pair of which one is refused is left
        out; if none is left, nothing is guessed.

    Example:
        >>> from discreet.attacks.reconstruction.subset_counts import ExactCounts
        >>> everybody, others = [True, True, True], [False, True, True]
        >>> difference(ExactCounts(bits=[1, 0, 1]), [(everybody, others)]).guess
        True
    """
    if not pairs:
        raise InvalidArgument("There is nothing to ask", must="be one pair of queries or more")
    replies = interface.answers([query for pair in pairs for query in pair])
    if len(replies) != 2 * len(pairs):
        raise InvalidArgument(
            "The interface did not answer each query once",
            must=f"give {2 * len(pairs):,} answers",
            got=f"{len(replies):,}",
        )
    found = [
        exact(one) - exact(other)
        for one, other in zip(replies[::2], replies[1::2], strict=True)
        if one is not None and other is not None
    ]
    refused = sum(reply is None for reply in replies)
    estimate = sum(found, Fraction(0)) / len(found) if found else None
    return DifferencedBit(
        guess=None if estimate is None else estimate >= Fraction(1, 2),
        estimate=estimate,
        queries=len(replies),
        refused=refused,
    )


def _alone(person: int, people: int) -> Subset:
    count = check.at_least_one(people, "people")
    place = check.whole(person)
    if not 0 <= place < count:
        raise InvalidArgument(
            "There is no such person", must=f"be from 0 to {count - 1}", got=str(place)
        )
    mask = np.zeros(count, dtype=np.bool_)
    mask[place] = True
    return mask


def padded_pairs(person: int, people: int, count: int, rng: Rng) -> list[tuple[Subset, Subset]]:
    """Return pairs of sets that differ in one person, each among other people.

    They average noise away where an interface remembers its answers: no two queries are the same
    (but for a chance), and every difference is the same bit.

    Example:
        >>> from discreet import SystemRng
        >>> [(one, other)] = padded_pairs(0, 3, 1, SystemRng())
        >>> (one ^ other).tolist()
        [True, False, False]
    """
    alone = _alone(person, people)
    rows = bernoulli(Fraction(1, 2), (check.at_least_one(count, "count"), alone.size), rng)
    return [(row | alone, row & ~alone) for row in rows]


def track(interface: QueryInterface, person: int, tracker: Subset) -> DifferencedBit:
    r"""Find a bit although small and large sets are refused, by the general tracker.

    Guarantee:
        [DDS79] Let sets of :math:`m` to :math:`n - m` people be answered, and let the tracker
        :math:`T` have :math:`2m` to :math:`n - 2m` of them. For any set :math:`C` of fewer than
        :math:`m` people all of :math:`T`, its complement :math:`T'`, :math:`C \cup T` and
        :math:`C \cup T'` are answered: each has at least :math:`2m` and at most
        :math:`n - 2m + (m - 1) < n - m` people. Everybody outside :math:`C` is in exactly one of
        :math:`C \cup T` and :math:`C \cup T'`, everybody in :math:`C` in both, and :math:`T` and
        :math:`T'` hold everybody once. So
        :math:`q(C) = q(C \cup T) + q(C \cup T') - q(T) - q(T')`, four answers whatever
        :math:`m \le n/4` is.

    Example:
        >>> from discreet.attacks.reconstruction.subset_counts import ExactCounts, RestrictedCounts
        >>> ruled = RestrictedCounts(inner=ExactCounts(bits=[1, 0, 1, 1, 0, 0, 1, 0]), least=2)
        >>> ruled.answers([[True] + [False] * 7])
        [None]
        >>> track(ruled, 0, np.arange(8) < 4).guess
        True
    """
    inside = np.asarray(tracker, dtype=np.bool_)
    alone = _alone(person, inside.size)
    return _combined(
        interface,
        [(1, inside | alone), (1, ~inside | alone), (-1, inside), (-1, ~inside)],
        divisor=1,
    )


def track_overlap(
    interface: QueryInterface, person: int, people: int, least: int
) -> DifferencedBit:
    r"""Find a bit although sets must have ``least`` people and share at most one with another.

    Guarantee:
        Put :math:`k(k - 1)` other people, :math:`k` = ``least``, into a grid of :math:`k - 1` rows
        and :math:`k` columns. Ask for each row, and for each column with the person added: all
        :math:`2k - 1` sets have :math:`k` people. Two rows share nobody, two columns the person
        alone, a row and a column one person. All columns less all rows count each of the grid
        once and once less, and the person :math:`k` times: :math:`k` times the bit. Fewer than
        :math:`k` queries never do under this rule [DJL79]: one of them counts the person and
        :math:`k - 1` others, each of whom must be taken out again by another query, and no other
        query shares two of them.

    Example:
        >>> from discreet.attacks.reconstruction.subset_counts import ExactCounts, RestrictedCounts
        >>> exactly = ExactCounts(bits=[1, 0, 1, 1, 0, 0, 1, 0, 1, 1])
        >>> ruled = RestrictedCounts(inner=exactly, least=3, most_overlap=1)
        >>> track_overlap(ruled, 0, 10, 3).guess
        True
    """
    alone = _alone(person, people)
    size = check.at_least_one(least, "least")
    others = np.flatnonzero(~alone)
    if others.size < size * (size - 1):
        raise InvalidArgument(
            "There are too few people for the grid",
            must=f"be {size * (size - 1) + 1:,} or more",
            got=f"{alone.size:,}",
        )
    grid = others[: size * (size - 1)].reshape(size - 1, size)
    rows = [(-1, np.isin(np.arange(alone.size), row)) for row in grid]
    columns = [(1, np.isin(np.arange(alone.size), column) | alone) for column in grid.T]
    return _combined(interface, [*columns, *rows], divisor=size)


def _combined(
    interface: QueryInterface, terms: Sequence[tuple[int, Subset]], *, divisor: int
) -> DifferencedBit:
    replies = interface.answers([query for _, query in terms])
    refused = sum(reply is None for reply in replies)
    if refused:
        return DifferencedBit(guess=None, estimate=None, queries=len(replies), refused=refused)
    total = sum(sign * exact(reply) for (sign, _), reply in zip(terms, replies, strict=True))
    estimate = Fraction(total) / divisor
    return DifferencedBit(
        guess=estimate >= Fraction(1, 2), estimate=estimate, queries=len(replies), refused=0
    )


def guess_by_refusal(interface: QueryInterface, query: Any) -> bool:
    r"""Guess a bit from whether a query is answered at all.

    Guarantee:
        Let counts below :math:`k` be refused, and let the query count the person and others of
        whom exactly :math:`k - 1` have the bit, as the adversary knows. The count is :math:`k`, and
        answered, if the person has the bit; it is :math:`k - 1`, and refused, if not. So the
        refusal *is* the bit. Where it is decided on a private count it is post-processing, and the
        guess has the ceiling of that count.

    Example:
        >>> from discreet.attacks.reconstruction.subset_counts import ExactCounts, SuppressedCounts
        >>> printed = SuppressedCounts(inner=ExactCounts(bits=[0, 1, 1, 0]), below=3)
        >>> guess_by_refusal(printed, [True, True, True, False])
        False
    """
    (reply,) = interface.answers([query])
    return reply is not None


def track_groups(
    interface: QueryInterface,
    groups: Sequence[int] | NDArray[np.generic],
    *,
    known: Mapping[int, bool] | None = None,
) -> dict[int, bool]:
    """Find bits although only whole groups are counted: whose is told, and what it is.

    Guarantee:
        A count that is 0, or all of the group, tells every bit in it [Gro14, section 2.6]. So does
        one that is 0 or all of the rest, once the bits that are ``known`` to a member or a friend
        are taken off: in a group of two each knows the other. Nothing else is told about anybody.
        Groups that are refused, or whose count contradicts what is known, tell nothing.

    Example:
        >>> from discreet.attacks.reconstruction.subset_counts import AtomicCounts, ExactCounts
        >>> pairs = AtomicCounts(inner=ExactCounts(bits=[1, 1, 1, 0]), groups=[0, 0, 1, 1])
        >>> track_groups(pairs, [0, 0, 1, 1])
        {0: True, 1: True}
        >>> track_groups(pairs, [0, 0, 1, 1], known={2: True})
        {0: True, 1: True, 3: False}
    """
    labels = np.asarray(groups)
    names = np.unique(labels)
    replies = interface.answers([labels == name for name in names])
    held = dict(known or {})
    told: dict[int, bool] = {}
    for name, reply in zip(names, replies, strict=True):
        if reply is None:
            continue
        members = np.flatnonzero(labels == name).tolist()
        rest = [member for member in members if member not in held]
        left = exact(reply) - sum(held[member] for member in members if member in held)
        if rest and left in (0, len(rest)):
            told.update(dict.fromkeys(rest, left > 0))
    return told


def queries_to_average(variance: Number, wrong: Number) -> int:
    """Return how many pairs make :func:`difference` wrong at most so often, by Chebyshev.

    Example:
        >>> queries_to_average(2, "0.05")
        320
    """
    needed = 8 * exact(variance) / check.level(wrong)
    return max(1, -(-needed.numerator // needed.denominator))
