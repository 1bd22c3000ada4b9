"""Resolve: statement to question. Names are looked up in the catalogue; data is never consulted."""

from discreet.core.errors import RefusedQuery, UndeclaredBound, UndeclaredKeys
from discreet.curator.condition import resolve_condition
from discreet.curator.question import KeyColumn, OutputColumn, Question, ValueColumn
from discreet.curator.statement import CountOutput, KeyOutput, Statement, SumOutput
from discreet.tables.aggregate import Aggregate, CountRows, SumColumn
from discreet.tables.catalog import Catalog, Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.keyset import KeySet


def resolve(statement: Statement, catalog: Catalog) -> Question:
    """Return the question that ``statement`` asks about the declared tables."""
    table = catalog.table(statement.table)
    keys = tuple(_key_column(table, name) for name in statement.group_by)
    names = [column.name for column in keys]
    if len(set(names)) < len(names):
        raise RefusedQuery("GROUP BY names a column twice", next="Name it once")
    aggregates: list[Aggregate] = []
    outputs: list[OutputColumn] = []
    for output in statement.outputs:
        if isinstance(output, KeyOutput):
            outputs.append(KeyColumn(output.name, _key_index(table, output.column, names)))
            continue
        aggregate = _aggregate(table, output)
        if aggregate not in aggregates:  # the same aggregate twice is paid for once
            aggregates.append(aggregate)
        outputs.append(ValueColumn(output.name, aggregates.index(aggregate)))
    where = None if statement.where is None else resolve_condition(statement.where, table)
    return Question(
        table=table,
        where=where,
        keys=KeySet.of(keys),
        aggregates=tuple(aggregates),
        outputs=tuple(outputs),
    )


def _key_column(table: Table, name: str) -> Column:
    column = table.column(name)
    if column.keys is None:
        with_keys = [c.name for c in table.columns if c.keys is not None]
        raise UndeclaredKeys(
            f"Column '{column.name}' has no public keys",
            must="have its keys declared, because the groups that appear would tell who is there",
            next=(
                f"Declare keys = [...] for tables.{table.name}.columns.{column.name}"
                + (f", or group by {', '.join(with_keys)}" if with_keys else "")
            ),
        )
    return column


def _key_index(table: Table, name: str, names: list[str]) -> int:
    column = table.column(name)
    if column.name not in names:
        raise RefusedQuery(
            f"Column '{column.name}' is neither grouped nor aggregated",
            next=f"Add it to GROUP BY, or write SUM({column.name})",
        )
    return names.index(column.name)


def _aggregate(table: Table, output: CountOutput | SumOutput) -> Aggregate:
    if isinstance(output, CountOutput):
        return CountRows()
    column = table.column(output.column)
    if column.type not in (ColumnType.INTEGER, ColumnType.REAL):
        raise RefusedQuery(f"Column '{column.name}' is {column.type.value}, so it has no sum")
    if column.bounds is None:
        raise UndeclaredBound(
            f"Column '{column.name}' has no declared range",
            must="have min and max, because one row could move the sum without limit",
            next=f"Declare min, max and step for tables.{table.name}.columns.{column.name}",
        )
    return SumColumn(column, column.bounds)
