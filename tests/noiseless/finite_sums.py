"""Sums of few rows of a finite law, by counting all outcomes: an oracle that shares no code."""

from collections import defaultdict
from fractions import Fraction
from math import exp


def sum_law(weights, rows):
    """Return the law of a sum of independent rows, exactly."""
    law = {0: Fraction(1)}
    for _ in range(rows):
        longer: dict[int, Fraction] = defaultdict(Fraction)
        for place, mass in law.items():
            for value, weight in enumerate(weights):
                longer[place + value] += mass * weight
        law = dict(longer)
    return law


def hockey_stick(first, second, epsilon):
    """Return the divergence of one finite law from another."""
    factor = exp(epsilon)
    return sum(
        max(0.0, float(mass) - factor * float(second.get(at, 0))) for at, mass in first.items()
    )


def divergence(law, shift, epsilon):
    """Return the larger divergence, of both directions, of a law and its shifted copy."""
    moved = {place + shift: mass for place, mass in law.items()}
    return max(hockey_stick(law, moved, epsilon), hockey_stick(moved, law, epsilon))
