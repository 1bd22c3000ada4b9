"""Rows with several numbers that are independent: the law of each on its own grid."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.noiseless.laws.hidden import Hidden, Interval, RowLaw


def _laws(values: tuple[RowLaw, ...]) -> tuple[RowLaw, ...]:
    return tuple(values)


@frozen
class IndependentColumns:
    r"""A row has one number a column, and the columns are independent of one another.

    Guarantee:
        If column :math:`j` is uniform on its block with probability :math:`v_j`, and columns are
        independent, then with probability :math:`\prod_j v_j` all are, and are independent: that is
        the hidden part of the row. Worst is a row at the farther end of every column.

    Attributes:
        laws: The law of each column.

    Example:
        >>> from discreet.noiseless import GridFloor
        >>> one = GridFloor("0.1", block=(2, 6), clamps=(0, 9), step=1)
        >>> both = IndependentColumns((one, one))
        >>> both.hidden().mass, both.simulator
        (Fraction(1, 4), (Fraction(4, 1), Fraction(4, 1)))
    """

    laws: tuple[RowLaw, ...] = field(converter=_laws)

    def __attrs_post_init__(self) -> None:
        hidden = [one.hidden() for law in self.laws for one in law.members()]
        if len(self.laws) < 2 or any(not one.terms == one.rows == one.share == 1 for one in hidden):
            raise InvalidArgument(
                "These laws cannot be put side by side",
                must="be two or more, of each of which one row has one uniform part",
            )

    @property
    def clamps(self) -> tuple[Interval, ...]:
        """Between which public numbers each column lies."""
        return tuple(one for law in self.laws for one in law.clamps)

    @property
    def simulator(self) -> tuple[Fraction, ...]:
        """What the simulator inserts for a missing row."""
        return tuple(one for law in self.laws for one in law.simulator)

    def members(self) -> tuple[RowLaw, ...]:
        """Return all combinations of members of the columns' laws; itself, if there is one."""
        found = tuple(product(*(law.members() for law in self.laws)))
        if len(found) == 1:
            return (self,)
        return tuple(IndependentColumns(one) for one in found)

    def hidden(self) -> Hidden:
        """Return the part in which all columns are uniform."""
        parts = [law.hidden() for law in self.laws]
        return Hidden(
            math.prod((part.mass for part in parts), start=Fraction(1)),
            tuple(one for part in parts for one in part.points),
            tuple(one for part in parts for one in part.shifts),
        )

    def words(self) -> str:
        """Return the assertion in a sentence."""
        said = " ".join(law.words() for law in self.laws)
        return f"The columns of a row are independent of one another. {said}"

    def to_json(self) -> dict[str, Any]:
        """Return what is asserted."""
        return {"law": "independent_columns", "laws": [law.to_json() for law in self.laws]}
