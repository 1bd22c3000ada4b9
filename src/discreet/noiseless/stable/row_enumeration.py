"""What a function of counts of values tells of one row: exact, by enumeration."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from discreet.core.errors import InvalidArgument
from discreet.core.rounding import exp_down, short_up

MOST_WORK = 120_000
"""So many combinations of rows are enumerated at most."""

_BITS = 14
"""A probability of two to this power bits counts for one combination more."""

Counts = tuple[int, ...]
Laws = Sequence[Sequence[Fraction]]


def compositions(total: int, parts: int) -> Iterator[Counts]:
    """Yield every way to write ``total`` as so many counts.

    Example:
        >>> list(compositions(2, 2))
        [(0, 2), (1, 1), (2, 0)]
    """
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def work_of(laws: Laws, others: int, known: int) -> int:
    """Return how many combinations an enumeration looks at; long probabilities count for more."""
    values = len(laws[0])
    scale = max(math.lcm(*(share.denominator for share in law)) for law in laws)
    length = others * (scale.bit_length() + 1) >> _BITS

    def kinds(n: int) -> int:
        return math.comb(n + values - 1, values - 1)

    return kinds(others - known) * kinds(known) * values * len(laws) * (1 + length)


def enumerated_deltas(
    laws: Laws, decide: Callable[[Counts], int], others: int, known: int, epsilon: Fraction
) -> tuple[Fraction, Fraction]:
    r"""Return the exact instability, and δ at an ε rounded up.

    Guarantee:
        The worst over the true law, the person's value and the values of the known rows. Rows are
        interchangeable, so counts of values are enumerated, with whole numbers throughout. Which
        law is true may be random: δ is convex, so no mixture is worse.

    Example:
        >>> both = enumerated_deltas([[Fraction(1, 2)] * 2], max, 2, 0, Fraction(0))
        >>> [str(number) for number in both]
        ['3/4', '1/2']
    """
    if work_of(laws, others, known) > MOST_WORK:
        raise InvalidArgument("Too much to enumerate", must=f"be at most {MOST_WORK} combinations")
    growth = exp_down(epsilon)
    values = len(laws[0])
    hidden = list(compositions(others - known, values))
    found: dict[Counts, int] = {}

    def decided(counts: Counts) -> int:
        if counts not in found:
            found[counts] = decide(counts)
        return found[counts]

    flips = delta = Fraction(0)
    for law in laws:
        chances = _chances(law, others - known)
        whole = sum(chances)
        for pushed in compositions(known, values):
            seen = [tuple(map(sum, zip(one, pushed, strict=True))) for one in hidden]
            without = [decided(counts) for counts in seen]
            for value in range(values):
                with_row = [decided(_one_more(counts, value)) for counts in seen]
                changed = sum(
                    chance
                    for chance, a, b in zip(chances, with_row, without, strict=True)
                    if a != b
                )
                flips = max(flips, Fraction(changed, whole))
                delta = max(delta, _divergence(chances, with_row, without, growth) / whole)
    return flips, short_up(delta)


def _one_more(counts: Counts, value: int) -> Counts:
    return (*counts[:value], counts[value] + 1, *counts[value + 1 :])


def _chances(law: Sequence[Fraction], total: int) -> list[int]:
    """Return how likely all counts are by a law, as whole numbers in one unit, in their order."""
    scale = math.lcm(*(value.denominator for value in law))
    return _expanded([int(value * scale) for value in law], total, {})


def _expanded(weights: Sequence[int], total: int, known: dict[int, list[int]]) -> list[int]:
    """Return the terms of a power of a sum, in the order of :func:`compositions`.

    ``known`` has the terms of the last two weights, by power.
    """
    if len(weights) == 1:
        return [weights[0] ** total]
    if len(weights) == 2:
        if total not in known:
            known[total] = _binomial(weights[0], weights[1], total)
        return known[total]
    ways, terms = 1, []
    for first in range(total + 1):
        terms += [ways * rest for rest in _expanded(weights[1:], total - first, known)]
        ways = ways * (total - first) * weights[0] // (first + 1)
    return terms


def _binomial(one: int, other: int, total: int) -> list[int]:
    """Return the terms of a power of a sum of two, each from the one before."""
    if other == 0:
        return [*([0] * total), one**total]
    terms = [other**total]
    for k in range(total):
        terms.append(terms[-1] * ((total - k) * one) // ((k + 1) * other))
    return terms


def _divergence(
    chances: list[int], first: list[int], second: list[int], growth: Fraction
) -> Fraction:
    """Return the larger of both divergences of two outcomes, in the unit of chances."""
    one: dict[int, int] = {}
    two: dict[int, int] = {}
    for chance, a, b in zip(chances, first, second, strict=True):
        one[a] = one.get(a, 0) + chance
        two[b] = two.get(b, 0) + chance
    ahead = behind = Fraction(0)
    for outcome in one.keys() | two.keys():
        a, b = one.get(outcome, 0), two.get(outcome, 0)
        ahead += max(Fraction(0), a - growth * b)
        behind += max(Fraction(0), b - growth * a)
    return max(ahead, behind)
