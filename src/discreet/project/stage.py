"""A stage: a project whose private tables are made up, so that all can be tried for nothing."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import evolve

from discreet.core import check, optional
from discreet.core.errors import InvalidArgument
from discreet.project.fabricate import Pools, fabricate
from discreet.project.open_ledger import open_ledger
from discreet.project.project import Project
from discreet.releases.histogram import Histogram
from discreet.tables.catalog import Table
from discreet.tables.column import Column, Key, KeysFrom
from discreet.tables.relations.scan import PublicScan
from discreet.tables.source import Source, SourceFormat

DEFAULT_ROWS = 1_000
MOST_ROWS = 1_000_000


def number_of_rows(rows: int) -> int:
    """Return how many rows are to be made up for each table, if it can be so many."""
    count = check.whole(rows)
    if not 1 <= count <= MOST_ROWS:
        raise InvalidArgument(
            "rows is out of range", must=f"lie between 1 and {MOST_ROWS:,}", got=str(rows)
        )
    return count


def staged(
    project: Project,
    tables: Iterable[Table],
    folder: Path,
    *,
    rows: int,
    sizes: Mapping[str, Histogram | None],
) -> Project:
    """Return the project with made-up files for some tables and an empty ledger in ``folder``.

    ``sizes`` are how many rows units have, by the names of tables, where a profile says that.

    Guarantee:
        No private row is read and nothing is charged: what is made up follows from declarations,
        public tables, profiles that were paid for, and fresh randomness.
    """
    replaced = {}
    for number, table in enumerate(tables):
        file = folder / f"{number}.parquet"
        made_up = fabricate(
            table,
            rows=rows,
            pools=_pools(project, table),
            rng=project.rng,
            sizes=sizes.get(table.name),
        )
        optional.load("pyarrow.parquet").write_table(made_up, file)
        source = Source(path=file, format=SourceFormat.PARQUET)
        replaced[table.name] = evolve(table, source=source)
    catalog = evolve(
        project.catalog,
        tables=tuple(replaced.get(table.name, table) for table in project.catalog.tables),
        ledger=folder / "ledger.sqlite",
        anchors=(),
        analysts=(),
        # Made-up rows need no deadline, which would be waited for.
        gate=evolve(project.catalog.gate, deadline=None),
    )
    return evolve(project, catalog=catalog, ledger=open_ledger(catalog), copied={})


def _pools(project: Project, table: Table) -> Pools:
    """Return the values of public columns that a column of the table shares its name with."""
    pools: dict[str, tuple[Key, ...]] = {}
    for column in table.columns:
        if column.keys is None:
            found = _public_values(project, column)
            if found:
                pools[column.name.lower()] = found
    return pools


def _public_values(project: Project, column: Column) -> tuple[Key, ...]:
    origin = column.keys_from or KeysFrom("", column.name)
    meant = (origin.column.lower(), column.type)
    for public in project.catalog.public_tables:
        if origin.table.lower() not in ("", public.name.lower()):
            continue
        for other in public.columns:
            if (other.name.lower(), other.type) == meant:
                scan = PublicScan(table=public, columns=(other,))
                rows = project.engine.public_rows(scan)
                return tuple(dict.fromkeys(row[0] for row in rows if row[0] is not None))
    return ()
