"""Types that a query casts to, by their names in SQL."""

from attrs import frozen

from discreet.sql.syntax.nodes import Node, listed, small_number, word
from discreet.tables.column import ColumnType

_KINDS = {
    "TINYINT": ColumnType.INTEGER,
    "SMALLINT": ColumnType.INTEGER,
    "INT": ColumnType.INTEGER,
    "BIGINT": ColumnType.INTEGER,
    "INT128": ColumnType.INTEGER,
    "FLOAT": ColumnType.REAL,
    "DOUBLE": ColumnType.REAL,
    "FLOAT64": ColumnType.REAL,
    "DECIMAL": ColumnType.REAL,
    "TEXT": ColumnType.TEXT,
    "VARCHAR": ColumnType.TEXT,
    "NVARCHAR": ColumnType.TEXT,
    "BOOLEAN": ColumnType.BOOLEAN,
    "DATE": ColumnType.DATE,
    "TIMESTAMPNTZ": ColumnType.TIMESTAMP,
    "TIME": ColumnType.TIME,
}
_MOST_PLACES = 15
"""A float has no more decimal places that mean something."""


@frozen
class WrittenType:
    """A type as a query has it: its name, what it is here, and to how many places it rounds."""

    name: str
    kind: ColumnType | None
    """None if there is no such type here."""
    places: int | None = None
    """Of DECIMAL(10, 2) two; None if nothing is rounded."""


def written_type(node: Node) -> WrittenType:
    """Return the type that the node of a cast names.

    The length of VARCHAR(255) limits nothing, as in DuckDB, and neither do the digits of
    DECIMAL(10, 2) before the point. Its places are what a number is rounded to.
    """
    name = word(node, "kind") or str(getattr(node.this, "value", node.this)).upper()
    kind, numbers = _KINDS.get(name), listed(node, "expressions")
    if name == "DECIMAL":
        places = small_number(numbers[1].this, 2) if len(numbers) > 1 else 0
        return WrittenType(name, kind, None if places is None or places > _MOST_PLACES else places)
    is_known = not numbers or kind is ColumnType.TEXT
    return WrittenType(name, kind if is_known else None)
