"""Rehearse: the whole life of a query on made-up rows. Nothing is read, spent or recorded."""

import tempfile
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from discreet.core.html_text import html_heading, html_page
from discreet.core.loss import PrivacyLoss
from discreet.curator.answer import answer, prepare
from discreet.curator.limits.choose_bounds import bounds_in
from discreet.curator.profile.stored_profile import find_profile
from discreet.project.project import Project
from discreet.project.stage import DEFAULT_ROWS, number_of_rows, staged
from discreet.project.terms import Terms
from discreet.releases.answer_rows import AnswerRows
from discreet.releases.release import Release
from discreet.tables.relations.scan import Scan

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
    count = number_of_rows(rows)
    question, priced, _ = prepare(project, sql, terms, default)
    tables = {scan.table.name: scan.table for scan in priced.plan.scans() if isinstance(scan, Scan)}
    terms = Terms.of(terms)
    if priced.choice is None:
        # The limits that hold: the stage has no profile to choose them from.
        terms = evolve(terms, chosen_limits=None, **priced.plan.limits.given())
    with tempfile.TemporaryDirectory(prefix="discreet-rehearsal-") as name:
        folder = Path(name)
        profiles = {name: find_profile(project, table) for name, table in tables.items()}
        sizes = {name: found.rows for name, found in profiles.items() if found is not None}
        stage = staged(project, tables.values(), folder, rows=count, sizes=sizes)
        held = bounds_in(question, priced.plan)
        release = answer(stage, sql, terms=terms, default=default, analyst="rehearsal", choose=held)
    if release.left_out is not None:
        release = evolve(release, left_out=release.left_out.because("these rows are made up"))
    return Rehearsal(release=release, rows_per_table=count)
