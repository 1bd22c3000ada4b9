"""A project with real rows on which plans run once, and noise is drawn as often as one likes."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from attrs import frozen

from discreet.curator.answer import prepare
from discreet.curator.cut.left_out import bounded_by
from discreet.curator.cut.rows_rounded import with_rows_rounded
from discreet.curator.price.price import PricedPlan
from discreet.curator.profile.profile import price_profile
from discreet.curator.publishing.publish import publish
from discreet.curator.publishing.randomise import randomise
from discreet.project.project import Project, open_project
from discreet.project.terms import Terms
from discreet.releases.release import Release
from discreet.releases.value_bins import value_bins
from discreet.releases.view import View
from discreet.tables.plans.engine import ExactAggregates
from tests.support.projects.gate import open_permit
from tests.support.projects.memory import SALT, Exact, reveal
from tests.support.projects.profiles import ProfileStage
from tests.support.projects.real_tables import RealTable
from tests.support.statistics.exact_tests import binomial_p_value

BETA = 0.05
"""How often an interval may miss."""

RELEASES = 300
"""How often noise is drawn again in a long run."""


@frozen(kw_only=True)
class Stage:
    """A project with real rows, and its profile."""

    table: RealTable
    project: Project
    rows: pd.DataFrame
    profiles: ProfileStage

    def releases(self, sql: str, terms: Terms, count: int) -> list[Release]:
        """Return releases of one question, each with noise and a profile of its own."""
        question, priced, _ = prepare(self.project, self._filled(sql), terms)
        exact = self.project.engine.execute(priced.plan, SALT, open_permit())
        return [self._released(question.view, priced, exact) for _ in range(count)]

    def _released(self, view: View, priced: PricedPlan, exact: ExactAggregates) -> Release:
        profile = self.profiles.profile()
        return Release(
            view=with_rows_rounded(view, priced.plan, lambda _: profile),
            body=publish(randomise(exact, priced, self.project.rng), priced),
            receipt=None,  # type: ignore[arg-type]
            left_out=bounded_by(priced.plan, profile),
        )

    def counted(self, sql: str, terms: Terms) -> Exact:
        """Return the exact numbers of the rows that count."""
        _, priced, _ = prepare(self.project, self._filled(sql), terms)
        return reveal(self.project.engine, priced.plan)

    def _filled(self, sql: str) -> str:
        return sql.format(middle=self.table.middle)


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
        groups={"kind": len(rows["kind"].cat.categories)},
        values={name: value_bins(declared.column(name)) for name in values},
    )
    return Stage(table=table, project=project, rows=rows, profiles=profiles)


Ends = tuple[float | None, float | None]


def is_inside(ends: Ends, truth: float) -> bool:
    """Tell whether a number is between the ends that are known; what is no number always is."""
    low, high = ends
    slack = 1e-9 * abs(truth)
    is_missed = (low is not None and low > truth + slack) or (
        high is not None and truth - slack > high
    )
    return not is_missed


@frozen(kw_only=True)
class Coverage:
    """How many of some releases of one question missed the truth."""

    count: int
    cells: int
    """How many numbers a release has; one that is no number cannot be missed."""
    missed: int
    """In how many some total interval does not hold its truth."""
    bare: int
    """In how many some interval of noise does not."""
    unknown: int
    """How many total intervals have an end that is not known, in all of them."""

    @staticmethod
    def of(releases: Iterable[Release], truth: Sequence[float]) -> "Coverage":
        """Count the releases that miss, each by its worst cell."""
        missed = bare = unknown = count = 0
        for release in releases:
            totals = release.totals("x")
            noise = [pair or (None, None) for pair in release.intervals("x")]
            count += 1
            missed += not are_inside(totals, truth)
            bare += not are_inside(noise, truth)
            unknown += sum(None in ends for ends in totals)
        cells = sum(not math.isnan(number) for number in truth)
        return Coverage(count=count, cells=cells, missed=missed, bare=bare, unknown=unknown)

    def is_enough(self, level: float) -> bool:
        """Tell whether so few missed that nothing is wrong, but for a false alarm.

        Cells of one release share their profile, so releases are counted, and one with k cells may
        miss k times as often as a cell.
        """
        return is_seldom(self.missed, self.count, min(1.0, BETA * self.cells), level)


def are_inside(ends: Sequence[Ends], truth: Sequence[float]) -> bool:
    """Tell whether each number is in its interval."""
    return all(is_inside(*pair) for pair in zip(ends, truth, strict=True))


def is_seldom(missed: int, count: int, most: float, level: float) -> bool:
    """Tell whether as few missed as they may, or as noise lets happen but for a false alarm."""
    return missed <= most * count or binomial_p_value(missed, count, most) > level
