r"""Choose which pairs of columns to measure, by noisy scores.

All of this sees public numbers only: how many values columns have, noisy scores, and noise.

The error of a pair's table, summed over its cells, is estimated for each set of pairs that could be
measured. A pair in the set errs by its noise, about :math:`c\sigma\sqrt{2/\pi}` for :math:`c`
cells. Any other errs by how much its columns depend on each other, which is its *score* less what
noise alone could give, and by the errors of both columns by themselves. Columns in no pair of the
set are measured once more by themselves instead. Pairs are taken greedily, the highest scores
first, as long as a model with all of them can be worked out (its cliques must not have more than so
many cells); and of all beginnings of that list, none of it included, the one with the least sum of
errors is taken.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.synthesis.marginals.junction_tree import Columns, cells, largest_clique


def all_pairs(columns: int) -> tuple[Columns, ...]:
    """Return all pairs of columns, in the order in which scores are given."""
    return tuple(combinations(range(columns), 2))


@frozen(kw_only=True)
class Scored:
    """What is known when pairs are chosen: noisy scores of all pairs, and noise."""

    sizes: tuple[int, ...]
    """How many values each column has, in the tables."""
    scores: tuple[float, ...]
    """In the order of :func:`all_pairs`."""
    margin: float
    """How much of a score may be its noise: it is taken from each."""
    variances: tuple[float, ...]
    """Of a cell of each column by itself, as measured so far, with the values of the tables."""
    fine_variances: tuple[float, ...]
    """The same, with all values."""
    fine_sizes: tuple[int, ...]
    """How many values each column has if it is measured by itself."""
    total: float
    """How many rows there are, about."""
    deviation: Callable[[float], float]
    """That of a cell of a table that has a share of what is left."""
    alone: Callable[[float], float] | None = None
    """The same if no pair is taken, where more is left then."""
    before: Mapping[Columns, float] = field(factory=dict)
    """The pairs that were measured in an earlier round, with the variance of a cell. Scores are
    then of what a model of that round misses, and the pairs are measured once more with others."""


def choose_pairs(known: Scored, *, most_cells: int, is_tree: bool = False) -> tuple[Columns, ...]:
    """Return the pairs to measure."""
    pairs = all_pairs(len(known.sizes))
    errors = np.array(
        [_error(size, v) for size, v in zip(known.sizes, known.variances, strict=True)]
    )
    noise_alone = np.array([_noise_alone(known, errors, pair) for pair in pairs])
    depends = np.maximum(np.array(known.scores) - noise_alone - known.margin, 0.0)
    begun = [i for i, pair in enumerate(pairs) if pair in known.before]
    candidates = _candidates(known.sizes, pairs, depends, most_cells, begun, is_tree=is_tree)
    beginnings = range(len(begun), len(candidates) + 1)
    sums = [_sum_of_errors(known, pairs, depends, candidates[:count]) for count in beginnings]
    best = int(np.argmin(sums))
    if best and not begun and sums[best] > GAIN * sums[0]:
        best = 0
    return tuple(sorted(pairs[i] for i in candidates[: len(begun) + best]))


def _noise_alone(known: Scored, errors: NDArray[np.float64], pair: Columns) -> float:
    """Return about what the score of a pair is if nothing but noise is missed."""
    alone = float(errors[pair[0]] + errors[pair[1]])
    measured = known.before.get(pair)
    return alone if measured is None else min(alone, _error(cells(known.sizes, pair), measured))


CHANCE = Fraction(1, 10)
"""How likely it is at most that any score has more noise than is taken from all of them. The more
pairs there are, the farther off is the one whose noise is largest."""
CHANCE_OF_HEAVY_TAILS = Fraction(1, 20)
"""The same of Laplace noise: where that is larger it is by more, so that a table with nothing in it
is measured at the cost of all others."""
GAIN = 0.9
"""Tables are measured if the sum of errors is expected to be at most so much of that without any.
Where some are measured already, others are taken with them for whatever they gain."""


def _candidates(
    sizes: Sequence[int],
    pairs: Sequence[Columns],
    depends: NDArray[np.float64],
    most_cells: int,
    begun: Sequence[int],
    *,
    is_tree: bool,
) -> list[int]:
    taken = [*begun]
    most = most_tables(len(sizes), is_second=bool(begun))
    for i in sorted(range(len(pairs)), key=lambda one: (-depends[one], one)):
        if depends[i] <= 0 or len(taken) >= most:
            break
        if i in begun:
            continue
        if is_tree and _closes_circle([pairs[one] for one in taken], pairs[i]):
            continue
        if _fits(sizes, [*taken, i], pairs, most_cells):
            taken.append(i)
    return taken


def most_tables(columns: int, *, is_second: bool) -> int:
    """Return how many pairs are measured at most in a round."""
    return (MOST_TABLES + (MORE_TABLES if is_second else 0)) * columns


MOST_TABLES = 4
"""How many pairs are measured, for each column."""
MORE_TABLES = 1
"""How many more a second round may take: the first may have taken all that it can."""


def _sum_of_errors(
    known: Scored, pairs: Sequence[Columns], depends: NDArray[np.float64], taken: Sequence[int]
) -> float:
    alone = measured_alone(known.sizes, known.fine_sizes, [pairs[i] for i in taken])
    sizes = [cells(known.sizes, pairs[i]) for i in taken]
    shares = shares_of([*sizes, *(known.fine_sizes[column] for column in alone)])
    deviation = known.alone if known.alone and not taken else known.deviation
    variances = [deviation(float(share)) ** 2 for share in shares]
    for place, i in enumerate(taken):
        if pairs[i] in known.before:
            variances[place] = 1 / (1 / variances[place] + 1 / known.before[pairs[i]])
    precise = 1 / np.array(known.variances)
    errors = np.minimum(depends, 2 * known.total)
    for i, variance in zip(taken, variances, strict=False):
        a, b = pairs[i]
        precise[a] += 1 / (variance * known.sizes[b])
        precise[b] += 1 / (variance * known.sizes[a])
    fine = 1 / np.array(known.fine_variances)
    for column, variance in zip(alone, variances[len(taken) :], strict=True):
        precise[column] += known.sizes[column] / known.fine_sizes[column] / variance
        fine[column] += 1 / variance
    one_way = [
        _error(size, 1 / one) + (_error(most - size, 1 / each) if most > size else 0.0)
        for size, one, most, each in zip(known.sizes, precise, known.fine_sizes, fine, strict=True)
    ]
    errors = errors + np.array([one_way[a] + one_way[b] for a, b in pairs])
    for i, size, variance in zip(taken, sizes, variances, strict=False):
        errors[i] = min(_error(size, variance), errors[i])
    return float(np.minimum(errors, 2 * known.total).sum())


def measured_alone(
    sizes: Sequence[int], fine_sizes: Sequence[int], pairs: Sequence[Columns]
) -> list[int]:
    """Return the columns that are measured once more by themselves.

    They are those in no table, and those with values that stand together in tables.
    """
    covered = {column for pair in pairs for column in pair}
    sized = enumerate(zip(sizes, fine_sizes, strict=True))
    return [column for column, (size, fine) in sized if column not in covered or size < fine]


def _error(size: int, variance: float) -> float:
    """Return the sum of the sizes of so many cells' noise, as it is expected."""
    return size * math.sqrt(2 * variance / math.pi)


def _closes_circle(taken: Sequence[Columns], pair: Columns) -> bool:
    reached, more = {pair[0]}, True
    while more:
        found = {column for one in taken if reached & set(one) for column in one}
        more = not found <= reached
        reached |= found
    return pair[1] in reached


def _fits(sizes: Sequence[int], taken: Sequence[int], pairs: Sequence[Columns], most: int) -> bool:
    return largest_clique(sizes, [pairs[i] for i in taken]) <= most


def shares_of(sizes: Sequence[int]) -> list[Fraction]:
    r"""Return the shares of a price that make the sum of all errors least.

    With a share :math:`r` of a price the error of :math:`c` cells is proportional to
    :math:`c/\sqrt r`; the sum is least where the derivatives :math:`c\,r^{-3/2}` are alike, at
    :math:`r \propto c^{2/3}`.
    """
    weights = [size ** (2 / 3) for size in sizes]
    total = sum(weights)
    found = [Fraction(math.floor(_PARTS * weight / total), _PARTS) for weight in weights]
    return found if sum(found) <= 1 else [share / sum(found) for share in found]


_PARTS = 2**40
"""Shares are whole numbers of so many parts, rounded down."""
