"""Frames in memory: copied when they are opened, and read from then on as an Arrow file is."""

import hashlib
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.arrow_source import (
    BATCH_ROWS,
    ArrowColumn,
    ArrowKind,
    is_id,
    open_arrow_files,
)
from discreet.engines.duckdb.sources.frame_columns import FrameColumn
from discreet.engines.duckdb.sources.opened import Opened, find_columns
from discreet.engines.duckdb.sources.python_cells import CellForm
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.copied_frame import CopiedFrame

AnyTable = Table | PublicTable


@frozen(kw_only=True, eq=False)
class FrameRows:
    """The rows of one table, in memory of our own: what is private in it is never shown."""

    columns: tuple[ArrowColumn, ...]
    batches: tuple[Any, ...] = field(repr=False)
    places: Mapping[int, int] = field(repr=False)
    """Where a column is in the batches; one that cannot be read is in none."""

    def read(self, _: Path, places: Sequence[int]) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield the number of rows and the arrays at the given places, batch by batch."""
        for batch in self.batches:
            yield batch.num_rows, [batch.column(self.places[place]) for place in places]

    def fingerprints(self, key: bytes) -> dict[str, bytes]:
        """Return a keyed digest of each column, by its name in small letters."""
        return {
            self.columns[place].name.lower(): _digest(self.batches, at, key)
            for place, at in self.places.items()
        }


_COPIED: "weakref.WeakKeyDictionary[CopiedFrame, FrameRows]" = weakref.WeakKeyDictionary()
"""The rows that this process holds, each for as long as somebody has the name of its frame. They
are here and not in a catalogue, which is public."""


def copy_frame(table: AnyTable, columns: Sequence[FrameColumn]) -> FrameRows:
    """Copy the declared columns of a frame, to be read as the source of a table.

    Guarantee:
        What is read later is what the frame held when this returns: no memory of the caller's is
        kept. Each cell is read by itself (:func:`frame_columns`), and rows stay in their order, on
        which nothing depends. A column that is not declared is not looked at.

    Assumes:
        The frame is laid out as its types say. One that is damaged is refused: that is no value
        that a person could have.
    """
    try:
        rows = _rows(table, columns)
    except optional.load("pyarrow").ArrowException:
        raise DeclarationError(
            f"The frame of {table.name} is damaged",
            must="be laid out as Arrow says",
            next="Make it anew from where its rows come from",
        ) from None
    assert table.source.frame is not None
    _COPIED[table.source.frame] = rows
    return rows


def _rows(table: AnyTable, columns: Sequence[FrameColumn]) -> FrameRows:
    found = find_columns(table, [column.name for column in columns])
    read: list[tuple[int, Sequence[Any]]] = []
    for name, place in found.items():
        if place is not None and columns[place].comes_as is not None:
            form = CellForm.of(table.column(name), is_id=is_id(table, name))
            read.append((place, columns[place].arrays(form)))
    named = [(f"c{at}", columns[place].comes_as) for at, (place, _) in enumerate(read)]
    return FrameRows(
        columns=tuple(_copied_column(column) for column in columns),
        batches=_copied(named, [arrays for _, arrays in read]),
        places={place: at for at, (place, _) in enumerate(read)},
    )


def _copied_column(column: FrameColumn) -> ArrowColumn:
    kind = optional.load("pyarrow").null() if column.comes_as is None else column.comes_as
    return ArrowColumn(
        name=column.name, type=kind, is_readable=column.comes_as is not None, stored=column.stored
    )


def _copied(named: Sequence[tuple[str, Any]], columns: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Return batches of the columns, all of them in one new piece of memory."""
    arrow, ipc = optional.load("pyarrow"), optional.load("pyarrow.ipc")
    schema = arrow.schema(named)
    whole = [arrow.chunked_array(a, k.type) for a, k in zip(columns, schema, strict=True)]
    sink = arrow.BufferOutputStream()
    with ipc.new_stream(sink, schema) as writer:
        writer.write_table(arrow.Table.from_arrays(whole, schema=schema), BATCH_ROWS)
    return tuple(ipc.open_stream(sink.getvalue()))


def _digest(batches: Sequence[Any], at: int, key: bytes) -> bytes:
    arrow, ipc = optional.load("pyarrow"), optional.load("pyarrow.ipc")
    made = hashlib.blake2b(key=key)
    for batch in batches:
        one = arrow.RecordBatch.from_arrays([batch.column(at)], names=["c"])
        sink = arrow.BufferOutputStream()
        with ipc.new_stream(sink, one.schema) as writer:
            writer.write_batch(one)
        made.update(sink.getvalue())
    return made.digest()


def frame_rows(table: AnyTable) -> FrameRows:
    """Return the rows of a table that is in memory."""
    frame = table.source.frame
    rows = None if frame is None else _COPIED.get(frame)
    if rows is None:
        raise DeclarationError(
            f"The frame of {table.name} is not in the memory of this process",
            next="Open it again with discreet.own",
        )
    return rows


def copied_columns(frame: CopiedFrame) -> tuple[ArrowColumn, ...]:
    """Return names and types of the columns of a frame that is held."""
    return _COPIED[frame].columns


def open_frame(table: AnyTable, used: frozenset[str], name: str) -> Opened:
    """Return the source as batches of the used columns, read from memory."""
    rows = frame_rows(table)
    kind = ArrowKind(columns=partial(_columns_of, rows), read=rows.read)
    return open_arrow_files(kind, table, used, name)


def _columns_of(rows: FrameRows, _: Path) -> tuple[ArrowColumn, ...]:
    return rows.columns
