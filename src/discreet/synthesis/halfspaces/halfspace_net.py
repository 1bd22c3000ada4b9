"""A net of halfspaces: a public space, directions, and perhaps projections of the space."""

import numpy as np
from attrs import field, frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import bernoulli
from discreet.synthesis.counted.integer_noise import whole_sizes
from discreet.synthesis.halfspaces.direction_net import MOST_DIRECTIONS, DirectionNet

EXACT_FLOAT = 2**53
"""Whole numbers below this are floats, and so are their sums and products below it."""

Signs = tuple[tuple[int, ...], ...]
"""A projection: for each coordinate of the space a 1 or -1 for each of the fewer dimensions."""


@frozen(kw_only=True)
class Space:
    r"""The space that halfspaces divide: public cells on each axis, the origin in their middle.

    Cell :math:`c` of :math:`s` cells has the coordinate :math:`2c - (s - 1)`, a whole number. With
    a ``constant`` above 0, each row has that as one more coordinate, so that planes need not go
    through the origin: :math:`\langle x, w\rangle \ge t` is the direction
    :math:`(w, -t/constant)`.

    Example:
        >>> Space(sizes=(4, 4), constant=3).coordinates(np.array([[0, 3], [1, 1]])).tolist()
        [[-3, 3, 3], [-1, -1, 3]]
    """

    sizes: tuple[int, ...] = field(converter=whole_sizes)
    constant: int = field(default=0, converter=check.whole, validator=check.non_negative)

    def __attrs_post_init__(self) -> None:
        """Refuse axes whose coordinates are not exact everywhere."""
        if max(*self.sizes, self.constant) > 2**31:
            raise InvalidArgument("Axes have 1 to 2**31 cells, and constants are as small")

    @property
    def dimension(self) -> int:
        """How many coordinates a row has."""
        return len(self.sizes) + (1 if self.constant else 0)

    @property
    def largest(self) -> int:
        """The largest coordinate that a row can have."""
        return max(*(size - 1 for size in self.sizes), self.constant)

    def coordinates(self, codes: IntArray) -> IntArray:
        """Return the coordinates of cells, a row for each."""
        found = 2 * codes - (np.array(self.sizes, dtype=np.int64) - 1)
        if self.constant:
            found = np.column_stack([found, np.full(len(codes), self.constant, dtype=np.int64)])
        return found


@frozen(kw_only=True)
class HalfspaceNet:
    """The halfspaces that are measured: those of all directions of a net, in each projection.

    Without projections the net is in the space itself.
    """

    space: Space
    directions: DirectionNet
    projections: tuple[Signs, ...] = ()

    def __attrs_post_init__(self) -> None:
        """Refuse a net and projections that do not fit the space."""
        across = self.directions.dimension
        if not self.projections and across != self.space.dimension:
            raise InvalidArgument(
                "The net is not of this space",
                must=f"have {self.space.dimension} dimensions",
                got=str(across),
            )
        for signs in self.projections:
            entries = {entry for row in signs for entry in row}
            if len(signs) != self.space.dimension or {len(row) for row in signs} != {across}:
                raise InvalidArgument("A projection has a sign for each pair of coordinates")
            if not entries <= {-1, 1}:
                raise InvalidArgument("A projection has signs only", must="be 1 or -1")
        reach = self.space.largest * self.space.dimension * self.directions.resolution * across
        if reach >= EXACT_FLOAT or self.size > MOST_DIRECTIONS:
            raise InvalidArgument(
                "These halfspaces are too many, or too fine, to be counted exactly",
                must=f"be at most {MOST_DIRECTIONS}, with products below 2**53",
                got=f"{self.size} halfspaces",
            )

    @property
    def shape(self) -> tuple[int, int]:
        """How many projections there are (the space itself is one), and directions in each."""
        return max(1, len(self.projections)), self.directions.size

    @property
    def size(self) -> int:
        """How many halfspaces are measured, over all projections."""
        return self.shape[0] * self.shape[1]

    def projected(self, points: IntArray) -> list[IntArray]:
        """Return points in each projection, or as they are if there is none."""
        if not self.projections:
            return [points]
        return [points @ np.array(signs, dtype=np.int64) for signs in self.projections]


def draw_projections(count: int, *, dimension: int, across: int, rng: Rng) -> tuple[Signs, ...]:
    """Return random sign matrices from ``dimension`` to ``across`` dimensions. They are public.

    Example:
        >>> from discreet import SystemRng
        >>> signs = draw_projections(3, dimension=10, across=2, rng=SystemRng())
        >>> len(signs), len(signs[0]), len(signs[0][0])
        (3, 10, 2)
    """
    if min(check.whole(number) for number in (count, dimension, across)) < 1:
        raise InvalidArgument("Projections are at least one, between at least one dimension each")
    coins = bernoulli("1/2", (count, dimension, across), rng)
    drawn = np.where(coins, 1, -1).tolist()
    return tuple(tuple(tuple(row) for row in signs) for signs in drawn)
