"""Records of a CSV file: one grammar, in which only a record's own bytes can make it unreadable.

A field that begins with a quotation mark goes on to the next single one, over commas and line ends;
two in a row stand for one. Any other field ends at a comma or at the record's end, and a quotation
mark in it means nothing. Records end as the header's line does, and only there.

A record is *spoiled*, and belongs to nobody, if it has another kind of line end outside quotation
marks, something between a closing quotation mark and the next comma, a quotation mark that never
closes, more fields than the header, or more bytes than the longest one may have. A spoiled record
ends where it would have ended otherwise, so the records after it are the same ones.

Other signs than a comma and a quotation mark can be declared. The grammar is the same: it looks at
a piece in which commas and quotation marks stand in their places (:func:`signs`), and fields are
taken from what is written.
"""

from enum import Enum
from functools import cache
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core import optional
from discreet.tables.text_form import TextForm

COMMA, QUOTE, FEED, RETURN = b',"\n\r'

LONGEST_RECORD = 1 << 21
"""How many bytes a record may have."""

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Places = np.ndarray[Any, np.dtype[np.int64]]
"""Where something is in a piece of a file, in ascending order."""


class LineEnd(Enum):
    """What ends a line; the header's line decides for the whole file.

    A return alone is none. Whether it is alone would depend on the first sign of the first row.
    """

    FEED = b"\n"
    BOTH = b"\r\n"


@frozen(kw_only=True)
class Records:
    """The whole records of a piece, spoiled ones left out, and where their fields are."""

    piece: Bytes
    """What the grammar looks at."""
    written: Bytes
    """What the file holds there; it is the same, unless other signs are declared."""
    starts: Places
    stops: Places
    commas: Places
    """All commas that separate fields."""
    first: Places
    """For each record, which of the commas is its first one, or would be."""
    counts: Places
    """How many commas each record has."""
    doubled: Places
    """Quotation marks that only stand for the one after them."""


PLAIN = ord("x")
"""A sign that means nothing to the grammar."""


@cache
def _meanings(form: TextForm) -> Bytes:
    meanings = np.arange(256, dtype=np.uint8)
    meanings[[COMMA, QUOTE]] = PLAIN
    if form.quote:
        meanings[ord(form.quote)] = QUOTE
    meanings[ord(form.delimiter)] = COMMA
    return meanings


def signs(written: Bytes, form: TextForm) -> Bytes:
    """Return a piece with a comma and a quotation mark where the declared signs are, only there.

    Example:
        >>> form = TextForm(delimiter=";", quote="")
        >>> signs(np.frombuffer(b'a;"b,c', np.uint8), form).tobytes()
        b'a,xbxc'
    """
    is_usual = (form.delimiter, form.quote) == (",", '"')
    return written if is_usual else _meanings(form)[written]


def split(
    piece: Bytes,
    end: LineEnd,
    *,
    width: int,
    is_last: bool,
    skip: int = 0,
    written: Bytes | None = None,
) -> tuple[Records, int]:
    """Return the whole records of a piece of a file, and how much of it they take up.

    The piece begins where a record does. After the last piece the file ends, and with it the last
    record. The first ``skip`` records are left out. What is ``written`` is given where it differs.
    """
    marks = active_quotes(piece, end)
    inside = _inside(piece, marks)
    places = {sign: _outside(piece, sign, inside) for sign in (COMMA, FEED, RETURN)}
    ends, spoilers = _ends(piece, places, end)
    spoilers = np.concatenate([spoilers, _loose(piece, marks)])
    used = int(ends[-1]) + 1 if len(ends) else 0
    if is_last and used < len(piece):
        ends, used = np.append(ends, len(piece)), len(piece)
        if len(marks) % 2:
            spoilers = np.append(spoilers, len(piece))
    starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)].astype(np.int64)
    # A return right before the end belongs to it.
    stops = ends - ((ends > starts) & (piece[np.maximum(ends - 1, 0)] == RETURN))
    first = np.searchsorted(places[COMMA], starts)
    counts = np.searchsorted(places[COMMA], ends) - first
    kept = (stops > starts) & (counts < width) & (stops - starts <= LONGEST_RECORD)
    kept[:skip] = False
    found = np.searchsorted(ends, spoilers)
    kept[found[found < len(ends)]] = False
    records = Records(
        piece=piece,
        written=piece if written is None else written,
        starts=starts[kept],
        stops=stops[kept],
        commas=places[COMMA],
        first=first[kept],
        counts=counts[kept],
        doubled=marks[1:-1:2][np.diff(marks)[1::2] == 1],
    )
    return records, used


def first_line(piece: Bytes) -> tuple[Bytes, LineEnd]:
    """Return the first line of a file, with what ends it; without an end, all there is."""
    # Before the first end it does not matter which kind of end begins a field.
    feeds = _outside(piece, FEED, _inside(piece, active_quotes(piece, LineEnd.FEED)))
    line = piece[: feeds[0] + 1] if len(feeds) else piece
    return line, LineEnd.BOTH if line.tobytes().endswith(LineEnd.BOTH.value) else LineEnd.FEED


def unfinished(piece: Bytes, end: LineEnd) -> bytes:
    """Return a short beginning of a record after which everything goes on as after ``piece``.

    The piece is one record that has not ended. So a record that is too long need not be kept.
    """
    marks = active_quotes(piece, end)
    last = int(piece[-1])
    if len(marks) and marks[-1] == len(piece) - 1 and not len(marks) % 2:
        return b'""'
    if len(marks) % 2:
        return b'"'
    return bytes([PLAIN, last]) if last in (COMMA, RETURN) else bytes([PLAIN])


def active_quotes(piece: Bytes, end: LineEnd) -> Places:
    """Return the quotation marks that open and close fields, in turn.

    If each second mark, from the first one on, stands where a field begins or right after the mark
    before it, then they take turns by the grammar, too. From the first one that does not, they are
    looked at one by one.
    """
    marks = np.flatnonzero(piece == QUOTE)
    begins = _begins(piece, marks, end)
    follows = np.diff(marks, prepend=-2) == 1
    wrong = np.flatnonzero(~(begins | follows)[::2])
    if not len(wrong):
        return marks
    regular = 2 * int(wrong[0])
    active: list[int] = []
    is_open, closed = False, -2 if not regular else int(marks[regular - 1])
    for mark, at_start in zip(marks[regular:].tolist(), begins[regular:].tolist(), strict=True):
        if is_open:
            closed = mark
        elif not at_start and mark != closed + 1:
            continue
        active.append(mark)
        is_open = not is_open
    return np.concatenate([marks[:regular], np.array(active, dtype=np.int64)])


def _begins(piece: Bytes, places: Places, end: LineEnd) -> Any:
    """Tell of each place whether a field would begin there, if it is outside quotation marks."""
    before = piece[np.maximum(places - 1, 0)]
    ended = before == FEED
    if end is LineEnd.BOTH:
        ended &= piece[np.maximum(places - 2, 0)] == RETURN
    return (places == 0) | (before == COMMA) | ended


def _inside(piece: Bytes, marks: Places) -> Any:
    """Tell of each sign whether it is between quotation marks, or ``None`` if there are none."""
    if not len(marks):
        return None
    turns = np.zeros(len(piece), dtype=np.uint8)
    turns[marks] = 1
    return np.bitwise_xor.accumulate(turns).view(np.bool_)


def _outside(piece: Bytes, sign: int, inside: Any) -> Places:
    places = np.flatnonzero(piece == sign)
    return places if inside is None else places[~inside[places]]


def _ends(piece: Bytes, places: dict[int, Places], end: LineEnd) -> tuple[Places, Places]:
    """Return where records end, and which line ends are none."""
    feeds, returns = places[FEED], places[RETURN]
    after = np.minimum(returns + 1, len(piece) - 1)
    lone = returns[(returns + 1 < len(piece)) & (piece[after] != FEED)]
    if end is LineEnd.FEED:
        return feeds, lone
    whole = (piece[np.maximum(feeds - 1, 0)] == RETURN) & (feeds > 0)
    return feeds[whole], np.concatenate([lone, feeds[~whole]])


def _loose(piece: Bytes, marks: Places) -> Places:
    """Return the closing marks after which the field goes on."""
    closing = marks[1::2]
    closing = closing[closing + 1 < len(piece)]
    after = piece[closing + 1]
    goes_on = np.ones(len(closing), dtype=np.bool_)
    for sign in (COMMA, QUOTE, FEED, RETURN):
        goes_on &= after != sign
    return closing[goes_on]


# ---- Fields of CSV records as Arrow arrays: every field is text, and an empty one is NULL.


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
    content = records.written[_ranges(starts, lengths)]
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
