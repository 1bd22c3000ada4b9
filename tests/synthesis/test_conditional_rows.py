"""Rows in which some columns have given values: they have the law of those rows of the model."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.errors import InvalidArgument
from discreet.synthesis.related.related_file import open_synthetic
from tests.support.projects.frames import owned

ROWS = 20_000
COLUMNS = {
    "patient": "integer",
    "clinic": {"type": "text", "keys": ["a", "b", "c"], "nullable": False},
    "age": {"type": "integer", "min": 0, "max": 99, "nullable": False},
    "urgent": "boolean",
    "cost": {"type": "real", "min": 0, "max": 1, "step": 0.25},
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    random = np.random.default_rng(7)
    clinic = random.integers(0, 3, 3_000)
    age = np.clip(30 * clinic + random.integers(0, 40, 3_000), 0, 99)
    rows = pa.table(
        {
            "patient": np.arange(3_000),
            "clinic": [["a", "b", "c"][one] for one in clinic],
            "age": age,
            "urgent": age + random.integers(0, 30, 3_000) > 60,
            "cost": np.zeros(3_000),
        }
    )
    ledger = tmp_path_factory.mktemp("conditional") / "ledger"
    said = {"columns": {"visits": COLUMNS}, "ledger": ledger, "id_space": "conditional"}
    with owned({"visits": rows}, budget={"rho": 100}, **said) as owner:
        yield owner.connect().synthesise("visits", rho=50, rows_per_unit=1)


def test_rows_are_as_given_and_the_others_as_the_model_says(release):
    """Systematic sampling puts each cell of a group off by less than a row, so this is certain."""
    ages = {"from": 40, "to": 59}
    drawn = release.sample(ROWS, given={"clinic": ["b", "c"], "AGE": ages})
    assert set(drawn["clinic"].to_pylist()) == {"b", "c"}
    assert set(drawn["age"].to_pylist()) <= set(range(40, 60))
    joint = release.model.table((0, 1, 2))
    expected = joint[1:, 40:60].sum(axis=(0, 1)) / joint[1:, 40:60].sum()
    unconditional = joint.sum(axis=(0, 1))
    found = [drawn["urgent"].to_pylist().count(one) / ROWS for one in (False, True, None)]
    slack = 3 * 32 * 3 / ROWS
    assert np.abs(np.array(found) - expected).max() < slack
    assert np.abs(unconditional - expected).max() > 4 * slack, "it would be seen"
    clinics = joint[1:, 40:60].sum(axis=(1, 2)) / joint[1:, 40:60].sum()
    assert abs(drawn["clinic"].to_pylist().count("b") / ROWS - clinics[0]) < slack


def test_a_file_of_such_rows_says_so_and_is_drawn_again_like_them(release, tmp_path):
    """Rows of all kinds in their place would put the share at a third, and ± at one."""
    place = tmp_path / "some.parquet"
    drawn = release.sample(1_000, given={"clinic": ["b", "c"], "Age": {"from": 40, "to": 99}})
    pq.write_table(drawn, place)
    file = open_synthetic(place)
    assert file.about["given"] == ["clinic", "age"]
    said = "only rows with given values of clinic, age were drawn, and no others"
    assert said in file.about["notes"]
    sql = "SELECT avg(CASE WHEN clinic = 'a' OR age < 40 THEN 1 ELSE 0 END) AS others FROM visits"
    found = file.sql(sql, repeats=4)
    assert found.rows == ((0.0,),)
    assert found.errors["others"] == (0.0,)
    assert said in found.notes
    pq.write_table(release.sample(50), place)
    assert not any("given" in note for note in open_synthetic(place).sql(sql, repeats=0).notes)
    assert "given" not in open_synthetic(place).about


def test_nothing_given_is_any_row(release):
    assert release.sample(50, given={}).num_rows == 50
    assert set(release.sample(ROWS, given={"urgent": None})["urgent"].to_pylist()) <= {None}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nothing": 1}, "not one of the columns"),
        ({"clinic": "z"}, "no such value"),
        ({"clinic": []}, "no such value"),
        ({"age": {"from": 60, "to": 40}}, "no such value"),
        ({"clinic": {"from": "a", "to": "b"}}, "no range"),
        ({"cost": 0.25}, "cannot be named"),
        ({"clinic": "a", "Clinic": "b"}, "twice"),
        ("clinic", "no condition"),
    ],
)
def test_what_is_no_condition_is_refused(release, given, words):
    with pytest.raises(InvalidArgument, match=words):
        release.sample(5, given=given)
