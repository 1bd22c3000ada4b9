"""Quantiles whose limits leave rows out: on real tables and the demo's, with noise drawn often.

What the rows that count have is inside the interval of noise. What all rows have is inside the
total interval: that is known where nothing is left out, and said to be unknown elsewhere, because
the rows that were left out may have any values.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from discreet.project.terms import Terms
from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project
from tests.support.projects.real_stage import (
    BETA,
    RELEASES,
    Ends,
    Stage,
    is_inside,
    is_seldom,
    open_stage,
)
from tests.support.projects.real_tables import ALL_TABLES, RATINGS
from tests.support.statistics.exact_tests import alpha
from tests.support.statistics.quantiles import all_quantiles

QUESTIONS = {
    "the median": ("SELECT MEDIAN(value) AS x FROM records", 0.5),
    "a high quantile": ("SELECT QUANTILE(value, 0.9) AS x FROM records", 0.9),
    "medians of groups": ("SELECT kind, MEDIAN(value) AS x FROM records GROUP BY kind", 0.5),
}
USUAL = {("a high quantile", 90), ("medians of groups", 50)}


@pytest.fixture(scope="module", params=ALL_TABLES, ids=lambda table: table.name)
def stage(request, tmp_path_factory):
    found = open_stage(request.param, tmp_path_factory.mktemp("real"), Terms(epsilon="0.3"))
    yield found
    found.project.close()


def quantiles_of_all(stage: Stage, name: str) -> list[list[float]]:
    """Return what may be called the quantile of all rows, for each group; nothing of no rows."""
    share, values = QUESTIONS[name][1], stage.rows["value"]
    if "of groups" not in name:
        return [all_quantiles(values, share)]
    groups = stage.rows.groupby("kind", observed=False)["value"]
    return [all_quantiles(group, share) if len(group) else [] for _, group in groups]


def quantiles_of_kept(stage: Stage, name: str, terms: Terms) -> list[list[float]]:
    """Return the same for the rows that count, which no analyst sees."""
    sql, share = QUESTIONS[name]
    (groups,) = stage.counted(sql, terms).columns
    found = []
    for steps in groups:
        values = np.repeat(list(steps), list(steps.values())) * float(stage.table.step)
        found.append(all_quantiles(values, share) if len(values) else [])
    return found


def are_missed(intervals: Sequence[Ends], truth: Sequence[Sequence[float]]) -> int:
    """Count the intervals that do not hold all that may be called the quantile."""
    pairs = zip(intervals, truth, strict=True)
    return sum(not all(is_inside(ends, one) for one in every) for ends, every in pairs)


@pytest.mark.parametrize("cut", [0, 10, 50, 90])
@pytest.mark.parametrize("name", QUESTIONS)
def test_quantiles_are_inside_their_intervals_whatever_limits_cut(stage, name, cut, soak):
    """Groups have noise of their own, so all cells of all releases are counted.

    Power: the intervals of noise do not hold the high quantile of all rows where much is cut, of
    patients whose values grow with the number of their rows.
    """
    if not soak.active and (name, cut) not in USUAL:
        return
    sql, _ = QUESTIONS[name]
    limit, count = stage.table.limits[cut], RELEASES if soak.active else 12
    groups = len(stage.rows["kind"].cat.categories) if cut == 0 else 4
    terms = Terms(epsilon=4, rows_per_group=limit, groups_per_unit=groups)
    kept, of_all = quantiles_of_kept(stage, name, terms), quantiles_of_all(stage, name)
    missed = total = bare = unknown = 0
    for release in stage.releases(sql, terms, count):
        noise, totals = release.intervals("x"), release.totals("x")
        missed += are_missed([pair or (1, 0) for pair in noise], kept)
        total += are_missed(totals, of_all)
        unknown += sum(None in ends for ends in totals)
        bare += are_missed([pair or (None, None) for pair in noise], of_all)
    cells = count * sum(map(bool, kept))
    level = alpha("quantile totals/coverage", parts=3 * 3 * 4 * 2)
    assert is_seldom(missed, cells, BETA, level)
    assert is_seldom(total, cells, BETA, level)
    assert unknown == (0 if cut == 0 else count * len(kept))
    if name == "a high quantile" and cut >= 50 and stage.table is not RATINGS:
        assert bare == count


@pytest.mark.parametrize("value", [0.13, 0.1, 9.97])
def test_the_total_of_a_quantile_takes_account_of_rounding(tmp_path, value):
    """Power: the interval of noise holds what the value is rounded to, and not the value."""
    rows = [visit(f"p{i}", cost=value) for i in range(400)]
    folder = write_project(tmp_path, rows, epsilon="1000", rows_per_group=1, groups_per_unit=1)
    file = folder / "discreet.toml"
    text = file.read_text().replace("rows_per_group", "most_rows_per_unit = 1\nrows_per_group", 1)
    file.write_text(text)
    with connect(folder) as connection:
        release = connection.sql("SELECT MEDIAN(cost) AS x FROM visits", epsilon=100)
    (noise,), (total,) = release.intervals("x"), release.totals("x")
    step = 0.25
    rounded = round(value / step) * step
    assert noise == (rounded, rounded)
    assert total == pytest.approx((max(rounded - step / 2, 0), min(rounded + step / 2, 10)))
    assert is_inside(total, value)
    assert any("[… to …] takes account of: each value moves" in note for note in release.notes())
