"""Fields of CSV records as Arrow arrays: every field is text, and an empty one is NULL."""

from typing import Any

import numpy as np

from discreet.core import optional
from discreet.engines.duckdb.sources.csv_records import QUOTE, Places, Records


def field_array(records: Records, place: int) -> Any:
    """Return the fields at a place of the header as bytes; a record that ends before it has NULL.

    Quotation marks around a field are taken off.
    """
    return _cells(records, *_ends_of_field(records, place))


def first_fields(records: Records) -> Any:
    """Return all fields of the first record, as bytes one below the other."""
    first, count = int(records.first[0]), int(records.counts[0])
    commas = records.commas[first : first + count]
    starts = np.concatenate([records.starts[:1], commas + 1])
    return _cells(records, starts, np.concatenate([commas, records.stops[:1]]))


def _cells(records: Records, starts: Places, stops: Places) -> Any:
    piece = records.piece
    if len(piece):
        quoted = (stops > starts) & (piece[np.minimum(starts, len(piece) - 1)] == QUOTE)
        starts, stops = starts + quoted, stops - quoted
    lengths = stops - starts
    content = piece[_ranges(starts, lengths)]
    if len(records.doubled):
        first = np.searchsorted(records.doubled, starts)
        spare = np.searchsorted(records.doubled, stops) - first
        moved = np.repeat(np.cumsum(lengths) - lengths - starts, spare)
        content = np.delete(content, records.doubled[_ranges(first, spare)] + moved)
        lengths = lengths - spare
    return _binary(content, lengths)


def _ranges(starts: Places, lengths: Places) -> Places:
    """Return all places of all ranges, one after another."""
    return np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())


def _ends_of_field(records: Records, place: int) -> tuple[Places, Places]:
    """Return where the fields begin and stop; both are 0 where there is no such field."""
    commas = np.append(records.commas, 0)
    starts = records.starts
    if place:
        starts = commas[np.minimum(records.first + place - 1, len(commas) - 1)] + 1
    following = commas[np.minimum(records.first + place, len(commas) - 1)]
    stops = np.where(records.counts > place, following, records.stops)
    is_there = records.counts >= place
    return np.where(is_there, starts, 0), np.where(is_there, stops, 0)


def _binary(content: Any, lengths: Places) -> Any:
    arrow = optional.load("pyarrow")
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    valid = np.packbits(lengths > 0, bitorder="little")
    buffers = [arrow.py_buffer(part) for part in (valid, offsets, np.ascontiguousarray(content))]
    return arrow.Array.from_buffers(arrow.large_binary(), len(lengths), buffers)
