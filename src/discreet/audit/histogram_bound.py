r"""Lower bounds on whole curves from samples: Rényi divergences at every order, δ at every ε."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import singledispatch
from numbers import Real
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.audit.binomial import lower_confidence, upper_confidence
from discreet.audit.bound_text import confidence_in_words
from discreet.audit.learn_score import learn_score
from discreet.audit.outputs import as_float
from discreet.audit.sampling import (
    DEFAULT_CONFIDENCE,
    as_confidence,
    outcomes,
)
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp, short
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds

ORDERS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""At which orders a claim of zCDP is compared."""

Ends = tuple[Fraction, Fraction]
_Cell = Callable[[Hashable], int]


@frozen(kw_only=True)
class HistogramBound:
    r"""Outputs in cells: each cell's probability on both data sets, enclosed.

    Guarantee:
        With probability at least ``confidence`` over the samples all enclosures hold at once, and
        so does everything that is derived from them: at all orders, all :math:`\varepsilon`, and in
        both directions.

        Proof. The cells were learnt on one half of the samples. On the other half each count is
        binomial; a lower and an upper bound for each of :math:`k` cells on two data sets are
        :math:`4k` bounds, each of which fails with probability at most
        :math:`(1 - confidence)/(4k)` [CP34]. Which cell an output is in is a function of the
        output, so no divergence of the cells exceeds that of the outputs. With
        :math:`p \ge l` and :math:`q \le u`, each term of
        :math:`\sum p^\alpha q^{1-\alpha}` is at least :math:`l^\alpha u^{1-\alpha}` for
        :math:`\alpha > 1`, and each of :math:`\sum [p - e^\varepsilon q]_+` at least
        :math:`[l - e^\varepsilon u]_+`.
    """

    first: tuple[Ends, ...] = field(repr=False)
    second: tuple[Ends, ...] = field(repr=False)
    confidence: Fraction

    def renyi(self, order: int) -> Fraction:
        """Return a lower bound on the Rényi divergence of a whole order, in the worse direction."""
        alpha = check.whole(order)
        if alpha < 2:
            raise InvalidArgument("order is out of range", must="be at least 2", got=str(alpha))
        sums = [
            sum((low**alpha / high ** (alpha - 1) for low, high in way), Fraction(0))
            for way in self._ways()
        ]
        most = max(sums)
        return max(Fraction(0), log_bounds(most)[0] / (alpha - 1)) if most > 1 else Fraction(0)

    def delta(self, epsilon: Number) -> Fraction:
        """Return a lower bound on the δ at an ε, in the worse direction."""
        factor = exp_bounds(exact(epsilon))[1]
        return max(
            sum((max(Fraction(0), low - factor * high) for low, high in way), Fraction(0))
            for way in self._ways()
        )

    def refutes(self, loss: PrivacyLoss) -> bool:
        """Tell whether the samples show, with this confidence, that ``loss`` does not hold."""
        return _refuted(loss, self)

    def _ways(self) -> list[list[tuple[Fraction, Fraction]]]:
        """Return low ends of one side beside high ends of the other, both ways round."""
        return [
            [(one[0], other[1]) for one, other in zip(left, right, strict=True)]
            for left, right in ((self.first, self.second), (self.second, self.first))
        ]

    def __str__(self) -> str:
        at_two, at_one = (
            short(one, rounding=ROUND_FLOOR) for one in (self.renyi(2), self.delta(1))
        )
        return (
            f"the Rényi divergence of order 2 is at least {at_two}, and δ at ε = 1 at least "
            f"{at_one}, with {confidence_in_words(self.confidence)}, by {len(self.first)} cells"
        )


@singledispatch
def _refuted(loss: PrivacyLoss, bound: HistogramBound) -> bool:
    raise Unsupported(
        "The auditor does not know this measure",
        must="be pure, approximate or zcdp",
        got=loss.measure.value,
    )


@_refuted.register
def _(loss: Pure, bound: HistogramBound) -> bool:
    return bound.delta(loss.epsilon) > 0


@_refuted.register
def _(loss: Approximate, bound: HistogramBound) -> bool:
    return bound.delta(loss.epsilon) > loss.delta


@_refuted.register
def _(loss: Zcdp, bound: HistogramBound) -> bool:
    return any(bound.renyi(order) > loss.xi + loss.rho * order for order in ORDERS)


def audit_histogram(
    first: Iterable[Any],
    second: Iterable[Any],
    *,
    cells: int = 8,
    confidence: Number = DEFAULT_CONFIDENCE,
    statistic: Callable[[Any], Hashable] | None = None,
) -> HistogramBound:
    """Bound the divergences of outputs that were drawn on two neighbouring data sets.

    Numbers go to cells between quantiles, rows of numbers by a learnt score, and other values to
    one cell for each frequent one. The cells are learnt on one half, and counted on the other.

    Example:
        >>> sure = audit_histogram([0] * 500 + [1] * 20, [1] * 500 + [0] * 20)
        >>> sure.delta(0) > Fraction(1, 2), sure.renyi(2) > 0
        (True, True)
    """
    count, sure = check.at_least_one(cells, "cells"), as_confidence(confidence)
    sides = [outcomes(side, statistic) for side in (first, second)]
    if min(map(len, sides)) < 4:
        raise InvalidArgument("There are too few samples", must="be at least 4 on each side")
    # Every other sample, so that a sample in some order is learnt from as a whole.
    learnt, held = [side[::2] for side in sides], [side[1::2] for side in sides]
    cell = _learn_cells(learnt, count)
    failure = (1 - sure) / (4 * (count + 1))
    ends = [
        tuple(
            (
                lower_confidence(counted[place], len(side), failure),
                upper_confidence(counted[place], len(side), failure),
            )
            for place in range(count + 1)
        )
        for side in held
        for counted in [Counter(map(cell, side))]
    ]
    return HistogramBound(first=ends[0], second=ends[1], confidence=sure)


def _learn_cells(learnt: Sequence[Sequence[Hashable]], count: int) -> _Cell:
    """Return which of ``count`` cells an output is in, or the last one for what fits none."""
    both = [*learnt[0], *learnt[1]]
    score = learn_score(*learnt)
    value: Callable[[Hashable], Any] = (lambda output: output) if score is None else score.of
    numbers = [float(one) for one in map(value, both) if _is_number(one)]
    if len(numbers) < len(both) or len(set(both)) <= count:
        frequent = {one: place for place, (one, _) in enumerate(Counter(both).most_common(count))}
        return lambda output: frequent.get(output, count)
    ends = np.unique(np.quantile(numbers, np.arange(1, count) / count))

    def cell(output: Hashable) -> int:
        found = value(output)
        return int(np.searchsorted(ends, float(found))) if _is_number(found) else count

    return cell


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number that a float is near to."""
    is_real = type(value) is not bool and isinstance(value, Real)
    return is_real and math.isfinite(as_float(value))
