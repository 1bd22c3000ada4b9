"""A declaration that uses every setting, and ways to write and change it."""

from pathlib import Path

from discreet.tables.catalog import Catalog, Table
from discreet.tables.declarations.declaration import parse_catalog

GOOD = """\
[ledger]
path = "books.sqlite"

[default]
epsilon = 0.5

[id_spaces.people]
unit = "a person"
budget = { epsilon = 3 }

[id_spaces.days]
unit = "a day of a person"
budget = { rho = 0.5, delta = 1e-6 }

[id_spaces.calls]
unit = "a call"
budget = { epsilon = 2, delta = 1e-9 }

[tables.visits]
source = "visits.csv"
id_space = "people"
unit = "person"
rows_per_group = 2
groups_per_unit = 3
most_rows = 10_000_000

[tables.visits.columns]
person = { type = "text", nullable = false }
clinic = { type = "text", keys = [
    "a",
    "b", "c",
] }
urgent = { type = "boolean" }
age = { type = "integer", min = 0, max = 100 }
cost = { type = "real", min = 0, max = 10, step = 0.25 }
day = { type = "date", min = 2025-01-01, max = 2025-12-31 }
note = { type = "text" }

[tables.steps]
source = "steps/*.parquet"
id_space = "days"
unit = { column = "Person", period = "day", date = "walked" }
rows_per_group = 24
groups_per_unit = 1
[tables.steps.columns]
person = { type = "integer" }
walked = { type = "date" }
count.type = "integer"
count.min = 0
count.max = 50_000

[tables.calls]
source = "switch.duckdb"
source_table = "main.calls"
id_space = "calls"
unit = { each_row = true }
columns = { minutes = { type = "real", min = 0, max = 60, step = 0.5 } }

[public_tables.districts]
source = "districts.feather"
[public_tables.districts.columns]
clinic = { type = "text", keys = ["a"] }
people = { type = "integer", min = 0, max = 1000 }

[analysts.kim]
allocations.people = { epsilon = 1 }
allocations.days = { rho = 0.1, delta = 1e-7 }

[analysts."lou@example.org"]
allocations.people = { epsilon = 2.5 }
"""


def parsed(text: str = GOOD, folder: Path = Path("/data")) -> Catalog:
    """Return the catalogue that ``text`` declares in ``folder``; no file is needed."""
    return parse_catalog(text, folder / "discreet.toml")


def changed(old: str, new: str, text: str = GOOD) -> str:
    """Return the text with ``old``, which must be there, replaced once."""
    assert old in text
    return text.replace(old, new, 1)


def private(name: str, text: str = GOOD) -> Table:
    """Return a private table that ``text`` declares."""
    table = parsed(text).table(name)
    assert isinstance(table, Table)
    return table
