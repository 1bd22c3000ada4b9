"""Distinct: each combination of owner and fields once."""

from attrs import frozen

from discreet.tables.relations.relation import Field, Owner, Relation


@frozen(kw_only=True)
class Distinct(Relation):
    """The different rows of each owner. Equal rows of two owners both stay."""

    source: Relation

    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the source."""
        return self.source.fields()

    def owner(self) -> Owner | None:
        """Return the owner of the source."""
        return self.source.owner()

    def inputs(self) -> tuple[Relation, ...]:
        """Return the source."""
        return (self.source,)
