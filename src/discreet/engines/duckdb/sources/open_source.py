"""Open a source: one way for every kind of file, and no row is read yet."""

import os
import stat
from collections.abc import Callable
from functools import partial

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.sources.arrow_source import ARROW, open_arrow_files
from discreet.engines.duckdb.sources.csv_source import open_csv
from discreet.engines.duckdb.sources.duckdb_source import PARQUET, open_duckdb, require_path
from discreet.engines.duckdb.sources.excel_source import open_excel
from discreet.engines.duckdb.sources.frame_source import frame_rows, open_frame
from discreet.engines.duckdb.sources.json_source import open_json_lines
from discreet.engines.duckdb.sources.opened import Opened
from discreet.engines.duckdb.sources.sqlite_source import open_sqlite, require_settled
from discreet.tables.catalog import PublicTable, Table
from discreet.tables.source import SourceFormat
from discreet.tables.source_files import is_many

AnyTable = Table | PublicTable

_OPEN: dict[SourceFormat, Callable[[AnyTable, frozenset[str], str], Opened]] = {
    SourceFormat.CSV: open_csv,
    SourceFormat.PARQUET: partial(open_arrow_files, PARQUET),
    SourceFormat.ARROW: partial(open_arrow_files, ARROW),
    SourceFormat.DUCKDB: open_duckdb,
    SourceFormat.JSON_LINES: open_json_lines,
    SourceFormat.EXCEL: open_excel,
    SourceFormat.SQLITE: open_sqlite,
    SourceFormat.FRAME: open_frame,
}


_LIBRARIES: dict[SourceFormat, tuple[str, ...]] = {
    SourceFormat.CSV: (),
    SourceFormat.PARQUET: ("pyarrow.parquet",),
    SourceFormat.ARROW: ("pyarrow.ipc",),
    SourceFormat.DUCKDB: ("duckdb",),
    SourceFormat.JSON_LINES: (),
    SourceFormat.EXCEL: (),
    SourceFormat.SQLITE: (),
    SourceFormat.FRAME: (),
}
"""What reading a source needs. It is loaded before the charge, which it must not cost if one is not
installed, or if somebody presses a key while it is loaded."""


def require_present(table: Table) -> None:
    """Check what may be known of a private source before a charge: that its one file is there.

    Guarantee:
        Nothing in a file is looked at, neither a schema nor a header, and of a pattern not even
        which files fit: each could be one person's. So the outcome depends on the declaration and
        on whether the declared file is there.
    """
    for library in ("pyarrow", *_LIBRARIES[table.source.format]):
        optional.load(library)
    if table.source.frame is not None:
        frame_rows(table)
        return
    path = table.source.path
    if is_many(table.source):
        return
    if table.source.format is SourceFormat.DUCKDB:
        require_path(path)
    try:
        is_there = stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.R_OK)
    except OSError:
        is_there = False
    if is_there and table.source.format is SourceFormat.SQLITE:
        require_settled(path)
    if not is_there:
        raise DeclarationError(
            f"The source of {table.name} cannot be read",
            must=f"be a {table.source.format.value} file that exists",
            got=path.name,
        )


def open_source(table: AnyTable, used: frozenset[str], name: str) -> Opened:
    """Return what to write in SQL to read the ``used`` columns, which are names as declared.

    Every call gives a source of its own, so a plan may read a table as often as it likes, if each
    scan has a ``name`` of its own: what is to be registered has names that begin with it.

    Guarantee:
        No value of any row makes reading fail, no row is taken for another unit's, and nothing but
        names and types decides how the source is read.

        Proof. Each file is read by itself, as its own names and types say, and cast to the declared
        types by itself. Arrow arrays are made by functions that are total and work row by row
        (:mod:`~discreet.engines.duckdb.sources.arrow_source`); what they give is within the
        range of its type, so the engine has a value for it, and its casts are ``TRY_CAST``. How a
        CSV file falls into records is decided by one grammar, in which a record that cannot be read
        ends where it would have ended (:mod:`~discreet.engines.duckdb.sources.csv_records`). Lines
        of JSON end at line feeds, which no string in them has. Cells are decoded after that, each
        by itself. Cells of SQLite and Excel files become texts one by one, by a function that has
        one for every value (:mod:`~discreet.engines.duckdb.sources.text_cells`).

    Assumes:
        The files are what their kind says: one that is damaged, so that no library can read it,
        makes reading fail; so does a packed one that cannot be unpacked. In a CSV file each
        quotation mark that opens a field is closed again. Nobody writes to a file while it is read.
    """
    return _OPEN[table.source.format](table, used, name)
