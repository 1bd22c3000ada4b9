"""A question: a statement whose every name has been found in the catalogue; and its size."""

from fractions import Fraction

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.core.loss import PrivacyLoss
from discreet.releases.view import View
from discreet.tables.catalog import Limits
from discreet.tables.keyset import Keys, PublicKeys
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.relations.relation import Relation


@frozen(kw_only=True)
class Question:
    """What is asked, in declared terms. What is shown of it is the view, apart from the plan."""

    relation: Relation
    keys: Keys
    limits: Limits
    """The declared limits of the tables, or those that the query gives."""
    aggregates: tuple[Aggregate, ...]
    weights: tuple[Fraction, ...]
    """Which part of the price each aggregate gets; they sum to 1 (less, if keys take a part)."""
    view: View
    price: PrivacyLoss | None = None
    """The price that the query itself gives, if it does."""


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
