"""The context: what every part of a query can see, whatever SELECT it stands in."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, evolve, field, frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.catalog import Catalog
from discreet.tables.column import Key
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import PublicScan, Scan

Rows = tuple[tuple[Key | None, ...], ...]
PublicRows = Callable[[Relation], Rows]
"""The rows of a public relation. Private relations are never asked for theirs."""

DEEPEST_QUERY = 40
MOST_TABLES = 100
"""How many tables a query may read, each counted as often as it is read."""
MOST_WORK = 1_000
"""How many steps it may take to resolve a statement."""
STEPS_OF_A_TABLE = 10
"""What it counts to read a public table for a value: no more than MOST_TABLES are read so."""


@define(eq=False)
class Work:
    """What resolving one statement has cost: shared by all of its contexts, so it only grows.

    Guarantee:
        Every nested query, every reading of a query that WITH names and every value that is read
        from public tables spends from one sum. So the work before the gate is bounded, whatever
        stands in whatever: a short text can say a query that takes 2^depth steps.
    """

    most: int = MOST_WORK
    spent: int = 0
    _read: dict[str, Rows] = field(factory=dict)

    def spend(self, steps: int = 1) -> None:
        """Count steps, or refuse the query if they are too many."""
        self.spent += steps
        if self.spent > self.most:
            raise RefusedQuery(
                "The query is too large",
                must=f"take at most {self.most:,} steps, counting a nested query each time that it"
                " is read",
                next="Write it with fewer nested queries",
            )

    def rows(self, relation: Relation, public_rows: PublicRows) -> Rows:
        """Return the rows of a public relation, which are read once in a statement."""
        # The text and not the relation: 0.0 equals -0.0, and may not mean the same.
        key = repr(relation)
        if key not in self._read:
            self.spend(STEPS_OF_A_TABLE * scans_of(relation))
            self._read[key] = public_rows(relation)
        return self._read[key]


@frozen(kw_only=True)
class Named:
    """A query that WITH gave a name, and the context that it stands in."""

    query: Any
    columns: tuple[str, ...]
    context: "Context"
    steps: int = 0
    """What it counts to read it, beyond the queries in it: more if its text is long."""


@frozen(kw_only=True)
class Context:
    """The declared tables, the queries that WITH named, and how to resolve a nested query."""

    catalog: Catalog
    query: Callable[[Any, "Context"], Relation]
    """Resolve a nested query. Handed down, so that the files need no circle of imports."""
    public_rows: PublicRows
    named: Mapping[str, Named] = field(factory=dict)
    depth: int = 0
    work: Work = field(factory=Work, eq=False, repr=False)

    def deeper(self) -> "Context":
        """Return the context of a query within this one, which counts as a step."""
        self.work.spend()
        if self.depth >= DEEPEST_QUERY:
            raise RefusedQuery(
                "The query is nested too deeply", must=f"be at most {DEEPEST_QUERY} deep"
            )
        return evolve(self, depth=self.depth + 1)

    def knowing(self, name: str, named: Named) -> "Context":
        """Return the context in which one more query has a name."""
        return evolve(self, named={**self.named, name.lower(): named})


def require_few_tables(relation: Relation) -> Relation:
    """Refuse a relation that reads very many tables: a short text can say one that is huge."""
    if scans_of(relation) > MOST_TABLES:
        raise RefusedQuery(
            "The query reads too many tables",
            must=f"read at most {MOST_TABLES}, counting a table each time",
        )
    return relation


def scans_of(relation: Relation) -> int:
    """Return how many tables a relation reads."""
    if isinstance(relation, Scan | PublicScan):
        return 1
    return sum(scans_of(source) for source in relation.inputs())
