"""The columns of a data frame, from pandas, Arrow, or whatever hands over a stream of Arrow.

Polars hands over such a stream, and so do DuckDB and others: none of them has to be installed.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.arrow_source import checked
from discreet.engines.duckdb.sources.python_cells import CellForm, cell_texts


@frozen(kw_only=True)
class FrameColumn:
    """A column of a frame: its name, its type, and a way to its cells."""

    name: str
    stored: str
    """Its type in the frame's own words."""
    comes_as: Any = None
    """The Arrow type in which its cells come, or ``None`` if none of them can be read."""
    is_of_objects: bool = False
    """Whether each cell has a type of its own; then this says nothing about them."""
    arrays: Callable[[CellForm], Sequence[Any]] = field(repr=False)
    """Return the cells, in pieces; of a column that cannot be read, nothing."""


def frame_columns(frame: object, name: str) -> tuple[FrameColumn, ...]:
    """Return the columns of a frame, by names and types; no cell is looked at.

    Guarantee:
        How a cell comes out depends on the cell, on the type of its column and on the declaration.
        Nothing that a cell holds makes this, or reading it, fail.

        Proof. A column with a type is taken over as that type, whose cells are looked at later, one
        by one, as those of a file are (:mod:`~discreet.engines.duckdb.sources.arrow_source`). Cells
        of a column without one are Python objects (:func:`cell_texts`). Which of both it is, is
        decided by the type of the column alone.
    """
    if _is_a(frame, ("pandas", "DataFrame")):
        return _pandas_columns(frame)
    try:
        table = _arrow_table(frame)
    except Exception:  # whatever another library makes of it
        table = None
        if not _is_a(frame, *_OF_ONE_COLUMN):
            raise DeclarationError(
                f"The frame of {name} cannot be handed over",
                must="have columns of types that Arrow knows",
                next="Leave out columns of other types, such as objects or 128-bit integers",
            ) from None
    if table is None:
        raise DeclarationError(
            f"What is given as {name} is no data frame",
            must="be a frame of pandas or Polars, a table of Arrow, or have __arrow_c_stream__",
            got=type(frame).__name__,
            next=way_to_frame(frame, name),
        )
    return tuple(_arrow_column(*pair) for pair in zip(table.schema, table.columns, strict=True))


# ---- What is no frame.

_OF_ONE_COLUMN = (
    ("pandas", "Series"),
    ("pandas", "Index"),
    ("polars", "Series"),
    ("pyarrow", "Array"),
    ("pyarrow", "ChunkedArray"),
)


def way_to_frame(thing: object, name: str) -> str:
    """Return how to make a frame of something that is none; nothing in it is looked at.

    Example:
        >>> way_to_frame([{"patient": 1}], "visits")
        'Of a list of dictionaries, one for each row, make one: pyarrow.Table.from_pylist(visits)'
        >>> way_to_frame({"patient": [1]}, "visits")
        'Of a dictionary of lists, one for each column, make one: pyarrow.table(visits)'
    """
    if _is_a(thing, *_OF_ONE_COLUMN):
        return (
            "It is one column, and whose row it is must be in a column beside it: give the frame"
            " that it comes from, or reset_index() of it if its index says so"
        )
    ways: dict[type, str] = {
        dict: f"Of a dictionary of lists, one for each column, make one: pyarrow.table({name})",
        list: "Of a list of dictionaries, one for each row, make one:"
        f" pyarrow.Table.from_pylist({name})",
        np.ndarray: f"Name its columns: pandas.DataFrame({name}, columns=[...])",
        str: "Of a file give what pandas.read_csv returns, or begin with 'discreet init FILE'",
        PurePath: "Of a file give what pandas.read_csv returns, or begin with 'discreet init FILE'",
    }
    found = (way for kind, way in ways.items() if isinstance(thing, kind))
    return next(found, "Of a lazy frame give what collect() returns")


def _is_a(thing: object, *known: tuple[str, str]) -> bool:
    """Tell whether something is of a class of a library, or of one that was made of it."""
    kinds = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(thing).__mro__]
    return any(kind in known for kind in kinds)


# ---- Arrow.


def _arrow_table(frame: Any) -> Any:
    arrow = optional.load("pyarrow")
    if isinstance(frame, arrow.Table):
        return frame
    if isinstance(frame, arrow.RecordBatch):
        return arrow.Table.from_batches([frame])
    if isinstance(frame, arrow.RecordBatchReader):
        return frame.read_all()
    if not hasattr(type(frame), "__arrow_c_stream__"):
        return None
    return arrow.RecordBatchReader.from_stream(frame).read_all()


def _arrow_column(stored: Any, cells: Any) -> FrameColumn:
    """Return a column of Arrow; what is laid out in another way is laid out as usual."""
    plain = _plain_type(stored.type)
    return FrameColumn(
        name=stored.name,
        stored=str(stored.type),
        comes_as=plain,
        arrays=lambda _: [] if plain is None else [_plain(chunk) for chunk in cells.chunks],
    )


def _plain_type(kind: Any) -> Any:
    """Return the type in which cells of a type are held, or ``None`` if they are not read."""
    arrow = optional.load("pyarrow")
    if arrow.types.is_dictionary(kind):
        is_deep = arrow.types.is_dictionary(kind.value_type)
        entries = None if is_deep else _plain_type(kind.value_type)
        return entries and arrow.dictionary(kind.index_type, entries)
    if kind in (arrow.string_view(), arrow.binary_view(), arrow.large_string()):
        return arrow.large_binary()
    if kind == arrow.string():
        return arrow.binary()
    is_other = arrow.types.is_nested(kind) or arrow.types.is_run_end_encoded(kind)
    return None if is_other or isinstance(kind, arrow.BaseExtensionType) else kind


def _plain(array: Any) -> Any:
    """Return an array as it is held, after a look at its layout; no value makes this fail."""
    arrow = optional.load("pyarrow")
    if arrow.types.is_dictionary(array.type):
        entries, indices = _plain(array.dictionary), checked(array.indices)
        return arrow.DictionaryArray.from_arrays(indices, entries, safe=False)
    if array.type == arrow.string_view():
        array = array.view(arrow.binary_view())
    if array.type == arrow.binary_view():
        array.validate(full=True)
        return array.cast(arrow.large_binary())
    return checked(array)


# ---- pandas.


def _pandas_columns(frame: Any) -> tuple[FrameColumn, ...]:
    return tuple(
        _pandas_column(_name(label, place), frame.iloc[:, place])
        for place, label in enumerate(frame.columns)
    )


def _name(label: object, place: int) -> str:
    """Return the name of a column; a label that is no text gets one that nobody can declare."""
    return label if isinstance(label, str) else f"\0{place}"


def _pandas_column(name: str, series: Any) -> FrameColumn:
    named = partial(FrameColumn, name=name, stored=str(series.dtype))
    if _has_objects(series.dtype):
        return named(
            comes_as=optional.load("pyarrow").large_binary(),
            is_of_objects=_is_object(series.dtype),
            arrays=partial(_object_arrays, series),
        )
    if isinstance(series.dtype, optional.load("pandas").CategoricalDtype):
        return _category_column(series, named)
    none = _typed_arrays(series.iloc[:0])
    kind = None if none is None else _plain_type(none.type)
    return named(
        comes_as=kind,
        arrays=lambda _: [] if kind is None else [_plain(chunk) for chunk in _chunks(series)],
    )


def _has_objects(kind: Any) -> bool:
    """Tell whether cells are Python objects: anything, or texts that pandas keeps as such."""
    is_text = isinstance(kind, optional.load("pandas").StringDtype)
    return _is_object(kind) or (is_text and kind.storage == "python")


def _is_object(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and kind.kind == "O"


def _object_arrays(series: Any, form: CellForm) -> Sequence[Any]:
    return [cell_texts(series.to_numpy(dtype=object), form)]


def _category_column(series: Any, named: Callable[..., FrameColumn]) -> FrameColumn:
    """Return a column of categories, as their values: of which kind they are, they say alone."""
    values = _pandas_column("", optional.load("pandas").Series(series.dtype.categories))

    def arrays(form: CellForm) -> Sequence[Any]:
        arrow = optional.load("pyarrow")
        codes = series.cat.codes.to_numpy()
        places = arrow.array(codes, mask=codes < 0)
        found = arrow.chunked_array([*values.arrays(form)], values.comes_as)
        return [] if values.comes_as is None else found.take(places).chunks

    return named(comes_as=values.comes_as, is_of_objects=values.is_of_objects, arrays=arrays)


def _chunks(series: Any) -> Sequence[Any]:
    found = _typed_arrays(series)
    return found.chunks if hasattr(found, "chunks") else [found]


def _typed_arrays(series: Any) -> Any:
    """Return a column that has a type as an array of Arrow, or ``None`` if there is none for it."""
    arrow, pandas = optional.load("pyarrow"), optional.load("pandas")
    if isinstance(series.dtype, pandas.SparseDtype):
        series = pandas.Series(np.asarray(series))
    if isinstance(series.dtype, pandas.DatetimeTZDtype):
        # The instant is the same one, and a zone can be an object that only pandas knows.
        instants = series.dt.tz_convert("UTC").dt.tz_localize(None)
        found = arrow.array(instants.to_numpy(), from_pandas=True)
        return found.cast(arrow.timestamp(found.type.unit, "UTC"))
    if isinstance(series.dtype, np.dtype):
        return _numpy_array(series.to_numpy())
    if isinstance(series.dtype, pandas.PeriodDtype | pandas.IntervalDtype):
        return None
    return arrow.array(series.array) if hasattr(series.array, "__arrow_array__") else None


def _numpy_array(values: Any) -> Any:
    """Return an array of numbers, booleans or times; NaN and NaT are what pandas has for NULL."""
    kind = values.dtype
    if kind.kind not in "biufM":
        return None
    if kind.kind == "f" and kind.itemsize > 8:
        with np.errstate(all="ignore"):
            values = values.astype(np.float64)
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return optional.load("pyarrow").array(native, from_pandas=True)
