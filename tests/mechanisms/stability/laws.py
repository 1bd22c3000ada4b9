"""Exact output laws of the stability mechanisms, worked out by enumeration."""

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from discreet.audit.laws import (
    ExactLaw,
    OutputLaw,
    discrete_gaussian_law,
    discrete_laplace_law,
    product,
    push_forward,
)
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stability.stability_test import StabilityTest
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys

NOTHING = ExactLaw({None: 1})
"""The law of an absent key: certainly not shown."""

Counts = tuple[int, ...]


def noisy(noise: DiscreteLaplace | DiscreteGaussian, count: int, reach: int) -> OutputLaw:
    """The law of a count plus noise. Laplace is clamped beyond all counts, which loses nothing."""
    if isinstance(noise, DiscreteLaplace):
        return discrete_laplace_law(noise.scale, centre=count, window=(0, reach))
    return discrete_gaussian_law(noise.sigma_squared, centre=count, radius=reach)


def one_key(keys: ThresholdedKeys, count: int, reach: int) -> OutputLaw:
    """The law of what is shown of one key: its noisy count, or nothing."""
    if count == 0:
        return NOTHING
    law = noisy(keys.noise, count, reach)
    return push_forward(law, lambda value: value if value >= keys.threshold else None)


def keys_law(keys: ThresholdedKeys, counts: Counts, *, reach: int) -> OutputLaw:
    """The law of everything that is shown, key by key."""
    return product(*(one_key(keys, count, reach) for count in counts))


def law_behind_test(test: StabilityTest, margin: int, then: OutputLaw, *, reach: int) -> OutputLaw:
    """The law of ``then`` behind the test of a margin; a margin above ``reach`` counts as it."""
    noise = discrete_laplace_law(test.scale, centre=min(margin, reach), window=(-reach, 3 * reach))
    joint = product(noise, then)
    return push_forward(joint, lambda pair: pair[1] if pair[0] >= test.threshold else None)


def released_law(
    ptr: ProposeTestRelease, value: int, margin: int, *, reach: int, window: tuple[int, int]
) -> OutputLaw:
    then = discrete_laplace_law(ptr.noise.scale, centre=value, window=window)
    return law_behind_test(ptr.test, margin, then, reach=reach)


def rows(domain: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """All multisets of at most ``most`` values."""
    for count in range(most + 1):
        yield from itertools.combinations_with_replacement(domain, count)


def with_one_more(data: tuple[int, ...], domain: Sequence[int]) -> list[tuple[int, ...]]:
    """All data with one row more."""
    return [tuple(sorted((*data, value))) for value in domain]


def scaled(loss: Any, factor: Fraction) -> Any:
    """The same loss with δ times ``factor``."""
    return type(loss)(loss.epsilon, loss.delta * factor)


ALMOST = Fraction(999_999, 1_000_000)
