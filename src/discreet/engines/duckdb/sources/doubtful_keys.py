"""Cells that look like a declared key and are another text, told to the owner, who alone may know.

Texts are compared as they are stored: a letter with its accent is one character in some files and
two in others, and ``North`` is not ``north``. Rows of such a cell are in no group, without a word;
here is the word.
"""

import unicodedata
from collections.abc import Iterator
from typing import Any

from discreet.core import optional
from discreet.engines.duckdb.sources.doubtful_text import first_cells
from discreet.engines.duckdb.sources.stored_columns import plainly
from discreet.engines.duckdb.sources.stored_values import whole_texts
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.column import Column, ColumnType


def doubtful_keys(table: Table | PublicTable) -> tuple[str, ...]:
    """Return sentences for columns with cells, or keys, that look like a declared key.

    For the owner alone: rows are read. Neither a cell nor a number of them is told.
    """
    columns = [
        column
        for column in table.columns
        if column.type is ColumnType.TEXT and column.keys and column.codes is None
    ]
    if not columns:
        return ()
    alike = plainly(lambda: _alike(table, columns), table.source, table.name)
    return tuple(
        f"{table.name}.{column.name} {said}"
        for column in columns
        for said in _sentences(column, has_alike=column.name in alike)
    )


def _alike(table: Table | PublicTable, columns: list[Column]) -> set[str]:
    found = set()
    for arrays in first_cells(table, columns):
        pairs = zip(columns, arrays, strict=True)
        found |= {column.name for column, array in pairs if _has_alike(column, array)}
    return found


def _has_alike(column: Column, array: Any) -> bool:
    """Tell whether a cell is no key, and is one but for case, blanks and how letters are made."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    if not arrow.types.is_large_binary(array.type):
        return False
    keys = arrow.array([str(key) for key in column.keys or ()], arrow.large_string())
    cells = compute.drop_null(whole_texts(array))
    others = compute.filter(cells, compute.invert(compute.is_in(cells, value_set=keys)))
    return bool(compute.any(compute.is_in(_plain(others), value_set=_plain(keys))).as_py())


def _plain(texts: Any) -> Any:
    """Return texts in small letters, without blanks around them, accents in one character."""
    compute = optional.load("pyarrow.compute")
    lower = compute.utf8_lower(compute.utf8_normalize(texts, form="NFC"))
    return compute.utf8_trim_whitespace(lower)


def _sentences(column: Column, *, has_alike: bool) -> Iterator[str]:
    keys = [str(key) for key in column.keys or ()]
    if len({unicodedata.normalize("NFC", key) for key in keys}) < len(keys):
        yield (
            "has declared keys that look the same: an accent is part of its letter in one, and a"
            " character of its own in the other. Each is a group of its own."
        )
    if has_alike:
        yield (
            "has cells that differ from a declared key in capitals, in blanks around it or in how"
            " accents are written. They are in no group. Declare them as keys"
            " too, give both one label with labels, or write the file anew."
        )
