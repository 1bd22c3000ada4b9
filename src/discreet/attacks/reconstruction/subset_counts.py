"""What attacks are tried on: counts of a secret bit over sets of people, in several bad ways.

A query is an array of booleans: who is counted. An answer is a whole number, or ``None`` where it
is refused. These are dummies to attack, made of bits that the caller knows; none reads a project.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray, Mechanism, QueryInterface, Rng

Subset = NDArray[np.bool_]
"""Who is in a set of people, by one boolean for each."""

Subsets = Sequence[Any] | NDArray[np.bool_]
"""Several sets, with a row for each."""


def as_bits(values: Sequence[int] | NDArray[np.generic]) -> IntArray:
    """Return secret bits as an array; refuse what is neither 0 nor 1.

    Example:
        >>> as_bits([True, False, 1]).tolist()
        [1, 0, 1]
    """
    found = np.asarray(values)
    if found.ndim != 1 or found.size == 0 or not np.isin(found, (0, 1)).all():
        raise InvalidArgument(
            "These are no secret bits", must="be one or more values, each 0 or 1", got="others"
        )
    return found.astype(np.int64)


def as_subsets(queries: Subsets, people: int) -> Subset:
    """Return queries as a matrix: a row for each, a column for each person.

    Example:
        >>> as_subsets([[True, False]], 2).shape
        (1, 2)
    """
    try:
        matrix = np.asarray(queries)
    except ValueError:
        matrix = np.zeros(0)
    if matrix.ndim != 2 or matrix.shape[1] != people or not np.isin(matrix, (0, 1)).all():
        raise InvalidArgument(
            "These are no sets of people",
            must=f"be rows of {people:,} booleans",
            got="x".join(map(str, matrix.shape)) + f" of {matrix.dtype}",
        )
    return matrix.astype(np.bool_)


@frozen(kw_only=True)
class ExactCounts:
    """Answers every count exactly: what is released without any protection.

    Example:
        >>> ExactCounts(bits=[1, 0, 1]).answers([[True, True, False]])
        [1]
    """

    bits: IntArray = field(converter=as_bits)

    def answers(self, queries: Subsets) -> list[int | None]:
        """Return how many of each set have the bit."""
        counts: list[int | None] = (
            as_subsets(queries, self.bits.size).astype(np.int64) @ self.bits
        ).tolist()
        return counts


@frozen(kw_only=True)
class NoisyCounts:
    """Answers with fresh noise each time it is asked.

    Guarantee:
        That of the mechanism, once for each query: a count moves by at most 1 with one bit. What
        many queries lose together is for an accountant to say.
    """

    bits: IntArray = field(converter=as_bits)
    noise: Mechanism
    rng: Rng = field(repr=False)

    def answers(self, queries: Subsets) -> list[int | None]:
        """Return each count with noise of its own."""
        exact_counts = as_subsets(queries, self.bits.size).astype(np.int64) @ self.bits
        noisy: list[int | None] = self.noise.release(exact_counts, self.rng).tolist()
        return noisy


@frozen(kw_only=True)
class MemoisedCounts:
    """Gives the same answer to the same query, so that asking again tells nothing new.

    It is no protection against queries that differ a little
    (:func:`discreet.attacks.differencing.padded_pairs`).
    """

    inner: QueryInterface
    _kept: dict[bytes, int | None] = field(factory=dict, init=False, repr=False, eq=False)

    def answers(self, queries: Subsets) -> list[int | None]:
        """Return the answer that was kept, or ask and keep it."""
        keys = [np.asarray(query, dtype=np.bool_).tobytes() for query in queries]
        new = {
            key: query for key, query in zip(keys, queries, strict=True) if key not in self._kept
        }
        if new:
            self._kept.update(zip(new, self.inner.answers(list(new.values())), strict=True))
        return [self._kept[key] for key in keys]


@frozen(kw_only=True)
class RestrictedCounts:
    """Refuses sets of fewer than ``least`` people or all but so few, and sets that overlap much.

    These are the classical rules of query restriction [DDS79] [DJL79]: none of them protects.
    """

    inner: QueryInterface
    least: int
    most_overlap: int | None = None
    _asked: list[Subset] = field(factory=list, init=False, repr=False, eq=False)

    def answers(self, queries: Subsets) -> list[int | None]:
        """Return the answer to each query that the rules allow, and ``None`` to others."""
        return [self._answer(np.asarray(query, dtype=np.bool_)) for query in queries]

    def _answer(self, query: Subset) -> int | None:
        inside = int(query.sum())
        if not self.least <= inside <= query.size - self.least or self._overlaps(query):
            return None
        self._asked.append(query)
        answer: int | None = self.inner.answers([query])[0]
        return answer

    def _overlaps(self, query: Subset) -> bool:
        most = self.most_overlap
        return most is not None and any(
            int((query & other).sum()) > most and not np.array_equal(query, other)
            for other in self._asked
        )


@frozen(kw_only=True)
class SuppressedCounts:
    """Refuses counts below ``below``, as tables do that print no small cells."""

    inner: QueryInterface
    below: int

    def answers(self, queries: Subsets) -> list[int | None]:
        """Return each count, or ``None`` if it is small."""
        found = self.inner.answers(list(queries))
        return [None if one is None or one < self.below else one for one in found]


def _labels(given: Sequence[int] | IntArray) -> IntArray:
    return np.asarray(given, dtype=np.int64)


@frozen(kw_only=True)
class AtomicCounts:
    """Answers only for whole groups: everybody is in one, and no group is split.

    This is the conceptual model of atomic populations [Gro14, section 2.6]. Differences of answers
    are about whole groups, and that is no protection either
    (:func:`discreet.attacks.differencing.track_groups`).
    """

    inner: QueryInterface
    groups: IntArray = field(converter=_labels)
    """The group of each person."""

    def answers(self, queries: Subsets) -> list[int | None]:
        """Return the answer to each query that splits no group, and ``None`` to others."""
        matrix = as_subsets(queries, self.groups.size)
        return [self.inner.answers([row])[0] if self._is_whole(row) else None for row in matrix]

    def _is_whole(self, query: Subset) -> bool:
        return not np.intersect1d(self.groups[query], self.groups[~query]).size
