"""Where reconstruction ends: how many bits are found as the noise grows past the square root."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.attacks.reconstruction.decode_counts import (
    DecodedBits,
    decode_squares,
    expected_share,
    random_subsets,
)
from discreet.attacks.reconstruction.subset_counts import NoisyCounts
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.core.terminal_text import text_table
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.randomness.samplers import bernoulli

NOISES = ("0.05", "0.1", "0.25", "0.5", 1, 2, 4)
"""Deviations of the noise, in square roots of the number of people."""


@frozen(kw_only=True)
class FrontierPoint:
    """How many bits were found at one level of noise."""

    noise: Fraction
    """The deviation, over the square root of the number of people."""
    found: Fraction
    expected: float


@frozen(kw_only=True)
class Frontier:
    """The share of bits that a decoder finds, by the noise."""

    people: int
    queries: int
    points: tuple[FrontierPoint, ...]

    def __str__(self) -> str:
        """Return the points as a table."""
        head = f"{self.people:,} people with fair bits, {self.queries:,} counts of random sets"
        table = text_table(
            ["noise / √n", "bits found", "expected"],
            [
                [f"{float(one.noise):g}", f"{float(one.found):.1%}", f"{one.expected:.1%}"]
                for one in self.points
            ],
        )
        return f"{head}\n\n{table}"

    def to_json(self) -> dict[str, Any]:
        """Return the points for other programs."""
        points = [
            {"noise": float(one.noise), "found": float(one.found), "expected": one.expected}
            for one in self.points
        ]
        return {"people": self.people, "queries": self.queries, "points": points}


def measure_frontier(
    people: int,
    queries: int,
    *,
    rng: Rng,
    noises: Sequence[Number] = NOISES,
    decode: Callable[..., DecodedBits] = decode_squares,
    on_step: Callable[[int, int], None] | None = None,
) -> Frontier:
    r"""Decode made-up bits from noisy counts, at several levels of noise.

    Guarantee:
        What is expected is
        :func:`~discreet.attacks.reconstruction.decode_counts.expected_share`: nearly everything
        while the deviation is well below :math:`\sqrt n`, and hardly more than a half well above it
        [DN03]. The noise is discrete and exactly normal in shape, and fresh for each count.

    Example:
        >>> from discreet import SystemRng
        >>> measure_frontier(20, 200, rng=SystemRng(), noises=[0]).points[0].found
        Fraction(1, 1)
    """
    size, count = check.at_least_one(people, "people"), check.at_least_one(queries, "queries")
    levels = [exact(one) for one in noises]
    if not levels or min(levels) < 0 or count <= size:
        raise InvalidArgument(
            "There is no frontier to measure",
            must="have more queries than people, and noise from 0 on",
        )
    bits = bernoulli(Fraction(1, 2), size, rng).astype("int64")
    sets = random_subsets(size, count, rng)
    points = []
    for step, level in enumerate(levels):
        if level:
            noise = DiscreteGaussian(sigma_squared=level**2 * size)
            answers: Any = NoisyCounts(bits=bits, noise=noise, rng=rng).answers(sets)
        else:
            answers = sets.astype("int64") @ bits
        found = decode(sets, answers, people=size).share_right(bits)
        deviation = float(level) * math.sqrt(size)
        points.append(
            FrontierPoint(noise=level, found=found, expected=expected_share(size, count, deviation))
        )
        if on_step is not None:
            on_step(step + 1, len(levels))
    return Frontier(people=size, queries=count, points=tuple(points))
