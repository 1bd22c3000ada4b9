"""Size: how much a question asks for, in public numbers, and how much it may ask for."""

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.sql.question import Question
from discreet.tables.keyset import PublicKeys

MOST_CELLS = 2_000_000
"""How many numbers one answer may have: public groups times aggregates. Those of a batch count
together."""

MOST_TOGETHER = 2_000
"""How many aggregates the questions of a batch may have together."""


@frozen(kw_only=True)
class Size:
    """How many aggregates there are, and how many numbers: one of each for every public group."""

    aggregates: int = 0
    cells: int = 0

    @staticmethod
    def of(question: Question) -> "Size":
        """Return the size of a question; groups that are not public count as one."""
        groups = question.keys.size() if isinstance(question.keys, PublicKeys) else 1
        aggregates = len(question.aggregates)
        return Size(aggregates=aggregates, cells=aggregates * groups)

    def __add__(self, other: "Size") -> "Size":
        """Return the size of both together."""
        return Size(aggregates=self.aggregates + other.aggregates, cells=self.cells + other.cells)

    def require_small(self) -> "Size":
        """Return the size, or refuse what is too large to be answered at once.

        Guarantee:
            Only declarations and the query decide, before anything is charged or read.
        """
        for got, most, what in (
            (self.aggregates, MOST_TOGETHER, "aggregates"),
            (self.cells, MOST_CELLS, "numbers (groups times aggregates)"),
        ):
            if got > most:
                raise RefusedQuery(
                    "Too much is asked for at once",
                    must=f"be at most {most:,} {what}",
                    got=f"{got:,}",
                    next="Ask for fewer groups or fewer aggregates. AVG counts as two aggregates,"
                    " a variance as three",
                )
        return self
