"""The form of a file, for an owner who begins: its separator, its encoding, its folders.

No row is read for that: the mark at the beginning of a file, its first line, and what stands before
the = in the names of folders. The owner sees what is written down.
"""

import codecs
from pathlib import Path

from attrs import evolve

from discreet.engines.duckdb.sources.csv_source import likely_separator
from discreet.tables.source import Source, SourceFormat
from discreet.tables.source_files import fitting_files, is_pattern
from discreet.tables.text_form import Compression

_MOST_LEVELS = 20


def with_form(source: Source, file: Path) -> Source:
    """Return a source with the encoding that a mark says, and the separator of the first line."""
    if source.format is not SourceFormat.CSV:
        return source
    try:
        if source.text.compression is Compression.NONE and _has_mark(file):
            source = evolve(source, text=evolve(source.text, encoding="utf-16"))
        delimiter = likely_separator(file, source.text)
    except Exception:  # whatever is wrong with the file is told when its columns are read
        return source
    return evolve(source, text=evolve(source.text, delimiter=delimiter))


def _has_mark(file: Path) -> bool:
    """Tell whether a file begins as text in UTF-16 does."""
    with file.open("rb") as opened:
        return opened.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def with_folders(source: Source) -> Source:
    """Return a pattern with the columns of folders such as year=2024, if its files are there."""
    if not is_pattern(source.path) or fitting_files(source):
        return source
    names: list[str] = []
    folder: Path | None = source.path.parent
    while (folder := _first_inside(folder)) is not None and len(names) < _MOST_LEVELS:
        names.append(folder.name.partition("=")[0])
    found = evolve(source, partitions=tuple(names))
    return found if names and fitting_files(found) else source


def _first_inside(folder: Path | None) -> Path | None:
    if folder is None or not folder.is_dir():
        return None
    try:
        named = [one for one in folder.iterdir() if "=" in one.name[1:] and one.is_dir()]
    except OSError:
        return None
    return min(named, default=None)
