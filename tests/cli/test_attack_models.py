"""Attacks on the models as commands, and the page about them: private, complete, escaped."""

import io
import json
import stat
import sys
from html import escape
from pathlib import Path

import pytest

from discreet.attacks.models.attack_page import attack_page, read_attack, verdict
from discreet.attacks.models.attempt import CERTAIN, AttackReport, Attempt
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.cli.attack_verbs.attack_verb import MADE_UP, MARK
from discreet.cli.main import main
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, status: int = 0) -> str:
        assert main(["attack", *arguments]) == status
        shown = capsys.readouterr()
        return shown.out if status == 0 else shown.out + shown.err

    return call


SMALL = {
    "questions": ("--rooms", "20", "--times", "2"),
    "survey": ("--devices", "20", "--days", "5"),
    "exact": ("--rows", "60", "--known", "5", "--trials", "40"),
    "synthetic": ("--canaries", "20", "--shadows", "1"),
}


@pytest.mark.parametrize("verb", SMALL)
def test_each_attack_is_marked_written_and_on_the_page(verb, run):
    told = run(verb, *SMALL[verb], "-o", "found.json")
    assert told.startswith("All people of this attack are made up")
    assert "ceiling" in told
    written = json.loads(Path("found.json").read_text())
    assert (written["made_up"], written["attack"]) == (MADE_UP, verb)
    assert "private" not in written
    run("report", "found.json", "--title", "A <b> release", "-o", "page.html")
    page = Path("page.html")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    text = page.read_text()
    assert MARK in text
    assert "A &lt;b&gt; release" in text
    assert 'class="tick"' in text
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_name_that_is_misspelt_in_a_file_is_refused(run):
    totals = {"rows": 3, "totals": [{"of": [0, 1], "total": 4}], "knwon": {"0": 1}}
    Path("totals.json").write_text(json.dumps(totals))
    assert "got knwon" in run("exact", "totals.json", status=2)
    table = {"columns": {"sex": ["F"]}, "ages": [0, 9], "statistics": [], "rule": []}
    Path("table.json").write_text(json.dumps(table))
    assert "got rule" in run("census", "table.json", status=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("synthetic", "--delta", "0.1"), "--delta says nothing"),
        (("synthetic", "--sensitive", "ill"), "--sensitive says nothing"),
        (("synthetic", "a.csv", "b.csv", "c.csv", "--canaries", "4"), "--canaries says nothing"),
        (("synthetic", "a.csv", "b.csv", "c.csv", "--shadows", "4"), "--shadows says nothing"),
        (("exact", "totals.json", "--rows", "4"), "--rows says nothing"),
        (("exact", "--rows", str(10**8)), "too many rows and games"),
    ],
)
def test_options_that_would_be_forgotten_are_refused(arguments, message, run):
    assert message in run(*arguments, status=2)


def test_where_nothing_is_certified_no_row_says_so(run):
    told = run("exact", "--rows", "50", "--known", "49", "--trials", "20")
    assert "49 rows known, nothing certified" in told
    assert "as certified" not in told


def test_games_that_no_memory_holds_are_refused(run, monkeypatch):
    def fill(attack, rng):
        raise MemoryError

    monkeypatch.setattr("discreet.cli.attack_verbs.model_attacks.attack_total", fill)
    assert "not enough memory" in run("exact", status=2)


def test_totals_of_a_file(run):
    Path("totals.json").write_text(
        json.dumps(
            {"rows": 3, "totals": [{"of": [0, 1, 2], "total": 9}, {"of": [0, 1], "total": 4}]}
        )
    )
    found = json.loads(run("exact", "totals.json", "--json"))["found"]
    assert found["certain"] == {"2": "5"}
    run("exact", "totals.json", "-o", "found.json")
    run("report", "found.json", "-o", "page.html")
    assert "1 of 3 rows follow exactly" in Path("page.html").read_text()


def test_an_owners_files(run):
    for name, start in (("real", 0), ("held", 1), ("made", 0)):
        rows = "\n".join(f"{start + 2 * one},{one % 2}" for one in range(40))
        Path(f"{name}.csv").write_text(f"place,secret\n{rows}\n")
    files = ("real.csv", "held.csv", "made.csv")
    found = json.loads(
        run(
            "synthetic",
            *files,
            "--epsilon",
            "1",
            "--delta",
            "1e-6",
            "--sensitive",
            "secret",
            "--json",
        )
    )["found"]
    nearer, repeated = found["attempts"]
    assert nearer["right"] == 40
    assert 0.88 < nearer["ceiling"] < 0.89
    assert repeated["right"] > 20
    assert "three" in run("synthetic", *files[:2], status=2)
    assert "--epsilon" in run("synthetic", *files, "--delta", "1e-6", status=2)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("verb", "bar"), [("questions", "releases"), ("survey", "attacks"), ("synthetic", "files")]
)
def test_a_bar_is_drawn_and_taken_away(verb, bar, run, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    run(verb, *SMALL[verb])
    assert f"{bar} [" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_attacks_on_people_who_are_made_up_are_on_the_page_too(run):
    run("overfit", "--people", "101", "--queries", "60", "-o", "found.json")
    run("report", "found.json", "-o", "page.html")
    text = Path("page.html").read_text()
    assert MARK in text
    assert f"<h2>overfit</h2><p><small>{escape(MADE_UP)}</small></p>" in text


@pytest.mark.parametrize(
    "written",
    [
        {},
        [],
        {"private": "no"},
        {"made_up": MARK},
        {"private": MARK, "attack": "x", "found": {"attempts": 1}},
    ],
)
def test_what_no_attack_wrote_is_refused(written, run):
    Path("odd.json").write_text(json.dumps(written))
    assert "no report of an attack" in run("report", "odd.json", "-o", "page.html", status=2)
    assert not Path("page.html").exists()


def test_the_page_needs_a_new_file(run):
    run("exact", *SMALL["exact"], "-o", "found.json")
    assert "-o FILE" in run("report", "found.json", status=2)
    Path("page.html").write_text("mine")
    assert "new file" in run("report", "found.json", "-o", "page.html", status=2)
    assert Path("page.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("right", "loss", "kind", "words"),
    [
        (1000, None, "lost", "nothing is promised"),
        (500, None, "held", "nothing is promised"),
        (700, 1, "held", "within the ceiling"),
        (500, 1, "held", "not shown"),
        (900, 1, "broken", "the promise is broken"),
        (990, 30, "lost", "nothing is promised"),
    ],
)
def test_verdicts(right, loss, kind, words):
    ceiling = CERTAIN if loss is None else guess_ceiling(Pure(loss))
    attempt = Attempt(
        release="<i>", record=GuessingRecord(right=right, trials=1000, ceiling=ceiling)
    )
    found = verdict(attempt)
    assert found[0] == kind
    assert words in found[1]
    report = AttackReport(attack="What?", attempts=(attempt,))
    data = {"private": MARK, "attack": "x", "told": str(report), "found": report.to_json()}
    page = attack_page([read_attack(data, mark=MARK)], title="t", mark=MARK)
    assert f'class="{kind}"' in page
    assert "<i>" not in page
    with pytest.raises(InvalidArgument):
        read_attack(data, mark="another")
