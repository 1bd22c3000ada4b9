"""The cookbook: questions to the demo's clinic, asked anew whenever its page is written.

The questions stand in ``how-to/cookbook.toml``, with the plain SQL for their truth. ``python -m
docs._ext.cookbook`` (or ``make cookbook``) asks them and writes ``how-to/cookbook.md``. The tests
ask them again, through the same functions.
"""

import re
import tempfile
import textwrap
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import duckdb
from attrs import field, frozen

from discreet.cli.clinic import DECLARATION, make_clinic
from discreet.core.errors import DiscreetError
from discreet.releases.release import Release
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import own

HOW_TO = Path(__file__).resolve().parents[1] / "how-to"
PAGE, QUESTIONS = HOW_TO / "cookbook.md", HOW_TO / "cookbook.toml"

DECLARED, RAISED = "epsilon = 3, delta = 1e-6", "epsilon = 100, delta = 1e-5"

PROFILE = "0.1"
"""What the owner spends on knowing what limits leave out."""

LARGE = 1000
"""From here on a truth is shown in full; below it, with four digits."""

Key = tuple[Any, ...]


def _stripped(text: str) -> str:
    return text.strip()


@frozen(kw_only=True)
class Question:
    """One question of the cookbook, as ``cookbook.toml`` explains."""

    title: str
    sql: str = field(converter=_stripped)
    truth: str
    lesson: str = field(converter=_stripped)
    asked: Mapping[str, Any] = field(factory=dict)
    limited: str | None = None
    ranks: Mapping[str, Any] = field(factory=dict)
    refused: str | None = None
    rewrite: str = field(default="", converter=_stripped)

    def answered(self) -> str:
        """Return the SQL that is answered."""
        return self.rewrite or self.sql


def questions() -> list[Question]:
    """Return the questions in the page's order."""
    return [Question(**entry) for entry in _written()["question"]]


def opening() -> str:
    """Return how the page begins."""
    return _stripped(_written()["opening"])


def _written() -> dict[str, Any]:
    return tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))


def make_project(folder: Path) -> None:
    """Make the clinic, with a budget that is large enough for all questions, and profile it."""
    make_clinic(folder)
    declaration = DECLARATION.replace(DECLARED, RAISED)
    (folder / "discreet.toml").write_text(declaration, encoding="utf-8")
    with own(folder) as owner:
        owner.profile("visits", epsilon=PROFILE, keys=["clinic"])


def plain(folder: Path) -> duckdb.DuckDBPyConnection:
    """Return plain DuckDB over the clinic's files: it knows nothing of privacy."""
    database = duckdb.connect(":memory:")
    for name in ("patients.parquet", "visits.parquet", "districts.csv"):
        database.execute(f"CREATE VIEW {Path(name).stem} AS FROM '{folder / name}'")
    return database


def ask(clinic: Connection, question: Question) -> Release:
    """Return the private answer, to the rewritten question where the first one is refused."""
    release = clinic.sql(question.answered(), **question.asked)
    assert isinstance(release, Release)
    return release


def refusal(clinic: Connection, question: Question) -> DiscreetError:
    """Return the error with which the question is refused."""
    try:
        clinic.sql(question.sql, **question.asked)
    except DiscreetError as error:
        return error
    raise AssertionError(f"{question.title} was answered")


def truth(database: duckdb.DuckDBPyConnection, sql: str, release: Release) -> dict[Key, list[Any]]:
    """Return the noisy columns' true values for each group, by the columns that have no noise."""
    keys, _ = places(release)
    found = {}
    for row in database.execute(sql).fetchall():
        key = tuple(row[i] for i in keys)
        found[key] = [value for i, value in enumerate(row) if i not in keys]
    return found


def places(release: Release) -> tuple[list[int], list[int]]:
    """Return where the columns without noise are, and where those with noise."""
    noisy = [output.is_noisy() for output in release.view.outputs]
    return [i for i, is_noisy in enumerate(noisy) if not is_noisy], [
        i for i, is_noisy in enumerate(noisy) if is_noisy
    ]


def is_total(release: Release, name: str) -> bool:
    """Tell whether a group without rows has the value 0, as counts and sums do."""
    return name in release.errors()


# ---------------------------------------------------------------- the page


def table(release: Release, truths: Mapping[str, Mapping[Key, list[Any]]]) -> list[list[str]]:
    """Return the page's table: keys, then each noisy column privately and with its truths."""
    keys, noisy = places(release)
    columns = [[release.columns[i], *(_key(row[i]) for row in release.rows)] for i in keys]
    groups = [tuple(row[i] for i in keys) for row in release.rows]
    for place, i in enumerate(noisy):
        name = release.columns[i]
        columns.append([f"{name}, private", *_private(release, i)])
        missing = 0 if is_total(release, name) else None
        for label, values in truths.items():
            shown = [_text(values[key][place] if key in values else missing) for key in groups]
            columns.append([f"{name}, {label}", *shown])
    return [list(row) for row in zip(*columns, strict=True)]


def truths(
    database: duckdb.DuckDBPyConnection, question: Question, release: Release
) -> dict[str, dict[Key, list[Any]]]:
    """Return the truth, and what the limits leave of it where they bind, by their labels."""
    limited = {"under the limits": question.limited} if question.limited else {}
    wanted = {**limited, "truth": question.truth}
    return {label: truth(database, sql, release) for label, sql in wanted.items()}


def section(question: Question, rows: list[list[str]], *, number: int, refused: str = "") -> str:
    """Return a question's part of the page."""
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    line = "|" + "|".join("---" if "," not in name else "--:" for name in rows[0]) + "|"
    asked = ", ".join(f"{name}={_argument(value)}" for name, value in question.asked.items())
    return "\n\n".join(
        part
        for part in (
            f"## {number}. {question.title}",
            f"```sql\n{question.sql}\n```",
            _rewritten(question, refused) if refused else "",
            f"Asked with `{asked}`." if asked else "",
            "\n".join([head, line, *body]),
            textwrap.fill(question.lesson, 100, break_long_words=False, break_on_hyphens=False),
        )
        if part
    )


def page() -> str:
    """Ask every question, and return the page."""
    with tempfile.TemporaryDirectory(prefix="discreet-cookbook-") as name:
        folder = Path(name)
        make_project(folder)
        with connect(folder) as clinic, plain(folder) as database:
            parts = []
            for number, question in enumerate(questions(), start=1):
                refused = str(refusal(clinic, question)) if question.refused else ""
                release = ask(clinic, question)
                rows = table(release, truths(database, question, release))
                parts.append(section(question, rows, number=number, refused=refused))
    return "\n\n".join([opening(), *parts]) + "\n"


def _rewritten(question: Question, refused: str) -> str:
    quoted = textwrap.fill(
        refused, 100, initial_indent="> ", subsequent_indent="> ", break_on_hyphens=False
    )
    return f"This is refused:\n\n{quoted}\n\nWhat works:\n\n```sql\n{question.rewrite}\n```"


def _private(release: Release, place: int) -> list[str]:
    """Return a column as readers see it, with its error bars."""
    lines = re.findall(r"<tr>(<td.*?)</tr>", release._repr_html_())
    return [unescape(re.findall(r"<td[^>]*>(.*?)</td>", line)[place]) for line in lines]


def _key(value: Any) -> str:
    return "all" if value is None else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | Decimal):
        number = float(value)
        return f"{number:.10g}" if number >= LARGE else f"{number:.4g}"
    return str(value)


def _argument(value: Any) -> str:
    return f'"{value}"' if " " in str(value) else str(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
