"""Rehearse: the whole life of a query on made-up rows. Nothing is read, spent or recorded."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from discreet.core import check, optional
from discreet.core.errors import InvalidArgument
from discreet.core.html_text import html_heading, html_page
from discreet.core.loss import PrivacyLoss
from discreet.curator.answer import answer, prepare
from discreet.curator.choose_bounds import bounds_in
from discreet.curator.fabricate import Pools, fabricate
from discreet.curator.stored_profile import find_profile
from discreet.project.open_ledger import open_ledger
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.releases.answer_rows import AnswerRows
from discreet.releases.release import Release
from discreet.tables.catalog import Catalog, Source, SourceFormat, Table
from discreet.tables.column import Column, Key, KeysFrom
from discreet.tables.relations.scan import PublicScan, Scan

DEFAULT_ROWS = 1_000
MOST_ROWS = 1_000_000
_LABEL = "A rehearsal: every number comes from {rows:,} made-up rows a table. Nothing was spent."


@frozen(kw_only=True)
class Rehearsal(AnswerRows):
    """An answer about people who do not exist: its shape, its noise and its price are real."""

    release: Release
    rows_per_table: int

    @property
    def label(self) -> str:
        """What must stand beside every showing of it."""
        return _LABEL.format(rows=self.rows_per_table)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the outputs, in order."""
        return self.release.columns

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """The rows of the made-up answer."""
        return self.release.rows

    @property
    def cost(self) -> PrivacyLoss:
        """What the real answer would cost."""
        return self.release.cost

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return self.release.to_dicts()

    def to_json(self) -> dict[str, Any]:
        """Return the made-up answer as plain values, labelled; there is no receipt."""
        shown = {key: value for key, value in self.release.to_json().items() if key != "receipt"}
        return {"rehearsal": True, "note": self.label} | shown

    def __str__(self) -> str:
        """Show the label, then the rows."""
        return f"{self.label}\n{self.release}"

    def _repr_html_(self) -> str:
        return html_page(html_heading(self.label), self.release._repr_html_())


def rehearse(
    project: Project,
    sql: str,
    *,
    terms: Terms | PrivacyLoss | None = None,
    default: Terms | None = None,
    rows: int = DEFAULT_ROWS,
) -> Rehearsal:
    """Return the answer that ``sql`` has on made-up rows which match the declarations.

    Guarantee:
        No private row is read and nothing is charged: the private tables that the query names are
        replaced by files of made-up rows in a folder that only this user can read, and the ledger
        by an empty one beside them. What is made up follows from declarations, public tables and
        fresh randomness. Everything else is the real life of a query, noise included.
    """
    count = check.whole(rows)
    if not 1 <= count <= MOST_ROWS:
        raise InvalidArgument(
            "rows is out of range", must=f"lie between 1 and {MOST_ROWS:,}", got=str(rows)
        )
    question, priced, _ = prepare(project, sql, terms, default)
    tables = {scan.table.name: scan.table for scan in priced.plan.scans() if isinstance(scan, Scan)}
    terms = Terms.of(terms)
    if priced.choice is None:
        # The limits that hold: the stage has no profile to choose them from.
        terms = evolve(terms, chosen_limits=None, **priced.plan.limits.given())
    with tempfile.TemporaryDirectory(prefix="discreet-rehearsal-") as name:
        folder = Path(name)
        catalog = _stage(project, tables.values(), folder, count)
        stage = evolve(project, catalog=catalog, ledger=open_ledger(catalog), copied={})
        held = bounds_in(question, priced.plan)
        release = answer(stage, sql, terms=terms, default=default, analyst="rehearsal", choose=held)
    if release.left_out is not None:
        release = evolve(release, left_out=release.left_out.because("these rows are made up"))
    return Rehearsal(release=release, rows_per_table=count)


def _stage(project: Project, tables: Iterable[Table], folder: Path, rows: int) -> Catalog:
    """Return the catalogue with made-up files and an empty ledger in ``folder``."""
    replaced = {}
    for number, table in enumerate(tables):
        file = folder / f"{number}.parquet"
        profile = find_profile(project, table)
        made_up = fabricate(
            table,
            rows=rows,
            pools=_pools(project, table),
            rng=project.rng,
            sizes=None if profile is None else profile.rows,
        )
        optional.load("pyarrow.parquet").write_table(made_up, file)
        source = Source(path=file, format=SourceFormat.PARQUET)
        replaced[table.name] = evolve(table, source=source)
    return evolve(
        project.catalog,
        tables=tuple(replaced.get(table.name, table) for table in project.catalog.tables),
        ledger=folder / "ledger.sqlite",
        anchors=(),
        analysts=(),
        # Made-up rows need no deadline, which would be waited for.
        gate=evolve(project.catalog.gate, deadline=None),
    )


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
