"""A school that publishes exact numbers: its rows, its declaration, and a law for tests."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.core.numbers import exact, written
from discreet.noiseless.certifiable import (
    BreakingPoint,
    Certifiable,
    NoiseInstead,
    PrivacyTarget,
    Way,
)
from discreet.noiseless.exact import publish_exact
from discreet.noiseless.exact.exact_plan import ExactPlan
from discreet.noiseless.exact.exact_statistics import statistic_of

ROWS = 60
CAMPUSES = ("north", "south", "east")
GRADES = ("a", "b", "c")

SCHOOL = """\
[id_spaces.students]
unit = "a student"
budget = {{ epsilon = 3 }}

[tables.exams]
source = "exams.csv"
id_space = "students"
unit = "student"
rows_per_group = 1
groups_per_unit = 1
[tables.exams.columns]
student = {{ type = "integer" }}
score = {{ type = "real", min = 0, max = 100, step = 0.5 }}
hours = {{ type = "integer", min = 0, max = 40 }}
passed = {{ type = "boolean" }}
grade = {{ type = "text", keys = ["a", "b", "c"] }}
campus = {{ type = "text", keys = ["north", "south", "east"] }}

{exact}
"""

ASSURANCE = 'assurance = "The law is from the report of last year, before the exams."'


def release(name: str, statistic: Any = "sum", columns: Any = '["score"]', **more: Any) -> str:
    """Return the declaration of an exact release."""
    settings = {
        "table": '"exams"',
        "statistic": f'"{statistic}"',
        "columns": columns,
        "rows": ROWS,
        "epsilon": "0.5",
        "delta": "1e-6",
        "law": '{ kind = "stated", delta = 1e-7 }',
    } | more
    body = "\n".join(f"{key} = {value}" for key, value in settings.items())
    return f"[exact.{name}]\n{body}\n{ASSURANCE}\n"


def rows(count: int = ROWS) -> list[list[Any]]:
    """Return made-up exams: some outside the range, off the grid, or missing."""
    found: list[list[Any]] = []
    for student in range(count):
        score: Any = (student * 37) % 113 - 5 + (student % 4) / 5
        found.append(
            [
                student,
                "" if student % 11 == 3 else score,
                (student * 7) % 43,
                student % 3 == 0,
                GRADES[student % 5 % 3],
                CAMPUSES[student % 3],
            ]
        )
    return found


HEADINGS = "student,score,hours,passed,grade,campus"


def write_rows(folder: Path, found: list[list[Any]]) -> None:
    """Write rows where the declaration has them."""
    lines = [HEADINGS, *(",".join(map(str, row)) for row in found)]
    (folder / "exams.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_school(folder: Path, *releases: str, count: int = ROWS) -> Path:
    """Write a project that allows these exact releases."""
    write_rows(folder, rows(count))
    declare(folder, *releases)
    return folder


def declare(folder: Path, *releases: str) -> None:
    """Write the declaration alone."""
    text = SCHOOL.format(exact="\n".join(releases))
    (folder / "discreet.toml").write_text(text, encoding="utf-8")


@frozen
class Stated:
    """A statistic whose δ is whatever the declared law says: for tests of the gate alone."""

    plan: ExactPlan

    @property
    def statistic(self) -> str:
        return f"the {self.plan.declared.kind.value} of {self.plan.table.name}"

    @property
    def simulator(self) -> str:
        return "the same with the middle in place of one row"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return ("Rows are independent",)

    def deltas(self, epsilon: Fraction) -> Mapping[Way, Fraction]:
        return {Way.TIGHT: exact(self.plan.declared.law["delta"])}

    def breaking_points(self, target: PrivacyTarget) -> tuple[BreakingPoint, ...]:
        return (BreakingPoint("rows", Fraction(10), "With fewer nothing is hidden"),)

    def noise_instead(self, target: PrivacyTarget) -> NoiseInstead | None:
        return None

    def to_json(self) -> dict[str, Any]:
        return {"delta": written(exact(self.plan.declared.law["delta"]))}


def stated_or_real(plan: ExactPlan) -> Certifiable:
    """Return what is certified of a plan, laws of kind "stated" included."""
    law = plan.declared.law
    is_stated = isinstance(law, dict) and law.get("kind") == "stated"
    return Stated(plan) if is_stated else statistic_of(plan)


def know_stated_law() -> None:
    """Let declarations have laws of kind "stated", in a process of its own."""
    vars(publish_exact)["statistic_of"] = stated_or_real
