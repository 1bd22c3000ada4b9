"""Published rows as an attack sees them: whole columns, each value a small number."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray

_LARGEST_KEY = 1 << 62


@frozen(kw_only=True, eq=False, repr=False)
class CodedColumn:
    """A column: which of its different values each row has. NULL is a value like others."""

    codes: IntArray
    values: tuple[Any, ...]


@frozen(kw_only=True, eq=False, repr=False)
class CodedRows:
    """Rows with named columns. Its text holds no value: rows are private."""

    columns: Mapping[str, CodedColumn]
    rows: int

    def __repr__(self) -> str:
        """Return the shape."""
        return f"CodedRows({self.rows:,} rows of {', '.join(self.columns)})"

    def column(self, name: str) -> CodedColumn:
        """Return one column, or say which there are."""
        if name not in self.columns:
            raise InvalidArgument(
                f"There is no column {name}", must=f"be one of {', '.join(self.columns)}"
            )
        return self.columns[name]

    def values(self, name: str, places: Sequence[int] | IntArray) -> list[Any]:
        """Return what these rows have in a column."""
        found = self.column(name)
        return [found.values[code] for code in found.codes[places].tolist()]

    def take(self, places: IntArray) -> "CodedRows":
        """Return these rows alone, in this order."""
        columns = {
            name: CodedColumn(codes=one.codes[places], values=one.values)
            for name, one in self.columns.items()
        }
        return CodedRows(columns=columns, rows=places.size)

    def keys(self, names: Sequence[str]) -> IntArray:
        """Return a number for each row: two rows have the same if they agree in these columns.

        Guarantee:
            Codes are digits of a number in mixed radix, so that different codes give different
            numbers. Before a product of sizes could pass 2**62 the numbers so far are replaced by
            their ranks, which are as different and below the number of rows.
        """
        key = np.zeros(self.rows, dtype=np.int64)
        size = 1
        for name in names:
            found = self.column(name)
            width = max(1, len(found.values))
            if size * width >= _LARGEST_KEY:
                unique, key = np.unique(key, return_inverse=True)
                size = max(1, unique.size)
            key = key * np.int64(width) + found.codes
            size *= width
        return key

    def class_sizes(self, names: Sequence[str]) -> IntArray:
        """Return for each row how many rows agree with it in these columns, itself included."""
        _, inverse, counts = np.unique(self.keys(names), return_inverse=True, return_counts=True)
        sizes: IntArray = counts.astype(np.int64)[inverse]
        return sizes


def code_rows(columns: Mapping[str, Sequence[Any] | NDArray[np.generic]]) -> CodedRows:
    """Return rows from columns in memory.

    Example:
        >>> rows = code_rows({"sex": ["F", "M", "F"], "age": [30, 30, None]})
        >>> rows.class_sizes(["sex"]).tolist(), rows.class_sizes(["sex", "age"]).tolist()
        ([2, 1, 2], [1, 1, 1])
    """
    arrow = optional.load("pyarrow")
    try:
        return _coded({str(name): arrow.array(values) for name, values in columns.items()})
    except (arrow.ArrowException, AttributeError):
        raise InvalidArgument(
            "These are no columns", must="be a name and values of one type for each"
        ) from None


def read_rows(path: Path) -> CodedRows:
    """Return the rows of a file of CSV or Parquet that the owner names."""
    arrow = optional.load("pyarrow")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            table = optional.load("pyarrow.parquet").read_table(path)
        else:
            table = optional.load("pyarrow.csv").read_csv(path)
    except (arrow.ArrowException, OSError):
        raise InvalidArgument(
            f"{path} cannot be read", must="be a whole file of CSV with a header, or of Parquet"
        ) from None
    if len(set(table.column_names)) != table.num_columns:
        raise InvalidArgument(f"{path} has two columns of one name", must="name each once")
    return _coded({name: table.column(name) for name in table.column_names})


def _coded(arrays: Mapping[str, Any]) -> CodedRows:
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InvalidArgument(
            "These are no rows", must="be one column or more, of equally many values and not none"
        )
    (rows,) = lengths
    return CodedRows(columns={name: _column(one) for name, one in arrays.items()}, rows=rows)


def _column(array: Any) -> CodedColumn:
    arrow = optional.load("pyarrow")
    chunked = arrow.chunked_array([array]) if isinstance(array, arrow.Array) else array
    coded = chunked.combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(coded, arrow.ChunkedArray):
        coded = coded.combine_chunks()
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return CodedColumn(codes=codes, values=tuple(coded.dictionary.to_pylist()))
