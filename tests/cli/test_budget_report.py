"""The budget in full, and the ledger with times and totals."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.main import main
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.curator.budget.budget_report import MOST_COUNTED, how_many
from tests.cli.test_failures_shown import SHARES, fail, opened
from tests.ledger.orders import order
from tests.support.projects.clinic import visit, write_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "clinic", [visit("p1"), visit("p2", "b")], epsilon="10")


@pytest.fixture
def run(project, capsys):
    def run(*arguments):
        assert main([*arguments, "--project", str(project)]) == 0
        return capsys.readouterr().out

    return run


def charge(project: Path, epsilon: str, analyst: str) -> None:
    ledger = opened(project)
    ledger.commit(ledger.reserve(order(Pure(epsilon), analyst=analyst)), {"n": 1})


def declare(project: Path, text: str) -> None:
    with (project / "discreet.toml").open("a") as file:
        file.write(text)


def test_before_the_first_question_nothing_is_said_about_more(run):
    assert "more questions" not in run("budget")
    (report,) = json.loads(run("budget", "--json"))
    assert report["more_questions"] is None
    assert report["suspended"] == {"everybody": False, "analysts": []}


def test_the_last_few_of_an_analyst_say_how_many_more_there_are(project, run):
    for epsilon in ("7", *["0.2"] * 4, "0.3"):
        charge(project, epsilon, "local")
    told = " ".join(run("budget").split())
    # 10 - 8.1 = 1.9 is left, and the last five cost 0.22 on average.
    assert "About 8 more questions like the last 5 of local (ε = 0.22 on average)" in told
    others = " ".join(run("budget", "--analyst", "eve").split())
    assert "like the last 5 of anybody" in others
    (report,) = json.loads(run("budget", "--json"))
    assert report["more_questions"]["each"]["epsilon"] == "11/50"
    assert report["decimals"]["remaining"] == {"epsilon": 1.9}


def test_everybodys_shares_are_shown_and_who_is_suspended(project, run):
    declare(project, SHARES)
    charge(project, "0.25", "bob")
    fail(project, *["ann"] * 5)
    told = run("budget", "--analyst", "bob")
    assert re.search(r"ann +ε = 0\.05 +ε = 0\.95 +ε = 1\n", told)
    assert re.search(r"bob +ε = 0\.25 +ε = 0\.75 +ε = 1\n", told)
    assert "About 3 more questions like the last one of bob (ε = 0.25)" in told
    assert "Questions about people by ann are suspended, after 5 failed answers" in told
    (report,) = json.loads(run("budget", "--json"))
    assert report["suspended"] == {"everybody": False, "analysts": ["ann"]}
    assert [share["analyst"] for share in report["shares"]] == ["ann", "bob"]


def test_a_suspension_of_everybody_is_said_once(project, run):
    declare(project, f"{SHARES}[gate]\nsuspend_after = 1\nsuspend_all_after = 2\n")
    fail(project, "ann", "bob")
    told = " ".join(run("budget").split())
    assert told.count("are suspended") == 1
    assert "suspended for everybody, after 2 failed answers" in told


def test_the_ledger_shows_times_and_totals(project, run):
    for epsilon in ("1", "0.5"):
        charge(project, epsilon, "local")
    told = run("ledger")
    moment = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"
    assert re.search(rf"{moment} +reserve +local +ε = 0\.5 +ε = 1\.5 ", told)
    assert len(re.findall(moment, told)) == 2, "charges alone have a time"
    assert told.rstrip().endswith("spent of people: ε = 1.5, of ε = 10")


losses = st.fractions(min_value=Fraction(1, 10**6), max_value=3)


@given(each=losses, rest=losses)
def test_so_many_fit_and_not_one_more(each: Fraction, rest: Fraction):
    found = how_many(Pure(each), Pure(rest))
    assert found == min(rest // each, MOST_COUNTED)
    assert how_many(Zcdp(each), Zcdp(rest)) == found
    assert how_many(Approximate(each, 0), Approximate(rest, "1e-6")) == found
    assert how_many(Approximate(each, "0.001"), Approximate(rest, "0.0025")) == min(found, 2)
