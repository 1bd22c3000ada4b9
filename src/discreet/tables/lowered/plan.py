"""A lowered plan: totals over the rows of different owners, the only place where these meet."""

from attrs import frozen

from discreet.tables.lowered.rows import Columns, OneInput, Rows
from discreet.tables.plans.aggregate import Aggregate


@frozen(kw_only=True)
class UnitTotal:
    """The number of pairs, or of those for which a condition is true: each is one unit."""

    where: str | None = None


@frozen(kw_only=True)
class CappedTotal:
    """The sum over pairs of a number, of which so many count at most."""

    column: str
    most: int


@frozen(kw_only=True)
class ClampedTotal:
    """The sum over pairs of a number that is moved into a range; of NULL nothing."""

    column: str
    lower: int
    upper: int


@frozen(kw_only=True)
class RowTotal:
    """What an aggregate makes of the column ``value``, over rows for which ``where`` is true."""

    aggregate: Aggregate
    value: str | None
    where: str | None


Total = UnitTotal | CappedTotal | ClampedTotal | RowTotal


@frozen(kw_only=True)
class Answered(OneInput):
    """One row for each group that somebody is in, with totals over the rows of all owners."""

    name: str
    by: Columns
    totals: tuple[tuple[str, Total], ...]

    def columns(self) -> Columns:
        """Return the group and the totals."""
        return (*self.by, *(name for name, _ in self.totals))


UNITS = "units"
"""The column with the number of units of each private group."""


@frozen(kw_only=True)
class LoweredPlan:
    """What an engine runs: parts with totals of the same groups, and which totals are shown.

    The first part has all groups. A group that is missing in another has nothing to count there.
    """

    parts: tuple[Answered, ...]
    group: Columns
    shown: tuple[tuple[str, Aggregate | None], ...]
    """The totals in order. If keys are private, the number of units comes first: no aggregate."""


def every(rows: Rows) -> list[Rows]:
    """Return some rows and all that they are made from, what is deeper first, each step once."""
    found: dict[int, Rows] = {}

    def visit(node: Rows) -> None:
        if id(node) not in found:
            for part in node.inputs():
                visit(part)
            found[id(node)] = node

    visit(rows)
    return list(found.values())
