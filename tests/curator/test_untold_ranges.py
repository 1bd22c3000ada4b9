"""What nobody knows is not told: joins that keep everybody, and ranges that a profile refutes."""

import numpy as np
import pandas as pd
import pytest

from discreet.roles.connection import connect
from discreet.roles.owner import own

DECLARED = """
[id_spaces.people]
unit = "a person"
budget = { epsilon = 100000 }

[tables.people]
source = "people.parquet"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
most_rows_per_unit = 1

[tables.people.columns]
person = { type = "integer" }
income = { type = "integer", min = 0, max = 1000 }

[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 1
most_rows_per_unit = 4

[tables.visits.columns]
person = { type = "integer" }
odd = { type = "integer", min = 0, max = 10 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("untold")
    people = pd.DataFrame({"person": range(2000), "income": 900})
    visits = pd.DataFrame({"person": np.repeat(np.arange(500), 2), "odd": 1000})
    people.to_parquet(folder / "people.parquet")
    visits.to_parquet(folder / "visits.parquet")
    (folder / "discreet.toml").write_text(DECLARED, encoding="utf-8")
    with own(folder) as owner:
        owner.profile("visits", epsilon=100, values=["odd"])
    return folder


CASES = {
    "SELECT SUM(CLAMP(income, 0, 100)) AS x FROM people LEFT JOIN visits USING (person)": (
        900 * (1500 + 1000)
    ),
    "SELECT SUM(m) AS x FROM (SELECT person, MAX(odd) AS m FROM visits GROUP BY person)": 500_000,
    "SELECT SUM(odd, contribution_bounds_per_group => (0, 40)) AS x FROM visits": 1_000_000,
}


@pytest.mark.parametrize("sql", CASES)
def test_no_total_is_closed_around_another_number(folder, sql):
    """At this price noise is nothing: a closed interval without the truth would be false."""
    with connect(folder, epsilon=100) as connection:
        ((low, high),) = connection.sql(sql, rows_per_group=4).totals("x")
    assert low is None or low <= CASES[sql]
    assert high is None or high >= CASES[sql]
