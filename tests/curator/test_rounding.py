"""Rounding to the grid: the total interval holds the sum and the mean of values as they are."""

import pytest

from discreet.roles.connection import connect
from tests.support.projects.clinic import visit, write_project

PEOPLE = 400
FINE = "SELECT AVG(CLAMP(cost, 0, 10, 0.001)) AS a FROM visits"
SQL = "SELECT clinic, SUM(cost) AS s, AVG(cost) AS a, COUNT(*) AS n FROM visits GROUP BY clinic"


@pytest.fixture
def folder(tmp_path):
    """Values off the grid of quarters: each is rounded down to 1, by 0.1 of up to 0.125."""
    rows = [visit(f"p{i}", "ab"[i % 2], cost=1.1) for i in range(PEOPLE)]
    return write_project(tmp_path, rows, epsilon="1000", groups_per_unit=4)


def declare_most(folder):
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    new = text.replace("rows_per_group", "most_rows_per_unit = 1\nrows_per_group", 1)
    file.write_text(new, encoding="utf-8")


def test_totals_hold_what_noise_alone_would_miss(folder):
    """At this price a noise of five, which is the room that is left, is beyond all chance."""
    declare_most(folder)
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=900)
    truth = {"s": PEOPLE / 2 * 1.1, "a": 1.1}
    for name, number in truth.items():
        for noise, (low, high) in zip(
            release.intervals(name)[:2], release.totals(name)[:2], strict=True
        ):
            assert noise is not None
            assert not noise[0] <= number <= noise[1]
            assert low is not None
            assert high is not None
            assert low <= number <= high
            assert high - low < (noise[1] - noise[0]) + 2.1 * 0.125 * (200 if name == "s" else 1)
    text = str(release)
    assert "cost is rounded to steps of 0.25, which [… to …] takes account of" in text
    assert "no interval shows" not in text
    assert "[… to …] holds for 95 % of values, noise and rounding" in text
    for name, number in truth.items():
        for low, high in release.sampling(name)[:2]:
            assert low is not None
            assert high is not None
            assert low <= number <= high
    frame = release.to_pandas()
    assert frame["s_low"][0] <= truth["s"] <= frame["s_high"][0]


def test_what_is_next_to_nothing_is_not_said(folder):
    declare_most(folder)
    with connect(folder) as connection:
        release = connection.sql(FINE, epsilon="0.1")
        alone = connection.sql("SELECT SUM(cost) AS s FROM visits", epsilon="0.1")
        ratio = connection.sql("SELECT SUM(cost) / COUNT(*) AS q FROM visits", epsilon=1)
    assert "rounded" not in " ".join(release.notes())
    assert "[" not in str(release)
    # How many rows there are, and so how far rounding moves a sum, nobody knows from it alone.
    assert "which no interval shows" in " ".join(alone.notes())
    assert alone.totals("s") == ((None, None),)
    assert "[unknown]" in str(alone)
    # A quotient by their number moves no further than a mean.
    assert "which [… to …] takes account of" in " ".join(ratio.notes())


def test_a_mean_stays_in_its_range(tmp_path):
    rows = [visit(f"p{i}", cost=0.1) for i in range(PEOPLE)]
    folder = write_project(tmp_path, rows, epsilon="1000")
    declare_most(folder)
    with connect(folder) as connection:
        release = connection.sql("SELECT AVG(cost) AS a FROM visits", epsilon=900)
    ((low, high),) = release.totals("a")
    assert low == 0
    assert high is not None
    assert 0.1 < high < 0.2


INNER = "SELECT person, {} AS s FROM visits GROUP BY person"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n FROM ({INNER.format('SUM(cost)')}) AS q WHERE s > 1.05",
        f"SELECT AVG(s) AS a FROM ({INNER.format('AVG(cost)')}) AS q",
        (
            "SELECT COUNT(*) AS n FROM visits WHERE person IN"
            " (SELECT person FROM visits GROUP BY person HAVING SUM(cost) > 1.05)"
        ),
    ],
)
def test_what_is_moved_inside_of_a_question_is_said(folder, sql):
    said = "cost outside 0 to 10 (declared) counts as the nearer end where it is added up inside"
    with connect(folder) as connection:
        notes = connection.sql(sql, epsilon=10).notes()
        assert len([note for note in notes if said in note]) == 1
        assert not any("cost is rounded" in note for note in notes)
        whole = sql.replace("cost", "age")
        assert "where it is added up" not in " ".join(connection.sql(whole, epsilon=10).notes())


@pytest.mark.parametrize("total", ["SUM", "AVG", "MIN"])
def test_a_clamp_inside_of_a_question_is_said_wherever_its_total_is_used(folder, total):
    having = f"HAVING {total}(CLAMP(cost, 0, 5)) > 1"
    inner = f"SELECT person FROM visits GROUP BY person {having}"
    with connect(folder) as connection:
        release = connection.sql(f"SELECT COUNT(*) AS n FROM ({inner})", epsilon=10)
        other = connection.sql(
            f"SELECT AVG(age) AS n FROM visits WHERE person IN ({inner})", epsilon=10
        )
    said = "CLAMP(cost, 0, 5) is part of the question: numbers are about clamped values"
    for notes in (release.notes(), other.notes()):
        assert said in notes
        assert "where it is added up" not in " ".join(notes)


def test_one_thing_is_said_of_rounding(folder):
    """What is added up inside is not rounded there, so there is nothing to contradict."""
    with connect(folder) as connection:
        sql = f"SELECT AVG(CLAMP(s, 0, 10, 0.25)) AS a FROM ({INNER.format('AVG(cost)')}) AS q"
        release = connection.sql(sql, epsilon=900)
    notes = [note for note in release.notes() if "rounded" in note]
    assert len(notes) == 1
    assert "s is rounded to steps of 0.25, which [… to …] takes account of" in notes[0]
    ((low, high),) = release.totals("a")
    assert low is not None
    assert high is not None
    assert low <= 1.1 <= high


COUNTED = ["SUM(cost) AS s, COUNT(cost) AS n", "SUM(cost) AS s, AVG(cost) AS a"]
ONE_CONDITION = "SUM(cost) FILTER (WHERE age > 1) AS s, COUNT(cost) FILTER (WHERE age > 1) AS n"


@pytest.mark.parametrize("items", [*COUNTED, ONE_CONDITION])
def test_a_count_of_the_values_bounds_what_rounding_does_to_their_sum(folder, items):
    declare_most(folder)
    with connect(folder) as connection:
        release = connection.sql(f"SELECT {items} FROM visits", epsilon=900)
    ((low, high),) = release.totals("s")
    assert low is not None
    assert high is not None
    assert low <= PEOPLE * 1.1 <= high
    assert len([note for note in release.notes() if "is rounded" in note]) == 1


@pytest.mark.parametrize(
    "other",
    ["COUNT(age)", "COUNT(cost) FILTER (WHERE urgent)", "COUNT(DISTINCT person)", "COUNT(note)"],
)
def test_a_count_of_other_rows_does_not(folder, other):
    declare_most(folder)
    with connect(folder) as connection:
        release = connection.sql(f"SELECT SUM(cost) AS s, {other} AS n FROM visits", epsilon=900)
    assert release.totals("s") == ((None, None),)
    assert "cost is rounded to steps of 0.25, which no interval shows" in " ".join(release.notes())


def test_what_is_not_known_takes_account_of_nothing(folder):
    """Limits may cut here, so nobody knows the mean of all rows: its note says nothing else."""
    with connect(folder) as connection:
        both = connection.sql("SELECT AVG(cost) AS m, SUM(cost) AS s FROM visits", epsilon=400)
        mean = connection.sql("SELECT AVG(cost) AS m FROM visits", epsilon=400)
    (note,) = (note for note in both.notes() if "is rounded" in note)
    assert "which [… to …] takes account of for s, and not for m: " in note
    (note,) = (note for note in mean.notes() if "is rounded" in note)
    assert "which no interval shows" in note


@pytest.mark.parametrize("kind", ["noise", "sampling"])
def test_notes_point_to_no_interval_that_is_not_shown(folder, kind):
    declare_most(folder)
    with connect(folder) as connection:
        release = connection.sql(SQL, epsilon=900)
    assert "[… to …] takes account of" in " ".join(release.notes())
    shown = release.with_intervals(kind)
    assert "[… to …]" not in " ".join(shown.notes())
    assert "which the total interval (not shown here) takes account of" in " ".join(shown.notes())
