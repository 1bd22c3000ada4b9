"""A project with real rows on which plans run once, and noise is drawn as often as one likes."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from attrs import frozen

from discreet.curator.answer import prepare
from discreet.curator.left_out import bounded_by
from discreet.curator.profile import price_profile
from discreet.curator.publish import publish
from discreet.curator.randomise import randomise
from discreet.project.project import Project, open_project
from discreet.project.terms import Terms
from discreet.releases.release import Release
from discreet.releases.value_bins import value_bins
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT
from tests.support.projects.profiles import ProfileStage
from tests.support.projects.real_tables import RealTable


@frozen(kw_only=True)
class Stage:
    """A project with real rows, and its profile."""

    table: RealTable
    project: Project
    rows: pd.DataFrame
    profiles: ProfileStage

    def releases(self, sql: str, terms: Terms, count: int) -> list[Release]:
        """Return releases of one question, each with noise and a profile of its own."""
        question, priced, _ = prepare(self.project, sql, terms)
        exact = self.project.engine.execute(priced.plan, SALT, open_permit())
        return [
            Release(
                view=question.view,
                body=publish(randomise(exact, priced, self.project.rng), priced),
                receipt=None,  # type: ignore[arg-type]
                left_out=bounded_by(priced.plan, self.profiles.profile()),
            )
            for _ in range(count)
        ]


def open_stage(
    table: RealTable,
    folder: Path,
    terms: Terms,
    *,
    keys: Sequence[str] | None = None,
    values: Sequence[str] = (),
) -> Stage:
    """Return the opened project, with the plans of a profile at its price run once."""
    written, rows = table.write(folder)
    project = open_project(written)
    declared = project.catalog.tables[0]
    profiles = ProfileStage.of(
        project,
        price_profile(project, declared, terms, keys, values).plans,
        most=table.most,
        groups={"kind": rows["kind"].nunique()},
        values={name: value_bins(declared.column(name)) for name in values},
    )
    return Stage(table=table, project=project, rows=rows, profiles=profiles)


def is_inside(ends: tuple[float | None, float | None], truth: float) -> bool:
    """Tell whether a number is between the ends that are known."""
    low, high = ends
    slack = 1e-9 * abs(truth)
    return (low is None or low <= truth + slack) and (high is None or truth - slack <= high)
