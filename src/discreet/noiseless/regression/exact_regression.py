"""An exact regression line as a statistic that says what it assumes, and how wrong that may be."""

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import Any

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact, written
from discreet.core.rounding import log_up, short_up
from discreet.noiseless.certifiable import BreakingPoint, NoiseInstead, PrivacyTarget, Way
from discreet.noiseless.counted_rows import meets
from discreet.noiseless.regression.box_limits import least_terms, least_weight
from discreet.noiseless.regression.box_sums import box_delta, source_delta
from discreet.noiseless.regression.design import RegressionDesign
from discreet.noiseless.regression.freedom import require_free
from discreet.noiseless.regression.hidden_box import widths_of
from discreet.noiseless.regression.pair_boxes import best_pair_box
from discreet.noiseless.regression.row_moments import moments_of
from discreet.noiseless.regression.splitting import PlannedBlock, plan_split


class RowUse(Enum):
    """Which rows serve which averages."""

    SPLIT = "split"
    """Each block of averages has rows of its own: a small loss, and fewer rows for each."""
    GROUPED = "grouped"
    """All rows serve all averages, and are hidden in pairs: the plain line, and a larger loss."""


@frozen(kw_only=True)
class ExactRegression:
    r"""Exact sums of the moments of a regression, from which its line is computed exactly.

    Guarantee:
        For every row, every value that it can have within the clamps and every ε, what is released
        and what the simulator says are ε-close up to :meth:`deltas`, if :attr:`assumptions` hold
        [Gro14, corollary 6.2, theorems 5.3 and 6.8]. Proof: :func:`.box_sums.box_delta` for one
        block, :func:`.splitting.plan_split` for several, and the line is post-processing.

    Assumes:
        Everything in :attr:`assumptions`. It is the owner's to know; no data is read here, and what
        is asserted may not have been chosen by looking at the data.

    Utility:
        :mod:`.split_variance`; with grouped rows, the line of plain least squares.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> line = ExactRegression.plan(design, rows=75_000)
        >>> found = line.deltas(Fraction("0.295"))
        >>> found[Way.SOURCE] < Fraction("1.62e-8"), found[Way.MIXTURE] < Fraction("1e-11")
        (True, True)

    Attributes:
        design: The columns, and what is asserted of a row.
        blocks: Which rows serve which averages.
        known: At most so many rows are known to the adversary.
        use: How rows are used.
    """

    design: RegressionDesign
    blocks: tuple[PlannedBlock, ...]
    known: int = field(converter=check.whole, validator=check.non_negative)
    use: RowUse

    @classmethod
    def plan(
        cls,
        design: RegressionDesign,
        *,
        rows: int,
        known: int = 0,
        use: RowUse | str = RowUse.SPLIT,
    ) -> "ExactRegression":
        """Plan the blocks; refuse a design in which something hides nothing."""
        require_free(design)
        count, chosen = check.at_least_one(rows, "rows"), check.chosen(RowUse, use, noun="use")
        if chosen is RowUse.SPLIT:
            blocks = plan_split(design, rows=count, known=known).blocks
        else:
            box = best_pair_box(design)
            if box is None:
                raise InvalidArgument("No box hides a pair", must="have a box of positive sides")
            blocks = (PlannedBlock(box, count),)
        return cls(design=design, blocks=blocks, known=known, use=chosen)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(block.rows for block in self.blocks)

    @property
    def statistic(self) -> str:
        """What is released, in words."""
        names = ", ".join(column.name for column in self.design.regressors)
        parts = "; ".join(
            f"{', '.join(map(str, block.moments))} over {block.rows:,} rows"
            for block in self.blocks
        )
        return f"the exact line of {self.design.outcome.name} on {names}, by the sums of {parts}"

    @property
    def simulator(self) -> str:
        """What imitates the release without one person's row, in words."""
        return (
            "The same sums, with the middle of each average's public range in the place of the "
            "missing row; sums over other rows are as they are."
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """All that is assumed, a sentence each."""
        design = self.design
        boxes = ", ".join(
            f"{one.name} from {written(one.box_low)} to {written(one.box_high)}"
            for one in design.free
        )
        clamps = ", ".join(
            f"{one.name} from {written(one.low)} to {written(one.high)}" for one in design.columns
        )
        return (
            (
                f"Rows are independent, and each has a density of at least "
                f"{written(design.density)} on the box of {boxes}: values that are rounded to a "
                "grid have none, and need a GridRegression."
            ),
            f"Values are clamped before they are used: {clamps}.",
            (
                f"The adversary knows at most {self.known:,} of {self.rows:,} rows, which were not "
                "chosen by their values, and nothing else that depends on the others."
            ),
            (
                "Each unit has one row, and which rows belong to which block, or to which pair, "
                "depends on no value."
            ),
            "No column follows from others but as declared, and the outcome has an error.",
            "Boxes, centres and blocks were chosen without looking at the rows.",
        )

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        """Return upper bounds of δ at an ε, the worst of all blocks."""
        loss = exact(epsilon)
        if loss < 0:
            raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(loss))
        source, mixture = Fraction(0), Fraction(0)
        for block in self.blocks:
            terms = self._terms(block)
            by_source = source_delta(block.box, terms, loss)
            source = max(source, by_source)
            mixture = max(mixture, min(by_source, box_delta(block.box, terms, loss)))
        return {Way.SOURCE: source, Way.MIXTURE: mixture}

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        """Return how far each assumption can be wrong; each limit is certified to hold."""
        needed = [least_terms(block.box, target) for block in self.blocks]
        weights = [least_weight(block.box, self._terms(block), target) for block in self.blocks]
        if meets(self, target):
            # Limits are searched for in steps, but what is asserted is as good as the curve.
            needed = [
                terms if need is None else min(need, terms)
                for need, terms in zip(needed, map(self._terms, self.blocks), strict=True)
            ]
            weights = [
                block.box.weight if weight is None else weight
                for block, weight in zip(self.blocks, weights, strict=True)
            ]
        return (
            self._most_known(needed),
            self._least_rows(needed),
            self._least_density(weights),
            BreakingPoint(
                "columns that follow from others",
                Fraction(0),
                "With an outcome that has no error, or with collinear columns, sums of a few "
                "rows' averages can be solved for a row: no number of rows helps.",
            ),
            BreakingPoint(
                "grid on which values are rounded",
                Fraction(0),
                "Rounded values have no density: their exact sums can show which values a row "
                "cannot have. Such rows have a certificate of their own: GridRegression.",
            ),
        )

    def _most_known(self, needed: list[int | None]) -> BreakingPoint:
        spare = [
            None if need is None else block.rows - need * block.box.rows_a_term
            for block, need in zip(self.blocks, needed, strict=True)
        ]
        limit = None if None in spare else Fraction(min(one for one in spare if one is not None))
        return BreakingPoint(
            "rows that the adversary knows",
            None if limit is None or limit < 0 else limit,
            "Who knows more rows of one block has fewer to be uncertain about; who knows all but "
            "one subtracts them, and reads that row.",
        )

    def _least_rows(self, needed: list[int | None]) -> BreakingPoint:
        limit = None
        if None not in needed:
            shares = [
                Fraction((need or 0) * block.box.rows_a_term + self.known, block.rows)
                for block, need in zip(self.blocks, needed, strict=True)
            ]
            limit = Fraction(-int(-max(shares) * self.rows // 1))
        return BreakingPoint(
            "rows", limit, "Divided in the same shares, fewer rows hide a row less than asked for."
        )

    def _least_density(self, weights: list[Fraction | None]) -> BreakingPoint:
        limit = None
        if None not in weights:
            shares = [
                (weight or Fraction(0)) / block.box.weight
                for block, weight in zip(self.blocks, weights, strict=True)
            ]
            power = max(block.box.rows_a_term for block in self.blocks)
            # Pairs have the square of a row's density, so a share of the density counts twice.
            limit = self.design.density * (max(shares) if power == 1 else _root_up(max(shares)))
        words = "A smaller density on the box leaves more rows that hide nobody."
        return BreakingPoint("density of a row on its box", limit, words)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        """Return the Laplace noise that would protect the same sums over all rows."""
        if target.epsilon <= 0:
            return None
        widths = sum(widths_of(self.design, moments_of(self.design)), start=Fraction(0))
        scale = widths / target.epsilon
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
            "statistic": "regression",
            "design": self.design.to_json(),
            "use": self.use.value,
            "known": self.known,
            "blocks": [block.box.to_json() | {"rows": block.rows} for block in self.blocks],
        }

    def with_known(self, known: int) -> "ExactRegression":
        """Return the same release against an adversary who knows another number of rows."""
        return evolve(self, known=known)

    def _terms(self, block: PlannedBlock) -> int:
        """Return the terms that the adversary does not know, if all they know is of this block."""
        return max(0, block.rows - self.known) // block.box.rows_a_term


def _root_up(value: Fraction) -> Fraction:
    """Return a short number that is not below the square root."""
    guess = Fraction(float(value) ** 0.5).limit_denominator(10**6)
    while guess * guess < value:
        guess += Fraction(1, 10**6)
    return guess
