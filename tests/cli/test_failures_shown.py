"""Counters of failures and least prices, as the commands show them to the owner and to analysts."""

import json
from pathlib import Path

import pytest

from discreet.cli.main import main
from discreet.core.loss import Pure
from discreet.ledger.ledger import Ledger
from discreet.project.open_ledger import open_ledger
from discreet.tables.declarations.declaration import read_catalog
from tests.ledger.orders import order
from tests.support.projects.clinic import visit, write_project

SHARES = """
[analysts.ann.allocations]
people = { epsilon = 1 }
[analysts.bob.allocations]
people = { epsilon = 1 }
"""
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = write_project(tmp_path / "clinic", [visit("p1"), visit("p2", "b")], epsilon="10")
    with (folder / "discreet.toml").open("a") as file:
        file.write(SHARES)
    return folder


@pytest.fixture
def run(project, capsys):
    def run(*arguments, code=0):
        assert main([*arguments, "--project", str(project)]) == code
        captured = capsys.readouterr()
        return captured.out if code == 0 or "--json" in arguments else captured.err

    return run


def opened(project: Path) -> Ledger:
    return open_ledger(read_catalog(project))


def fail(project: Path, *analysts: str) -> None:
    ledger = opened(project)
    for analyst in analysts:
        ledger.fail(ledger.reserve(order(Pure("1/100"), analyst=analyst)))


def test_the_ledger_and_the_check_show_each_counter(project, run):
    assert "Failed answers" not in run("check")
    fail(project, "ann", "bob", "ann", *["ann"] * 3)
    shown = run("ledger")
    assert "failure 1 of people (1 by ann)" in shown
    assert "failure 6 of people (5 by ann)" in shown
    told = " ".join(run("check").split())
    assert "since it was last resumed, of ann: 5 of 5, so they are suspended." in told
    assert "since it was last resumed, of bob: 1 of 5." in told


def test_the_check_says_that_everybody_is_suspended(project, run):
    with (project / "discreet.toml").open("a") as file:
        file.write("[gate]\nsuspend_after = 1\nsuspend_all_after = 2\n")
    fail(project, "ann", "bob")
    told = " ".join(run("check").split())
    assert "Questions about people are suspended for everybody after 2 failed answers" in told
    asked = ("query", COUNT, "--epsilon", "0.5", "--analyst", "ann", "--json")
    error = json.loads(run(*asked, code=4))["error"]
    assert (error["code"], "whoever asks" in error["what"]) == ("suspended", True)


def test_one_counter_is_resumed(project, run):
    fail(project, "bob", *["ann"] * 5)
    asked = ("query", COUNT, "--epsilon", "0.1", "--fresh", "--json", "--analyst")
    run(*asked, "bob")
    assert "resume people --analyst ann" in run(*asked, "ann", code=4)
    said = run("resume", "people", "--analyst", "ann")
    assert said == (
        "Questions about people may be asked again by ann; failed answers until now: 5. What was "
        "spent stays spent\n"
    )
    run(*asked, "ann")
    assert opened(project).failures("people") == 1
    assert "by ann: 1 failures are left" in run("ledger")
    assert json.loads(run("resume", "people", "--json")) == {
        "id_space": "people",
        "analyst": None,
        "failures": 1,
    }
    run("ledger", "--verify")


def test_a_price_that_is_too_low_is_named_before_anything_is_spent(project, run):
    asked = (COUNT, "--epsilon", "0.0009", "--analyst", "ann")
    told = " ".join(run("explain", *asked).split())
    assert "ε = 0.0009, which is too little: a question costs at least ε = 0.001" in told
    data = json.loads(run("explain", *asked, "--json"))
    assert (data["affordable"], data["least_price"]) == (False, "1/1000")
    error = json.loads(run("query", *asked, "--json", code=4))["error"]
    assert (error["code"], error["must"]) == ("below_least_price", "cost at least ε = 0.001")
    assert opened(project).spent("people") == Pure(0)
    assert "price: a question costs at least ε = 0.001" in run("check")


def test_a_stored_answer_is_free_whatever_the_least_price_is_now(project, run):
    asked = ("query", COUNT, "--epsilon", "0.1", "--analyst", "ann", "--json")
    first = json.loads(run(*asked))
    text = (project / "discreet.toml").read_text()
    price = "budget = { epsilon = 10 }"
    assert price in text
    declared = text.replace(price, f"{price}\nleast_price = {{ epsilon = 0.6 }}")
    (project / "discreet.toml").write_text(declared)
    assert json.loads(run(*asked))["rows"] == first["rows"]
    error = json.loads(run(*asked, "--fresh", code=4))["error"]
    assert error["code"] == "below_least_price"


def test_a_rehearsal_keeps_the_declared_price(project, run):
    run("rehearse", COUNT, "--epsilon", "0.5")
    error = json.loads(run("rehearse", COUNT, "--epsilon", "0.0001", "--json", code=4))["error"]
    assert error["code"] == "below_least_price"
