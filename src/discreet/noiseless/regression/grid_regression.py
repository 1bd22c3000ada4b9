r"""An exact regression line of rounded numbers: each average from rows of its own."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, written
from discreet.core.rounding import log_up, short_up
from discreet.core.search import smallest
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import meets
from discreet.noiseless.regression.grid_design import GridDesign
from discreet.noiseless.regression.row_moments import RowMoment, moments_of
from discreet.noiseless.sums.breaking_points import holds, least_rows
from discreet.noiseless.sums.exact_sum import ExactSum
from discreet.noiseless.sums.ways import delta_by


def grid_parts(design: GridDesign) -> tuple[tuple[RowMoment, ...], ...]:
    """Return which averages are taken of which part of the rows.

    The plain columns share one part, because a uniform row has independent numbers. Every square
    and every product has a part of its own: two of one row are functions of one another.

    Example:
        >>> from discreet.noiseless import GridColumn
        >>> hours, score = (GridColumn(name=n, clamps=(0, 9), step=1) for n in ("hours", "score"))
        >>> design = GridDesign(regressors=[hours], outcome=score, floor="0.01")
        >>> [", ".join(map(str, part)) for part in grid_parts(design)]
        ['hours, score', 'hours^2', 'hours score']
    """
    moments = moments_of(design)
    plain = tuple(one for one in moments if len(one.factors) == 1)
    return (*([plain] if plain else []), *((one,) for one in moments if len(one.factors) > 1))


def _sizes(values: Sequence[int]) -> tuple[int, ...]:
    return tuple(check.at_least_one(value, "rows") for value in values)


@frozen(kw_only=True)
class GridRegression:
    r"""Exact sums of the moments of rounded rows, from which a line is computed exactly.

    Guarantee:
        For every row, every value of it on the grid between the clamps and every ε, what is
        released and what the simulator says are ε-close up to :meth:`deltas`, if
        :attr:`assumptions` hold. Proof. Parts share no row and rows are independent, so the loss is
        that of the row's own part [Gro14, theorem 6.8]. In the part of the plain columns a row is,
        with probability v, uniform on the block, and then its numbers are independent
        (:class:`~discreet.noiseless.laws.grid_block.GridBlock`). In the part of a product, a few
        such rows together are uniform on a block of whole numbers
        (:class:`~.grid_product.GridProduct`). Both are sums as
        :class:`~discreet.noiseless.sums.exact_sum.ExactSum` certifies them, with one simulator that
        depends on clamps alone. The line is a function of the sums [Gro14, theorem 5.3].

    Assumes:
        Everything in :attr:`assumptions`.

    Utility:
        Each average is of its part of the rows; :mod:`.split_variance` says what that costs.

    Attributes:
        design: The columns, and what is asserted of a row.
        sizes: How many rows each part has, in the order of :func:`grid_parts`.
        known: At most so many rows are known to the adversary, all of one part perhaps.

    Example:
        >>> from discreet.noiseless import GridColumn
        >>> hours, score = (GridColumn(name=n, clamps=(0, 9), step=1) for n in ("hours", "score"))
        >>> design = GridDesign(regressors=[hours], outcome=score, floor="0.01")
        >>> line = GridRegression.plan(design, rows=6000, known=20)
        >>> line.deltas(Fraction(1))[Way.MIXTURE] < Fraction("1e-9")
        True
    """

    design: GridDesign
    sizes: tuple[int, ...] = field(converter=_sizes)
    known: int = field(default=0, converter=check.whole, validator=check.non_negative)

    def __attrs_post_init__(self) -> None:
        count = len(grid_parts(self.design))
        if len(self.sizes) != count:
            raise InvalidArgument(
                "The line needs another number of parts",
                must=f"be {count}: {_listed(self.design)}",
                got=str(len(self.sizes)),
            )
        if self.known >= min(self.sizes):
            raise InvalidArgument(
                "The adversary knows all rows of a part",
                must="leave at least one row of every part unknown",
                got=f"{self.known:,} of {min(self.sizes):,}",
            )

    @classmethod
    def plan(cls, design: GridDesign, *, rows: int, known: int = 0) -> "GridRegression":
        """Divide rows equally among the parts; what is left over goes to the last ones."""
        parts = len(grid_parts(design))
        count = check.at_least_one(rows, "rows")
        return cls(
            design=design, sizes=[(count + place) // parts for place in range(parts)], known=known
        )

    @property
    def rows(self) -> int:
        """How many rows all parts have."""
        return sum(self.sizes)

    @property
    def totals(self) -> tuple[ExactSum, ...]:
        """The sums of each part, with the law of what is added up."""
        return tuple(
            ExactSum(self.design.law_of(moments), rows=size, known=self.known)
            for moments, size in zip(grid_parts(self.design), self.sizes, strict=True)
        )

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        names = ", ".join(column.name for column in self.design.regressors)
        parts = "; ".join(
            f"{', '.join(map(str, moments))} over {size:,} rows"
            for moments, size in zip(grid_parts(self.design), self.sizes, strict=True)
        )
        return f"the exact line of {self.design.outcome.name} on {names}, by the sums of {parts}"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return (
            "The same sums, with the middle of each one's public range in the place of the missing "
            "row; sums over other rows are as they are."
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        columns = self.design.columns
        blocks = ", ".join(f"{c.name} from {_span(c.block)}" for c in columns)
        grids = ", ".join(f"{c.name} from {_span(c.clamps)} by {written(c.step)}" for c in columns)
        return (
            (
                "Rows are independent, and each combination of these values has a probability of "
                f"at least {float(self.design.floor):.6g}, in every part: {blocks}."
            ),
            f"Values are clamped and rounded to a public grid before they are used: {grids}.",
            (
                f"The adversary knows at most {self.known:,} of {self.rows:,} rows, which were not "
                "chosen by their values, and nothing else that depends on the others."
            ),
            "Each unit has one row, and in which part it is depends on no value of these columns.",
            "Columns, clamps, grids, blocks and parts were chosen without looking at the rows.",
        )

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε, the worst of all parts."""
        at, source, mixture = exact(epsilon), Fraction(0), Fraction(0)
        # The products first: they are the worst, and of the rest one look is mostly enough.
        for total in reversed(self.totals):
            by_source = delta_by(Way.SOURCE, total.law, total.unknown, at)
            source = max(source, by_source)
            if by_source > mixture:
                mixture = max(mixture, min(by_source, total.delta(at)))
        return {Way.SOURCE: source, Way.MIXTURE: mixture}

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return how far each assumption can be wrong; each limit is certified to hold."""
        totals = self._worst_first(target)
        needed: int | None = 0
        for one in totals:
            # Most parts need fewer rows than the worst does, and one look tells.
            if needed is not None and not holds(one.law, needed, target):
                needed = least_rows(one.law, target, start=one.unknown)
        hidden = min(self.sizes) - self.known
        # Limits are searched for with fewer blocks, but what is asserted is as good as the curve.
        is_met = (needed is None or needed > hidden) and meets(self, target)
        needed = hidden if is_met else needed
        most = None if needed is None else min(self.sizes) - needed
        return (
            BreakingPoint(
                "rows that the adversary knows",
                None if most is None or most < 0 else Fraction(most),
                "Who knows more rows of one part has fewer to be uncertain about; who knows all "
                "but one subtracts them, and reads that row.",
            ),
            BreakingPoint(
                "rows of each part",
                None if needed is None else Fraction(needed + self.known),
                "With fewer rows in one part, a row is hidden less than asked for.",
            ),
            self._least_floor(target, is_met=is_met),
        )

    def _worst_first(self, target: PrivacyTarget) -> list[ExactSum]:
        return sorted(self.totals, key=lambda one: one.delta(target.epsilon), reverse=True)

    def _least_floor(self, target: PrivacyTarget, *, is_met: bool) -> BreakingPoint:
        places = [self.totals.index(one) for one in self._worst_first(target)]

        def will_do(share: int) -> bool:
            lowered = evolve(self.design, floor=self.design.floor * share / _FINE)
            found = evolve(self, design=lowered).totals
            return all(holds(found[at].law, found[at].unknown, target) for at in places)

        limit = self.design.floor if is_met else None
        if will_do(_FINE):
            limit = self.design.floor * smallest(will_do, start=1, near=_FINE // 2) / _FINE
        words = "A smaller floor leaves more rows that hide nobody."
        return BreakingPoint("least probability of a combination", limit, words)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the Laplace noise that would protect the same sums over all rows."""
        if target.epsilon <= 0:
            return None
        widths = [high - low for total in self.totals for low, high in total.law.clamps]
        scale = sum(widths, start=Fraction(0)) / target.epsilon
        error = short_up(scale * log_up(Fraction(20)), 24)
        words = (
            f"Laplace noise of scale {float(scale):.4g} on every sum of all {self.rows:,} rows: an "
            f"average is then within {float(error / self.rows):.2g} of the true one in 95 of 100 "
            "releases, whatever anyone knows."
        )
        return NoiseInstead(scale=scale, error=error, words=words)

    def to_json(self) -> dict[str, Any]:
        """Return all that is asserted, as it is written to the ledger before a row is read."""
        return {
            "statistic": "grid_regression",
            "design": self.design.to_json(),
            "known": self.known,
            "parts": [
                {"moments": [str(one) for one in moments], "rows": size}
                for moments, size in zip(grid_parts(self.design), self.sizes, strict=True)
            ],
        }


_FINE = 32
"""Into how many parts a floor is divided to find the least that will do."""


def _listed(design: GridDesign) -> str:
    return "; ".join(", ".join(map(str, moments)) for moments in grid_parts(design))


def _span(ends: tuple[Fraction, Fraction]) -> str:
    return f"{written(ends[0])} to {written(ends[1])}"
