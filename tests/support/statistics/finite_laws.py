"""Finite laws for property tests: exact, small, and with zeros among their masses."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

Masses = dict[Any, Fraction]


def law(weights: list[int]) -> Masses:
    """The law with these weights on 0, 1, 2, ..."""
    total = sum(weights)
    return {outcome: Fraction(weight, total) for outcome, weight in enumerate(weights)}


def laws(size: int = 4, *, least: int = 0) -> st.SearchStrategy[Masses]:
    """Laws on ``size`` outcomes whose weights are at least ``least``."""
    weights = st.lists(st.integers(least, 9), min_size=size, max_size=size)
    return weights.filter(any).map(law)


def orders(most: int = 12) -> st.SearchStrategy[Fraction]:
    """Orders above 1."""
    return st.fractions(min_value="21/20", max_value=most, max_denominator=20)


def mixed(first: Masses, second: Masses, share: Fraction) -> Masses:
    """The mixture that takes ``first`` with probability ``share``."""
    return {o: share * first[o] + (1 - share) * second[o] for o in first}


def processed(source: Masses, channel: list[Masses]) -> Masses:
    """What a randomised map with these output laws makes of ``source``."""
    outcomes = channel[0]
    return {
        o: sum((source[i] * row[o] for i, row in enumerate(channel)), Fraction(0)) for o in outcomes
    }


def response(ratio: Fraction) -> tuple[Masses, Masses]:
    """Randomised response whose likelihood ratios are exactly ``ratio`` and its inverse."""
    often, rarely = ratio / (1 + ratio), 1 / (1 + ratio)
    return {0: often, 1: rarely}, {0: rarely, 1: often}
