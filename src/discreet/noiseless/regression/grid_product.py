"""The law of a square or a product of rounded numbers, and what hides a row in the sum of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact
from discreet.noiseless.laws.grid_law import DiscreteLaw, blocks_of
from discreet.noiseless.laws.hidden import Hidden, Interval, RowLaw
from discreet.noiseless.sums.known_law import sum_masses

Whole = tuple[int, int]
"""The first and the last of some whole numbers."""

_GROUPS = (1, 2, 3, 4, 5, 6, 8, 12)
"""How many rows are tried as one group."""
_NEARLY = 0.9
_MOST_PAIRS = 2_000_000
_WIDEST = 20_000
_MOST_WORK = 120_000


def _wholes(values: Iterable[Sequence[Any]]) -> tuple[Whole, ...]:
    found = []
    for low, high in values:
        ends = check.whole(low), check.whole(high)
        if ends[0] > ends[1]:
            raise InvalidArgument("The ends are out of order", must="have the lower one first")
        found.append(ends)
    if not 1 <= len(found) <= 2:
        raise InvalidArgument("A product has one factor, squared, or two", must="be one or two")
    return tuple(found)


@frozen
class GridProduct:
    r"""The square of a rounded number, or the product of two, each counted from a public centre.

    Attributes:
        mass: v, how likely a row is to be uniform on the block.
        blocks: By factor, the first and last value of the block, in steps from the centre; one
            factor is squared.
        ranges: The same for all values between the clamps.
        step: What one of the product is worth.

    Guarantee:
        With probability v a row's product has the law g of a uniform row of the block: whole
        numbers with gaps, and no uniform part to speak of. The sum of a few such rows has one: its
        law is counted exactly, and with probability ``share`` it is uniform on the longest good
        block of whole numbers (four squares make every number, and five do so about evenly). So
        hidden rows hide in groups. Which rows make a group matters for the proof only, and known
        rows are in none. The simulator inserts the whole number at or just below the middle of all
        products between the clamps; the farther end is the worst row, for a uniform sum is
        log-concave.

    Example:
        >>> square = GridProduct(1, blocks=[(-5, 5)], ranges=[(-5, 5)])
        >>> square.simulator, square.hidden().rows, square.hidden().points
        ((Fraction(12, 1),), 8, (80,))
    """

    mass: Fraction = field(converter=exact, validator=check.probability)
    blocks: tuple[Whole, ...] = field(converter=_wholes, kw_only=True)
    ranges: tuple[Whole, ...] = field(converter=_wholes, kw_only=True)
    step: Fraction = field(
        default=Fraction(1), converter=exact, validator=check.positive, kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        pairs = zip(self.blocks, self.ranges, strict=False)
        if len(self.blocks) != len(self.ranges) or any(
            block[0] < ends[0] or block[1] > ends[1] for block, ends in pairs
        ):
            raise InvalidArgument("The block is outside the clamps", must="lie between them")
        counts = [last - first + 1 for first, last in self.blocks]
        low, high = product_span(self.blocks)
        if counts[0] * counts[-1] > _MOST_PAIRS or high - low > _WIDEST:
            raise InvalidArgument(
                "The grid is too fine for products",
                must=f"have at most {_WIDEST:,} steps between the products of the block",
                got=f"{high - low:,}",
                next="Declare a larger step, or assert a smaller block",
            )

    @property
    def span(self) -> Whole:
        """The least and the largest product between the clamps, in steps."""
        return product_span(self.ranges)

    @property
    def middle(self) -> int:
        """What the simulator inserts, in steps."""
        return sum(self.span) // 2

    @property
    def clamps(self) -> tuple[Interval, ...]:
        """The least and the largest product."""
        low, high = self.span
        return ((low * self.step, high * self.step),)

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The product at or just below the middle of the clamps."""
        return (self.middle * self.step,)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def uniform(self) -> DiscreteLaw | None:
        """Return the law of the product of a row that is uniform; None if it has one value."""
        values = [range(first, last + 1) for first, last in self.blocks]
        counts = (
            Counter(value * value for value in values[0])
            if len(values) == 1
            else Counter(one * other for one, other in product(*values))
        )
        if len(counts) == 1:
            return None
        total, ends = sum(counts.values()), range(min(counts), max(counts) + 1)
        return DiscreteLaw([Fraction(counts[value], total) for value in ends], start=min(counts))

    def hidden(self) -> Hidden:
        """Return the uniform part of the smallest group that hides nearly as much as the best."""
        reach = Fraction(self.span[1] - self.middle)
        found = _grouped(self.blocks)
        if not found:
            return Hidden(Fraction(0), (2,), (reach,))
        rows, points, share = found
        return Hidden(self.mass, (points,), (reach,), rows=rows, share=share)

    def words(self) -> str:
        """Return the assertion in a sentence."""
        what = "square" if len(self.blocks) == 1 else "product"
        return (
            f"The {what} of a row is, with probability {float(self.mass):.6g}, that of a row which "
            f"is uniform on a block of {' × '.join(str(b - a + 1) for a, b in self.blocks)} values."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "grid_product",
            "mass": str(self.mass),
            "blocks": [list(one) for one in self.blocks],
            "ranges": [list(one) for one in self.ranges],
            "step": str(self.step),
        }


def product_span(ends: Sequence[Whole]) -> Whole:
    """Return the least and the largest product of two numbers, or of one with itself.

    Example:
        >>> product_span([(-2, 3)]), product_span([(-2, 3), (-1, 1)])
        ((0, 9), (-3, 3))
    """
    values = [a * b for a, b in product(ends[0], ends[-1])]
    if len(ends) == 1:
        low, high = ends[0]
        return (0 if low <= 0 <= high else min(low * low, high * high)), max(values)
    return min(values), max(values)


@lru_cache(maxsize=64)
def _grouped(blocks: tuple[Whole, ...]) -> tuple[int, int, Fraction] | None:
    """Return how many rows make a group, of how many points it is uniform, and how likely."""
    law = GridProduct(1, blocks=blocks, ranges=blocks).uniform()
    if law is None:
        return None
    found = [(rows, *best) for rows in _GROUPS if (best := _uniform_part(law, rows)) is not None]
    merits = [float(share) * (points * points - 1) / rows for rows, points, share in found]
    enough = _NEARLY * max(merits, default=0.0)
    return next((one for one, merit in zip(found, merits, strict=True) if merit >= enough), None)


def _uniform_part(law: DiscreteLaw, rows: int) -> tuple[int, Fraction] | None:
    """Return on how many points the sum of some rows is uniform, and how likely; None if on none.

    The masses of the sum are enclosed, and the lower ends serve.
    """
    if rows == 1:
        floor = law.floor()
        return None if floor is None else (floor.points, floor.mass)
    masses = None
    if rows * len(law.weights) <= _MOST_WORK:
        masses = sum_masses(law, rows, 0.0, 1)
    if masses is None:
        return None
    least = [max(0.0, one) for one in masses.low.tolist()]
    first, last, mass = max(blocks_of(least), key=lambda one: one[2] * (one[1] - one[0] + 1) ** 3)
    points = last - first + 1
    return (points, min(Fraction(1), Fraction(mass) * points)) if points > 1 and mass else None
