"""Examples for refusals: a question that would work, about the same tables."""

from discreet.sql.rows.scope import Scope
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnType
from discreet.tables.relations.relation import Field

_GROUPED = (ColumnType.TEXT, ColumnType.BOOLEAN)


def example(scope: Scope, catalog: Catalog) -> str:
    """Return a SELECT that may be asked of the tables in reach, by their declarations."""
    tables, declared = scope.tables(), [table.name.lower() for table in catalog.tables]
    if len(tables) != 1 or tables[0].lower() not in declared:
        return "SELECT key, COUNT(*) FROM ... GROUP BY key"
    fields = scope.relation.fields()
    keys = [field.name for field in fields if _is_key(field)]
    averages = [f"AVG({field.name})" for field in fields if _is_measured(field)]
    shown = ", ".join([*keys[:1], "COUNT(*)", *averages[:1]])
    grouped = f" GROUP BY {keys[0]}" if keys else ""
    return f"SELECT {shown} FROM {tables[0]}{grouped}"


def _is_measured(field: Field) -> bool:
    return field.unit_part is None and field.bounds is not None


def _is_key(field: Field) -> bool:
    return field.unit_part is None and field.type in _GROUPED and field.keys is not None
