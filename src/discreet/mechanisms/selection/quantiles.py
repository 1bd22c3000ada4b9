"""Many quantiles at once: the middle one first, then each half of the rows by itself."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Self

import numpy as np
from attrs import Attribute, field, frozen
from numpy.typing import NDArray

from discreet.accounting.accountants.pure import pure_loss
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure, Zcdp
from discreet.core.mechanism_event import ExponentialSelectionEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import log_up
from discreet.core.search import smallest
from discreet.mechanisms.selection.rank_choice import LARGEST_DENOMINATOR, choose_by_rank
from discreet.mechanisms.selection.rank_mechanism import in_domain, rank_spread, require_domain
from discreet.mechanisms.selection.scores import bounded_range_scale

MOST_TIE_BITS = 32
_MOST_FINE_BITS = 62
_WORD_BITS = 64


def _shares(values: Sequence[Number]) -> tuple[Fraction, ...]:
    return tuple(exact(value) for value in values)


@frozen(kw_only=True)
class QuantileNode:
    """One choice: quantile ``middle``, for which the rows between two known ones are left.

    The quantiles from ``first`` to before ``last`` are still open there; ``share`` is where this
    one lies between its two known neighbours, 0 and 1 included.
    """

    first: int
    middle: int
    last: int
    share: Fraction


def levels_of(quantiles: tuple[Fraction, ...]) -> list[list[QuantileNode]]:
    """Return the choices, level by level; those of one level look at different rows.

    Example:
        >>> levels = levels_of((Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)))
        >>> [[str(node.share) for node in nodes] for nodes in levels]
        [['1/2'], ['2/5', '4/5']]
    """
    edges = (Fraction(0), *quantiles, Fraction(1))
    open_, levels = [(0, len(quantiles))], []
    while open_:
        nodes = []
        for first, last in open_:
            middle = (first + last) // 2
            low, high = edges[first], edges[last + 1]
            share = (edges[middle + 1] - low) / (high - low)
            nodes.append(QuantileNode(first=first, middle=middle, last=last, share=share))
        levels.append(nodes)
        halves = [half for n in nodes for half in ((n.first, n.middle), (n.middle + 1, n.last))]
        open_ = [(first, last) for first, last in halves if first < last]
    return levels


@frozen(kw_only=True)
class Quantiles:
    r"""Choose many quantiles of a bounded domain, in order, at a price that grows as a logarithm.

    The middle quantile is chosen as in :class:`~discreet.mechanisms.selection.quantile.Quantile`;
    the rows below it and those above it then serve one half of the other quantiles each, and so on.

    Guarantee:
        If one unit adds or takes away at most ``d_in.l1`` rows, all the quantiles together are
        ε-DP with :math:`\varepsilon = \sum_l 2 m_l \cdot d_{in}.l1 / scale` over the
        :math:`\lfloor \log_2 k \rfloor + 1` levels ``l``, where :math:`m_l \ge 1/2` is the largest
        :math:`\max(r, 1 - r)` of the shares ``r`` of that level; and
        :math:`\sum_l (2 m_l d_{in}.l1/scale)^2/8`-zCDP.

        Proof. First give each row, independently of all else, ``tie_bits`` random bits below its
        value, and for each choice a coin that decides on which side it goes if it is equal to what
        is chosen. For fixed bits and coins every row is in at most one choice of each level. A
        unit of :math:`s_j` rows in choice ``j`` moves its loss within an interval of width
        :math:`2 m_l s_j / scale`; given the levels before, the choices of a level are independent,
        so their losses add, to within an interval of width :math:`2 m_l d_{in}.l1 / scale`. Levels
        compose adaptively. Bits and coins do not depend on data, and mixing over them increases
        neither a hockey-stick nor a Rényi divergence. (Kaplan, Schnapp and Stemmer,
        arXiv:2110.05429, for distinct values.)

    Assumes:
        As for one quantile. The random bits are what makes values distinct: without them a value
        that many people share would send all of them to one side, and the quantiles next to it
        would be lost. They are not part of the answer.

    Utility:
        Each of the answers is within ``error_quantile(beta, rows=n)`` rows of its quantile, all at
        once but for a probability of ``beta``, in the sense of the rank error of one quantile.

    Example:
        >>> deciles = Quantiles(
        ...     quantiles=[Fraction(i, 10) for i in range(1, 10)], lower=0, upper=120, scale=10
        ... )
        >>> deciles.loss(Contribution(l1=1))
        Pure(ε ≤ 0.4534)
    """

    quantiles: tuple[Fraction, ...] = field(converter=_shares)
    lower: int = field(converter=check.whole)
    upper: int = field(converter=check.whole, validator=require_domain)
    scale: Fraction = field(converter=exact, validator=check.positive)
    tie_bits: int = field(converter=check.whole)

    @tie_bits.default
    def _most_bits(self) -> int:
        return min(MOST_TIE_BITS, _MOST_FINE_BITS - (self.upper - self.lower + 1).bit_length())

    @tie_bits.validator
    def _fits(self, _: "Attribute[int]", bits: int) -> None:
        most = _MOST_FINE_BITS - (self.upper - self.lower + 1).bit_length()
        if not 0 <= bits <= min(MOST_TIE_BITS, most):
            raise InvalidArgument(
                "tie_bits is out of range",
                must=f"be at least 0 and at most {min(MOST_TIE_BITS, most)} on this domain",
                got=str(bits),
            )

    @quantiles.validator
    def _in_order(self, _: "Attribute[tuple[Fraction, ...]]", shares: tuple[Fraction, ...]) -> None:
        edges = (Fraction(0), *shares, Fraction(1))
        common = math.lcm(*(share.denominator for share in edges))
        is_ordered = all(low < high for low, high in pairwise(edges))
        if not shares or not is_ordered or common > LARGEST_DENOMINATOR:
            raise InvalidArgument(
                "The quantiles are out of range",
                must="increase, lie strictly between 0 and 1, and have a common denominator of "
                "at most 2**20",
            )

    @classmethod
    def calibrate(
        cls,
        *,
        d_in: Contribution,
        loss: Pure | Zcdp,
        quantiles: Sequence[Number],
        lower: int,
        upper: int,
    ) -> Self:
        """Return the mechanism that spends ``loss`` in all; for zCDP the scale is rounded up."""
        draft = cls(quantiles=_shares(quantiles), lower=lower, upper=upper, scale=1)
        scale = bounded_range_scale(draft.spreads(d_in), loss)
        return cls(quantiles=_shares(quantiles), lower=lower, upper=upper, scale=scale)

    def spreads(self, d_in: Contribution) -> list[Fraction]:
        """Return the spread of each level; ``d_in.l1`` is in rows."""
        rows = d_in.bound("l1")
        return [
            max(rank_spread(node.share) for node in nodes) * rows
            for nodes in levels_of(self.quantiles)
        ]

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use for the accountants: one choice of bounded range for each level."""
        return ComposedEvent.of(
            [
                ExponentialSelectionEvent(scale=self.scale, spread=spread, metric=d_in.metric)
                for spread in self.spreads(d_in)
            ]
        )

    def loss(self, d_in: Contribution) -> Pure:
        """Return the pure loss of one use."""
        return pure_loss([self.event(d_in)])

    def release(self, values: IntArray, rng: Rng) -> IntArray:
        """Return the chosen integers, in order. The gate already holds the loss."""
        rows = np.sort(self._with_tie_bits(in_domain(values, self.lower, self.upper), rng))
        size = (self.upper - self.lower + 1) << self.tie_bits
        # Edge 0 is below all quantiles, edge i + 1 is quantile i, and the last is above them all.
        chosen = np.zeros(len(self.quantiles) + 2, dtype=np.int64)
        splits = np.zeros(len(self.quantiles) + 2, dtype=np.int64)
        chosen[-1], splits[-1] = size - 1, rows.size
        for node in (node for nodes in levels_of(self.quantiles) for node in nodes):
            low, edge, high = node.first, node.middle + 1, node.last + 1
            part = rows[splits[low] : splits[high]]
            chosen[edge] = choose_by_rank(
                part,
                lower=int(chosen[low]),
                upper=int(chosen[high]),
                share=node.share,
                scale=self.scale,
                rng=rng,
            )
            splits[edge] = splits[low] + _rows_below(part, int(chosen[edge]), rng)
        return (chosen[1:-1] >> self.tie_bits) + self.lower

    def error_quantile(self, beta: Number, *, rows: int) -> Fraction:
        r"""Return a bound on all rank errors, in rows, for data of at most ``rows`` rows.

        Proof. Let ``L`` be the number of rows that go below a choice, and ``e`` the distance of
        ``L`` from its :math:`qn`. Between two known neighbours the choice aims at
        :math:`(1-r) L_1 + r L_2`, which is off by :math:`(1-r) e_1 + r e_2`, at most the larger of
        the two. Its own error adds at most ``t``, and its ties at most ``c``, so the error is at
        most :math:`t + c` for each level. All ``k`` choices keep
        :math:`t = scale \cdot \ln(2 k D\,2^{bits}/\beta)` but for :math:`\beta/2`; and no more
        than ``c`` rows agree in value and bits but for
        :math:`\binom{rows}{c+1} 2^{-bits \cdot c} \le \beta/2`.
        """
        limit, count = check.level(beta), check.whole(rows)
        size = (self.upper - self.lower + 1) << self.tie_bits
        own = self.scale * log_up(2 * len(self.quantiles) * size / limit)
        ties = smallest(
            lambda c: 2 * math.comb(count, c + 1) <= limit * (1 << (self.tie_bits * c)), start=1
        )
        return len(levels_of(self.quantiles)) * (own + ties)

    def _with_tie_bits(self, values: IntArray, rng: Rng) -> IntArray:
        """Return the values on a finer grid, each with random digits below its own."""
        if not self.tie_bits:
            return values - self.lower
        words: NDArray[np.uint64] = rng.words(values.size)
        digits = (words >> np.uint64(_WORD_BITS - self.tie_bits)).view(np.int64)
        return ((values - self.lower) << self.tie_bits) | digits


def _rows_below(rows: IntArray, value: int, rng: Rng) -> int:
    """Return how many rows go below ``value``: the smaller ones, and equal ones by a fair coin."""
    below = int(np.searchsorted(rows, value, side="left"))
    ties = int(np.searchsorted(rows, value, side="right")) - below
    return below + int((rng.words(ties) >> np.uint64(_WORD_BITS - 1)).sum())
