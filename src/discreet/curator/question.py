"""A question: a statement whose every name has been found in the catalogue."""

from attrs import frozen

from discreet.tables.aggregate import Aggregate
from discreet.tables.catalog import Table
from discreet.tables.expression import Expression
from discreet.tables.keyset import KeySet


@frozen
class KeyColumn:
    """Shows the group's value of the key at ``index``."""

    name: str
    index: int


@frozen
class ValueColumn:
    """Shows the aggregate at ``index``."""

    name: str
    index: int


OutputColumn = KeyColumn | ValueColumn


@frozen(kw_only=True)
class Question:
    """What is asked, in declared terms. Names of outputs are presentation, apart from the plan."""

    table: Table
    where: Expression | None
    keys: KeySet
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[OutputColumn, ...]
