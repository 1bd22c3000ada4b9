"""Laws with a density: at least so much on a box, whatever else they are."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

from attrs import evolve, field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.noiseless.laws.hidden import (
    Hidden,
    Interval,
    RowLaw,
    inside,
    intervals,
    pairs,
    spelt,
)


def _box(value: Sequence[Any]) -> tuple[Interval, ...]:
    return intervals(value, "The box")


def _clamps(value: Sequence[Any]) -> tuple[Interval, ...]:
    return intervals(value, "The clamps")


def _densities(values: Sequence[Number]) -> tuple[Fraction, ...]:
    return tuple(exact(one) for one in values)


def _boxes(values: Sequence[Any]) -> tuple[tuple[Interval, ...], ...]:
    return tuple(_box(one) for one in values)


def middle(clamps: Sequence[Interval]) -> tuple[Fraction, ...]:
    """Return the middle of the clamps, by dimension; [Gro14] prints half their distance."""
    return tuple((low + high) / 2 for low, high in clamps)


def _mass_at_most_one(mass: Fraction) -> None:
    if mass > 1:
        raise InvalidArgument(
            "No law has so much density",
            must="have density × volume of at most 1",
            got=str(float(mass)),
            next="Assert less density, or a smaller box",
        )


@frozen
class BoxDensity:
    r"""Rows have a density of at least ``density`` on a box, and lie between public clamps.

    Nothing else is asserted: atoms anywhere, at the clamps for example, do no harm.

    Attributes:
        density: h, per unit of volume.
        box: [s, t], in each dimension; for one dimension, two numbers will do.
        clamps: :math:`[w_1, w_2]`, in each dimension. Rows outside are moved to them first.

    Guarantee:
        With probability v = h × volume a row is uniform on the box, and its coordinates are
        independent; with probability 1 - v it is drawn from the rest of its law.

        Proof. The density less h on the box is not negative, and has mass 1 - v.

    Assumes:
        That h and the box were chosen before anybody looked at the data. A box that was found in
        the data tells something by being chosen.

    Example:
        >>> law = BoxDensity("0.1", box=(20, 28), clamps=(0, 40))
        >>> law.mass, law.hidden().shifts
        (Fraction(4, 5), (Fraction(5, 2),))
    """

    density: Fraction = field(converter=exact, validator=check.positive)
    box: tuple[Interval, ...] = field(converter=_box, kw_only=True)
    clamps: tuple[Interval, ...] = field(converter=_clamps, kw_only=True)

    def __attrs_post_init__(self) -> None:
        inside(self.box, self.clamps, "The box")
        _mass_at_most_one(self.mass)

    @property
    def mass(self) -> Fraction:
        """How likely a row is to be uniform on the box: v."""
        return self.density * prod((high - low for low, high in self.box), start=Fraction(1))

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The middle of the clamps."""
        return middle(self.clamps)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def hidden(self) -> Hidden:
        """Return the uniform part."""
        return Hidden(self.mass, (None,) * len(self.box), _shifts(self.box, self.clamps))

    def at_most(self, value: Any) -> "BoxDensity":
        """Return what is asserted of a row of which it is known that it is at most ``value``.

        If an adversary knows every row above a public number, the others follow this law. Given
        that a row is below, its density there only grows. Clamps and simulator stay.

        Example:
            >>> uniform_rows(0, 1).at_most("0.75").mass
            Fraction(3, 4)
        """
        top = exact(value)
        if len(self.box) != 1 or top <= self.box[0][0]:
            raise InvalidArgument(
                "Nothing of the box is left",
                must="be one number above the lower end of a box of one dimension",
                got=str(top),
            )
        return evolve(self, box=((self.box[0][0], min(top, self.box[0][1])),))

    def words(self) -> str:
        """Return the assertion in a sentence."""
        return (
            "Each row is drawn independently, with a density of at least "
            f"{float(self.density):.6g} everywhere on {spelt(self.box)}: at least "
            f"{float(self.mass):.4g} of its probability is spread evenly there."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "box_density",
            "density": str(self.density),
            "box": pairs(self.box),
            "clamps": pairs(self.clamps),
        }


def _shifts(box: Sequence[Interval], clamps: Sequence[Interval]) -> tuple[Fraction, ...]:
    return tuple(
        (most - least) / 2 / (high - low)
        for (low, high), (least, most) in zip(box, clamps, strict=True)
    )


def uniform_rows(low: Any, high: Any) -> BoxDensity:
    """Return the law of rows that are uniform between two numbers.

    Example:
        >>> uniform_rows(0, 4).mass
        Fraction(1, 1)
    """
    ends = intervals((low, high), "The range")
    return BoxDensity(1 / (ends[0][1] - ends[0][0]), box=ends, clamps=ends)


@frozen
class DisjointBoxes:
    """Rows have some density on several boxes of one size that have no point in common.

    Which box a row fell into may be told to everybody, so the hidden rows of all boxes add up
    [Gro14, section 6.3].

    Attributes:
        densities: The least density, by box.
        boxes: The boxes. All have the same lengths, or the hidden rows would not be alike.
        clamps: As of :class:`BoxDensity`.

    Guarantee:
        Given in which boxes the hidden rows are, their sum less a known number is that of as many
        rows uniform on one box: lengths are equal, so only the number of rows matters.

    Example:
        >>> two = DisjointBoxes(("0.2", "0.3"), boxes=[(0, 1), (3, 4)], clamps=(0, 4))
        >>> two.hidden().mass
        Fraction(1, 2)
    """

    densities: tuple[Fraction, ...] = field(converter=_densities)
    boxes: tuple[tuple[Interval, ...], ...] = field(converter=_boxes, kw_only=True)
    clamps: tuple[Interval, ...] = field(converter=_clamps, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if not self.boxes or len(self.boxes) != len(self.densities):
            raise InvalidArgument(
                "Each box has a density",
                must="be as many boxes as densities, and at least one",
                got=f"{len(self.boxes)} and {len(self.densities)}",
            )
        for box in self.boxes:
            inside(box, self.clamps, "The box")
        if len({tuple(high - low for low, high in box) for box in self.boxes}) > 1:
            raise InvalidArgument(
                "The boxes differ in size",
                must="have the same lengths",
                next="Assert smaller boxes of one size",
            )
        if any(_overlap(a, b) for i, a in enumerate(self.boxes) for b in self.boxes[:i]):
            raise InvalidArgument("The boxes overlap", must="have no point in common inside")
        if min(self.densities) <= 0:
            raise InvalidArgument("A density is out of range", must="be greater than 0")
        _mass_at_most_one(self.mass)

    @property
    def mass(self) -> Fraction:
        """How likely a row is to be uniform on one of the boxes."""
        volume = prod((high - low for low, high in self.boxes[0]), start=Fraction(1))
        return sum(self.densities, Fraction(0)) * volume

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The middle of the clamps."""
        return middle(self.clamps)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def hidden(self) -> Hidden:
        """Return the uniform part."""
        box = self.boxes[0]
        return Hidden(self.mass, (None,) * len(box), _shifts(box, self.clamps))

    def words(self) -> str:
        """Return the assertion in a sentence."""
        shown = " and ".join(
            f"{float(h):.6g} on {spelt(box)}"
            for h, box in zip(self.densities, self.boxes, strict=True)
        )
        return (
            f"Each row is drawn independently, with a density of at least {shown}. Everybody may "
            "know in which of these boxes a row is."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "disjoint_boxes",
            "densities": [str(h) for h in self.densities],
            "boxes": [pairs(box) for box in self.boxes],
            "clamps": pairs(self.clamps),
        }


def _overlap(first: Sequence[Interval], second: Sequence[Interval]) -> bool:
    return all(a < d and c < b for (a, b), (c, d) in zip(first, second, strict=True))


@frozen
class TriangleDensity:
    r"""Rows have at least a triangle of density over an interval, and lie between public clamps.

    Attributes:
        peak: The height of the triangle, in the middle of the interval.
        base: The interval over which it stands.
        clamps: As of :class:`BoxDensity`.

    Guarantee:
        With probability v = peak × length / 2 a row is a known number plus the sum of two
        independent numbers, each uniform on an interval of half the length: that sum has the
        density of a triangle. So M hidden rows are 2M uniform numbers [Gro14, section 6.3].

    Example:
        >>> law = TriangleDensity("0.5", base=(0, 2), clamps=(0, 4))
        >>> law.hidden().mass, law.hidden().terms, law.hidden().shifts
        (Fraction(1, 2), 2, (Fraction(2, 1),))
    """

    peak: Fraction = field(converter=exact, validator=check.positive)
    base: tuple[Interval, ...] = field(converter=_box, kw_only=True)
    clamps: tuple[Interval, ...] = field(converter=_clamps, kw_only=True)

    def __attrs_post_init__(self) -> None:
        inside(self.base, self.clamps, "The base")
        if len(self.base) != 1:
            raise InvalidArgument("A triangle has one dimension", must="be one interval")
        _mass_at_most_one(self.mass)

    @property
    def mass(self) -> Fraction:
        """How likely a row is to be drawn from the triangle."""
        return self.peak * (self.base[0][1] - self.base[0][0]) / 2

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """The middle of the clamps."""
        return middle(self.clamps)

    def members(self) -> tuple[RowLaw, ...]:
        """Return this law."""
        return (self,)

    def hidden(self) -> Hidden:
        """Return the uniform part: two numbers a row."""
        (shift,) = _shifts(self.base, self.clamps)
        return Hidden(self.mass, (None,), (2 * shift,), terms=2)

    def words(self) -> str:
        """Return the assertion in a sentence."""
        return (
            "Each row is drawn independently, with a density of at least a triangle of height "
            f"{float(self.peak):.6g} over {spelt(self.base)}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {
            "law": "triangle_density",
            "peak": str(self.peak),
            "base": pairs(self.base),
            "clamps": pairs(self.clamps),
        }
