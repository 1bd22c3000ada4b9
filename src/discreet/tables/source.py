"""The source of a table: where its rows are, and as what they are kept."""

from enum import Enum
from pathlib import Path

from attrs import frozen

from discreet.tables.copied_frame import CopiedFrame
from discreet.tables.text_form import USUAL, TextForm


class SourceFormat(Enum):
    """The kinds of file that a table can be read from."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    DUCKDB = "duckdb"
    JSON_LINES = "jsonl"
    EXCEL = "xlsx"
    SQLITE = "sqlite"
    FRAME = "frame"
    """Rows in memory: no file, and nothing that ``discreet.toml`` can say."""

    @property
    def is_file(self) -> bool:
        """Whether it is a kind of file; a declaration can name no other."""
        return self is not SourceFormat.FRAME

    @property
    def has_tables(self) -> bool:
        """Whether a file of this kind holds several tables, of which one is meant."""
        return self in (SourceFormat.DUCKDB, SourceFormat.EXCEL, SourceFormat.SQLITE)


@frozen(kw_only=True)
class Source:
    """Where the rows of a table are: files of one kind, a table of a database file, or memory."""

    path: Path
    """A file, or a pattern of file names; always absolute. Of a frame it is the table's name."""
    format: SourceFormat
    table: str | None = None
    """The table inside a database file, or the sheet of a workbook."""
    text: TextForm = USUAL
    """How it is written, if it is a file of text."""
    partitions: tuple[str, ...] = ()
    """Columns whose values are in the names of folders, from the outermost to the innermost."""
    frame: CopiedFrame | None = None
    """The rows, if they are in memory."""
