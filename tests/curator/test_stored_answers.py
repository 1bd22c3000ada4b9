"""Stored answers: listed for everybody, opened as they were asked, for nothing."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import discreet
from discreet.cli.answer_file import shown
from discreet.cli.main import main
from discreet.core.errors import InvalidArgument
from tests.support.projects.clinic import visit, write_project

ROWS = [visit(f"p{i % 30}", "abcd"[i % 4], age=i % 90, note="rare") for i in range(120)]
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "groups": ("SELECT clinic, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY clinic", {}),
    "arithmetic": (
        "SELECT 2 * COUNT(*) AS twice FROM visits WHERE urgent = FALSE HAVING COUNT(*) > -100",
        {},
    ),
    "limits": ("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1", {"rows_per_group": 1}),
    "over all": ("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1", {"rows_per_unit": 2}),
    "chosen": ("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1", {"limits": "auto"}),
    "private keys": (
        "SELECT note AS what, COUNT(DISTINCT person) AS people FROM visits GROUP BY note",
        {"delta": "1e-6"},
    ),
    "accuracy": (
        "SELECT COUNT(*) AS n FROM visits",
        {"epsilon": None, "accuracy": discreet.Accuracy(within=40)},
    ),
    "quantile": ("SELECT MEDIAN(age) AS half FROM visits", {}),
    "ordered": ("SELECT clinic, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY n DESC LIMIT 2", {}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_project(tmp_path, ROWS, epsilon="100, delta = 1e-4")


@pytest.mark.parametrize("kind", QUESTIONS)
def test_an_answer_is_opened_as_it_was_asked(folder, kind):
    sql, options = QUESTIONS[kind]
    with discreet.connect(folder, analyst="ana") as asker:
        first = asker.sql(sql, **({"epsilon": 1} | options))
    with discreet.connect(folder, analyst="bob") as other:
        spent, entries = other.budget()[0].spent, len(other.history())
        (stored,) = other.releases()
        again = stored.open()
        assert (stored.sql, stored.analyst, stored.cost) == (sql, "ana", first.cost)
        assert stored.is_current
        assert stored.columns == again.columns == first.columns
        assert again.rows == first.rows
        assert again.view == first.view
        assert again == evolve(first, is_stored=True)
        assert again.card() == first.card()
        # Nothing is charged or written for it.
        assert (other.budget()[0].spent, len(other.history())) == (spent, entries)


def test_each_of_a_batch_is_opened(folder):
    questions = [QUESTIONS["groups"][0], "SELECT COUNT(*) AS n FROM visits"]
    with discreet.connect(folder) as asker:
        asked = asker.batch(questions, epsilon=1, delta="1e-7")
        stored = asker.releases()
        assert [one.number for one in stored] == ["3", "3.2"]
        assert [one.sql for one in stored] == questions
        assert [one.open() for one in stored] == [evolve(one, is_stored=True) for one in asked]
        # A text that cannot be taken apart is shown whole, and its numbers by what they are.
        odd = ["SELECT COUNT(*) AS n FROM visits WHERE note = 'a; b'", questions[1]]
        asker.batch(odd, epsilon=1, delta="1e-7")
        one, other = asker.releases()[2:]
        assert one.sql == other.sql == "; ".join(odd)
        assert other.columns == ("COUNT(*)",)


def test_an_answer_about_replaced_data_says_so(folder):
    sql = QUESTIONS["groups"][0]
    with discreet.own(folder) as owner, owner.connect(epsilon=1) as asker:
        first = asker.sql(sql)
        owner.profile("visits", epsilon=1)
        owner.data_changed("people")
        asker.sql(sql)
        owner.profile("visits", epsilon=1)
        old, profile, new, _ = asker.releases()
        assert (old.is_current, profile.is_current, new.is_current) == (False, False, True)
        opened = old.open()
        assert opened.rows == first.rows
        assert any("version 1, which were replaced" in note for note in opened.notes())
        assert "version 1, replaced since" in str(asker.releases())


def test_a_question_that_means_something_else_now_is_shown_by_its_numbers(folder):
    sql = QUESTIONS["groups"][0]
    with discreet.connect(folder, epsilon=1) as asker:
        asker.sql(sql)
    file = folder / "discreet.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub("max = 100 }", "max = 90 }", text), encoding="utf-8")
    with discreet.connect(folder) as asker:
        (stored,) = asker.releases()
        assert {"clinic", "COUNT(*)"} < set(stored.columns)
    file.write_text(text.replace("clinic =", "place ="), encoding="utf-8")
    with discreet.connect(folder) as asker:
        assert {"clinic", "COUNT(*)"} < set(asker.releases()[0].columns)


def test_long_questions_and_profiles(folder):
    long = f"SELECT COUNT(*) AS n FROM visits WHERE {' OR '.join(['age > 3'] * 300)}"
    with discreet.own(folder) as owner, owner.connect(epsilon=1) as asker:
        owner.profile("visits", epsilon=1)
        asker.sql(long)
        profile, stored = asker.releases()
        assert profile.sql.startswith("profile of visits")
        assert stored.sql.endswith(" ...")
        assert stored.columns[0].startswith("COUNT(*)")
        asker.batch([long, "SELECT COUNT(*) AS n FROM visits"], epsilon=1, delta="1e-7")
        assert [len(one.columns) for one in asker.releases()] == [0, 1, 1, 1]


def test_they_are_listed(folder):
    with discreet.connect(folder, epsilon=1) as asker:
        assert asker.releases() == ()
        for age in (1, 2, 3):
            asker.sql(f"SELECT COUNT(*) AS n FROM visits WHERE age > {age}")
        listed = asker.releases()
        assert len(listed) == 3
        assert asker.releases(last=1) == listed[2:]
        assert asker.releases(last=0) == ()
        assert asker.releases(last=99) == listed
        assert asker.releases(listed[1].ticket) == listed[1:2]
        page = listed._repr_html_()
        assert page.count("<tr>") == 4
        assert "age &gt; 3" in page
        for wrong in ({"ticket": 1}, {"ticket": 99}, {"ticket": -1}, {"last": -1}):
            with pytest.raises(InvalidArgument):
                asker.releases(**wrong)


def test_the_command_lists_and_shows_them(folder, capsys):
    with discreet.connect(folder, epsilon=1) as asker:
        release = asker.sql(QUESTIONS["groups"][0])
        asker.batch(["SELECT COUNT(*) AS n FROM visits"] * 2, epsilon=1, delta="1e-7")
    project = ["--project", str(folder)]
    assert main(["releases", *project]) == 0
    text = capsys.readouterr().out
    assert "clinic, n, mean" in text
    assert main(["releases", "--json", *project]) == 0
    assert [one["ticket"] for one in json.loads(capsys.readouterr().out)] == [3, 5, 5]
    assert main(["releases", "show", "3", *project]) == 0
    assert shown(evolve(release, is_stored=True)) in capsys.readouterr().out
    assert main(["releases", "show", "5.2", "--json", *project]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1
    for wrong in (["show"], ["show", "x"], ["show", "4"], ["show", "5.3"], ["--last", "0"]):
        assert main(["releases", *wrong, *project]) == 2
