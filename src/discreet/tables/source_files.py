"""The files of a source: one file, or all files whose names fit a pattern."""

import os
import re
from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Source

WILDCARDS = frozenset("*?")
"""What makes a file name a pattern. Folders are always meant literally."""


def is_pattern(path: Path) -> bool:
    """Tell whether a source names a pattern of files; what files there are does not matter.

    Example:
        >>> is_pattern(Path("/data/visits-*.csv")), is_pattern(Path("/da*ta/visits[1].csv"))
        (True, False)
    """
    return bool(WILDCARDS & set(path.name))


def fitting_files(source: Source) -> tuple[Path, ...]:
    """Return the file of a source, or those that its pattern fits, in the order of their names.

    ``*`` stands for any characters and ``?`` for one, in the last part of the path alone; nothing
    else is special, and an engine never sees the pattern. Names that begin with a dot need a dot
    in the pattern. Where no file fits there is none, as in a folder that is not there.
    """
    path = source.path
    if not is_pattern(path):
        return (path,)
    fits = _expression(path.name)
    try:
        found = [file for file in path.parent.iterdir() if fits.fullmatch(file.name)]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return tuple(sorted(file for file in found if file.is_file()))


def source_files(source: Source, name: str) -> tuple[Path, ...]:
    """Return the files of a source, for its owner: a pattern must fit at least one.

    A file called just like the pattern could be meant by itself, so it is refused.

    No message quotes the name of a file that was found: there might be one for each person.
    """
    path = source.path
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
            got=path.name,
        )
    return files


def overlap(first: Source, second: Source) -> bool:
    """Tell, by what is written alone, whether two sources could read the same rows.

    Example:
        >>> from discreet.tables.catalog import SourceFormat
        >>> def csv(path): return Source(path=Path(path), format=SourceFormat.CSV)
        >>> overlap(csv("/data/visits-1.csv"), csv("/data/old/../visits-*.csv"))
        True
        >>> overlap(csv("/data/visits.csv"), csv("/data/old/visits.csv"))
        False
    """
    one, other = (Path(os.path.normpath(source.path)) for source in (first, second))
    if one.parent != other.parent or first.format is not second.format:
        return False
    if first.table is not None and second.table is not None:
        return one == other and stored_table(first.table) == stored_table(second.table)
    if is_pattern(one) and is_pattern(other):
        return True  # two patterns may well fit one file
    pattern, name = (one, other.name) if is_pattern(one) else (other, one.name)
    return bool(_expression(pattern.name).fullmatch(name))


def stored_table(name: str) -> tuple[str, str]:
    """Return schema and name of a table of a database file, as they are compared: in any case.

    Example:
        >>> stored_table("Visits"), stored_table("ward.visits")
        (('main', 'visits'), ('ward', 'visits'))
    """
    schema, _, table = name.rpartition(".")
    return (schema or "main").casefold(), table.casefold()


def _expression(pattern: str) -> re.Pattern[str]:
    special = {"*": ".*", "?": "."}
    parts = "".join(special.get(sign, re.escape(sign)) for sign in pattern)
    hidden = "" if pattern.startswith(".") else r"(?!\.)"
    return re.compile(hidden + parts, re.DOTALL)
