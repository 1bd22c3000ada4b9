"""Truths: which conditions on noisy numbers surely hold without the noise, and which surely not."""

import operator
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from attrs import frozen

from discreet.releases.estimates.estimate import Calculation, Estimate, indices
from discreet.tables.arithmetic.columns import Column, scalars
from discreet.tables.arithmetic.enclosures import Intervals
from discreet.tables.arithmetic.ratios import Mask

Inside = Callable[[Estimate], tuple[Intervals, Mask]]
"""Where an estimate lies in each group without noise, and whether it surely has a value."""


@frozen(eq=False)
class Truth:
    """Where a condition is true for sure, and where it is false for sure."""

    surely: Mask
    never: Mask


def truth(condition: Estimate, inside: Inside, exact: Callable[[Estimate], Column]) -> Truth:
    """Return what is sure of a condition, given where the numbers in it lie.

    Guarantee:
        If every number lies where ``inside`` says, the condition of the numbers without noise is
        true where it is surely true, and false where it never is; elsewhere it may be anything.

        Proof. What has no noise is as it is. Two numbers that surely have values compare as all
        pairs of numbers from their two intervals do, if these all compare alike. AND is true if
        all of its parts are, and false if one is; OR and NOT likewise; a NULL makes nothing sure.
    """
    if not indices(condition):
        found = scalars(exact(condition))
        return Truth(*(np.array([one is said for one in found], bool) for said in (True, False)))
    known = isinstance(condition, Calculation) and _RULES.get(condition.function)
    if isinstance(condition, Calculation) and known:
        return known(condition.arguments, lambda inner: truth(inner, inside, exact), inside)
    nowhere = np.zeros_like(inside(condition)[1])
    return Truth(nowhere, nowhere)


Part = Callable[[Estimate], Truth]
Rule = Callable[[Sequence[Estimate], Part, Inside], Truth]


def _turned(one: Truth) -> Truth:
    return Truth(one.never, one.surely)


def _and(first: Truth, second: Truth) -> Truth:
    return Truth(first.surely & second.surely, first.never | second.never)


def _or(first: Truth, second: Truth) -> Truth:
    return _turned(_and(_turned(first), _turned(second)))


def _less(first: Estimate, second: Estimate, inside: Inside, *, or_equal: bool) -> Truth:
    (a, has_first), (b, has_second) = inside(first), inside(second)
    known = a.known & b.known & has_first & has_second
    below, above = (operator.le, operator.gt) if or_equal else (operator.lt, operator.ge)
    return Truth(known & a.highs.compared(b.lows, below), known & a.lows.compared(b.highs, above))


def _comparison(*, or_equal: bool, turned: bool) -> Rule:
    def rule(arguments: Sequence[Estimate], _: Part, inside: Inside) -> Truth:
        first, second = reversed(arguments) if turned else arguments
        return _less(first, second, inside, or_equal=or_equal)

    return rule


def _equal(first: Estimate, second: Estimate, inside: Inside) -> Truth:
    """Return that two numbers are equal: neither is above the other."""
    return _and(
        _less(first, second, inside, or_equal=True), _less(second, first, inside, or_equal=True)
    )


def _among(arguments: Sequence[Estimate], _: Part, inside: Inside) -> Truth:
    first, *others = arguments
    return reduce(_or, (_equal(first, other, inside) for other in others))


def _missing(arguments: Sequence[Estimate], _: Part, inside: Inside) -> Truth:
    is_there = inside(arguments[0])[1]
    return Truth(np.zeros_like(is_there), is_there)


_RULES: dict[str, Rule] = {
    "<": _comparison(or_equal=False, turned=False),
    "<=": _comparison(or_equal=True, turned=False),
    ">": _comparison(or_equal=False, turned=True),
    ">=": _comparison(or_equal=True, turned=True),
    "=": _among,
    "<>": lambda arguments, part, inside: _turned(_among(arguments, part, inside)),
    "in": _among,
    "and": lambda arguments, part, _: reduce(_and, map(part, arguments)),
    "or": lambda arguments, part, _: reduce(_or, map(part, arguments)),
    "not": lambda arguments, part, _: _turned(part(arguments[0])),
    "is_null": _missing,
}
