"""The command that asks about a population: explain, ask, go on, and show again."""

import json
from pathlib import Path

import pytest

from discreet.cli.main import main
from tests.support.projects.clinic import visit, write_project

BASE = ("holdout", "visits", "--questions", "3", "--epsilon", "1")


@pytest.fixture
def run(tmp_path: Path, capsys):
    rows = [visit(f"p{i}", age=60 if i % 3 == 0 else 30) for i in range(2_000)]
    project = write_project(tmp_path / "clinic", rows, epsilon="5")

    def run(*words, code=0):
        assert main([*words, "--project", str(project)]) == code
        return capsys.readouterr()

    return run


def test_a_holdout_is_explained_asked_and_goes_on(run):
    assert "2,000 people" in run(*BASE, "--explain", "2000").out
    told = json.loads(run(*BASE, "--explain", "2000", "--json").out)
    assert told["cost"]["epsilon"] == "1"
    found = json.loads(run(*BASE[:2], "max(age) > 50", "max(age)", "--high", "90", *BASE[2:],
                           "--json").out)  # fmt: skip
    share, age = found["answers"]
    assert share["low"] <= 1 / 3 <= share["high"]
    assert age["low"] <= 40 <= age["high"]
    assert found["left"] == 1
    assert "1 question left" in run(*BASE).out
    again = run(*BASE[:2], "max(age) > 50", "--high", "90", *BASE[2:])
    assert "stored" in again.out
    assert "max(age) > 50" in run("releases").out
    shown = run("releases", "show", str(_ticket(run))).out
    assert "question 1 of 3" in shown
    assert "no profile or answer" in run("releases", "show", str(_ticket(run)), "--card", "x.yaml",
                                         code=2).err  # fmt: skip
    assert "no question" in run(*BASE[:2], "max(age)", *BASE[2:], "--explain", "9", code=2).err


def _ticket(run) -> int:
    found = json.loads(run("releases", "--json").out)
    return next(one["ticket"] for one in found if "max(age) > 50" in one["sql"])


def test_questions_may_stand_behind_the_options(run):
    found = json.loads(run(*BASE, "max(age) > 50", "count(*) > 1", "--json").out)
    assert [one["question"] for one in found["answers"]] == ["max(age) > 50", "count(*) > 1"]
    assert "no option of it" in run(*BASE, "--lower", "3", "max(age)", code=2).err


def test_what_was_paid_for_is_shown_although_a_later_question_is_refused(run):
    """The status says that something was charged; of stored answers nothing is charged."""
    asked = ("max(age) > 50", "min(age) > 50", "max(note)")
    said = run(*BASE, *asked, code=5)
    assert said.out.count("cost: ε") == 2
    assert "1 question left" in said.out
    assert "max(note): A question has a value that is no number" in said.err
    again = run(*BASE, *asked, "--json", code=3)
    found = json.loads(again.out)
    assert [one["stored"] for one in found["answers"]] == [True, True]
    assert found["error"]["code"] == "refused_query"
    assert "no number" in run(*BASE, "max(note)", "max(age)", code=3).err


def test_a_choice_is_made_and_refused_before_anything_is_charged(run):
    """Of the candidates that are asked; the first is true of all, the second of a third."""
    asked = (*BASE[:2], "--choose", "max(age) > 20", "max(age) > 50", *BASE[2:])
    mix = ("--choices", "1", "--candidates", "2")
    assert "no choices" in run(*asked, code=2).err
    assert "at most 2" in run(*asked, "count(*) > 1", *mix, code=2).err
    assert "nothing to choose" in run(*asked[:4], *BASE[2:], *mix, code=2).err
    assert "from 0 to 3" in run(*asked, "--choices", "4", code=2).err
    assert "come with --choose" in run(*BASE, *mix, "--largest", code=2).err
    assert "choices alone" in run(*BASE, "max(age)", "--choices", "3", code=2).err
    assert "not a number" in run(*BASE, "max(age)", "--low", "nan", code=2).err
    assert "range is empty" in run(*BASE, "max(age)", "--high", "-1", code=2).err
    assert "one SQL expression" in run(*BASE, "1) AS x FROM visits; (1", code=2).err
    assert json.loads(run("releases", "--json").out) == []
    explained = run(*BASE, *mix, "--explain", "2000").out
    assert "2 means, 1 choice of 2" in explained
    (least,) = json.loads(run(*asked, *mix, "--json").out)["answers"]
    assert (least["chosen"], least["place"], least["number"]) == ("max(age) > 50", 1, 1)
    assert least["excess"] < 1
    again = run(*asked, *mix).out
    assert "stored" in again
    assert "above the least" in again
    found = json.loads(run("releases", "--json").out)
    ticket = str(found[-1]["ticket"])
    assert "max(age) > 50\nits mean" in run("releases", "show", ticket).out
    assert "no profile or answer" in run("releases", "show", ticket, "--card", "x.yaml", code=2).err
