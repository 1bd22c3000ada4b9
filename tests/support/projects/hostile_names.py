"""A project in which everything that has a name is called something that breaks pages."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

EVIL = '<script>alert("&")</script>'
KEYS = (EVIL, "$5 to $10", "two  spaces", "\u202ereversed", 'a"b', "</table>", "line\nbreak")
UNIT = "a <b>person</b>"
ANALYST = "<i>eve</i>"
COLUMN = "<u>place"
ALIAS = "<u>n</u>"
QUESTION = f'SELECT "{COLUMN}", COUNT(*) AS "{ALIAS}" FROM visits GROUP BY "{COLUMN}"'

DECLARATION = f"""
[id_spaces.people]
unit = {json.dumps(UNIT)}
budget = {{ epsilon = 10 }}

[tables.visits]
source = "visits.parquet"
id_space = "people"
unit = "person"
rows_per_group = 1
groups_per_unit = 1
most_rows_per_unit = 20

[tables.visits.columns]
person = {{ type = "text" }}
{json.dumps(COLUMN)} = {{ type = "text", keys = {json.dumps(list(KEYS))} }}
"""


def write_hostile_project(folder: Path) -> Path:
    """Write the declaration, and a row of data for each key."""
    (folder / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
    rows = {"person": [str(i) for i in range(len(KEYS))], COLUMN: list(KEYS)}
    pq.write_table(pa.table(rows), folder / "visits.parquet")
    return folder
