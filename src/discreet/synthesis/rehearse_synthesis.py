"""Rehearse a synthesis: its whole life on made-up rows. Nothing is read, spent or recorded."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from attrs import frozen

from discreet.core.html_text import html_heading, html_page
from discreet.project.project import Project
from discreet.project.stage import DEFAULT_ROWS, number_of_rows, staged
from discreet.project.terms import Terms
from discreet.releases.histogram import Histogram
from discreet.synthesis.plan import private_table
from discreet.synthesis.synthesise import Asserted, synthesise
from discreet.synthesis.synthetic_release import SyntheticRelease

_LABEL = (
    "A rehearsal: these rows look like {rows:,} made-up ones, and like no real table. Nothing was"
    " spent."
)


class Rehearsed(Protocol):
    """What a rehearsal shows: synthetic rows of one table, or of two."""

    def to_json(self) -> dict[str, Any]:
        """Return what it is as plain values."""
        ...

    def _repr_html_(self) -> str: ...


T = TypeVar("T", bound=Rehearsed)


@frozen(kw_only=True)
class SynthesisRehearsal(Generic[T]):
    """Synthetic rows of people who do not exist: shape, types, noise and price are real."""

    release: T
    made_up: int

    @property
    def label(self) -> str:
        """What must stand beside every showing of it."""
        return _LABEL.format(rows=self.made_up)

    def to_json(self) -> dict[str, Any]:
        """Return what it is as plain values, labelled; there is no receipt."""
        shown = {name: value for name, value in self.release.to_json().items() if name != "ticket"}
        return {"rehearsal": True, "note": self.label} | shown

    def __str__(self) -> str:
        """Show the label, then the rows."""
        return f"{self.label}\n{self.release}"

    def _repr_html_(self) -> str:
        return html_page(html_heading(self.label), self.release._repr_html_())


def rehearse_synthesis(
    project: Project,
    name: str,
    *,
    terms: Terms,
    default: Terms,
    columns: Sequence[str] | None = None,
    method: str = "auto",
    tables: Sequence[Sequence[str]] | None = None,
    quantiles: Sequence[str] | None = None,
    impossible: Sequence[Mapping[str, Any]] = (),
    rows: int = DEFAULT_ROWS,
    sizes: Histogram | None = None,
) -> SynthesisRehearsal[SyntheticRelease]:
    """Return the release that :func:`synthesise` would give for made-up rows of the table.

    Columns of made-up rows do not depend on each other, so few tables are chosen. A script for the
    real rows can be written for these, and the time that it takes is about the same. They hold to
    what is ``impossible``; totals would be those of other rows.
    """
    count = number_of_rows(rows)
    table = private_table(project, name)
    with tempfile.TemporaryDirectory(prefix="discreet-rehearsal-") as folder:
        stage = staged(project, [table], Path(folder), rows=count, sizes={table.name: sizes})
        release = synthesise(
            stage,
            name,
            terms=terms,
            default=default,
            analyst="rehearsal",
            columns=columns,
            method=method,
            tables=tables,
            quantiles=quantiles,
            asserted=Asserted(impossible=impossible),
        )
    return SynthesisRehearsal(release=release, made_up=count)
