"""Sources in ``discreet.toml``: files by the end of their name, or a table of a database file."""

from pathlib import Path

from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Source, SourceFormat
from discreet.tables.declarations.section import TEXT, Section
from discreet.tables.source_files import is_pattern

SUFFIXES = {
    ".csv": SourceFormat.CSV,
    ".parquet": SourceFormat.PARQUET,
    ".arrow": SourceFormat.ARROW,
    ".feather": SourceFormat.ARROW,
    ".ipc": SourceFormat.ARROW,
    ".duckdb": SourceFormat.DUCKDB,
    ".db": SourceFormat.DUCKDB,
}
"""How a file name ends, in any case, and the kind of file that this means."""


def read_source(section: Section, root: Path) -> Source:
    """Return the source of a table; relative paths begin at the folder of the declaration."""
    written = section.get("source", TEXT)
    path = root / written
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise DeclarationError(
            f"{section.place('source')} is not a kind of file that we read",
            must=f"end in {', '.join(SUFFIXES)}",
            got=path.name,
        )
    if kind is not SourceFormat.DUCKDB:
        return Source(path=path, format=kind)
    if is_pattern(path):
        raise DeclarationError(
            f"{section.place('source')} is a pattern", must="be one database file", got=path.name
        )
    return Source(path=path, format=kind, table=section.get("source_table", TEXT))
