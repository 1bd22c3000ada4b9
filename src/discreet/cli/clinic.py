"""The demo's clinic: a small project made on the spot, with people who do not exist."""

from pathlib import Path

from discreet.core import optional

DECLARATION = """\
# The people, and the most that may ever be told about one of them.
[id_spaces.patients]
unit = "a patient"
budget = { epsilon = 3, delta = 1e-6 }

# Tables: where they are, whose rows they are, and how much of one patient may count.
[tables.patients]
source = "patients.parquet"
id_space = "patients"
unit = "patient_id"
rows_per_group = 1
groups_per_unit = 1
most_rows_per_unit = 1

# Only what is declared can be asked about. A sum needs a range, a group needs public keys
# (or enough people in it).
[tables.patients.columns]
patient_id = { type = "integer" }
born = { type = "integer", min = 1910, max = 2025 }
sex = { type = "text", keys = ["female", "male"] }
weight = { type = "real", min = 0, max = 200, step = 0.1 }
smoker = { type = "boolean" }
district = { type = "integer" }
occupation = { type = "text" }

[tables.visits]
source = "visits.parquet"
id_space = "patients"
unit = "patient_id"
rows_per_group = 2
groups_per_unit = 3
most_rows_per_unit = 20

[tables.visits.columns]
patient_id = { type = "integer" }
clinic = { type = "text", keys = ["north", "south", "east", "west", "harbour"] }
urgent = { type = "boolean" }
age = { type = "integer", min = 0, max = 110 }
cost = { type = "real", min = 0, max = 500, step = 0.5 }
waited = { type = "integer", min = 0, max = 240 }
visited = { type = "date", min = 2025-01-01, max = 2025-12-31 }
diagnosis = { type = "text" }

# What everybody may know costs nothing, and its values are public keys.
[public_tables.districts]
source = "districts.csv"

[public_tables.districts.columns]
district = { type = "integer" }
name = { type = "text" }
region = { type = "text" }
population = { type = "integer" }
"""

PATIENTS = 20_000
VISITS = 100_000
MOST_VISITS = 20
"""No patient has more visits than this."""

# What there is to find: waits are long in the west; asthma comes in spring and to smokers,
# infections in winter; old people come more often and cost more; some patients never come; the
# harbour's clinic is not open yet. Every throw of a die is a hash of its name and the row's number,
# so the clinic is the same every time.
_DIE = "CREATE MACRO die(row, name, faces) AS (hash(name || row) % faces)::INTEGER"

_PATIENTS = f"""
SELECT i AS patient_id,
       (2025 - age)::BIGINT AS born,
       CASE WHEN die(i, 'sex', 100) < 52 THEN 'female' ELSE 'male' END AS sex,
       CASE WHEN age >= 3 AND die(i, 'weighed', 20) > 0
            THEN 8 + 3 * least(age, 18) + (die(i, 'light', 200) + die(i, 'heavy', 250)) / 10.0 END
         ::DOUBLE AS weight,
       age >= 16 AND die(i, 'smoker', 100) < 27 - age // 5 AS smoker,
       (12 - floor(sqrt(die(i, 'home', 144))))::BIGINT AS district,
       CASE WHEN job = 0 AND age >= 25 THEN 'lighthouse keeper ' || (die(i, 'rock', 100) + 1)
            WHEN age < 6 THEN 'none' WHEN age < 22 THEN 'student' WHEN age >= 66 THEN 'retired'
            WHEN job < 34 THEN 'office' WHEN job < 60 THEN 'trade' WHEN job < 82 THEN 'care'
            WHEN job < 94 THEN 'none' ELSE 'farming' END AS occupation
FROM (SELECT i, die(i, 'job', 100) AS job, die(i, 'age', 58) + die(i, 'older', 38) AS age
      FROM range({PATIENTS}) AS rows(i))"""

_COMINGS = f"""
SELECT patient_id, patient_id * {MOST_VISITS} + k AS i, 2025 - born AS age, smoker, district,
       DATE '2025-01-01' + die(i, 'day', 365) AS visited, die(i, 'urgent', 100) < 16 AS urgent
FROM patients, range({MOST_VISITS}) AS times(k)
WHERE die(patient_id, 'never', 8) > 0
  AND die(i, 'comes', 1000) < 200 + 2 * age + 70 * smoker::INTEGER
ORDER BY hash(i)
LIMIT {VISITS}"""

_REASONS = """
SELECT *, die(i, 'reason', 100) AS reason,
       CASE WHEN die(i, 'odd', 2000) = 0 THEN 'rare disease ' || (die(i, 'rare', 40) + 1)
            WHEN reason < 8 + 10 * smoker::INTEGER + 8 * (month(visited) IN (4, 5))::INTEGER
              THEN 'asthma'
            WHEN reason < 36 + 12 * (month(visited) IN (1, 2, 12))::INTEGER THEN 'infection'
            WHEN reason < 54 THEN 'injury'
            WHEN reason < 66 AND age >= 40 THEN 'diabetes'
            WHEN reason < 76 AND age >= 55 THEN 'heart' ELSE 'check-up' END AS diagnosis,
       CASE WHEN district > 10 OR die(i, 'far', 4) = 0
            THEN ['north', 'south', 'east', 'west'][die(i, 'where', 4) + 1]
            ELSE ['north', 'south', 'east', 'north', 'south', 'west', 'east', 'north', 'west',
                  'south'][district] END AS clinic
FROM comings"""

_VISITS = """
SELECT patient_id, clinic, urgent, age::BIGINT AS age,
       round(price * (60 + die(i, 'cost', 80) + age // 3 + 30 * urgent::INTEGER) / 50.0) / 2.0
         AS cost,
       ((CASE WHEN die(i, 'night', 400) = 0 THEN 250 + die(i, 'dawn', 300)
              ELSE die(i, 'wait', 30) + die(i, 'slow', queue) END) // (1 + urgent::INTEGER))::BIGINT
         AS waited,
       visited, diagnosis
FROM (SELECT *, CASE clinic WHEN 'west' THEN 120 WHEN 'south' THEN 55 ELSE 35 END AS queue,
             CASE diagnosis WHEN 'check-up' THEN 25 WHEN 'infection' THEN 40 WHEN 'injury' THEN 90
                  WHEN 'asthma' THEN 70 WHEN 'diabetes' THEN 110 WHEN 'heart' THEN 180 ELSE 200 END
               AS price
      FROM reasons)"""

_DISTRICTS = """
SELECT i + 1 AS district,
       ['Old Town', 'Harbour', 'Hill', 'Mill', 'Park', 'Station', 'Lake', 'Forest', 'Meadow',
        'Bridge', 'Quarry', 'Airfield'][i + 1] AS name,
       CASE WHEN i < 4 THEN 'centre' WHEN i < 9 THEN 'suburbs' ELSE 'country' END AS region,
       40000 - 3000 * i AS population
FROM range(12) AS rows(i)"""

_STEPS = {
    "patients": _PATIENTS,
    "comings": _COMINGS,
    "reasons": _REASONS,
    "visits": _VISITS,
    "districts": _DISTRICTS,
}


def make_clinic(folder: Path) -> None:
    """Write the clinic's declaration, its made-up patients and visits, and the public districts."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "discreet.toml").write_text(DECLARATION, encoding="utf-8")
    with optional.load("duckdb").connect(":memory:") as connection:
        connection.execute(_DIE)
        for name, sql in _STEPS.items():
            connection.execute(f"CREATE TABLE {name} AS {sql}")
        for name in ("patients", "visits"):
            connection.execute(f"COPY {name} TO '{_quoted(folder, name)}.parquet' (FORMAT parquet)")
        connection.execute(f"COPY districts TO '{_quoted(folder, 'districts')}.csv' (HEADER)")


def _quoted(folder: Path, name: str) -> str:
    return str(folder / name).replace("'", "''")
