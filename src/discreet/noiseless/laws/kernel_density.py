"""Laws with a density of at least a multiple of a kernel: a truncated normal or Laplace curve."""

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

from attrs import field, frozen

from discreet.accounting.tails.normal_tail import normal_tail_bounds, pi_bounds
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact
from discreet.core.rounding import dyadic_down, exp_down, exp_up, short_down, sqrt_down
from discreet.noiseless.laws.box_density import BoxDensity, middle
from discreet.noiseless.laws.grid_law import DiscreteLaw
from discreet.noiseless.laws.hidden import (
    FARTHEST,
    Hidden,
    Interval,
    RowLaw,
    inside,
    intervals,
    pairs,
    spelt,
)

_BITS = 96
_DIGITS = 60
_BOXES = 96
_MOST_CELLS, _LEAST_CELLS = 256, 4
_WIDEST = 20_000
"""So many cells the sum may be wide: a window of transforms has 2^20 of them."""


def _base(value: Sequence[Any]) -> tuple[Interval, ...]:
    return intervals(value, "The base")


def _clamps(value: Sequence[Any]) -> tuple[Interval, ...]:
    return intervals(value, "The clamps")


@frozen(kw_only=True)
class CellsUnder:
    """Cells of one width under a kernel, each with a constant density.

    Attributes:
        mass: How likely a row is to be uniform on one of the cells.
        width: How wide each is.
        law: Which one it is, given that; symmetric.
    """

    mass: Fraction
    width: Fraction
    law: DiscreteLaw


@frozen
class KernelDensity:
    r"""Rows have at least a kernel of density over an interval, and lie between public clamps.

    Attributes:
        peak: The height of the kernel, in the middle of the interval.
        base: The interval on which it stands; beyond nothing is asserted.
        scale: How wide the kernel is: the standard deviation of a normal curve, or the scale of a
            Laplace curve, before it is cut off.
        clamps: As of :class:`~discreet.noiseless.laws.box_density.BoxDensity`.

    Guarantee:
        With probability v, the mass of the kernel, a row is drawn from the kernel, which is
        log-concave and symmetric; otherwise from the rest of its law [Gro14, section 6.3].
        :func:`~discreet.noiseless.sums.kernel_sums.kernel_delta` has what follows for a sum.

    Assumes:
        That peak, base and scale were chosen before anybody looked at the data.
    """

    kind: ClassVar[str]
    shape: ClassVar[str]
    reaches: ClassVar[int]
    """So many scales from the middle cells are made; what is beyond hardly counts."""
    peak: Fraction = field(converter=exact, validator=check.positive)
    base: tuple[Interval, ...] = field(converter=_base, kw_only=True)
    scale: Fraction = field(converter=exact, validator=check.positive, kw_only=True)
    clamps: tuple[Interval, ...] = field(converter=_clamps, kw_only=True)

    def __attrs_post_init__(self) -> None:
        inside(self.base, self.clamps, "The base")
        if len(self.base) != 1:
            raise InvalidArgument("A kernel has one dimension", must="be one interval")
        if not 1 / FARTHEST <= self.scale <= FARTHEST:
            raise InvalidArgument(
                "The scale is out of range", must="be from 1e-100 to 1e100", next="Use another unit"
            )
        if self.mass > 1:
            raise InvalidArgument(
                "No law has so much density",
                must="have at most 1 under the kernel",
                got=str(float(self.mass)),
                next="Assert a lower peak, or a narrower kernel",
            )

    @property
    def reach(self) -> Fraction:
        """How far the base goes from its middle, in scales."""
        return (self.base[0][1] - self.base[0][0]) / 2 / self.scale

    @property
    def mass(self) -> Fraction:
        """How likely a row is to be drawn from the kernel, rounded down."""
        return short_down(self.peak * self.scale * self.area(self.reach))

    def area(self, reach: Fraction) -> Fraction:
        """Return the area under a kernel of height and scale 1 up to there, rounded down."""
        raise NotImplementedError

    def height(self, reach: Fraction) -> Fraction:
        """Return the height there of a kernel of height and scale 1, rounded down; it falls."""
        raise NotImplementedError

    def cells(self, rows: int) -> CellsUnder:
        """Return cells under the kernel, as narrow as sums of so many rows allow.

        A cell has everywhere the height of its farther end, which is the least.
        """
        reach = min(self.reach, Fraction(self.reaches))
        spread = min(reach * Fraction(4, 7), Fraction(3, 2))
        most = int(_WIDEST * reach / (spread * (isqrt(rows) + 1)))
        count = min(_MOST_CELLS, max(_LEAST_CELLS, most))
        step = reach / count
        heights = [self.height(step * k) for k in range(1, count + 1)]
        total = 2 * sum(heights)
        law = DiscreteLaw([one / total for one in (*reversed(heights), *heights)])
        mass = short_down(self.peak * self.scale * step * total)
        return CellsUnder(mass=min(mass, Fraction(1)), width=step * self.scale, law=law)

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The middle of the clamps."""
        return middle(self.clamps)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def box(self) -> BoxDensity:
        """Return the box under the kernel with the largest mass × length², of many."""
        low, high = self.base[0]
        centre, reach = (low + high) / 2, min(self.reach, Fraction(self.reaches))
        places = range(1, _BOXES + 1)
        heights = [self.height(reach * k / _BOXES) for k in places]
        best = max(places, key=lambda k: heights[k - 1] * k**3)
        far = reach * self.scale * best / _BOXES
        density = short_down(self.peak * heights[best - 1])
        return BoxDensity(density, box=(centre - far, centre + far), clamps=self.clamps)

    def hidden(self) -> Hidden:
        """Return the uniform part of the best box."""
        return self.box().hidden()

    def words(self) -> str:
        """Return the assertion in a sentence."""
        return (
            f"Each row is drawn independently, with a density of at least {self.shape} curve of "
            f"height {float(self.peak):.6g} and scale {float(self.scale):.6g} over "
            f"{spelt(self.base)}: at least {float(self.mass):.4g} of its probability."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": self.kind,
            "peak": str(self.peak),
            "base": pairs(self.base),
            "scale": str(self.scale),
            "clamps": pairs(self.clamps),
        }


@frozen
class NormalKernel(KernelDensity):
    r"""Rows have a density of at least :math:`h\,e^{-(x - c)^2 / 2\sigma^2}` on an interval.

    Its middle is c.

    Guarantee:
        As of :class:`KernelDensity`.

    Example:
        >>> law = NormalKernel("0.35", base=(-3, 3), scale=1, clamps=(-3, 3))
        >>> round(float(law.mass), 4), round(float(law.hidden().mass), 4)
        (0.875, 0.2747)
    """

    kind: ClassVar[str] = "normal_kernel"
    shape: ClassVar[str] = "a normal"
    reaches: ClassVar[int] = 8

    def area(self, reach: Fraction) -> Fraction:
        """Return the area under a normal curve of height 1, rounded down."""
        _, tail = normal_tail_bounds(reach * reach, _BITS)
        return sqrt_down(2 * pi_bounds(_BITS)[0]) * (1 - 2 * min(tail, Fraction(1, 2)))

    def height(self, reach: Fraction) -> Fraction:
        """Return the height of a normal curve, rounded down."""
        return dyadic_down(exp_down(-reach * reach / 2), _DIGITS)


@frozen
class LaplaceKernel(KernelDensity):
    r"""Rows have a density of at least :math:`h\,e^{-\lvert x - c \rvert / b}` on an interval.

    Its middle is c.

    Guarantee:
        As of :class:`KernelDensity`.

    Example:
        >>> law = LaplaceKernel("0.4", base=(-4, 4), scale=1, clamps=(-5, 5))
        >>> round(float(law.mass), 4)
        0.7853
    """

    kind: ClassVar[str] = "laplace_kernel"
    shape: ClassVar[str] = "a Laplace"
    reaches: ClassVar[int] = 24

    def area(self, reach: Fraction) -> Fraction:
        """Return the area under a Laplace curve of height 1, rounded down."""
        return 2 * (1 - min(Fraction(1), exp_up(-reach)))

    def height(self, reach: Fraction) -> Fraction:
        """Return the height of a Laplace curve, rounded down."""
        return dyadic_down(exp_down(-reach), _DIGITS)
