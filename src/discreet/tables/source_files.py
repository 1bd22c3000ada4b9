"""The files of a source: one file, or all that fit a pattern, in one folder or in many."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from discreet.core.errors import DeclarationError
from discreet.tables.source import Source, SourceFormat

WILDCARDS = frozenset("*?")
_END = re.compile(r"[*?]")
"""What makes a file name a pattern. Folders are always meant literally."""


def is_pattern(path: Path) -> bool:
    """Tell whether a source names a pattern of files; what files there are does not matter.

    Example:
        >>> is_pattern(Path("/data/visits-*.csv")), is_pattern(Path("/da*ta/visits[1].csv"))
        (True, False)
    """
    return bool(WILDCARDS & set(path.name))


def is_many(source: Source) -> bool:
    """Tell whether a source can be several files, by what is written alone."""
    return source.frame is None and (bool(source.partitions) or is_pattern(source.path))


def shown_name(source: Source) -> str:
    """Return what a source is called for its owner; a pattern means little without its folder.

    Example:
        >>> shown_name(Source(path=Path("/data/visits/*.csv"), format=SourceFormat.CSV))
        'visits/*.csv'
    """
    path = source.path
    return f"{path.parent.name}/{path.name}" if is_many(source) else path.name


def fitting_files(source: Source) -> tuple[Path, ...]:
    """Return the file of a source, or those that its pattern fits, in the order of their names.

    ``*`` stands for any characters and ``?`` for one, in the last part of the path alone; nothing
    else is special, and an engine never sees the pattern. Names that begin with a dot need a dot
    in the pattern. Where no file fits there is none, as in a folder that is not there.

    With partitions, files are looked for in folders such as ``year=2024`` below that of the path,
    one level for each of them; other folders there are passed over.
    """
    path = source.path
    if not is_many(source):
        return (path,)
    fits = _expression(path.name) if is_pattern(path) else re.compile(re.escape(path.name))
    found = [
        file
        for folder in _folders(path.parent, source.partitions)
        for file in _inside(folder)
        if fits.fullmatch(file.name) and file.is_file()
    ]
    return tuple(sorted(found))


def _folders(folder: Path, partitions: Sequence[str]) -> Iterator[Path]:
    """Yield the folders in which the files of a partitioned source are."""
    if not partitions:
        yield folder
        return
    first, *others = partitions
    for inner in sorted(_inside(folder)):
        name, equals, _ = inner.name.partition("=")
        if equals and name.casefold() == first.casefold() and inner.is_dir():
            yield from _folders(inner, others)


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


_NO_VALUE = (b"", b"__HIVE_DEFAULT_PARTITION__")
"""What programs write into the name of a folder whose rows have no value."""


def folder_values(source: Source, file: Path) -> Mapping[str, bytes | None]:
    """Return what the folders of a file say, by the columns: bytes of a text, or nothing.

    Example:
        >>> path = Path("/data/year=2024/city=K%C3%B6ln/part.csv")
        >>> folder_values(Source(path=Path("/data/*.csv"), format=SourceFormat.CSV,
        ...                      partitions=("year", "city")), path)["city"].decode()
        'Köln'
    """
    depth = len(source.partitions)
    folders = file.parent.parts[len(file.parent.parts) - depth :]
    found = {}
    for name, folder in zip(source.partitions, folders, strict=True):
        value = unquote_to_bytes(os.fsencode(folder.partition("=")[2]))
        found[name] = None if value in _NO_VALUE else value
    return found


def source_files(source: Source, name: str) -> tuple[Path, ...]:
    """Return the files of a source, for its owner: a pattern must fit at least one.

    A file called just like the pattern could be meant by itself, so it is refused.

    No message quotes the name of a file that was found: there might be one for each person.
    """
    path = source.path
    if source.frame is not None:
        return (path,)
    if is_pattern(path) and path.exists():
        raise DeclarationError(
            f"The source of {name} is a pattern and also the name of a file",
            must="be one of the two",
            got=path.name,
            next="Rename the file so that it has no * or ? in its name",
        )
    try:
        files = fitting_files(source)
    except OSError:
        files = ()
    if not files:
        raise DeclarationError(
            f"The source of {name} fits no file",
            must="be a pattern that at least one file fits",
            got=shown_name(source),
        )
    return files


def overlap(first: Source, second: Source) -> bool:
    """Tell, by what is written alone, whether two sources could read the same rows.

    Example:
        >>> from discreet.tables.source import SourceFormat
        >>> def csv(path): return Source(path=Path(path), format=SourceFormat.CSV)
        >>> overlap(csv("/data/visits-1.csv"), csv("/data/old/../visits-*.csv"))
        True
        >>> overlap(csv("/data/visits.csv"), csv("/data/old/visits.csv"))
        False
        >>> overlap(csv("/data/visits*"), csv("/data/*.csv"))
        True
    """
    if first.frame is not None and second.frame is not None:
        return first.frame.is_of_same_frame(second.frame)
    if first.frame is not second.frame:
        return False
    one, other = (Path(os.path.normpath(source.path)) for source in (first, second))
    if not _share_folders(first, one.parent, second, other.parent):
        return False
    if first.table is not None and second.table is not None:
        return one == other and stored_table(first) == stored_table(second)
    if is_pattern(one) and is_pattern(other):
        # Two patterns may well fit one file, unless their ends say otherwise.
        end, another = (_END.split(path.name)[-1] for path in (one, other))
        return end.endswith(another) or another.endswith(end)
    pattern, name = (one, other.name) if is_pattern(one) else (other, one.name)
    return bool(_expression(pattern.name).fullmatch(name))


def _share_folders(first: Source, one: Path, second: Source, other: Path) -> bool:
    """Tell whether two sources could read files of one folder."""
    below = (first.partitions and other.is_relative_to(one)) or (
        second.partitions and one.is_relative_to(other)
    )
    return one == other or bool(below)


def may_share_rows(first: Source, second: Source) -> bool:
    """Tell whether two sources are read from one place, however that is written: links count.

    Unlike :func:`overlap` it looks at which files there are, and a table of a file for which no
    schema is written may be in any.
    """
    if not (first.format.is_file and second.format.is_file):
        return overlap(first, second)
    return bool(_same_files(first) & _same_files(second)) and _may_be(first.table, second.table)


def _same_files(source: Source) -> set[tuple[int, int] | Path]:
    """Return what tells files apart, of all that a source means; links are followed."""
    try:
        found = [one.stat() for one in fitting_files(source) if one.exists()]
    except OSError:  # such as a folder of another table that cannot be read
        found = []
    return {(one.st_dev, one.st_ino) for one in found} or {source.path.resolve()}


def _may_be(one: str | None, other: str | None) -> bool:
    """Tell whether two names may mean one table: whoever names no schema may mean any."""
    if one is None or other is None:
        return True
    first, second = (tuple(name.casefold().split(".")) for name in (one, other))
    shorter = min(len(first), len(second))
    return first[-shorter:] == second[-shorter:]


def stored_table(source: Source) -> tuple[str, str] | None:
    """Return schema and name of the table in a file that is meant, as they are compared.

    That is in any case. Only DuckDB's files have schemas; elsewhere a dot is part of the name.

    Example:
        >>> def visits(kind): return Source(path=Path("/x"), format=kind, table="ward.Visits")
        >>> stored_table(visits(SourceFormat.DUCKDB)), stored_table(visits(SourceFormat.EXCEL))
        (('ward', 'visits'), ('main', 'ward.visits'))
    """
    if source.table is None:
        return None
    if source.format is not SourceFormat.DUCKDB:
        return "main", source.table.casefold()
    schema, _, table = source.table.rpartition(".")
    return (schema or "main").casefold(), table.casefold()


def _expression(pattern: str) -> re.Pattern[str]:
    special = {"*": ".*", "?": "."}
    parts = "".join(special.get(sign, re.escape(sign)) for sign in pattern)
    hidden = "" if pattern.startswith(".") else r"(?!\.)"
    return re.compile(hidden + parts, re.DOTALL)
