"""Whole numbers with a declared range: grouped by where private keys would be refused."""

from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet.core.errors import DiscreetError, MissingLoss, RefusedQuery, UndeclaredKeys
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.keyset import PrivateKeys, PublicKeys
from tests.support.projects.clinic import make_plan
from tests.support.projects.memory import MemoryEngine, reveal
from tests.support.projects.neighbours import check_neighbours

TOML = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 100000{delta} }}
[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 2
[tables.visits.columns]
person = {{ type = "integer", min = 0, max = 9 }}
stars = {{ type = "integer", min = 1, max = 5 }}
tens = {{ type = "integer", min = -20, max = 20, step = 10 }}
large = {{ type = "integer", min = 0, max = 1000000 }}
share = {{ type = "real", min = 0, max = 1, step = 0.5 }}
ward = {{ type = "text", keys = ["n", "s"] }}
note = {{ type = "text" }}
"""
VISITS = (
    "person,stars,tens,large,share,ward,note\n"
    "1,1,10,0,0,n,x\n1,5,-20,0,0,n,x\n2,5,7,0,0,s,y\n3,9,0,0,0,s,y\n4,,0,0,0,s,y\n"
)
STARS = "SELECT stars, COUNT(*) AS n FROM visits GROUP BY stars"


def write(folder: Path, *, delta: str = "") -> Path:
    (folder / "visits.csv").write_text(VISITS)
    (folder / "discreet.toml").write_text(TOML.format(delta=delta))
    return folder


def test_a_range_has_its_numbers_as_groups_where_there_is_no_delta(tmp_path):
    with discreet.connect(write(tmp_path), epsilon="900") as connection:
        release = connection.sql(STARS)
        assert list(release.rows) == [(1, 1), (2, 0), (3, 0), (4, 0), (5, 2)]
        assert any("range, 1 to 5: rows with another value" in note for note in release.notes())
        assert connection.sql(STARS).is_stored
        steps = connection.sql("SELECT tens, COUNT(*) AS n FROM visits GROUP BY tens")
        assert list(steps.rows) == [(-20, 1), (-10, 0), (0, 2), (10, 1), (20, 0)]
        halves = "SELECT (stars - 1) // 2 AS half, ward, COUNT(*) AS n FROM visits GROUP BY 1, 2"
        assert len(connection.sql(halves).rows) == 6
        below = "SELECT s, COUNT(*) AS n FROM (SELECT stars + 1 AS s FROM visits) AS t GROUP BY s"
        assert [row[0] for row in connection.sql(below).rows] == [2, 3, 4, 5, 6]


def test_with_a_delta_the_same_question_has_private_groups_as_before(tmp_path):
    """It is another question: what was answered with a δ before is found again, and unchanged."""
    folder = write(tmp_path, delta=", delta = 1e-3")
    with discreet.connect(folder, epsilon="900") as connection:
        with_delta = connection.sql(STARS, delta="1e-6")
        assert {row[0] for row in with_delta.rows} <= {1, 5, 9, None}  # never an empty group
        assert {row[0] for row in connection.sql(STARS).rows} == {1, 2, 3, 4, 5}
        assert connection.sql(STARS, delta="1e-6").is_stored
        options = "OPTIONS(group_selection_strategy = PUBLIC_GROUPS)"
        public = STARS.replace("SELECT", f"SELECT WITH DIFFERENTIAL_PRIVACY {options}")
        assert {row[0] for row in connection.sql(public, delta="1e-6").rows} == {1, 2, 3, 4, 5}
        threshold = public.replace("PUBLIC_GROUPS", "LAPLACE_THRESHOLD")
        with pytest.raises(MissingLoss, match="nobody gave a δ"):
            connection.explain(threshold)
        rolled = connection.sql(
            "SELECT stars, COUNT(*) AS n FROM visits GROUP BY ROLLUP (stars)", delta="1e-6"
        )
        assert [row[0] for row in rolled.rows] == [1, 2, 3, 4, 5, None]
        batch = connection.batch(
            [STARS, "SELECT COUNT(*) AS n FROM visits"], epsilon=900, delta="1e-6"
        )
        assert len(batch[0].rows) == 5


def test_plans_with_private_keys_keep_their_names(tmp_path):
    catalog, engine = read_catalog(write(tmp_path)), MemoryEngine()
    assert isinstance(make_plan(catalog, STARS, engine=engine).keys, PrivateKeys)
    rolled = "SELECT stars, COUNT(*) AS n FROM visits GROUP BY ROLLUP (stars)"
    assert isinstance(make_plan(catalog, rolled, engine=engine).keys, PublicKeys)


REFUSED = {
    "SELECT large, COUNT(*) FROM visits GROUP BY large": UndeclaredKeys,
    "SELECT note, COUNT(*) FROM visits GROUP BY note": UndeclaredKeys,
    "SELECT stars, note, COUNT(*) FROM visits GROUP BY stars, note": UndeclaredKeys,
    "SELECT share, COUNT(*) FROM visits GROUP BY share": RefusedQuery,
    "SELECT person, COUNT(*) FROM visits GROUP BY person": RefusedQuery,
    "SELECT person + 0, COUNT(*) FROM visits GROUP BY 1": UndeclaredKeys,
}


@pytest.mark.parametrize(("sql", "error"), REFUSED.items())
def test_what_has_no_few_whole_numbers_stays_refused(tmp_path, sql, error):
    with (
        discreet.connect(write(tmp_path), epsilon="900") as connection,
        pytest.raises(DiscreetError) as caught,
    ):
        connection.explain(sql)
    assert isinstance(caught.value, error)


def test_one_person_moves_no_more_than_declared(tmp_path):
    catalog = read_catalog(write(tmp_path))
    stars = [1, 5, 5, 9, None, -1, 3]
    people = [1, 1, 2, 3, 4, 2, None]
    rest = {"tens": 0, "large": 0, "share": 0.0, "ward": "n", "note": "x"}
    columns = {name: [value] * len(stars) for name, value in rest.items()}
    table = pa.table({"person": people, "stars": stars} | columns)
    engine = MemoryEngine({"visits": table})
    sql = "SELECT stars, COUNT(*) FROM visits GROUP BY GROUPING SETS ((stars), ())"
    plan = make_plan(catalog, sql, engine=engine)
    first, moved = reveal(engine, plan), []
    for person in (1, 2, 3, 4, None):
        engine.tables["visits"] = table.take([i for i, one in enumerate(people) if one != person])
        moved += check_neighbours(plan, first, reveal(engine, plan), is_nobody=person is None)
    assert any(part.is_attained() for part in moved)
