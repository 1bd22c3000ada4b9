"""The mode of an answer: the value with the largest noisy count, and what else it may be.

The set of values that may be the most frequent one is sampled: it must hold the true one as often
as it says, and a twin that looks only one error bar of a single count far must not.
"""

from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.releases.accuracy import error_of
from discreet.releases.estimates.groups import Groups
from discreet.releases.mode import Mode, ModeCells, rivals
from discreet.roles.connection import connect
from discreet.roles.owner import own
from discreet.tables.arithmetic.ratios import Ratios
from tests.support.projects.clinic import visit, write_project
from tests.support.statistics.exact_tests import alpha, binomial_p_value
from tests.support.statistics.numbered_rng import NumberedRng

NOISE = DiscreteLaplace(scale=3)
VALUES = 40
TRIALS = 400
BETA = Fraction(1, 20)
MODE = Mode(name="usual", key=1, count=0)


def drawn() -> np.ndarray:
    """Return noisy counts of trials, in each of which all values are equally frequent."""
    exact = np.full((TRIALS, VALUES), 100, dtype=np.int64)
    return NOISE.release(exact.ravel(), NumberedRng(1, label="mode")).reshape(TRIALS, VALUES)


def groups_of(counts: np.ndarray) -> Groups:
    """Return an answer in which each trial is a group with a mode of its own."""
    size = counts.size
    return Groups(
        size=size,
        keys=(np.repeat(np.arange(len(counts)), VALUES).tolist(), [*range(VALUES)] * len(counts)),
        places=((0, 1),),
        sets=np.zeros(size, dtype=np.int64),
        values=(Ratios.steps(counts.ravel().tolist(), Fraction(1)),),
        threshold=None,
        parts=frozenset(),
        ends={},
    )


def test_the_most_frequent_value_is_among_those_that_may_be_it():
    """All values are equally frequent, so that any of them is: the first is looked for."""
    counts, share = drawn(), alpha("mode/rivals", parts=2)
    missed = sum(0 not in found for found in rivals(MODE, groups_of(counts), NOISE, beta=BETA))
    assert missed <= BETA * TRIALS or binomial_p_value(missed, TRIALS, BETA) > share
    bar = error_of(NOISE, BETA)
    twin = int((counts[:, 0] < counts.max(axis=1) - bar).sum())
    assert twin > BETA * TRIALS
    assert binomial_p_value(twin, TRIALS, BETA) < share


def test_of_values_far_apart_one_is_left():
    counts = np.zeros((2, VALUES), dtype=np.int64)
    counts[0, 7] = counts[1, 9] = 10_000
    assert rivals(MODE, groups_of(counts), NOISE, beta=BETA) == [(7,), (9,)]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    rows = [visit(f"p{i}", "aaabbc"[i % 6], urgent=i % 6 in (2, 5)) for i in range(600)]
    folder = write_project(tmp_path_factory.mktemp("clinic"), rows, epsilon="1000000")
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(
        text.replace("budget", "least_price = { epsilon = 0.001 }\nbudget", 1)
    )
    with connect(folder, epsilon=1000) as connection:
        yield connection


ASKED = {
    "SELECT MODE(clinic) FROM visits": (("mode_clinic",), [("a",)]),
    "SELECT MODE() WITHIN GROUP (ORDER BY clinic) AS usual FROM visits": (("usual",), [("a",)]),
    "SELECT urgent, MODE(clinic) AS usual FROM visits GROUP BY urgent": (
        ("urgent", "usual"),
        [(False, "a"), (True, "a")],
    ),
    "SELECT urgent AS u, MODE(clinic) AS m FROM visits GROUP BY u ORDER BY u DESC LIMIT 1": (
        ("u", "m"),
        [(True, "a")],
    ),
    "SELECT MODE(UPPER(clinic)) AS m, urgent FROM visits WHERE clinic <> 'a' GROUP BY 2": (
        ("m", "urgent"),
        [("B", False), ("C", True)],
    ),
    "SELECT urgent, MODE(clinic) AS m FROM visits WHERE clinic > 'a' GROUP BY ALL": (
        ("urgent", "m"),
        [(False, "b"), (True, "c")],
    ),
}


@pytest.mark.parametrize("sql", ASKED)
def test_what_is_shown(clinic, sql):
    release = clinic.sql(sql)
    assert (release.columns, list(release.rows)) == ASKED[sql]


def test_whoever_has_the_histogram_has_the_mode_for_nothing(clinic):
    clinic.sql("SELECT urgent, clinic, COUNT(*) AS n FROM visits WHERE age >= 0 GROUP BY 1, 2")
    before = clinic.history()
    clinic.sql("SELECT urgent, MODE(clinic) AS m FROM visits WHERE age >= 0 GROUP BY urgent")
    assert clinic.history() == before


def test_it_says_how_sure_it_is(clinic):
    sure = str(clinic.sql("SELECT MODE(clinic) AS usual FROM visits"))
    assert (
        "usual is the value with the largest noisy count of the rows that count, among the declared"
        " values, and without noise too among these" in sure
    )
    assert "usual: of all rows another value may be the most frequent one" in sure
    assert "the noisy counts do not have it" in sure
    assert "± does not show it" not in sure
    sql = "SELECT MODE(clinic) AS usual FROM visits WHERE age > {}"
    unsure = str(clinic.sql(sql.format(-1), epsilon="0.001"))
    assert "without noise it is a, b, c or d, for 95 % of answers" in unsure
    assert "± does not hold" not in unsure
    grouped = sql.replace("SELECT", "SELECT urgent,").format(-2) + " GROUP BY urgent"
    assert "in 2 of 2 groups another value" in str(clinic.sql(grouped, epsilon="0.001"))


# ---- What limits and private keys leave out.


def test_of_a_table_with_one_row_each_it_is_the_mode_of_all_rows(tmp_path):
    sure = _asked(tmp_path, most=1, rows=1)
    assert any("and without noise too" in note for note in sure.notes())
    assert not any("of all rows" in note for note in sure.notes())
    assert sure.headline() == ()


@pytest.mark.parametrize(("many", "said"), [(30, "a, b, c or d"), (3, "a")])
def test_limits_leave_rivals_that_a_profile_bounds(tmp_path, many, said):
    """Ten people have many rows in b, of which one counts; without limits b is ahead, or not."""
    release = _asked(tmp_path, most=40, rows=many, profiled=True)
    assert release.rows == (("a",),)
    rows = "of all rows with one of the declared values"
    assert f"m: {rows} it is {said}, for 95 % of answers" in release.notes()


def test_without_a_profile_of_groups_the_first_line_says_so(tmp_path):
    """Private keys have no profile: what limits leave out of all rows is all that is known."""
    release = _asked(tmp_path, most=40, rows=30, profiled=True, column="note")
    assert release.headline() == ("Limits may have changed m",)
    assert any("among the values that are shown" in note for note in release.notes())


def test_values_that_are_not_declared_are_in_no_group_and_nothing_is_claimed_of_them(tmp_path):
    """Most rows have a value that is no key: the mode is one of the others, and says so."""
    rows = [visit(f"p{i}", "nowhere" if i % 3 else "a") for i in range(90)]
    with connect(write_project(tmp_path, rows, epsilon="10000")) as connection:
        release = connection.sql("SELECT MODE(clinic) AS m FROM visits", epsilon=100)
        of_two = connection.sql("SELECT MODE(urgent) AS m FROM visits", epsilon=100)
    assert release.rows == (("a",),)
    first, second, *_ = (note for note in release.notes() if note.startswith("m"))
    assert "among the declared values, and without noise too among these" in first
    assert second == "m: rows with a value that is not declared are in no group"
    assert not any("declared" in note for note in of_two.notes())


def test_each_cell_says_what_else_it_may_be(tmp_path):
    """Among the urgent two clinics are equally frequent; among the others one is far ahead.

    At such a price all noise is 0, and its bar too, except with a probability below e^-90.
    """
    rows = [visit(f"p{i}", "ab"[i % 2], urgent=True) for i in range(100)]
    rows += [visit(f"q{i}", "c") for i in range(1000)]
    folder = write_project(tmp_path, rows, epsilon="1000")
    file = folder / "discreet.toml"
    file.write_text(file.read_text().replace("rows_per", "most_rows_per_unit = 1\nrows_per", 1))
    with connect(folder) as connection:
        sql = "SELECT urgent, MODE(clinic) AS m FROM visits GROUP BY urgent"
        release = connection.sql(sql, epsilon=100)
    assert release.rows == ((False, "c"), (True, "a"))
    assert release.to_json()["rivals"]["m"] == {"noise": [[], ["b"]], "totals": [[], ["b"]]}
    assert "true    a (or b)\n" in str(release)
    assert "a (or b)<" in release._repr_html_()
    assert "c (or" not in str(release)
    assert release.to_pandas()["m_sure"].tolist() == [True, False]
    assert release.to_arrow()["m_sure"].to_pylist() == [True, False]
    assert "m_sure" not in release.to_pandas(errors=False)


def test_how_other_values_are_marked():
    cells = ModeCells(
        name="m",
        noise=((), ("b",), (), (False,), ()),
        totals=((), ("b",), ("b", "c"), None, tuple("bcdefg")),
    )
    assert cells.asides(of_all=True) == (
        "",
        " (or b)",
        " [or b, c]",
        " (or false) [unknown]",
        " [or 6 other values]",
    )
    assert cells.asides(of_all=False) == ("", " (or b)", "", " (or false)", "")
    assert cells.are_sure(of_all=True) == [True, False, False, False, False]
    assert cells.are_sure(of_all=False) == [True, False, True, False, True]


def test_a_cell_of_which_limits_may_change_the_mode_is_not_sure(clinic):
    release = clinic.sql("SELECT urgent, MODE(clinic) AS m FROM visits GROUP BY urgent")
    assert str(release).count(" [unknown]") == 2
    assert release.to_json()["rivals"]["m"]["totals"] == [None, None]
    assert not release.to_pandas()["m_sure"].any()


def test_where_no_value_is_shown_nothing_is_said_of_groups(tmp_path):
    rows = [visit(f"p{i}") for i in range(9)]
    folder = write_project(tmp_path, rows, epsilon="9, delta = 0.01")
    with connect(folder) as connection:
        release = connection.sql("SELECT MODE(note) AS m FROM visits", epsilon=5, delta="1e-6")
    assert release.rows == ()
    assert "m: no value has enough people to be shown" in release.notes()


def test_an_error_is_not_told_before_limits_are_chosen(clinic):
    sql = "SELECT COUNT(*) AS n, AVG(age) AS m FROM visits"
    explained = clinic.explain(sql, limits="auto")
    errors = [text for name, text in explained.steps() if name == "Error"]
    assert len(errors) == 2
    assert not any("±" in text for text in errors)
    assert explained.to_json()["errors"] == {"n": None, "m": None}
    assert explained.to_json()["errors_by_group_size"] == {}
    assert any("±" in text for name, text in clinic.explain(sql).steps() if name == "Error")


def _asked(folder, *, most, rows, profiled=False, column="clinic"):
    """Return the mode of a table: 100 people with one row in a, ten with some rows in b."""
    every = [visit(f"p{i}", "a", note="x") for i in range(100)]
    every += [visit(f"q{i}", "b", note="y") for i in range(10) for _ in range(rows)]
    write_project(folder, every, epsilon="100000, delta = 0.01", rows_per_group=1)
    file = folder / "discreet.toml"
    text = file.read_text().replace("rows_per", f"most_rows_per_unit = {most}\nrows_per", 1)
    file.write_text(text)
    if profiled:
        with own(folder) as owner:
            owner.profile("visits", epsilon=2_000)
    with connect(folder) as connection:
        return connection.sql(f"SELECT MODE({column}) AS m FROM visits", epsilon=500, delta="1e-6")
