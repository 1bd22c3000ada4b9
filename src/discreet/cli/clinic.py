"""The demo's clinic: a small project made on the spot, with people who do not exist."""

from pathlib import Path

from discreet.core import optional

DECLARATION = """\
# The people, and the most that may ever be told about one of them.
[id_spaces.patients]
unit = "a patient"
budget = { epsilon = 3 }

# A table: where it is, whose rows they are, and how much of one patient may count.
[tables.visits]
source = "visits.parquet"
id_space = "patients"
unit = "patient_id"
rows_per_group = 2
groups_per_unit = 3

# Only what is declared can be asked about. A sum needs a range, a group needs public keys.
[tables.visits.columns]
patient_id = { type = "integer" }
clinic = { type = "text", keys = ["north", "south", "east", "west", "harbour"] }
urgent = { type = "boolean" }
age = { type = "integer", min = 0, max = 110 }
cost = { type = "real", min = 0, max = 500, step = 0.5 }
visited = { type = "date" }
diagnosis = { type = "text" }
"""

VISITS = 20_000
PATIENTS = 6_000

_ROWS = f"""
SELECT (hash(i, 'patient') % {PATIENTS})::BIGINT AS patient_id,
       CASE WHEN c < 40 THEN 'north' WHEN c < 70 THEN 'south' WHEN c < 92 THEN 'east'
            ELSE 'west' END AS clinic,
       hash(i, 'urgent') % 100 < 18 AS urgent,
       (hash(i, 'age') % 60 + hash(i, 'older') % 40)::BIGINT AS age,
       (20 + (hash(i, 'cost') % 800) / 2.0 * (hash(i, 'dear') % 100) / 100.0)::DOUBLE AS cost,
       DATE '2025-01-01' + (hash(i, 'day') % 365)::INTEGER AS visited,
       CASE hash(i, 'why') % 5 WHEN 0 THEN 'asthma' WHEN 1 THEN 'diabetes' WHEN 2 THEN 'injury'
            WHEN 3 THEN 'infection' ELSE 'check-up' END AS diagnosis
FROM (SELECT i, hash(i, 'clinic') % 100 AS c FROM range({VISITS}) AS rows(i))"""


def make_clinic(folder: Path) -> None:
    """Write the clinic's declaration and its made-up visits into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
    target = str(folder / "visits.parquet").replace("'", "''")
    with optional.load("duckdb").connect(":memory:") as connection:
        connection.execute(f"COPY ({_ROWS}) TO '{target}' (FORMAT parquet)")
