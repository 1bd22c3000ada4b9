"""Small mechanisms on samples, enumerated: every data set, every sample, every outcome."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np

Law = dict[object, float]
Mechanism = Callable[[tuple[int, ...]], Law]
"""From the values of the units in a sample to the chances of the outcomes."""


def poisson(mechanism: Mechanism, data: Sequence[int], rate: float) -> Law:
    """The law on a sample into which each unit comes by itself."""
    total: Law = {}
    for drawn in product((False, True), repeat=len(data)):
        weight = float(np.prod([rate if one else 1 - rate for one in drawn]))
        sample = tuple(value for value, one in zip(data, drawn, strict=True) if one)
        for outcome, chance in mechanism(sample).items():
            total[outcome] = total.get(outcome, 0.0) + weight * chance
    return total


def fixed_size(mechanism: Mechanism, data: Sequence[int], size: int) -> Law:
    """The law on a sample of ``size`` units."""
    total: Law = {}
    samples = list(combinations(data, size))
    for sample in samples:
        for outcome, chance in mechanism(sample).items():
            total[outcome] = total.get(outcome, 0.0) + chance / len(samples)
    return total


def composed(first: Law, second: Law) -> Law:
    """The law of two independent outcomes."""
    return {(a, b): p * q for a, p in first.items() for b, q in second.items()}


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    e = np.exp(epsilon)
    return sum(max(0.0, chance - e * q.get(outcome, 0.0)) for outcome, chance in p.items())


def noisy_sum(scale: float, reach: int) -> Mechanism:
    """Two-sided geometric noise of ``scale`` on the sum of the sample, folded at ``±reach``."""

    def mechanism(sample: tuple[int, ...]) -> Law:
        return noise(sum(sample), scale, reach)

    return mechanism


def noise(centre: int, scale: float, reach: int) -> Law:
    """Discrete Laplace noise, its ends folded to the edges: a post-processing."""
    r = np.exp(-1 / scale)
    law: Law = {}
    for y in range(-reach, reach + 1):
        law[y] = (1 - r) / (1 + r) * r ** abs(y - centre)
    law[-reach] = r ** (reach + centre) / (1 + r)
    law[reach] = r ** (reach - centre) / (1 + r)
    return law


def response(epsilon: Fraction, bit: int) -> Law:
    e = float(np.exp(float(epsilon)))
    return {bit: e / (1 + e), 1 - bit: 1 / (1 + e)}
