"""New laws from old: independent coordinates, mixtures, and functions of the outcome."""

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

from discreet.audit.discrete_gaussian_law import GaussianLaw, GaussianVectorLaw
from discreet.audit.dyadic import dyadic_down, dyadic_up
from discreet.audit.exponential_sum import ExponentialSum, as_sum
from discreet.audit.law import BITS, EnclosedLaw, ExactLaw, Law, all_exact, enclosed
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact


def product(*laws: Law) -> Law:
    """Return the law of independent coordinates; an outcome is the tuple of theirs.

    Guarantee:
        Probabilities of independent outcomes multiply. What is not listed has mass at most the sum
        of the laws' own ``outside``, by the union bound.

    Example:
        >>> coin = ExactLaw({0: 1, 1: 1})
        >>> sorted(product(coin, coin).weights)
        [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    exact_laws = all_exact(laws)
    if exact_laws is not None:
        return _exact_product(exact_laws)
    known = [enclosed(law) for law in laws]
    masses: dict[Any, tuple[Fraction, Fraction]] = {}
    for cells in itertools.product(*(law.masses.items() for law in known)):
        low = math.prod((ends[0] for _, ends in cells), start=Fraction(1))
        high = math.prod((ends[1] for _, ends in cells), start=Fraction(1))
        masses[tuple(outcome for outcome, _ in cells)] = _rounded(low, high)
    outside = min(Fraction(1), sum((law.outside for law in known), Fraction(0)))
    named = tuple(law for law in laws if isinstance(law, GaussianLaw))
    if len(named) == len(laws):
        return GaussianVectorLaw(masses=masses, outside=outside, coordinates=named)
    return EnclosedLaw(masses=masses, outside=outside)


def _exact_product(laws: list[ExactLaw]) -> ExactLaw:
    weights: dict[tuple[Any, ...], ExponentialSum] = {(): as_sum(1)}
    for law in laws:
        weights = {
            (*before, outcome): old * new
            for before, old in weights.items()
            for outcome, new in law.weights.items()
        }
    return ExactLaw(weights)


def mixture(parts: Sequence[tuple[Number, Law]]) -> Law:
    """Return the law of first choosing a part by its share, and then an outcome from it.

    Example:
        >>> half = Fraction(1, 2)
        >>> sorted(mixture([(half, ExactLaw({0: 1})), (half, ExactLaw({1: 1}))]).weights)
        [0, 1]
    """
    shares = [exact(share) for share, _ in parts]
    if any(share < 0 for share in shares) or sum(shares) != 1:
        raise InvalidArgument("Those are not shares", must="be at least 0 and sum to 1")
    laws = [law for _, law in parts]
    exact_laws = all_exact(laws)
    if exact_laws is not None:
        return _exact_mixture(shares, exact_laws)
    masses: dict[Any, tuple[Fraction, Fraction]] = {}
    outside = Fraction(0)
    for share, law in zip(shares, map(enclosed, laws), strict=True):
        outside += share * law.outside
        for outcome, (low, high) in law.masses.items():
            before = masses.get(outcome, (Fraction(0), Fraction(0)))
            masses[outcome] = _rounded(before[0] + share * low, before[1] + share * high)
    return EnclosedLaw(masses=masses, outside=outside)


def _exact_mixture(shares: list[Fraction], laws: list[ExactLaw]) -> ExactLaw:
    weights: dict[Any, ExponentialSum] = {}
    for index, (share, law) in enumerate(zip(shares, laws, strict=True)):
        others = (other.total for place, other in enumerate(laws) if place != index)
        factor = math.prod(others, start=as_sum(share))
        for outcome, weight in law.weights.items():
            weights[outcome] = weights.get(outcome, as_sum(0)) + factor * weight
    return ExactLaw(weights)


def push_forward(law: Law, function: Callable[[Any], Hashable]) -> Law:
    """Return the law of ``function`` of the outcome, for example of a noisy value after rounding.

    Guarantee:
        The mass of an outcome is the sum of the masses of all that lead to it. Unlisted mass stays
        unlisted: wherever the function sends it, its total is the same.

    Example:
        >>> die = ExactLaw({face: 1 for face in range(6)})
        >>> push_forward(die, lambda face: face % 2).weights[0]
        3·e^(0)
    """
    if isinstance(law, ExactLaw):
        weights: dict[Any, ExponentialSum] = {}
        for outcome, weight in law.weights.items():
            image = function(outcome)
            weights[image] = weights.get(image, as_sum(0)) + weight
        return ExactLaw(weights)
    masses: dict[Any, tuple[Fraction, Fraction]] = {}
    for outcome, (low, high) in law.masses.items():
        image = function(outcome)
        before = masses.get(image, (Fraction(0), Fraction(0)))
        masses[image] = (before[0] + low, before[1] + high)
    return EnclosedLaw(masses=masses, outside=law.outside)


def _rounded(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    return dyadic_down(low, BITS), dyadic_up(high, BITS)
