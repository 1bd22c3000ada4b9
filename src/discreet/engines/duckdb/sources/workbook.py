"""Workbooks of Excel: a sheet row by row, in which no cell can make reading fail.

We read them ourselves. Of the libraries that do, one reserves room for every cell up to the last
one, so that a stray cell far away ends the process, and another warns of a date that cannot be by
quoting it. Here each cell is a value or nothing, by itself.
"""

import datetime
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from discreet.engines.duckdb.sources.xml_parts import (
    LONGEST_CELL,
    elements,
    parsed,
    require_small,
)

Row = dict[int, Any]
"""The values of a row by the place of their column, from 0 on. Empty cells are left out."""


# ---- What a workbook says of itself.


@frozen(kw_only=True)
class Workbook:
    """The sheets of a workbook by their names, and what is needed to read their cells."""

    sheets: Mapping[str, str]
    """The part of the archive of each sheet."""
    texts: str | None
    """The part with the texts that cells share."""
    formats: tuple[str, ...]
    """What the numbers of each style are: ``number``, ``date``, ``time`` or ``duration``."""
    is_1904: bool
    """Whether days are counted from 1904 on."""


def read_workbook(archive: zipfile.ZipFile) -> Workbook:
    """Return the parts of a workbook; no cell is looked at."""
    top = _related(archive, "_rels/.rels", "")
    book = next((part for kind, _, part in top if kind == "officeDocument"), "xl/workbook.xml")
    folder, name = posixpath.split(book)
    related = _related(archive, f"{folder}/_rels/{name}.rels", folder)
    sheets = {id_: part for kind, id_, part in related if kind == "worksheet"}
    of_kind = {kind: part for kind, _, part in related}
    found = elements(archive, book)
    settings = next((some for name, some in found if name == "workbookPr"), {})
    return Workbook(
        sheets={
            some.get("name", ""): sheets[some.get("id", "")]
            for name, some in found
            if name == "sheet" and some.get("id", "") in sheets
        },
        texts=of_kind.get("sharedStrings"),
        formats=_formats(elements(archive, of_kind.get("styles", ""))),
        is_1904=settings.get("date1904", "") in ("1", "true"),
    )


def _related(archive: zipfile.ZipFile, part: str, folder: str) -> list[tuple[str, str, str]]:
    """Return kind, identifier and place of each part that a part refers to."""
    return [
        (
            some.get("Type", "").rpartition("/")[2],
            some.get("Id", ""),
            posixpath.normpath(posixpath.join("/", folder, some.get("Target", ""))).lstrip("/"),
        )
        for name, some in elements(archive, part)
        if name == "Relationship"
    ]


_DATES = {*range(14, 18), 22, *range(27, 37), *range(50, 59)}
_TIMES = {*range(18, 22), 45, 47}
_DURATION = 46
"""Formats of numbers that have no text of their own in a workbook."""


def _formats(styles: list[tuple[str, dict[str, str]]]) -> tuple[str, ...]:
    own = {
        some.get("numFmtId", ""): _meaning(some.get("formatCode", ""))
        for name, some in styles
        if name == "numFmt"
    }
    usual = {str(number): "date" for number in _DATES} | {str(number): "time" for number in _TIMES}
    known = {**usual, str(_DURATION): "duration", **own}
    found: list[str] = []
    is_inside = False
    for name, some in styles:
        # Styles of cells are listed after others that look alike.
        is_inside = name == "cellXfs" or (is_inside and name not in ("cellStyles", "dxfs"))
        if is_inside and name == "xf":
            found.append(known.get(some.get("numFmtId", ""), "number"))
    return tuple(found)


def _meaning(code: str) -> str:
    """Return what a format of numbers shows; an m is a month, unless hours or seconds are there.

    Example:
        >>> _meaning("yyyy-mm-dd"), _meaning('0.00 "days"'), _meaning("[h]:mm"), _meaning("General")
        ('date', 'number', 'duration', 'number')
        >>> _meaning("h:mm AM/PM"), _meaning("d.m.yy h:mm")
        ('time', 'date')
    """
    plain = re.sub(r'"[^"]*"|\\.|_.|\*.', "", code).lower()
    if re.search(r"\[(h+|m+|s+)\]", plain):
        return "duration"
    plain = re.sub(r"\[[^\]]*\]|general", "", plain)
    if not re.search(r"[dmyhs]", plain):
        return "number"
    return "date" if re.search(r"[dy]", plain) or not re.search(r"[hs]", plain) else "time"


# ---- Cells.

_FIRST = datetime.datetime(1899, 12, 30)  # noqa: DTZ001 - days on a wall have no zone
_FIRST_1904 = datetime.datetime(1904, 1, 1)  # noqa: DTZ001
_DAY = 86_400_000
"""In milliseconds, which is as exact as Excel is."""

_LAST = 2_958_466
"""The first day after the year 9999."""


def moment(number: float, *, is_1904: bool, is_time: bool = False) -> Any:
    """Return what a number with the format of a date or time is: a timestamp, a time, or nothing.

    Before March 1900 days are counted as if there had been a 29th of February in that year. Counted
    from 1904 on, what is below 1 is a time only if its format shows no day: the first day is one.

    Example:
        >>> moment(45000.25, is_1904=False).isoformat(), moment(0.5, is_1904=False).isoformat()
        ('2023-03-15T06:00:00', '12:00:00')
        >>> [moment(0.5, is_1904=True, is_time=one).isoformat() for one in (True, False)]
        ['12:00:00', '1904-01-01T12:00:00']
    """
    if not 0 <= number < _LAST:
        return None
    passed = datetime.timedelta(milliseconds=round(number * _DAY))
    if number < 1 and (is_time or not is_1904):
        return (_FIRST + passed).time()
    if 60 <= number < 61 and not is_1904:
        return None
    try:
        if is_1904:
            return _FIRST_1904 + passed
        return _FIRST + passed + datetime.timedelta(days=number < 60)
    except OverflowError:  # after the year 9999
        return None


def text_of(written: str) -> str | None:
    """Return the text of a cell: signs that XML has no room for are written as ``_x000D_``."""
    if len(written) > LONGEST_CELL:
        return None
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), written)


@frozen(kw_only=True)
class _CellReader:
    """What makes values of cells."""

    book: Workbook
    texts: list[str | None]

    def value(self, kind: str, style: str, written: str) -> Any:
        """Return the value of a cell, or ``None``; no cell makes this fail."""
        if kind in ("str", "inlineStr", "d"):
            return text_of(written) or None
        if kind == "s":
            place = int(written) if re.fullmatch("[0-9]{1,9}", written) else len(self.texts)
            return (self.texts[place] or None) if place < len(self.texts) else None
        if kind == "b":
            return {"1": True, "0": False}.get(written)
        return self._number(style, written) if kind in ("n", "") else None

    def _number(self, style: str, written: str) -> Any:
        try:
            number = float(written)
        except ValueError:
            return None
        place = int(style) if re.fullmatch("[0-9]{1,9}", style) else len(self.book.formats)
        format_ = self.book.formats[place] if place < len(self.book.formats) else "number"
        if format_ in ("date", "time"):
            return moment(number, is_1904=self.book.is_1904, is_time=format_ == "time")
        return number * 86_400 if format_ == "duration" else number


@define
class _Texts:
    """Gathers texts of a part: those of runs one after another, without how they are spoken."""

    parts: list[str] = field(factory=list)
    is_spoken: bool = False

    def start(self, name: str) -> None:
        """Note where an element begins."""
        if name in ("si", "is"):
            self.parts = []
        self.is_spoken = self.is_spoken or name == "rPh"

    def end(self, name: str, text: str) -> None:
        """Note what an element held."""
        if name == "t" and not self.is_spoken:
            self.parts.append(text)
        self.is_spoken = self.is_spoken and name != "rPh"


def _shared_texts(archive: zipfile.ZipFile, part: str | None) -> list[str | None]:
    found: list[str | None] = []
    if part is None or part not in archive.namelist():
        return found
    require_small(archive, part)
    texts = _Texts()

    def end(name: str, text: str) -> None:
        texts.end(name, text)
        if name == "si":
            found.append(text_of("".join(texts.parts)))

    for _ in parsed(archive, part, lambda name, _: texts.start(name), end):
        pass
    return found


@define
class _Rows:
    """Gathers the rows of a sheet, of which those that are whole can be taken away."""

    reader: _CellReader
    whole: list[Row] = field(factory=list)
    row: Row = field(factory=dict)
    place: int = -1
    kind: str = ""
    style: str = ""
    written: str = ""
    texts: _Texts = field(factory=_Texts)

    def start(self, name: str, some: dict[str, str]) -> None:
        """Begin a row or a cell; one that does not say where it is comes after the last one."""
        self.texts.start(name)
        if name == "row":
            self.row, self.place = {}, -1
        elif name == "c":
            self.place = _place(some.get("r"), self.place + 1)
            self.kind, self.style = some.get("t", ""), some.get("s", "")
            self.written = ""

    def end(self, name: str, text: str) -> None:
        """End a cell or a row; a place that is there twice has the first value."""
        self.texts.end(name, text)
        if name == "v":
            self.written = text
        elif name == "is":
            self.written = "".join(self.texts.parts)
        elif name == "c":
            value = self.reader.value(self.kind, self.style, self.written)
            if value is not None:
                self.row.setdefault(self.place, value)
        elif name == "row" and self.row:
            self.whole.append(self.row)


def _place(written: str | None, usual: int) -> int:
    """Return the place of a column from its letters, or the usual one if they say nothing.

    Example:
        >>> _place("A1", 7), _place("AB12", 7), _place(None, 7)
        (0, 27, 7)
    """
    found = re.match("[A-Z]{1,3}", written or "")
    if found is None:
        return usual
    place = 0
    for letter in found[0]:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def sheet_rows(archive: zipfile.ZipFile, book: Workbook, sheet: str) -> Iterator[list[Row]]:
    """Yield the rows of a sheet in which anything is, some at a time."""
    reader = _CellReader(book=book, texts=_shared_texts(archive, book.texts))
    rows = _Rows(reader)
    for _ in parsed(archive, book.sheets[sheet], rows.start, rows.end):
        found, rows.whole = rows.whole, []
        if found:
            yield found
