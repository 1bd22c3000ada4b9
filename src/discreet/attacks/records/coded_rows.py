"""Published rows as an attack sees them: whole columns, each value a small number."""

import io
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
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


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it: a date and the like as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def code_rows(columns: Mapping[str, Sequence[Any] | NDArray[np.generic]]) -> CodedRows:
    """Return rows from columns in memory. What is no number (NaN) is NULL.

    Example:
        >>> rows = code_rows({"sex": ["F", "M", "F"], "age": [30, 30, None]})
        >>> rows.class_sizes(["sex"]).tolist(), rows.class_sizes(["sex", "age"]).tolist()
        ([2, 1, 2], [1, 1, 1])
    """
    arrow = optional.load("pyarrow")
    try:
        arrays = {str(name): arrow.array(values) for name, values in columns.items()}
    except (arrow.ArrowException, AttributeError, OverflowError, TypeError):
        raise InvalidArgument(
            "These are no columns", must="be a name and values of one type for each"
        ) from None
    return _coded(arrays)


def read_rows(path: Path) -> CodedRows:
    """Return the rows of a file of CSV or Parquet that the owner names.

    A field of CSV that is empty is NULL, in texts as in numbers. A column of digits is one of
    texts if a number would lose some of them: zeros that lead, or more than a float holds.
    """
    arrow = optional.load("pyarrow")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            table = optional.load("pyarrow.parquet").read_table(path)
        else:
            table = _read_csv(path)
        names = table.column_names  # which are decoded here
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as cause:
        raise InvalidArgument(
            f"{path} cannot be read",
            must="be a whole file of CSV with a header, or of Parquet",
            got="no file of that name" if isinstance(cause, FileNotFoundError) else "",
        ) from None
    if len(set(names)) != table.num_columns:
        raise InvalidArgument(f"{path} has two columns of one name", must="name each once")
    return _coded({name: table.column(name) for name in names})


def _read_csv(path: Path) -> Any:
    """Return a file as a table of Arrow; what an empty text is, and what a number, is said here."""
    arrow, csv = optional.load("pyarrow"), optional.load("pyarrow.csv")
    with arrow.input_stream(str(path)) as stream:
        data = arrow.py_buffer(stream.read())
    table = csv.read_csv(arrow.BufferReader(data))
    if len(set(table.column_names)) != table.num_columns:
        return table
    kinds = {field.name: field.type for field in table.schema}
    numbers = [
        name
        for name, kind in kinds.items()
        if arrow.types.is_integer(kind) or arrow.types.is_floating(kind)
    ]
    if numbers:
        options = csv.ConvertOptions(
            include_columns=numbers,
            column_types=dict.fromkeys(numbers, arrow.string()),
            strings_can_be_null=True,
        )
        written = csv.read_csv(arrow.BufferReader(data), convert_options=options)
    for place, (name, kind) in enumerate(kinds.items()):
        if name in numbers and _loses_digits(written.column(name), kind):
            table = table.set_column(place, name, written.column(name))
        elif arrow.types.is_string(kind):
            table = table.set_column(place, name, _without_empty(table.column(name)))
    return table


_LEADING_ZERO = r"^\s*[+-]?0[0-9]"
_LONG = r"^\s*[+-]?[0-9]{16,}\s*$"


def _loses_digits(texts: Any, kind: Any) -> bool:
    """Tell whether texts are no numbers but names of digits: a zip code, a number of an account."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    patterns = [_LEADING_ZERO, *([_LONG] if arrow.types.is_floating(kind) else [])]
    return any(
        compute.any(compute.match_substring_regex(texts, pattern)).as_py() for pattern in patterns
    )


def _without_empty(texts: Any) -> Any:
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    return compute.if_else(compute.equal(texts, ""), arrow.scalar(None, texts.type), texts)


def alike_columns(tables: Sequence[CodedRows], names: Sequence[str]) -> list[CodedRows]:
    """Return tables whose columns of these names can be compared, or refuse them.

    Where one table has texts of digits, as zip codes are, and another whole numbers, these become
    texts too.

    Example:
        >>> rows = [code_rows({"zip": values}) for values in (["02138", "10115"], [10115])]
        >>> [one.column("zip").values for one in alike_columns(rows, ["zip"])]
        [('02138', '10115'), ('10115',)]
    """
    found = [dict(table.columns) for table in tables]
    for name in names:
        columns = [table.column(name) for table in tables]
        held = [value for one in columns for value in one.values if value is not None]
        kinds = {_kind(value) for value in held}
        texts = [value for value in held if isinstance(value, str)]
        if kinds == {"text", "whole"} and all(_DIGITS.fullmatch(text) for text in texts):
            for place, one in enumerate(columns):
                shown = tuple(None if value is None else str(value) for value in one.values)
                found[place][name] = CodedColumn(codes=one.codes, values=shown)
        elif len(kinds) > 1 and not kinds <= {"whole", "number"}:
            raise InvalidArgument(
                "The columns do not hold the same kind of values in all tables",
                must="be numbers in all, or texts in all",
                got=name,
            )
    return [
        CodedRows(columns=columns, rows=table.rows)
        for columns, table in zip(found, tables, strict=True)
    ]


_DIGITS = re.compile(r"\s*[+-]?[0-9]+\s*")


def _kind(value: Any) -> str:
    kinds = {bool: "bool", int: "whole", float: "number", Decimal: "number", str: "text"}
    kinds |= {datetime: "moment", date: "day"}
    return next((kind for known, kind in kinds.items() if isinstance(value, known)), "another")


def csv_bytes(rows: CodedRows) -> bytes:
    """Return rows as a file of CSV holds them; NULL is empty.

    Example:
        >>> csv_bytes(code_rows({"zip": [1, None], "sex": ["F", "M"]})).split()
        [b'"zip","sex"', b'1,"F"', b',"M"']
    """
    arrow = optional.load("pyarrow")
    target = io.BytesIO()
    table = arrow.table({name: rows.values(name, np.arange(rows.rows)) for name in rows.columns})
    optional.load("pyarrow.csv").write_csv(table, target)
    return target.getvalue()


def _coded(arrays: Mapping[str, Any]) -> CodedRows:
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InvalidArgument(
            "These are no rows", must="be one column or more, of equally many values and not none"
        )
    (rows,) = lengths
    arrow = optional.load("pyarrow")
    columns = {}
    for name, array in arrays.items():
        try:
            columns[name] = _column(array)
        except (arrow.ArrowException, ValueError, OverflowError):
            raise InvalidArgument(
                f"The values of {name} cannot be compared",
                must="be numbers, texts, dates or the like, and no lists",
            ) from None
    return CodedRows(columns=columns, rows=rows)


def _column(array: Any) -> CodedColumn:
    arrow = optional.load("pyarrow")
    chunked = arrow.chunked_array([array]) if isinstance(array, arrow.Array) else array
    if arrow.types.is_dictionary(chunked.type):
        chunked = chunked.cast(chunked.type.value_type)
    if arrow.types.is_floating(chunked.type):
        chunked = _plain_floats(chunked)
    coded = chunked.combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(coded, arrow.ChunkedArray):
        coded = coded.combine_chunks()
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return CodedColumn(codes=codes, values=tuple(coded.dictionary.to_pylist()))


def _plain_floats(floats: Any) -> Any:
    """Return floats with one zero, and NULL for what is no number."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    wide = floats.cast(arrow.float32()) if arrow.types.is_float16(floats.type) else floats
    known = compute.if_else(compute.is_nan(wide), arrow.scalar(None, wide.type), wide)
    return compute.add(known, arrow.scalar(0.0, wide.type))
