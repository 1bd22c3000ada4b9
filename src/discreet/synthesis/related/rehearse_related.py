"""Rehearse a synthesis of two tables: its whole life on made-up rows. Nothing is read or spent."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from discreet.project.project import Project
from discreet.project.stage import DEFAULT_ROWS, number_of_rows, staged
from discreet.project.terms import Terms
from discreet.releases.histogram import Histogram
from discreet.synthesis.plan import private_table
from discreet.synthesis.rehearse_synthesis import SynthesisRehearsal
from discreet.synthesis.related.related_release import RelatedRelease
from discreet.synthesis.related.synthesise_related import ColumnsOf, synthesise_related


def rehearse_related(
    project: Project,
    parent: str,
    child: str,
    *,
    terms: Terms,
    default: Terms,
    columns: ColumnsOf | None = None,
    by: Sequence[str] | None = None,
    rows: int = DEFAULT_ROWS,
    sizes: Mapping[str, Histogram | None],
) -> SynthesisRehearsal[RelatedRelease]:
    """Return the release that :func:`synthesise_related` would give for made-up rows of both.

    Made-up units have the same names in both, and nothing depends on anything else.
    """
    count = number_of_rows(rows)
    tables = [private_table(project, name) for name in (parent, child)]
    with tempfile.TemporaryDirectory(prefix="discreet-rehearsal-") as folder:
        stage = staged(project, tables, Path(folder), rows=count, sizes=sizes)
        release = synthesise_related(
            stage,
            parent,
            child,
            terms=terms,
            default=default,
            analyst="rehearsal",
            columns=columns,
            by=by,
        )
    return SynthesisRehearsal(release=release, made_up=count)
