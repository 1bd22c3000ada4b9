"""Print what one bounded answer takes: ``python bounded_time.py WHO ROWS seconds|mebibytes``.

The question is always the same: a count and an average of each of a thousand groups, from a Parquet
file of so many made-up rows, ten to a person on average and a few thousand to the busiest. At most
2 rows of a person count in a group, and at most 5 groups. The file is written once, by us, and all
read the same. Reading it is part of an answer; importing a library is not. Seconds are the least of
several trials. Memory is the peak of the process, with the library in it, after one answer.

``discreet`` opens a new project and asks. ``opendp`` keeps 10 rows of a person instead, because its
sample of groups raises an error; its search for a scale is part of an answer. The others are
written by hand, add no noise and check nothing; ``duckdb_unbounded`` keeps every row too. Only the
standard library and the library itself are used, because this runs in the environments of peers.
"""

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

TRIALS = 3
GROUPS = 1_000
ROWS_PER_PERSON = 10
ROWS_PER_GROUP = 2
GROUPS_PER_PERSON = 5
LARGEST = 1_000

FILES = Path(__file__).resolve().parents[2] / ".bench"

FACTS = """\
SELECT CAST(floor({people} * pow(low / 18446744073709551616.0, 1.854)) AS BIGINT)
         * 387420489 % {people} AS person,
       CAST(high % {groups} AS BIGINT) AS part,
       CAST((high >> 32) % ({largest} + 1) AS BIGINT) AS size
FROM (SELECT md5_number_lower(text) AS low, md5_number_upper(text) AS high
      FROM (SELECT CAST(i AS VARCHAR) AS text FROM range({rows}) AS numbers(i)))
"""
"""Rows from hashes of their numbers. The exponent makes the tail: of ten million rows the busiest
person has about 5,800, and most have fewer than ten. The factor scatters the busy ones."""

DECLARATION = """\
[id_spaces.people]
unit = "a person"
budget = {{ epsilon = 1 }}

[tables.facts]
source = "{file}"
id_space = "people"
unit = "person"
rows_per_group = {rows_per_group}
groups_per_unit = {groups_per_person}

[tables.facts.columns]
person = {{ type = "integer", nullable = false }}
part = {{ type = "integer", nullable = false, keys = {keys} }}
size = {{ type = "integer", nullable = false, min = 0, max = {largest} }}
"""

DUCKDB_WINDOWS = """\
SELECT part, count(*) AS n, avg(size) AS mean
FROM (SELECT part, size,
        dense_rank() OVER (PARTITION BY person ORDER BY hash(person, part)) AS standing,
        row_number() OVER (PARTITION BY person, part ORDER BY hash(person, part, size)) AS place
      FROM '{file}')
WHERE standing <= {groups_per_person} AND place <= {rows_per_group}
GROUP BY part
"""

DUCKDB_LISTS = """\
WITH groups AS (
  SELECT person, part, min_by(size, hash(person, part, size), {rows_per_group}) AS sizes
  FROM '{file}' GROUP BY person, part),
people AS (
  SELECT min_by({{part: part, sizes: sizes}}, hash(person, part), {groups_per_person}) AS kept
  FROM groups GROUP BY person),
pairs AS (SELECT unnest(kept, max_depth := 2) FROM people)
SELECT part, count(*) AS n, avg(size) AS mean
FROM (SELECT part, unnest(sizes) AS size FROM pairs)
GROUP BY part
"""

DUCKDB_UNBOUNDED = """\
SELECT part, count(*) AS n, avg(size) AS mean FROM '{file}' GROUP BY part
"""

Rows = Sequence[tuple[Any, ...]]


def discreet(file: Path) -> Rows:
    """Declare a project, open it and ask once."""
    declaration = DECLARATION.format(
        file=file,
        keys=list(range(GROUPS)),
        rows_per_group=ROWS_PER_GROUP,
        groups_per_person=GROUPS_PER_PERSON,
        largest=LARGEST,
    )
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "discreet.toml"
        path.write_text(declaration, encoding="utf-8")
        with import_module("discreet").connect(path) as connection:
            sql = "SELECT part, COUNT(*) AS n, AVG(size) AS mean FROM facts GROUP BY part"
            rows: Rows = connection.sql(sql, epsilon=1).rows
            return rows


def opendp(file: Path) -> Rows:
    """Ask OpenDP, with public keys."""
    dp, pl = import_module("opendp.prelude"), import_module("polars")
    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=pl.scan_parquet(file),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["part"], max_length=100_000)],
    )
    kept = context.query().truncate_per_group(ROWS_PER_GROUP * GROUPS_PER_PERSON)
    mean = pl.col("size").dp.mean((0, LARGEST))
    keys = pl.LazyFrame({"part": range(GROUPS)}, schema={"part": pl.Int64})
    query = kept.group_by("part").agg(dp.len(), mean).with_keys(keys)
    rows: Rows = query.release().collect().rows()
    return rows


def polars_windows(file: Path) -> Rows:
    """Rank the groups of a person and the rows in a group, over windows."""
    pl = import_module("polars")
    standing = pl.col("group_order").rank("dense").over("person")
    place = pl.col("row_order").rank("ordinal").over("person", "part")
    frame = pl.scan_parquet(file).with_columns(
        group_order=pl.struct("person", "part").hash(),
        row_order=pl.struct("person", "part", "size").hash(),
    )
    kept = frame.filter(standing <= GROUPS_PER_PERSON).filter(place <= ROWS_PER_GROUP)
    return _by_part(pl, kept)


def polars_lists(file: Path) -> Rows:
    """Make a list of the first rows in a group, then a list of the groups of a person."""
    pl = import_module("polars")
    groups = (
        pl.scan_parquet(file).group_by("person", "part").agg(pl.col("size").head(ROWS_PER_GROUP))
    )
    people = (
        groups.with_columns(order=pl.struct("person", "part").hash())
        .group_by("person")
        .agg(pl.col("part", "size").sort_by("order").head(GROUPS_PER_PERSON))
    )
    return _by_part(pl, people.explode("part", "size").explode("size"))


def _by_part(pl: Any, frame: Any) -> Rows:
    rows: Rows = frame.group_by("part").agg(pl.len(), pl.col("size").mean()).collect().rows()
    return rows


def duckdb_windows(file: Path) -> Rows:
    """Rank the groups of a person and the rows in a group, over windows."""
    return _duckdb(DUCKDB_WINDOWS, file)


def duckdb_lists(file: Path) -> Rows:
    """Make a list of the rows in a group, then a list of the groups of a person."""
    return _duckdb(DUCKDB_LISTS, file)


def duckdb_unbounded(file: Path) -> Rows:
    """Keep all rows."""
    return _duckdb(DUCKDB_UNBOUNDED, file)


def _duckdb(sql: str, file: Path) -> Rows:
    limits = {"rows_per_group": ROWS_PER_GROUP, "groups_per_person": GROUPS_PER_PERSON}
    with _database() as database:
        rows: Rows = database.execute(sql.format(file=file, **limits)).fetchall()
        return rows


def _database() -> Any:
    """Open a database that shows no progress, which would be printed among the results."""
    database = import_module("duckdb").connect()
    database.execute("SET enable_progress_bar = false")
    return database


PARTICIPANTS: dict[str, Callable[[Path], Rows]] = {
    "discreet": discreet,
    "duckdb_lists": duckdb_lists,
    "duckdb_unbounded": duckdb_unbounded,
    "duckdb_windows": duckdb_windows,
    "opendp": opendp,
    "polars_lists": polars_lists,
    "polars_windows": polars_windows,
}


def file_of(rows: int) -> Path:
    """Return the file; write it if need be, in another process, whose memory is not ours."""
    fingerprint = hashlib.sha256(facts(rows).encode()).hexdigest()[:8]
    file = FILES / f"bounded_{rows}_{fingerprint}.parquet"
    if not file.exists():
        subprocess.run([sys.executable, __file__, "file", str(rows), str(file)], check=True)
    return file


def facts(rows: int) -> str:
    """Return the query that makes the rows."""
    people = rows // ROWS_PER_PERSON
    return FACTS.format(rows=rows, people=people, groups=GROUPS, largest=LARGEST)


def write_file(rows: int, file: Path) -> None:
    """Write the rows; the file has its name when it is whole."""
    file.parent.mkdir(exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}")
    with _database() as database:
        database.execute(f"COPY ({facts(rows)}) TO '{unfinished}' (FORMAT parquet)")
    unfinished.rename(file)


def measured(who: str, rows: int, kind: str) -> float:
    """Return the least seconds of several answers, or the peak of memory after one."""
    file, seconds = file_of(rows), []
    for _ in range(TRIALS if kind == "seconds" else 1):
        start = time.perf_counter()
        answer = PARTICIPANTS[who](file)
        seconds.append(time.perf_counter() - start)
        if len(answer) != GROUPS:
            raise RuntimeError(f"{who} returned {len(answer)} groups, not {GROUPS}")
    if kind == "seconds":
        return min(seconds)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    first, rows_text, last = sys.argv[1:]
    if first == "file":
        write_file(int(rows_text), Path(last))
    else:
        print(json.dumps({last: measured(first, int(rows_text), last)}))
