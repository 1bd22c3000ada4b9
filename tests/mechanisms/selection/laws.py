"""The laws of private choices, worked out without the code that draws them."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from discreet.audit.exponential_sum import ExponentialSum, as_sum, exp, exp_bounds_relative, total
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import EnclosedLaw, ExactLaw, enclosed

BITS = 128
Ends = tuple[int, int]
Scale = Fraction | int


def pair(law: Callable[..., Any], first: Sequence[int], second: Sequence[int], scale) -> LawPair:
    """The laws of one choice on two neighbouring rows of scores."""
    return LawPair(first=law(first, scale), second=law(second, scale))


# ---------------------------------------------------------------- exponential, permute-and-flip


def exponential_law(scores: Sequence[int], scale: Scale) -> ExactLaw:
    """Weights e^(score/scale), exactly."""
    return ExactLaw({i: exp(Fraction(score) / scale) for i, score in enumerate(scores)})


def coins(scores: Sequence[int], scale: Scale) -> list[ExponentialSum]:
    return [exp(Fraction(score - max(scores)) / scale) for score in scores]


def exponential_noise_law(scores: Sequence[int], scale: Scale) -> ExactLaw:
    r"""The argmax with exponential noise: :math:`p_i \int_0^1 \prod_{j \ne i} (1 - p_j z) dz`.

    With ``y`` the winning value and ``z = e^{-(y - best)/scale}``, by one-dimensional integration
    of a polynomial in ``z``.
    """
    reach = coins(scores, scale)
    weights = {}
    for i, own in enumerate(reach):
        polynomial = [as_sum(1)]
        for j, p in enumerate(reach):
            if j != i:
                shifted = [as_sum(0), *(p * c for c in polynomial)]
                padded = [*polynomial, as_sum(0)]
                polynomial = [a - b for a, b in zip(padded, shifted, strict=True)]
        weights[i] = own * total(Fraction(1, n + 1) * c for n, c in enumerate(polynomial))
    return ExactLaw(weights)


def permutation_law(scores: Sequence[int], scale: Scale) -> ExactLaw:
    """Permute and flip, by trying every order."""
    reach = coins(scores, scale)
    weights = dict.fromkeys(range(len(scores)), as_sum(0))
    share = Fraction(1, math.factorial(len(scores)))
    for order in itertools.permutations(range(len(scores))):
        missed = as_sum(share)
        for i in order:
            weights[i] = weights[i] + missed * reach[i]
            missed = missed * (1 - reach[i])
    return ExactLaw(weights)


# ---------------------------------------------------------------- discrete Laplace


ONE = 1 << BITS
"""Enclosures are pairs of integers in units of ``2**-BITS``."""


def times(factors: Iterable[Ends]) -> Ends:
    low = high = ONE
    for factor in factors:
        low, high = low * factor[0] >> BITS, -(-high * factor[1] >> BITS)
    return low, high


def minus(one: Ends, other: Ends) -> Ends:
    return max(0, one[0] - other[1]), one[1] - other[0]


class Laplace:
    """Enclosures of the discrete Laplace law: ``at``, ``up_to`` and ``from_``."""

    def __init__(self, scale: Scale) -> None:
        self.scale = Fraction(scale)
        self.q = exp_bounds_relative(-1 / self.scale, BITS)

    @cache  # noqa: B019 - short lived
    def at(self, z: int) -> Ends:
        low, high = exp_bounds_relative(Fraction(-abs(z)) / self.scale, BITS)
        low = low * (1 - self.q[1]) / (1 + self.q[1])
        high = high * (1 - self.q[0]) / (1 + self.q[0])
        return math.floor(low * ONE), math.ceil(high * ONE)

    @cache  # noqa: B019 - short lived
    def from_(self, z: int) -> Ends:
        """``P[Z >= z]``."""
        if z <= 0:
            low, high = self.from_(1 - z)
            return ONE - high, ONE - low
        ends = exp_bounds_relative(Fraction(-z) / self.scale, BITS)
        return (
            math.floor(ends[0] / (1 + self.q[1]) * ONE),
            math.ceil(ends[1] / (1 + self.q[0]) * ONE),
        )

    def up_to(self, z: int) -> Ends:
        return self.from_(-z)


class Masses:
    """Masses that are added up, and how far a sum over a window may fall short."""

    def __init__(self, scores: Sequence[int], scale: Scale) -> None:
        far = math.ceil(60 * scale)
        self.noise = Laplace(scale)
        self.window = range(-far - _width(scores), far + _width(scores) + 1)
        self.slack = 2 * len(scores) * self.noise.from_(far)[1]
        self.found: dict[Any, Ends] = {}

    def add(self, outcome: Any, *factors: Ends) -> None:
        low, high = self.found.get(outcome, (0, 0))
        more = times(factors)
        self.found[outcome] = low + more[0], high + more[1]

    def law(self) -> EnclosedLaw:
        masses = {
            outcome: (Fraction(low, ONE), Fraction(high + self.slack, ONE))
            for outcome, (low, high) in self.found.items()
        }
        return EnclosedLaw(masses=masses, outside=Fraction(0))


def _width(scores: Sequence[int]) -> int:
    return max(scores) - min(scores)


def laplace_law(scores: Sequence[int], scale: Scale) -> EnclosedLaw:
    """The first largest of the scores plus discrete Laplace noise."""
    return _laplace(scores, scale, lambda noise, needed: {(): noise.from_(needed)})


def margin_law(scores: Sequence[int], scale: Scale, most: int = 3) -> EnclosedLaw:
    """The same, with the margin; margins of ``most`` and above are one outcome."""

    def parts(noise: Laplace, needed: int) -> dict[Any, Ends]:
        found = {(h,): noise.at(needed + h) for h in range(most)}
        return found | {(most,): noise.from_(needed + most)}

    return _laplace(scores, scale, parts)


def _laplace(scores: Sequence[int], scale: Scale, parts: Callable[..., dict]) -> EnclosedLaw:
    """Sum over the least noise with which each candidate wins."""
    masses = Masses(scores, scale)
    noise = masses.noise
    for i, own in enumerate(scores):
        others = [(j < i, other) for j, other in enumerate(scores) if j != i]
        before: Ends = (0, 0)
        for z in masses.window:
            now = times(noise.up_to(own + z - other - is_before) for is_before, other in others)
            needed, before = minus(now, before), now
            for label, chance in parts(noise, z).items():
                masses.add((i, *label), needed, chance)
    return masses.law()


def gap_law(scores: Sequence[int], scale: Scale, most: int = 3) -> EnclosedLaw:
    """The twin: the index with the plain gap to the second largest, ties to the earlier one."""
    masses = Masses(scores, scale)
    noise = masses.noise

    def up_to(y: int, group: Sequence[int]) -> Ends:
        return times(noise.up_to(y - other) for other in group)

    for i, own in enumerate(scores):
        before, after = scores[:i], scores[i + 1 :]
        for y in range(min(scores) + masses.window[0], max(scores) + masses.window[-1]):
            second = minus(up_to(y, [*before, *after]), up_to(y - 1, [*before, *after]))
            tied = times([up_to(y - 1, before), minus(up_to(y, after), up_to(y - 1, after))])
            for gap in range(most + 1):
                chance = noise.at(y + gap - own) if gap < most else noise.from_(y + gap - own)
                masses.add((i, gap), second if gap else tied, chance)
    return masses.law()


# ---------------------------------------------------------------- top-k, quantiles


def top_k_law(scores: Sequence[int], scale: Scale, count: int) -> EnclosedLaw:
    """The exponential mechanism again and again, without those already chosen."""
    masses: dict[Any, tuple[Fraction, Fraction]] = {(): (Fraction(1), Fraction(1))}
    for _ in range(count):
        longer = {}
        for chosen, mass in masses.items():
            left = [i for i in range(len(scores)) if i not in chosen]
            law = enclosed(exponential_law([scores[i] for i in left], scale), bits=BITS)
            for place, i in enumerate(left):
                low, high = law.masses[place]
                longer[(*chosen, i)] = mass[0] * low, mass[1] * high
        masses = longer
    return EnclosedLaw(masses=masses, outside=Fraction(0))


def rank_error(values: Sequence[int], share: Fraction, v: int) -> Fraction:
    """How far ``share * n`` is from the ranks that ``v`` covers."""
    target = share * len(values)
    below = sum(x < v for x in values)
    at_most = sum(x <= v for x in values)
    return max(Fraction(0), target - at_most, below - target)


def rank_law(
    values: Sequence[int], share: Fraction, lower: int, upper: int, scale: Scale
) -> ExactLaw:
    """Weights e^(-rank error/scale) over all integers of the domain."""
    return ExactLaw(
        {v: exp(-rank_error(values, share, v) / scale) for v in range(lower, upper + 1)}
    )
