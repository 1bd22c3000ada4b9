r"""The splitting planner: each block of moments from rows of its own, so that each has a density.

A row with d regressors and an outcome is free in d + 1 numbers, and a line needs more averages. So
the rows are divided, by their numbers, and each part is asked for at most d + 1 moments. Rows are
independent, so the loss is that of the worst part [Gro14, theorem 6.8].
"""

from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument, RefusedQuery
from discreet.noiseless.regression.design import RegressionDesign
from discreet.noiseless.regression.freedom import Freedom, jacobian_rank, require_free
from discreet.noiseless.regression.hidden_box import HiddenBox, linear_box
from discreet.noiseless.regression.row_moments import RowMoment
from discreet.noiseless.regression.star_boxes import best_star_box


@frozen
class PlannedBlock:
    """Some moments, the rows that they are taken of, and what hides a row in them.

    Attributes:
        box: The moments and their box.
        rows: How many rows.
    """

    box: HiddenBox
    rows: int

    @property
    def moments(self) -> tuple[RowMoment, ...]:
        """What is averaged."""
        return self.box.moments

    @property
    def terms(self) -> int:
        """How many terms the rows make."""
        return self.rows // self.box.rows_a_term


@frozen
class SplittingPlan:
    """Which rows are asked for which moments: a fixed division of row numbers.

    Attributes:
        blocks: The parts, in order: the first rows are the first part's.
        freedom: What the design leaves free.
    """

    blocks: tuple[PlannedBlock, ...]
    freedom: Freedom

    @property
    def rows(self) -> int:
        """How many rows all parts have."""
        return sum(block.rows for block in self.blocks)

    def __str__(self) -> str:
        lines, start = [], 1
        for block in self.blocks:
            names = ", ".join(map(str, block.moments))
            lines.append(f"rows {start} to {start + block.rows - 1}: {names}")
            start += block.rows
        return "\n".join(lines)


def plan_split(design: RegressionDesign, *, rows: int, known: int = 0) -> SplittingPlan:
    r"""Divide rows among blocks of at most d + 1 moments, so that each hides a row as well.

    The first block has the plain columns (with an intercept). Block j after it has the square of
    regressor j and its products with every later column: these can be inverted by a root and by
    divisions, so that their density is certified without any search. Blocks get rows in proportion
    to their merit, after the rows that an adversary may know, who may know them all in one block.

    Guarantee:
        Every moment that the line needs is in exactly one block, the rank of each block is its
        number of moments, and blocks share no row. So each block has a density, and
        [Gro14, theorem 6.8] applies: with independent rows the loss of all is the largest of any,
        because the simulator of a row's block runs beside the other blocks as they are.

    Utility:
        A part of the rows serves each average; :mod:`.split_variance` says what that costs.
        ``freedom.least_blocks`` is the least number of blocks that any plan could have; this one
        has as many for one to three regressors, and more after that.

    Example:
        >>> design = RegressionDesign.uniform({"g": (-1, 1)}, {"h": (-1, 1)})
        >>> print(plan_split(design, rows=10_000))
        rows 1 to 687: g, h
        rows 688 to 10000: g^2, g h
    """
    freedom = require_free(design)
    if freedom.derived or freedom.findings:
        raise RefusedQuery(
            "The blocks of a design with related columns are not planned",
            must="have columns that are free of one another",
            got=", ".join(finding.words for finding in freedom.findings),
            next="Leave related columns out, or publish with noise",
        )
    boxes = _boxes(design)
    for box in boxes:
        names = sorted({name for moment in box.moments for name in moment.factors})
        rank = jacobian_rank([one.polynomial(design) for one in box.moments], names)
        if rank < len(box.moments):  # a block that could be solved for a row's surface
            raise AssertionError(f"the block of {box.moments[0]} has no density")
    sizes = _balanced([box.merit for box in boxes], rows=rows, known=known)
    blocks = (PlannedBlock(box, size) for box, size in zip(boxes, sizes, strict=True))
    return SplittingPlan(tuple(blocks), freedom)


def _boxes(design: RegressionDesign) -> list[HiddenBox]:
    names = [column.name for column in design.columns]
    boxes = [linear_box(design, names)] if design.has_intercept else []
    for index, name in enumerate(names[:-1]):
        box = best_star_box(design, name, names[index + 1 :])
        if box is None:
            raise RefusedQuery(
                f"No box hides a row in the products of {name!r}",
                must="have a box that is not on one side of the others' products alone",
                next="Choose the centre of each column as the middle of its box",
            )
        boxes.append(box)
    return boxes


def _balanced(merits: Sequence[Fraction], *, rows: int, known: int) -> list[int]:
    """Return sizes that add up to the rows, in proportion to merits after what is known of each."""
    count, known = check.whole(rows), check.whole(known)
    unknown = count - known * len(merits)
    if known < 0 or unknown < 2 * len(merits):
        raise InvalidArgument(
            "There are too few rows for a division",
            must=f"be at least {known * len(merits) + 2 * len(merits)}: {len(merits)} blocks, each "
            "with two rows more than the adversary knows",
            got=str(count),
        )
    spare = unknown - 2 * len(merits)
    whole = sum(merits, start=Fraction(0))
    sizes = [known + 2 + int(spare * merit / whole) for merit in merits]
    sizes[-1] += count - sum(sizes)
    return sizes
