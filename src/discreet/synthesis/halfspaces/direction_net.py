"""A net of directions: finitely many, such that every direction is near to one of them."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.core.rounding import sqrt_up

MOST_DIRECTIONS = 10**6
MOST_DIMENSIONS = 12
"""Beyond these even the coarsest net has more directions."""


@frozen(kw_only=True)
class DirectionNet:
    r"""All whole-number vectors on the surface of a cube: the largest entry is ``resolution``.

    Every direction has one at an angle whose sine is at most
    :math:`\frac{\sqrt{k - 1}}{2r}`, for resolution :math:`r` in :math:`k` dimensions.

    *Proof.* Stretch the direction to a vector :math:`u` whose largest entry is :math:`\pm r`, and
    round all entries to a vector :math:`w`. That entry stays, and the others move by at most one
    half: :math:`\|u - w\| \le \sqrt{k - 1}/2`. The sine is the distance of :math:`u` from the line
    of :math:`w`, which is at most that, divided by :math:`\|u\| \ge r`.

    Example:
        >>> net = DirectionNet(dimension=2, resolution=4)
        >>> net.size, net.nearness
        (32, Fraction(1, 8))
        >>> net.directions[net.nearest([0.6, -0.8])].tolist()
        [3, -4]
    """

    dimension: int = field(converter=check.whole, validator=check.positive)
    resolution: int = field(converter=check.whole, validator=check.positive)

    def __attrs_post_init__(self) -> None:
        """Refuse a net that cannot be built."""
        if not 2 <= self.dimension <= MOST_DIMENSIONS:
            raise InvalidArgument(
                "No net of directions has so many dimensions",
                must=f"be at least 2 and at most {MOST_DIMENSIONS}",
                got=str(self.dimension),
                next="Project to fewer dimensions",
            )
        if self.size > MOST_DIRECTIONS:
            raise InvalidArgument(
                "The net is too large",
                must=f"have at most {MOST_DIRECTIONS} directions",
                got=f"about 10**{math.log10(self.size):.0f}",
                next="Take a coarser resolution, or project to fewer dimensions",
            )

    @property
    def size(self) -> int:
        """How many directions there are."""
        across: int = 2 * self.resolution + 1
        return int(across**self.dimension - (across - 2) ** self.dimension)

    @property
    def nearness(self) -> Fraction:
        """The sine of the angle within which every direction has one of the net, rounded up."""
        return sqrt_up(Fraction(self.dimension - 1)) / (2 * self.resolution)

    @property
    def directions(self) -> IntArray:
        """A row for each direction."""
        return _directions(self.dimension, self.resolution)

    def nearest(self, direction: Sequence[float]) -> int:
        """Return the place of a direction of the net that is within :attr:`nearness`."""
        wanted = np.asarray(direction, dtype=np.float64)
        largest = np.abs(wanted).max(initial=0.0)
        if wanted.shape != (self.dimension,) or not 0 < largest < np.inf:
            raise InvalidArgument(
                "That is no direction",
                must=f"be {self.dimension} finite numbers, not all 0",
            )
        rounded = np.rint(wanted / largest * self.resolution).astype(np.int64)
        keys = _keys(self.directions, self.resolution)
        return int(np.searchsorted(keys, _keys(rounded, self.resolution)))


@cache
def _directions(dimension: int, resolution: int) -> IntArray:
    """Return the faces of the cube one after the other: of each vector the first largest entry."""
    inner, every = np.arange(1 - resolution, resolution), np.arange(-resolution, resolution + 1)
    ends = np.array([-resolution, resolution])
    faces = []
    for axis in range(dimension):
        sides = [inner] * axis + [ends] + [every] * (dimension - axis - 1)
        faces.append(np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, dimension))
    rows: IntArray = np.concatenate(faces).astype(np.int64)
    return rows[np.argsort(_keys(rows, resolution))]


def _keys(rows: IntArray, resolution: int) -> IntArray:
    """Return a number for each vector, different for different ones."""
    weights = (2 * resolution + 1) ** np.arange(rows.shape[-1], dtype=np.int64)
    found: IntArray = (rows + resolution) @ weights
    return found
