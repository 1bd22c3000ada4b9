"""Where a unit is a person in a month, no sentence takes it for the person."""

import datetime
import re

import pytest

from discreet.core.errors import DiscreetError
from discreet.roles.connection import connect
from discreet.roles.owner import own
from tests.support.projects.clinic import visit, write_project

WHOLE_PERSON = re.compile(r"\b(?:one person|a person|people|persons)\b(?!-)")
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT clinic, COUNT(*) AS n, COUNT(DISTINCT age) AS d FROM visits GROUP BY clinic",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    "SELECT MAX(age) AS a, SUM(CLAMP(cost, 0, 1)) AS s FROM visits",
    "SELECT MODE(clinic) AS m FROM visits",
)
REFUSED = (
    "SELECT person FROM visits",
    "SELECT person, COUNT(*) AS n FROM visits GROUP BY person",
    "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.person = b.person",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Forty people with up to six rows, of which one counts in each month."""
    rows = [
        visit(f"p{i}", "abcd"[j % 4], day=datetime.date(2024, 1 + j // 2, 3), note="x", cost=2.0)
        for i in range(40)
        for j in range(1 + i % 6)
    ]
    made = write_project(
        tmp_path_factory.mktemp("months"),
        rows,
        epsilon="10000, delta = 0.01",
        rows_per_group=1,
        groups_per_unit=1,
    )
    file = made / "discreet.toml"
    month = 'unit = { column = "person", period = "month", date = "day" }'
    file.write_text(file.read_text(encoding="utf-8").replace('unit = "person"', month, 1))
    return made


def untrue(text):
    """Return the lines that speak of whole people; that of which person a unit is one may."""
    lines = [line for line in text.splitlines() if not line.startswith("Protects")]
    return [line for line in lines if WHOLE_PERSON.search(line)]


def test_a_profile_counts_person_months(folder):
    with own(folder) as owner:
        profile = owner.profile("visits", epsilon=100, values=["cost"])
    assert re.match(r"visits: about \d+ person-months \(", str(profile))
    assert not untrue(str(profile))
    assert not untrue(profile._repr_html_())


@pytest.mark.parametrize("sql", QUESTIONS)
def test_answers_and_explanations_speak_of_person_months(folder, sql):
    with connect(folder) as connection:
        explained = connection.explain(sql, epsilon=20, delta="1e-6")
        answered = connection.sql(sql, epsilon=20, delta="1e-6")
        stored = connection.releases()[-1].open()
    said = [f"{name} {text}" for name, text in explained.steps()]
    assert not untrue("\n".join(said))
    assert "person-month" in str(said)
    assert not untrue(str(answered))
    assert not untrue(str(stored))


@pytest.mark.parametrize("sql", REFUSED)
def test_so_do_refusals(folder, sql):
    with connect(folder) as connection, pytest.raises(DiscreetError) as caught:
        connection.sql(sql, epsilon=1)
    assert not untrue(str(caught.value))
