"""Names, notes and ends beside an answer say what is so, and nothing that cannot be."""

import pyarrow
import pytest

from discreet.core.errors import RefusedQuery
from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project

BY_CLINIC = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"


@pytest.fixture
def folder(tmp_path):
    rows = [visit(f"p{i}", "abcd"[j], note="x" * (j < 2)) for i in range(60) for j in range(4)]
    return write_project(tmp_path, rows, epsilon="100, delta = 0.001")


def declare(folder, old, new):
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


# ---- An answer that is found again has the names that are asked for.


COUNTED = """SELECT AVG(CLAMP({a}, 0, 3)) AS {b} FROM
    (SELECT person, COUNT(*) AS {a} FROM visits GROUP BY person)"""
DISTINCT = """SELECT {b}, COUNT(DISTINCT {a}) AS n FROM
    (SELECT clinic AS {b}, age AS {a} FROM visits) GROUP BY {b}"""
FIRST, SECOND = {"a": "kestrel", "b": "heron"}, {"a": "magpie", "b": "jackdaw"}


def forms(release):
    return (str(release), release._repr_html_(), str(release.to_json()), release.card())


@pytest.mark.parametrize(
    ("sql", "said"), [(COUNTED, "magpie outside 0 to 3"), (DISTINCT, "COUNT(DISTINCT magpie)")]
)
def test_an_answer_found_again_has_the_names_that_are_asked_for(folder, sql, said):
    with connect(folder) as connection:
        connection.sql(sql.format(**FIRST), epsilon=20)
        release = connection.sql(sql.format(**SECOND), epsilon=10)  # the dearer one is given
        (stored,) = connection.releases()
    assert release.is_stored
    assert "jackdaw" in release.columns
    assert any(said in note for note in release.notes())
    assert not any(name in form for form in forms(release) for name in FIRST.values())
    # What is opened by its ticket is shown as it was asked then.
    assert not any(name in form for form in forms(stored.open()) for name in SECOND.values())


def test_so_has_an_answer_of_a_batch(folder):
    with connect(folder) as connection:
        for names in (FIRST, SECOND):
            queries = [COUNTED.format(**names)]
            (release,) = connection.batch(queries, epsilon=1, delta="1e-6")
    assert release.is_stored
    assert not any(name in form for form in forms(release) for name in FIRST.values())


# ---- What a declaration rules out is not said.


def test_nobody_is_said_to_have_more_than_counts_if_that_cannot_be(folder):
    sql = "SELECT COUNT(*) AS n FROM visits"
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=1, limits="auto")
    assert any("have more than counts" in note for note in release.notes())
    declare(folder, "rows_per_group", "most_rows_per_unit = 4\nrows_per_group")
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=50, limits="auto")
    assert release.body.limits.rows_per_group == 4
    assert any("chosen privately" in note for note in release.notes())
    assert not any("have more than counts" in note for note in release.notes())


@pytest.mark.parametrize("clamp", ["cost, 0, 4", "cost, 6, 10", "cost, 2, 8", "cost, 0, 10"])
def test_a_mean_is_nowhere_beyond_the_declared_range(folder, clamp):
    """With much noise both ends are those of the range; rounding moves none beyond them."""
    declare(folder, "rows_per_group", "most_rows_per_unit = 1\nrows_per_group")
    with connect(folder) as connection:
        sql = f"SELECT AVG(CLAMP({clamp}, 2)) AS x FROM visits"
        for kind in ("total", "sampling"):
            release = connection.sql(sql, epsilon="0.01").with_intervals(kind)
            ends = release.totals("x") if kind == "total" else release.sampling("x")
            assert all(low is None or low >= 0 for low, _ in ends)
            assert all(high is None or high <= 10 for _, high in ends)
        assert release.totals("x") == ((0, 10),)
        assert release.to_arrow(intervals="total")["x_high"].to_pylist() == [10]


# ---- A share is one of the rows in groups.


def test_how_many_private_groups_there_are_is_unknown(folder):
    counted = (
        "SELECT COUNT(*) AS k FROM (SELECT note, COUNT(*) AS n FROM visits GROUP BY note) AS g"
    )
    with connect(folder) as connection:
        release = connection.sql(counted, epsilon=20, delta="1e-4")
        some = connection.sql(f"{counted} WHERE n > 20", epsilon=20, delta="1e-4")
    assert "2 (unknown)" in str(release)
    assert release.to_json()["unknown"] == {"k": True}
    assert some.intervals("k") == ((2, 2),)
    assert any(
        note.startswith("k: a count over the groups that are shown") for note in some.notes()
    )


@pytest.mark.parametrize("most", [10, 1000])
def test_a_number_of_groups_has_an_interval_even_if_it_is_none(folder, most):
    chosen = f"(SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic HAVING COUNT(*) > {most})"
    sql = f"SELECT COUNT(*) AS k, SUM(n) AS s FROM {chosen} AS g WHERE clinic <> 'a'"
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=20)
    (found,) = release.rows
    count = 3 if most == 10 else 0
    assert found[0] == count
    assert release.intervals("k") == ((count, count),)
    assert (found[1] is None) == (count == 0)


SHARES = {
    "SELECT clinic AS c, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY clinic": (
        "share: a total over groups has no rows whose clinic is NULL or not among the public keys"
    ),
    """SELECT clinic, urgent, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY clinic) AS share
       FROM visits GROUP BY clinic, urgent""": (
        "share: a total over groups has no rows whose clinic or urgent is NULL or not among the"
        " public keys"
    ),
    """WITH t AS (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic)
       SELECT MAX(n) AS most, AVG(n) AS share FROM t""": (
        "share: a mean over groups has no rows whose clinic is NULL or not among the public keys"
    ),
    "SELECT clinic, COUNT(*) / MAX(COUNT(*)) OVER () AS share FROM visits GROUP BY clinic": (
        "share: the largest over groups has no rows whose clinic is NULL or not among the public"
        " keys"
    ),
    "SELECT note, COUNT(*) OVER () AS share, COUNT(*) AS n FROM visits GROUP BY note": (
        "share: a count over the groups that are shown has no rows of the others"
    ),
    """SELECT COUNT(*) AS share FROM (
         SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic HAVING COUNT(*) > 2) AS t""": (
        "share: a count over groups has no rows whose clinic is NULL or not among the public keys"
    ),
    "SELECT note, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY note": (
        "share: a total over the groups that are shown has no rows of the others"
    ),
}


@pytest.mark.parametrize(("sql", "said"), SHARES.items())
def test_a_share_of_groups_says_of_which_rows_it_is_one(folder, sql, said):
    with connect(folder) as connection:
        release = connection.sql(sql, epsilon=5, delta="1e-6")
    assert said in release.notes()


@pytest.mark.parametrize(
    "sql", [BY_CLINIC, "SELECT COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits"]
)
def test_what_is_no_share_of_groups_says_nothing_of_them(folder, sql):
    with connect(folder) as connection:
        assert not any("a total over" in note for note in connection.sql(sql, epsilon=5).notes())


# ---- Advice is of use where it is given.


@pytest.mark.filterwarnings("ignore:The ledger is in memory")
def test_the_owner_of_frames_is_told_what_python_does():
    frame = pyarrow.table({"person": [1, 2], "x": [3, 4]})
    kinds = {"person": {"type": "integer"}, "x": {"type": "integer", "min": 0, "max": 9}}
    with own(
        {"seen": frame},
        unit="person",
        budget={"epsilon": 10},
        columns={"seen": kinds},
        id_space="people told of advice",
        rows_per_group=1,
        groups_per_unit=1,
    ) as owner:
        said = str(owner.connect(epsilon=1).explain("SELECT SUM(x) AS total FROM seen"))
    assert 'owner.profile("seen")' in said
    assert "discreet profile" not in said


def test_a_price_that_is_too_high_for_a_count_is_told_to_be_lower(folder):
    told = pytest.raises(RefusedQuery, match="Offer a lower price")
    with connect(folder, epsilon=10**9) as connection, told:
        connection.explain(BY_CLINIC)
