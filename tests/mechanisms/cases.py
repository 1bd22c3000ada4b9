"""Every mechanism that adds noise, with its exact output law worked out by other means."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.exponential_sum import exp_bounds_relative
from discreet.audit.laws import (
    EnclosedLaw,
    OutputLaw,
    discrete_gaussian_law,
    discrete_laplace_law,
    finite_law,
    product,
)
from discreet.core.contribution import Contribution, Metric
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.geometric import geometric
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.noise.uniform_smoothing import UniformSmoothing

Centre = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """One mechanism, its output law around a centre, and neighbouring centres to compare."""

    name: str
    mechanism: Any
    law: Callable[[Centre], OutputLaw]
    pairs: tuple[tuple[Centre, Centre, Contribution], ...]
    is_tight: bool = False

    def __str__(self) -> str:
        return self.name


def laplace_law(scale: Fraction | int, reach: int) -> Callable[[Centre], OutputLaw]:
    window = (-reach, reach + 3)
    return lambda centre: product(
        *(discrete_laplace_law(scale, centre=c, window=window) for c in centre)
    )


def gaussian_law(sigma_squared: Fraction | int, radius: int) -> Callable[[Centre], OutputLaw]:
    return lambda centre: product(
        *(discrete_gaussian_law(sigma_squared, centre=c, radius=radius) for c in centre)
    )


def clamped_law(scale: Fraction | int, bound: int) -> Callable[[Centre], OutputLaw]:
    return lambda centre: product(
        *(discrete_laplace_law(scale, centre=c, window=(c - bound, c + bound)) for c in centre)
    )


def cube_law(scale: Fraction | int, dimension: int, reach: int) -> Callable[[Centre], OutputLaw]:
    """Weights ``exp(-max|z| / scale)`` up to ``reach``; shells beyond it are bounded."""

    def weight(radius: int) -> tuple[Fraction, Fraction]:
        return exp_bounds_relative(-Fraction(radius) / Fraction(scale), 96)

    def shell(radius: int) -> int:
        return (2 * radius + 1) ** dimension - (2 * radius - 1) ** dimension

    beyond = sum(shell(r) * weight(r)[1] for r in range(reach + 1, 12 * reach))
    beyond += 2 * shell(12 * reach) * weight(12 * reach)[1] * Fraction(scale + 1)
    low = 1 + sum(shell(r) * weight(r)[0] for r in range(1, reach + 1))
    high = 1 + sum(shell(r) * weight(r)[1] for r in range(1, reach + 1)) + beyond

    def law(centre: Centre) -> EnclosedLaw:
        masses = {}
        for z in itertools.product(range(-reach, reach + 1), repeat=dimension):
            ends = weight(max(map(abs, z)))
            masses[tuple(c + x for c, x in zip(centre, z, strict=True))] = (
                ends[0] / high,
                ends[1] / low,
            )
        return EnclosedLaw(masses=masses, outside=beyond / low)

    return law


def box_law(radius: int) -> Callable[[Centre], OutputLaw]:
    share = Fraction(1, 2 * radius + 1)

    def one(centre: int) -> OutputLaw:
        return finite_law({centre + z: share for z in range(-radius, radius + 1)})

    return lambda centre: product(*(one(c) for c in centre))


ONE = ((0,), (1,), Contribution(l0=1, linf=1))
THREE = ((0,), (3,), Contribution(l0=1, linf=3))
TWO_CELLS = ((0, 1), (1, 0), Contribution(l0=2, linf=1, metric=Metric.CHANGE_ONE))

CASES = (
    Case(
        "discrete_laplace",
        DiscreteLaplace(scale="7/2"),
        laplace_law(Fraction(7, 2), 8),
        (ONE, THREE, TWO_CELLS),
        is_tight=True,
    ),
    Case("geometric", geometric("2/3"), laplace_law(Fraction(3, 2), 8), (ONE, THREE), True),
    Case(
        "discrete_gaussian",
        DiscreteGaussian(sigma_squared="5/2"),
        gaussian_law(Fraction(5, 2), 20),
        (ONE, THREE, TWO_CELLS),
    ),
    Case(
        "truncated_geometric",
        TruncatedGeometric(scale=2, bound=12),
        clamped_law(2, 12),
        (ONE, THREE, TWO_CELLS),
    ),
    Case(
        "linf_exponential",
        LinfExponential(scale=2, dimension=2),
        cube_law(2, 2, 30),
        (((0, 0), (1, 1), Contribution(linf=1)), ((0, 0), (2, -1), Contribution(linf=2))),
    ),
    Case("uniform_smoothing", UniformSmoothing(radius=9), box_law(9), (ONE, THREE, TWO_CELLS)),
    Case(
        "noisy_histogram",
        NoisyHistogram(noise=DiscreteLaplace(scale=2), cells=2),
        laplace_law(2, 6),
        (TWO_CELLS,),
        is_tight=True,
    ),
)


def by_name(name: str) -> Case:
    return next(case for case in CASES if case.name == name)
