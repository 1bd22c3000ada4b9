"""Filter: the rows for which a condition is true."""

from typing import ClassVar

from attrs import frozen

from discreet.tables.expression import Expression
from discreet.tables.relations.relation import OneSource


@frozen(kw_only=True)
class Filter(OneSource):
    """The rows of ``source`` for which ``condition`` is true (not NULL). Each row for itself."""

    stored_as: ClassVar[str] = "Filter"
    condition: Expression
