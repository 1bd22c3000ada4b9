"""The context: what every part of a query can see, whatever SELECT it stands in."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from discreet.core.errors import RefusedQuery
from discreet.tables.catalog import Catalog
from discreet.tables.column import Key
from discreet.tables.relations.relation import Relation
from discreet.tables.relations.scan import PublicScan, Scan

PublicRows = Callable[[Relation], tuple[tuple[Key | None, ...], ...]]
"""The rows of a public relation. Private relations are never asked for theirs."""

DEEPEST_QUERY = 40
MOST_TABLES = 100
"""How many tables a query may read, each counted as often as it is read."""


@frozen(kw_only=True)
class Named:
    """A query that WITH gave a name, and the context that it stands in."""

    query: Any
    columns: tuple[str, ...]
    context: "Context"


@frozen(kw_only=True)
class Context:
    """The declared tables, the queries that WITH named, and how to resolve a nested query."""

    catalog: Catalog
    query: Callable[[Any, "Context"], Relation]
    """Resolve a nested query. Handed down, so that the files need no circle of imports."""
    public_rows: PublicRows
    named: Mapping[str, Named] = field(factory=dict)
    depth: int = 0

    def deeper(self) -> "Context":
        """Return the context of a query within this one."""
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
