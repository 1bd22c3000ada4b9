"""Filter: the rows for which a condition is true."""

from attrs import frozen

from discreet.tables.expression import Expression
from discreet.tables.relations.relation import Field, Owner, Relation


@frozen(kw_only=True)
class Filter(Relation):
    """The rows of ``source`` for which ``condition`` is true (not NULL). Each row for itself."""

    source: Relation
    condition: Expression

    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the source."""
        return self.source.fields()

    def owner(self) -> Owner | None:
        """Return the owner of the source."""
        return self.source.owner()

    def inputs(self) -> tuple[Relation, ...]:
        """Return the source."""
        return (self.source,)
