"""Recovers secret bits from many noisy counts: too many answers that are too exact tell all."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.attacks.reconstruction.least_deviations import least_deviations
from discreet.attacks.reconstruction.subset_counts import Subset, Subsets, as_bits, as_subsets
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import bernoulli

Answers = Sequence[float | None] | NDArray[Any]

MOST_COMPARISONS = 1 << 30
"""The exhaustive search looks at so many pairs of a candidate and a query, and refuses more."""


@frozen(kw_only=True, eq=False)
class DecodedBits:
    """Bits that a decoder found, one for each person."""

    bits: IntArray
    method: str

    def share_right(self, truth: Sequence[int] | NDArray[np.generic]) -> Fraction:
        """Return the share of people whose bit was found, for the owner who knows them.

        Example:
            >>> DecodedBits(bits=as_bits([1, 0, 1, 1]), method="guess").share_right([1, 0, 0, 1])
            Fraction(3, 4)
        """
        secret = _same_people(truth, self.bits.size)
        return Fraction(int((secret == self.bits).sum()), secret.size)


def _same_people(truth: Sequence[int] | NDArray[np.generic], people: int) -> IntArray:
    secret = as_bits(truth)
    if secret.size != people:
        raise InvalidArgument(
            "These are not the bits of the same people",
            must=f"be {people:,}",
            got=f"{secret.size:,}",
        )
    return secret


@frozen(kw_only=True, eq=False)
class ConsistentBits:
    """Every assignment of bits that agrees with all answers up to the error."""

    people: int
    count: int
    """How many agree; 0 if the answers contradict the error, and then nothing can be told."""
    first: IntArray | None
    always: IntArray
    """Who has the bit in all of them."""
    never: IntArray
    """Who has it in none."""

    @property
    def decided(self) -> int:
        """How many people have the same bit in all that agree."""
        return self.always.size + self.never.size if self.count else 0

    def decided_right(self, truth: Sequence[int] | NDArray[np.generic]) -> int:
        """Return how many of these have their true bit, for the owner who knows them."""
        secret = _same_people(truth, self.people)
        return int(secret[self.always].sum() + (1 - secret[self.never]).sum()) if self.count else 0

    def __str__(self) -> str:
        """Return how much is decided in a sentence."""
        if not self.count:
            return "Cannot tell: no bits agree with all counts, so their error is larger than said."
        ways = "One assignment" if self.count == 1 else f"{self.count:,} assignments"
        return (
            f"{ways} of bits to {self.people:,} people agree with all counts up to the error. The "
            f"bits of {self.decided:,} people are the same in all of them: {self.always.size:,} "
            f"have it, {self.never.size:,} do not."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is decided for other programs."""
        bits = {"always": self.always.tolist(), "never": self.never.tolist()}
        return {"people": self.people, "consistent": self.count, **bits}


def _system(queries: Subsets, answers: Answers, people: int) -> tuple[Subset, NDArray[np.float64]]:
    """Return the queries and their answers, without those that were refused."""
    matrix = as_subsets(queries, people)
    given = list(answers)
    if len(given) != len(matrix):
        raise InvalidArgument(
            "Queries and answers do not belong together",
            must=f"be {len(matrix):,} answers, None where one was refused",
            got=f"{len(given):,}",
        )
    kept = np.array([answer is not None for answer in given], dtype=np.bool_)
    try:
        numbers = np.array([float(one) for one in given if one is not None])
    except (TypeError, ValueError):
        numbers = np.array([math.nan])
    if numbers.size == 0 or not np.isfinite(numbers).all():
        raise InvalidArgument("There is nothing to decode", must="be answers that are numbers")
    return matrix[kept], numbers


def random_subsets(people: int, count: int, rng: Rng) -> Subset:
    """Return sets that hold each person with probability 1/2: a row for each set.

    Example:
        >>> from discreet import SystemRng
        >>> random_subsets(5, 3, SystemRng()).shape
        (3, 5)
    """
    shape = (check.at_least_one(count, "count"), check.at_least_one(people, "people"))
    return bernoulli(Fraction(1, 2), shape, rng)


def all_subsets(people: int) -> Subset:
    """Return all sets of people, the empty one first.

    Example:
        >>> all_subsets(2).astype(int).tolist()
        [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    count = check.at_least_one(people, "people")
    if count > 20:
        raise InvalidArgument("people is out of range", must="be at most 20", got=str(count))
    codes = np.arange(1 << count, dtype=np.int64)[:, None]
    every: Subset = (codes >> np.arange(count, dtype=np.int64)) % 2 == 1
    return every


def consistent_bits(
    queries: Subsets, answers: Answers, *, people: int, error: Number
) -> ConsistentBits:
    r"""Look at every assignment of bits, and keep those that no answer is further from than said.

    Guarantee:
        The truth is kept if no answer is off by more than ``error``. If *all* sets were asked,
        whatever is kept differs from the truth in at most :math:`4E` people [DN03]:
        let :math:`S` be those whose bit is 1 in truth and 0 in what is kept. Their answer is within
        :math:`E` of :math:`|S|` and of 0, so :math:`|S| \le 2E`; likewise for those with 0 and 1.
        So errors that are small beside :math:`n` hide hardly anybody, however they are made.

    Assumes:
        ``error`` bounds every answer's error. If nothing is kept, it does not.

    Utility:
        :math:`2^n` candidates: refused beyond about a thousand million comparisons.

    Example:
        >>> sets = all_subsets(4)
        >>> answers = sets.astype(int) @ as_bits([1, 0, 0, 1])
        >>> found = consistent_bits(sets, answers, people=4, error=0)
        >>> found.count, found.first.tolist()
        (1, [1, 0, 0, 1])
    """
    matrix, numbers = _system(queries, answers, check.at_least_one(people, "people"))
    within = exact(error)
    if within < 0:
        raise InvalidArgument("error is out of range", must="be at least 0", got=str(within))
    if people > 20 or len(matrix) << people > MOST_COMPARISONS:
        raise InvalidArgument(
            "There are too many candidates to look at",
            must="be at most 2**30 pairs of a candidate and a query",
            got=f"2**{people} candidates and {len(matrix):,} queries",
            next="Decode by least squares or by a linear programme",
        )
    # A count is within E of an answer if it lies between these two; only they are rounded.
    ends = [
        (math.ceil(Fraction(one) - within), math.floor(Fraction(one) + within))
        for one in numbers.tolist()
    ]
    lowest = np.array([max(0, min(people + 1, low)) for low, _ in ends], dtype=np.int64)
    highest = np.array([min(people, max(-1, high)) for _, high in ends], dtype=np.int64)
    candidates = all_subsets(people)
    sets = matrix.astype(np.int64).T
    kept = np.concatenate(
        [
            part[_all_between(part.astype(np.int64) @ sets, lowest, highest)]
            for part in np.array_split(candidates, max(1, len(candidates) // 1024))
        ]
    )
    return ConsistentBits(
        people=people,
        count=len(kept),
        first=kept[0].astype(np.int64) if len(kept) else None,
        always=np.flatnonzero(kept.all(axis=0)) if len(kept) else np.zeros(0, dtype=np.int64),
        never=np.flatnonzero(~kept.any(axis=0)) if len(kept) else np.zeros(0, dtype=np.int64),
    )


def _all_between(counts: IntArray, lowest: IntArray, highest: IntArray) -> NDArray[np.bool_]:
    return np.asarray(((counts >= lowest) & (counts <= highest)).all(axis=1), dtype=np.bool_)


def decode_squares(queries: Subsets, answers: Answers, *, people: int) -> DecodedBits:
    r"""Decode by least squares, and round to the nearer bit.

    Guarantee:
        With independent noise of deviation :math:`\sigma` the solution is the truth plus
        :math:`(Q^\mathsf{T}Q)^{-1}Q^\mathsf{T}z`. For :math:`m` random sets of :math:`n` people the
        mean part aside :math:`Q^\mathsf{T}Q` is :math:`m/4` times the identity, so an entry's error
        is about normal with deviation :math:`2\sigma/\sqrt{m - n}`, and
        :func:`expected_share` of the bits is found. At :math:`\sigma = c\sqrt n` and
        :math:`m = 8n` this is nearly all for small :math:`c` and nearly half for large: below
        noise of order :math:`\sqrt n` there is no privacy [DN03]. An attack bounds
        nothing from above; of private answers the expected share is at most
        :func:`~discreet.attacks.reconstruction.guess_ceiling.guess_ceiling` of all of them.

    Example:
        >>> sets = all_subsets(5)
        >>> answers = sets.astype(int) @ as_bits([1, 0, 1, 1, 0])
        >>> decode_squares(sets, answers, people=5).bits.tolist()
        [1, 0, 1, 1, 0]
    """
    matrix, numbers = _system(queries, answers, check.at_least_one(people, "people"))
    solution = np.linalg.lstsq(matrix.astype(np.float64), numbers, rcond=None)[0]
    return DecodedBits(bits=(solution >= 0.5).astype(np.int64), method="least squares")


def decode_linear(queries: Subsets, answers: Answers, *, people: int) -> DecodedBits:
    r"""Decode by a linear programme: the bits in [0, 1] with the least sum of absolute errors.

    It resists a share of answers that are arbitrarily wrong, which least squares do not
    ([DN03] has the programme with a bound on each error; least absolute errors need none to be
    known).

    Guarantee:
        The truth is feasible with the sum of the true errors, so the solution's sum is no larger
        (up to a millionth,
        :func:`~discreet.attacks.reconstruction.least_deviations.least_deviations`), and the two
        solutions' answers differ by at most twice that sum in total.

    Utility:
        2,000 people and 8,000 counts take about a minute.

    Example:
        >>> sets = all_subsets(5)
        >>> answers = sets.astype(int) @ as_bits([1, 0, 1, 1, 0])
        >>> answers[7] = 1000
        >>> decode_linear(sets, answers, people=5).bits.tolist()
        [1, 0, 1, 1, 0]
    """
    matrix, numbers = _system(queries, answers, check.at_least_one(people, "people"))
    found = least_deviations(matrix.astype(np.float64), numbers)
    return DecodedBits(bits=(found.solution >= 0.5).astype(np.int64), method="linear programme")


def find_undetermined(queries: Subsets, answers: Answers, *, people: int) -> IntArray:
    r"""Return who has a bit that exact answers to these queries do not determine, as any number.

    A refused query (an answer of ``None``) is none.

    Guarantee:
        A weighted sum of the answers is one person's bit if and only if the unit vector of that
        person is in the row space of the queries: if its projection onto it has length 1. Lengths
        are computed in floats, to a millionth. That a bit is 0 or 1 can determine it all the same
        (:func:`consistent_bits` looks at that).

    Example:
        >>> find_undetermined([[1, 1, 0], [1, 0, 0], [0, 0, 0]], [1, 1, 0], people=3).tolist()
        [2]
    """
    matrix, _ = _system(queries, answers, check.at_least_one(people, "people"))
    wide = matrix.astype(np.float64)
    sizes, axes = np.linalg.eigh(wide.T @ wide)
    kept = axes[:, sizes > 1e-11 * max(1.0, float(sizes[-1]))]
    return np.flatnonzero((kept**2).sum(axis=1) < 1 - 1e-6)


def expected_share(people: int, queries: int, deviation: float) -> float:
    r"""Return the share of bits that :func:`decode_squares` is expected to find, about.

    It is :math:`\Phi(\sqrt{m - n}/(4\sigma))`: the error of an entry must stay below 1/2. A law of
    large numbers, no bound.

    Example:
        >>> round(expected_share(500, 4000, 2 * 500**0.5), 3)
        0.63
    """
    if not (deviation >= 0 and queries > people >= 1):
        raise InvalidArgument(
            "There is no such share", must="have more queries than people, and a deviation from 0"
        )
    if deviation == 0:
        return 1.0
    return 0.5 * (1 + math.erf(math.sqrt(queries - people) / (4 * deviation) / math.sqrt(2)))
