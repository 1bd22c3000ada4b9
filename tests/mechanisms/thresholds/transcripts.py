"""Exact laws of transcripts: one sum over the threshold's noise, every probability enclosed.

Given the threshold's noise the answers are independent, so the law of a transcript is a sum of
products. Everything is in integers of ``2**-BITS``, rounded down on one side and up on the other.
"""

import itertools
import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.accounting_question import account
from discreet.accounting.tails.gaussian_tail import gaussian_tail_bounds
from discreet.audit.laws import EnclosedLaw
from discreet.core.event import Event
from discreet.core.loss import Approximate
from discreet.core.numbers import Number
from discreet.core.rounding import exp_down, exp_up
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.thresholds.sparse_vector import ThresholdNoise

BITS = 256
ONE = 1 << BITS
Ends = tuple[int, int]
CERTAIN: Ends = (ONE, ONE)


@lru_cache(maxsize=1 << 16)
def tail(noise: ThresholdNoise, start: int) -> Ends:
    """Enclose the probability that noise is at least ``start``."""
    if isinstance(noise, DiscreteGaussian):
        return fixed(*gaussian_tail_bounds(noise.sigma_squared, start, BITS))
    if start <= 0:
        return complement(tail(noise, 1 - start))
    q = exp_down(-1 / noise.scale), exp_up(-1 / noise.scale)
    power = exp_down(-start / noise.scale), exp_up(-start / noise.scale)
    return fixed(power[0] / (1 + q[1]), power[1] / (1 + q[0]))


def fixed(low: Fraction, high: Fraction) -> Ends:
    return (
        max(0, (low.numerator << BITS) // low.denominator),
        min(ONE, -((-high.numerator << BITS) // high.denominator)),
    )


def complement(ends: Ends) -> Ends:
    return ONE - ends[1], ONE - ends[0]


def minus(first: Ends, second: Ends) -> Ends:
    return max(0, first[0] - second[1]), max(0, first[1] - second[0])


def times(first: Ends, second: Ends) -> Ends:
    return first[0] * second[0] >> BITS, -(-first[1] * second[1] >> BITS)


def spent(event: Event, delta: Number, measure: str = "auto") -> Fraction:
    """Return the ε that the accountant certifies at ``delta``."""
    loss = account(event, delta=delta, measure=measure).loss
    assert isinstance(loss, Approximate)
    return loss.epsilon


class Sums(dict[Hashable, list[int]]):
    """Masses that are being added up."""

    def add(self, outcome: Hashable, ends: Ends) -> None:
        total = self.setdefault(outcome, [0, 0])
        total[0] += ends[0]
        total[1] += ends[1]

    def law(self, outside: int) -> EnclosedLaw:
        masses = {o: (Fraction(low, ONE), Fraction(high, ONE)) for o, (low, high) in self.items()}
        return EnclosedLaw(masses=masses, outside=Fraction(outside, ONE))


def noise_masses(noise: ThresholdNoise, reach: int) -> tuple[dict[int, Ends], int]:
    """Return the probabilities of noise up to ``reach`` away, and a bound on the rest."""
    masses = {
        z: minus(tail(noise, z), tail(noise, z + 1))
        if z > 0
        else minus(tail(noise, -z), tail(noise, 1 - z))
        for z in range(-reach, reach + 1)
    }
    return masses, 2 * tail(noise, reach + 1)[1]


def stopping_law(
    values: Sequence[int],
    *,
    threshold_noise: ThresholdNoise,
    query_noise: ThresholdNoise,
    reach: int,
) -> EnclosedLaw:
    """Return the law of the place of the first query above 0 (``None`` if there is none)."""
    masses, outside = noise_masses(threshold_noise, reach)
    sums = Sums()
    for z, mass in masses.items():
        left = mass
        for place, value in enumerate(values):
            above = tail(query_noise, z - value)
            sums.add(place, times(left, above))
            left = times(left, complement(above))
        sums.add(None, left)
    return sums.law(outside)


def pairs_law(
    values: Sequence[int],
    *,
    threshold_noise: ThresholdNoise,
    query_noise: ThresholdNoise,
    reach: int,
) -> EnclosedLaw:
    """Return the law of the places of the first two queries above 0, with one threshold."""
    masses, outside = noise_masses(threshold_noise, reach)
    sums = Sums()
    for z, mass in masses.items():
        above = [tail(query_noise, z - value) for value in values]
        left = mass
        for first, chance in enumerate(above):
            rest = times(left, chance)
            for second in range(first + 1, len(above)):
                sums.add((first, second), times(rest, above[second]))
                rest = times(rest, complement(above[second]))
            sums.add(first, rest)
            left = times(left, complement(chance))
        sums.add(None, left)
    return sums.law(outside)


def pattern_mass(
    values: Sequence[int],
    pattern: str,
    *,
    threshold_noise: ThresholdNoise,
    query_noise: ThresholdNoise,
    reach: int,
) -> tuple[Fraction, Fraction]:
    """Enclose the probability of one transcript of a machine that never halts, as ``-+`` text."""
    masses, outside = noise_masses(threshold_noise, reach)
    low = high = 0
    for z, mass in masses.items():
        left = mass
        for value, answer in zip(values, pattern, strict=True):
            above = tail(query_noise, z - value)
            left = times(left, above if answer == "+" else complement(above))
        low, high = low + left[0], high + left[1]
    return Fraction(low, ONE), Fraction(high + outside, ONE)


def between_law(
    values: Sequence[int], *, lower: int, upper: int, scales: tuple[Fraction, Fraction], reach: int
) -> EnclosedLaw:
    """Return the law of all words of BetweenThresholds: L and R, and T at the end if it halts."""
    noise, query = (DiscreteLaplace(scale=scale) for scale in scales)
    masses, outside = noise_masses(noise, reach)
    sums = Sums()
    for z, mass in masses.items():
        words: dict[str, Ends] = {"": mass}
        for value in values:
            sides = between_sides(query, value, lower + z, upper - z)
            grown: dict[str, Ends] = {}
            for (word, weight), (side, share) in itertools.product(words.items(), sides.items()):
                if side == "T":
                    sums.add(word + side, times(weight, share))
                else:
                    grown[word + side] = times(weight, share)
            words = grown
        for word, ends in words.items():
            sums.add(word, ends)
    return sums.law(outside)


def between_stops(
    values: Sequence[int], *, lower: int, upper: int, scales: tuple[Fraction, Fraction], reach: int
) -> EnclosedLaw:
    """Return the law of when it halts, and whether all answers before were L, or all were R."""
    noise, query = (DiscreteLaplace(scale=scale) for scale in scales)
    masses, outside = noise_masses(noise, reach)
    sums = Sums()
    for z, mass in masses.items():
        left = only_below = only_above = mass
        for place, value in enumerate(values):
            sides = between_sides(query, value, lower + z, upper - z)
            before = {"": left}
            if place:
                mixed = minus(minus(left, only_below), only_above)
                before = {"L": only_below, "R": only_above, "mixed": mixed}
            for name, ends in before.items():
                sums.add((place, name), times(ends, sides["T"]))
            left = times(left, complement(sides["T"]))
            only_below = times(only_below, sides["L"])
            only_above = times(only_above, sides["R"])
        sums.add("L", only_below)
        sums.add("R", only_above)
        sums.add("mixed", minus(minus(left, only_below), only_above))
    return sums.law(outside)


def between_leads(
    first: int,
    second: int,
    *,
    count: int,
    lead: int,
    gap: int,
    scales: tuple[Fraction, Fraction],
    reach: int,
) -> EnclosedLaw:
    """Ask ``first`` and then ``second``, ``count`` times each; does L lead in the first half?

    The outcome is whether nothing halted and L came at least ``lead`` times more often there.
    """
    noise, query = (DiscreteLaplace(scale=scale) for scale in scales)
    masses, outside = noise_masses(noise, reach)
    sums = Sums()
    for z, mass in masses.items():
        halves = [
            _binomial(count, between_sides(query, value, z, gap - z)) for value in (first, second)
        ]
        beyond: list[Ends] = [(0, 0)] * (count + 1 + lead)
        below: Ends = (0, 0)
        for below_count, ends in enumerate(halves[1]):
            below = below[0] + ends[0], below[1] + ends[1]
            beyond[below_count + lead] = below
        leads = [times(a, b) for a, b in zip(halves[0], beyond, strict=False)]
        total = times(mass, (sum(e[0] for e in leads), min(ONE, sum(e[1] for e in leads))))
        sums.add("leads", total)
        sums.add("not", minus(mass, total))
    return sums.law(outside)


def _binomial(count: int, sides: dict[str, Ends]) -> list[Ends]:
    """Enclose the chance of each number of L among ``count`` answers, none of them T."""
    powers: dict[str, list[Ends]] = {}
    for side in "LR":
        powers[side] = [CERTAIN]
        for _ in range(count):
            powers[side].append(times(powers[side][-1], sides[side]))
    found = []
    for below in range(count + 1):
        low, high = times(powers["L"][below], powers["R"][count - below])
        found.append((math.comb(count, below) * low, math.comb(count, below) * high))
    return found


def between_sides(noise: ThresholdNoise, value: int, lower: int, upper: int) -> dict[str, Ends]:
    """Enclose the chance of each answer, given where the thresholds are."""
    below = complement(tail(noise, lower - value))
    above = tail(noise, max(upper + 1, lower) - value)
    between = minus(tail(noise, lower - value), above) if upper >= lower else (0, 0)
    return {"L": below, "R": above, "T": between}
