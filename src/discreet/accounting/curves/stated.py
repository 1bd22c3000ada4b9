"""A Rényi curve of which some points were stated: a table of orders and divergences."""

import json
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from attrs import field, frozen

from discreet.accounting.curves.piece import CurvePiece, require_order
from discreet.core.numbers import Number, exact, float_up

Points = tuple[tuple[Fraction, Fraction], ...]


def _points(value: "str | Iterable[tuple[Number, Number]]") -> Points:
    pairs = json.loads(value) if isinstance(value, str) else value
    return tuple(sorted((exact(order), exact(epsilon)) for order, epsilon in pairs))


@frozen
class StatedPiece(CurvePiece):
    r"""Divergences ``epsilon`` at some orders above 1.

    Guarantee:
        :math:`(\alpha - 1)D_\alpha` is convex in the order and 0 at 1, so between two stated
        orders it is at most the chord. Above the last one nothing is said.

    Example:
        >>> piece = StatedPiece([(2, "0.1"), (4, "0.3")])
        >>> piece.upper(Fraction(3)), piece.upper(Fraction("1.5"))
        (Fraction(1, 4), Fraction(1, 10))
    """

    kind = "stated"
    points: Points = field(converter=_points)

    @property
    def limit(self) -> Fraction:
        """The largest stated order; just below it the chord is as good."""
        return self.points[-1][0]

    def upper(self, order: Fraction) -> Fraction:
        """Return the chord."""
        require_order(order, self.limit)
        if order <= self.points[0][0]:
            return self.points[0][1]
        for (low, at_low), (high, at_high) in pairwise(self.points):
            if order <= high:
                share = (order - low) / (high - low)
                height = (1 - share) * (low - 1) * at_low + share * (high - 1) * at_high
                return height / (order - 1)
        raise AssertionError("the order is below the limit")

    def estimate(self, order: float) -> float:
        """Return about the same."""
        return float_up(self.upper(Fraction(order)))

    def to_json(self) -> dict[str, str]:
        """Return the kind and the points as text."""
        points = [[str(order), str(epsilon)] for order, epsilon in self.points]
        return {"kind": self.kind, "points": json.dumps(points)}
