"""Project: new fields, each computed from one row."""

from typing import ClassVar

from attrs import field, frozen

from discreet.core.canonical import PRESENTATION
from discreet.tables.expression import Expression
from discreet.tables.relations.relation import Field, OneSource


@frozen(kw_only=True)
class Project(OneSource):
    """The rows of ``source`` with other fields. The owner is not among them, so it stays."""

    stored_as: ClassVar[str] = "Project"
    values: tuple[Expression, ...]
    shape: tuple[Field, ...] = field(metadata=PRESENTATION)
    """The new fields, one for each value."""

    def fields(self) -> tuple[Field, ...]:
        """Return the new fields."""
        return self.shape
