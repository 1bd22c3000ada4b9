"""Open a source: one way for every kind of file, and no row is read yet."""

from collections.abc import Callable

from attrs import frozen

from discreet.core.errors import DeclarationError, MissingDependency
from discreet.tables.catalog import PublicTable, SourceFormat, Table
from discreet.tables.sources.arrow_files import ArrowKind, open_arrow_files, require_arrow_files
from discreet.tables.sources.arrow_source import ARROW
from discreet.tables.sources.csv_source import open_csv, require_csv
from discreet.tables.sources.duckdb_source import open_duckdb, require_duckdb
from discreet.tables.sources.opened import Opened
from discreet.tables.sources.parquet_source import PARQUET

AnyTable = Table | PublicTable


@frozen(kw_only=True)
class _Reader:
    """How a kind of source is checked and opened."""

    require: Callable[[AnyTable], None]
    open: Callable[[AnyTable, frozenset[str], str], Opened]


def _arrow_reader(kind: ArrowKind) -> _Reader:
    return _Reader(
        require=lambda table: require_arrow_files(table, kind),
        open=lambda table, used, name: open_arrow_files(table, used, name, kind),
    )


_READERS: dict[SourceFormat, _Reader] = {
    SourceFormat.CSV: _Reader(
        require=require_csv, open=lambda table, used, name: open_csv(table, used)
    ),
    SourceFormat.PARQUET: _arrow_reader(PARQUET),
    SourceFormat.ARROW: _arrow_reader(ARROW),
    SourceFormat.DUCKDB: _Reader(require=require_duckdb, open=open_duckdb),
}


def require_source(table: AnyTable) -> None:
    """Check that the source is there and has the declared columns; look at names and types.

    What a library says about a file that it cannot read is not repeated: it could quote the file.
    """
    try:
        _READERS[table.source.format].require(table)
    except (DeclarationError, MissingDependency):
        raise
    except Exception:
        raise DeclarationError(
            f"The source of {table.name} cannot be read",
            must=f"be a {table.source.format.value} file that exists",
            got=table.source.path.name,
        ) from None


def open_source(table: AnyTable, used: frozenset[str], name: str) -> Opened:
    """Return what to write in SQL to read the ``used`` columns, as the relation called ``name``.

    Every call gives a source of its own, so a plan may read a table as often as it likes, if each
    scan has a name of its own. ``used`` are names as declared.

    Guarantee:
        No value of any row makes reading fail, no row is taken for another unit's, and nothing but
        names and types decides how the source is read.
    """
    return _READERS[table.source.format].open(table, used, name)
