"""The declared tables as people read them: whose rows they are, and what each column may be."""

from collections.abc import Iterable
from typing import SupportsIndex, TypeVar, overload

from discreet.core.errors import UnknownTable
from discreet.core.html_text import html_heading, html_page, html_table
from discreet.core.loss import short
from discreet.core.overview import Overview
from discreet.core.terminal_text import lines, text_table
from discreet.project.unit_effect import limits_words, unit_words
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.column import Column, ColumnType, Key
from discreet.tables.expression import FieldValue
from discreet.tables.functions.public_values import public_keys
from discreet.tables.relations.relation import Field
from discreet.tables.relations.scan import PublicScan, Scan

T = TypeVar("T", bound=Table | PublicTable)

MOST_KEYS_SHOWN = 6
WIDEST_KEYS = 36


class Tables(Overview[T]):
    """Declared tables, each with its columns; ``tables["visits"]`` is the one of that name."""

    catalog: Catalog

    @staticmethod
    def of(catalog: Catalog, tables: Iterable[T]) -> "Tables[T]":
        """Return tables of a catalogue, which says what one unit is."""
        found = Tables(tables)
        found.catalog = catalog
        return found

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> T: ...

    @overload
    def __getitem__(self, key: slice, /) -> tuple[T, ...]: ...

    @overload
    def __getitem__(self, key: str, /) -> T: ...

    def __getitem__(self, key: SupportsIndex | slice | str, /) -> T | tuple[T, ...]:
        """Return the table at a place, or that of a name in any case."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        for table in self:
            if table.name.lower() == key.lower():
                return table
        raise UnknownTable(
            f"No table '{key}' is here", next=f"Tables: {', '.join(table.name for table in self)}"
        )

    def _ipython_key_completions_(self) -> list[str]:
        return [table.name for table in self]

    def __repr__(self) -> str:
        """Show each table with its columns."""
        return "\n\n".join(
            f"{lines(self._heading(table))}\n{text_table(*_columns(table))}" for table in self
        )

    def _repr_html_(self) -> str:
        parts = ((html_heading(self._heading(one)), html_table(*_columns(one))) for one in self)
        return html_page(*(part for pair in parts for part in pair))

    def _heading(self, table: Table | PublicTable) -> str:
        if isinstance(table, PublicTable):
            return f"{table.name}: public, so it can be joined with for nothing"
        space = self.catalog.id_space(table.unit.id_space)
        return (
            f"{table.name}: private (id space {space.name}); one unit is {space.unit}, "
            f"{unit_words(table.unit)}; {limits_words(table.limits)}"
        )


def all_tables(catalog: Catalog) -> Tables[Table | PublicTable]:
    """Return every declared table: the private ones first."""
    return Tables.of(catalog, (*catalog.tables, *catalog.public_tables))


def _columns(table: Table | PublicTable) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return headings and rows; that some columns are never NULL is said only if some are."""
    scan = Scan.of(table) if isinstance(table, Table) else PublicScan.of(table)
    fields = scan.fields()
    parts = {
        "column": [column.name for column in table.columns],
        "type": [column.type.value for column in table.columns],
        "NULL": ["" if column.nullable else "never" for column in table.columns],
        "range": [_range(column) for column in table.columns],
        "keys for GROUP BY": [
            _keys(column, fields, place) for place, column in enumerate(table.columns)
        ],
    }
    shown = {name: cells for name, cells in parts.items() if name != "NULL" or any(cells)}
    return list(shown), list(zip(*shown.values(), strict=True))


def _range(column: Column) -> str:
    if column.dates is not None:
        zone = "" if column.zone is None else f" ({column.zone})"
        return f"{column.dates.first} to {column.dates.last}{zone}"
    bounds = column.bounds
    if bounds is None:
        return column.zone or ""
    return f"{short(bounds.lower)} to {short(bounds.upper)} by {short(bounds.step)}"


def _keys(column: Column, fields: tuple[Field, ...], place: int) -> str:
    if column.keys_from is not None:
        return f"those of {column.keys_from}"
    if column.keys is None:
        return "" if column.dates is None else _dates(column, fields, place)
    first: list[str] = []
    for key in map(_key, column.keys[:MOST_KEYS_SHOWN]):
        if len(", ".join([*first, key])) > WIDEST_KEYS:
            break
        first.append(key)
    if len(first) == len(column.keys):
        return ", ".join(first)
    return ", ".join([*first, f"... ({len(column.keys)})"])


def _key(key: Key) -> str:
    """Return a key as SQL has it."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def _dates(column: Column, fields: tuple[Field, ...], place: int) -> str:
    """Return what of the days of a range can be grouped by; of a very long one not each day."""
    if column.type is ColumnType.TIMESTAMP:
        return "its days, months and years, by date_trunc"
    days = public_keys(FieldValue(column.type, place), fields)
    return "its months and years" if days is None else "its days, months and years"
