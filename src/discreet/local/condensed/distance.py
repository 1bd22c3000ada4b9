"""How far apart values are, as a survey declares it: a checked metric."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact

MOST_VALUES = 128


def _exact_rows(rows: Sequence[Sequence[Number]]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(exact(entry) for entry in row) for row in rows)


@frozen
class Distance:
    r"""The distance between any two values: ``rows[x][y]``, a metric.

    Guarantee:
        It is symmetric, 0 between a value and itself and nowhere else, and no detour is shorter:
        :math:`d(x, z) \le d(x, y) + d(y, z)`. All of it is checked exactly.

    Example:
        >>> Distance.numeric(4, step="0.5").rows[0]
        (Fraction(0, 1), Fraction(1, 2), Fraction(1, 1), Fraction(3, 2))
        >>> Distance.ordinal([0, 1, 5]).rows[1]
        (Fraction(1, 1), Fraction(0, 1), Fraction(4, 1))
    """

    rows: tuple[tuple[Fraction, ...], ...] = field(converter=_exact_rows)

    @rows.validator
    def _a_metric(self, _: object, rows: tuple[tuple[Fraction, ...], ...]) -> None:
        if not 2 <= len(rows) <= MOST_VALUES or any(len(row) != len(rows) for row in rows):
            raise InvalidArgument(
                "The distances have another form",
                must=f"be a square of 2 to {MOST_VALUES} rows",
                got=f"{len(rows)} rows",
            )
        places = range(len(rows))
        for x in places:
            for y in places:
                if rows[x][y] != rows[y][x] or (rows[x][y] <= 0) != (x == y) or rows[x][y] < 0:
                    raise _no_metric(f"between value {x} and value {y}")
        detour = _shorter_detour(rows)
        if detour is not None:
            x, y, z = detour
            raise _no_metric(f"from value {x} to value {z}, which is shorter by way of {y}")

    @classmethod
    def numeric(cls, values: int, *, step: Number = 1) -> Self:
        """Return the distance of evenly spaced numbers."""
        return cls.ordinal([exact(step) * value for value in range(values)])

    @classmethod
    def ordinal(cls, positions: Sequence[Number]) -> Self:
        """Return the distance of levels in an order, each at a declared position on a line."""
        at = [exact(position) for position in positions]
        return cls([[abs(x - y) for y in at] for x in at])

    @property
    def values(self) -> int:
        """How many values there are."""
        return len(self.rows)


def _shorter_detour(rows: tuple[tuple[Fraction, ...], ...]) -> tuple[int, int, int] | None:
    """Return three values of which the middle one makes the way shorter, if there are any."""
    common = np.lcm.reduce([entry.denominator for row in rows for entry in row], dtype=object)
    whole = np.array([[int(entry * common) for entry in row] for row in rows], dtype=object)
    for middle in range(len(rows)):
        shorter = whole > whole[:, middle, None] + whole[None, middle, :]
        if shorter.any():
            x, z = (int(place) for place in np.argwhere(shorter)[0])
            return x, middle, z
    return None


def _no_metric(where: str) -> InvalidArgument:
    return InvalidArgument(
        "The distances are no metric",
        must="be symmetric, 0 only from a value to itself, and have no shorter detour",
        got=f"another distance {where}",
    )
