"""The attacks as commands: what they find, how it is marked, and what they cannot read."""

import json
import stat
from pathlib import Path

import numpy as np
import pytest

from discreet.attacks.reconstruction.printed_counts import read_counts
from discreet.cli.main import main
from discreet.core.errors import InvalidArgument


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(
        "zip,born,ill\n1,1950,yes\n1,1951,no\n1,1952,no\n2,1950,yes\n2,1950,yes\n"
    )
    (tmp_path / "voters.csv").write_text("zip,born,name\n1,1950,Ann\n2,1950,Bo\n9,1950,Cy\n")

    def call(*arguments: str, status: int = 0) -> str:
        assert main(["attack", *arguments]) == status
        shown = capsys.readouterr()
        return shown.out if status == 0 else shown.out + shown.err

    return call


BIT = ("--column", "ill", "--equals", "yes")


def test_difference(run):
    told = run("difference", "rows.csv", *BIT, "--row", "0", "--trials", "200")
    assert told.startswith("PRIVATE")
    assert "The person has the bit" in told
    found = json.loads(
        run("difference", "rows.csv", *BIT, "--row", "1", "--trials", "50", "--json")
    )["found"]
    assert found["exact"]["guess"] is False
    assert found["private"]["trials"] == 50
    assert found["private"]["ceiling"] == pytest.approx(0.7310585786)


def test_reconstruct(run):
    people, bits = 5, np.array([1, 0, 0, 1, 1])
    sets = [[place for place in range(people) if code >> place & 1] for code in range(32)]
    counts = [{"of": members, "count": int(bits[members].sum())} for members in sets]
    counts[3]["count"] = None
    Path("counts.json").write_text(json.dumps({"people": people, "counts": counts}))
    for method in ("squares", "linear"):
        told = json.loads(run("reconstruct", "counts.json", "--method", method, "--json"))
        assert told["found"]["bits"] == bits.tolist()
    told = run("reconstruct", "counts.json", "--truth", "rows.csv", *BIT)
    assert "right for 100.0%" in told
    assert "--truth" in run("reconstruct", "counts.json")
    run("reconstruct", "counts.json", "--truth", "rows.csv", status=2)


def test_census(run):
    table = {
        "columns": {"sex": ["F", "M"]},
        "ages": [0, 125],
        "statistics": [
            {"name": "all", "count": 2, "mean": "31.0"},
            {"name": "men", "where": {"sex": "M"}, "count": 1, "median": 40},
        ],
    }
    Path("table.json").write_text(json.dumps(table))
    found = json.loads(run("census", "table.json", "--json"))["found"]
    assert found["verdict"] == "unique"
    assert found["people"] == [{"age": 22, "sex": "F"}, {"age": 40, "sex": "M"}]
    assert "Exactly these people" in run("census", "table.json")


def test_linkage_names_nobody_on_the_screen_and_all_in_the_file(run):
    told = run("linkage", "rows.csv", "voters.csv", "--on", "zip,born", "-o", "found.json")
    assert "1 of 5 published rows" in told
    assert "Ann" not in told
    report = Path("found.json")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    written = json.loads(report.read_text())
    assert written["private"].startswith("PRIVATE")
    assert written["found"]["linked"] == [{"released_row": 0, "public_row": 0}]
    told = run("linkage", "rows.csv", "voters.csv", "--on", "zip", "-o", "found.json", status=2)
    assert "must be a new file" in told


def test_uniqueness(run):
    found = json.loads(run("uniqueness", "rows.csv", "--sensitive", "ill", "--json"))["found"]
    assert found["sets"][0] == {
        "columns": ["zip", "born"],
        "unique": 3,
        "rows": 5,
        "smallest_class": 1,
    }
    assert found["classes"]["k"] == 1
    assert found["homogeneous"]["exposed"] == 5
    told = run("uniqueness", "rows.csv", "--columns", "zip", "--sensitive", "ill")
    assert "k = 2" in told
    assert "2 of 5 rows" in told
    assert "rows alone" in run("uniqueness", "rows.csv", "--most", "1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["difference", "rows.csv", *BIT, "--row", "9"], "no such row"),
        (["difference", "rows.csv", *BIT, "--row", "0", "--epsilon", "0"], "out of range"),
        (["difference", "rows.csv", "--column", "ill", "--equals", "x", "--row", "0"], "No row"),
        (["difference", "rows.csv", "--column", "il", "--equals", "x", "--row", "0"], "no column"),
        (["reconstruct", "rows.csv"], "must be a file of JSON"),
        (["census", "missing.json"], "must be a file of JSON"),
        (["linkage", "rows.csv", "missing.csv", "--on", "zip"], "cannot be read"),
        (["linkage", "rows.csv", "voters.csv", "--on", ","], "nothing to join on"),
        (["uniqueness", "rows.csv", "--most", "0"], "at least 1"),
        (["uniqueness", "rows.csv", "--columns", ","], "no columns to search"),
    ],
)
def test_bad_input_is_refused(run, arguments, message):
    told = " ".join(run(*arguments, status=2).split())
    assert message in told


@pytest.mark.parametrize(
    "written",
    [
        None,
        [],
        {"people": 2},
        {"people": 0, "counts": []},
        {"people": 2, "counts": []},
        {"people": 2, "counts": [{"of": [2], "count": 1}]},
        {"people": 2, "counts": [{"of": [-1], "count": 1}]},
        {"people": 2, "counts": [{"of": [0.5], "count": 1}]},
        {"people": 2, "counts": [{"of": [0], "count": "x"}]},
        {"people": 2, "counts": [{"of": 0, "count": 1}]},
        {"people": 10**12, "counts": [{"of": [0], "count": 1}]},
    ],
)
def test_bad_counts_are_refused(written):
    with pytest.raises(InvalidArgument):
        read_counts(written)
