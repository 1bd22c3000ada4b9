"""Attacks on statistics and on online answers as commands."""

import csv
import io
import json
import math
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.attacks.records.coded_rows import code_rows
from discreet.attacks.statistics.attribute_counts import expected_with_pool
from discreet.attacks.statistics.attribute_rows import read_shares, signs_of
from discreet.attacks.statistics.overfitting import expected_excess
from discreet.attacks.statistics.sign_data import draw_people, uniforms
from discreet.cli.attack_verbs.statistics_attacks import _private_pirate, laplace_for
from discreet.cli.main import main
from discreet.cli.progress import counted_steps
from discreet.core.errors import InvalidArgument

PEOPLE, ATTRIBUTES = 8, 1800
"""So many that each of them scores eight deviations above the references. By 900 it was four."""
NAMES = [f"a{place}" for place in range(ATTRIBUTES)]
FILES = ("release.json", "candidates.csv", "references.csv")


def write_rows(name, rows, inside=None):
    with Path(name).open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES + ["inside"] * (inside is not None))
        for place, row in enumerate(rows):
            bits = ((row + 1) // 2).tolist()
            writer.writerow(bits + ([] if inside is None else [inside[place]]))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, status=0):
        assert main(["attack", *arguments]) == status
        shown = capsys.readouterr()
        return shown.out if status == 0 else shown.out + shown.err

    return call


@pytest.fixture
def study(run, rng):
    means = 2 * uniforms((ATTRIBUTES,), rng) - 1
    people, strangers = draw_people(means, PEOPLE, rng), draw_people(means, 20, rng)
    shares = ((1 + people.mean(axis=0)) / 2).tolist()
    Path("release.json").write_text(json.dumps(dict(zip(NAMES, shares, strict=True))))
    both = np.concatenate([people, strangers])
    write_rows("candidates.csv", both, [1] * PEOPLE + [0] * 20)
    write_rows("references.csv", draw_people(means, 150, rng))
    return run


def test_trace_finds_the_study_and_names_nobody_on_the_screen(study):
    told = study("trace", *FILES, "--inside", "inside", "--people", "8", "-o", "found.json")
    assert told.startswith("PRIVATE")
    assert "8 of 8 are accused" in " ".join(told.split())
    assert "attributes on" in " ".join(told.split())
    report = Path("found.json")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    found = json.loads(report.read_text())["found"]
    assert set(range(PEOPLE)) <= set(found["accused"])
    assert found["verdict"] == "found"
    assert found["area"] > 0.95


def test_trace_draws_for_its_owner_alone(study):
    for more in ([], ["--inside", "inside"]):
        name = f"scores{len(more)}.png"
        assert "only you can read" in study("trace", *FILES, *more, "--plot", name)
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    assert "new file" in study("trace", *FILES, "--plot", "scores0.png", status=2)


@pytest.mark.parametrize("statistic", ["homer", "likelihood", "clipped"])
def test_trace_by_every_statistic(study, statistic):
    head, *rows = Path("references.csv").read_text().splitlines()
    for name, some in {"pool": rows[:100], "others": rows[100:]}.items():
        Path(f"{name}.csv").write_text("\n".join([head, *some]) + "\n")
    more = ["--pool", "pool.csv", "--distortion", "0.4", "--statistic", statistic]
    told = study("trace", *FILES[:2], "others.csv", "--null", "plug-in", *more, "--json")
    assert "in common" in study("trace", *FILES, *more, status=2)
    assert len(json.loads(told)["found"]["accused"]) >= PEOPLE - 1


def test_too_few_references_are_no_verdict(study):
    lines = Path("references.csv").read_text().splitlines()
    Path("few.csv").write_text("\n".join(lines[:4]) + "\n")
    assert "Cannot tell" in study("trace", "release.json", "candidates.csv", "few.csv")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["rows.csv", *FILES[1:]], "must be a file of JSON"),
        (["list.json", *FILES[1:]], "no release of shares"),
        (["texts.json", *FILES[1:]], "no numbers"),
        (["beyond.json", *FILES[1:]], "out of range"),
        (["more.json", *FILES[1:]], "1 missing: zz"),
        ([FILES[0], "gaps.csv", FILES[2]], "no yes or no"),
        (["twice.json", *FILES[1:]], "stands twice"),
        ([*FILES, "--inside", "a0b"], "have no column a0b"),
        ([*FILES[:2], FILES[1], "--statistic", "homer"], "pool"),
        ([*FILES, "--level", "2"], "level is out of range"),
        ([*FILES, "--plot", "x.txt"], "kind of picture"),
    ],
)
def test_what_cannot_be_traced_is_refused(study, change, words):
    shares = json.loads(Path("release.json").read_text())
    for name, written in {
        "list": [1, 2],
        "texts": {"a0": "x"},
        "beyond": {"a0": 1.5},
        "more": {**shares, "zz": 0.5},
    }.items():
        Path(f"{name}.json").write_text(json.dumps(written))
    Path("twice.json").write_text('{"a0": 0.5, "a1": 0.2, "a0": 0.7}')
    text = Path("candidates.csv").read_text().splitlines()
    text[1] = text[1].replace("1", "7", 1)
    Path("gaps.csv").write_text("\n".join(text) + "\n")
    assert words in " ".join(study("trace", *change, status=2).split())


def test_candidates_who_are_all_alike_show_no_curve(study):
    shares = read_shares({"a0": 0.5})
    assert signs_of(code_rows({"a0": [True, False]}), shares, "x").tolist() == [[1], [-1]]
    with pytest.raises(InvalidArgument, match="no yes or no"):
        signs_of(code_rows({"a0": [1, None]}), shares, "x")
    lines = Path("candidates.csv").read_text().splitlines()
    Path("members.csv").write_text("\n".join(lines[: PEOPLE + 1]) + "\n")
    told = study("trace", FILES[0], "members.csv", FILES[2], "--inside", "inside", status=2)
    assert "All candidates are alike" in " ".join(told.split())


def test_overfit(run):
    told = run("overfit", "--people", "201", "--queries", "150", "--plot", "law.svg")
    assert told.startswith("All people of this attack are made up")
    assert Path("law.svg").exists()
    found = json.loads(run("overfit", "--people", "201", "--queries", "150", "--json"))["found"]
    assert found["exact"]["excess"] > 0.1
    assert found["private"]["ceiling"] == pytest.approx((1 - np.exp(-1)) / 2)
    assert found["private"]["law"] < found["exact"]["law"]
    noise = laplace_for("1", queries=150, moves=1)
    law = expected_excess(201, 150, scale=float(noise.scale) / 201)
    assert (
        found["private"]["law"]
        == law
        > 1.7 * expected_excess(201, 150, deviation=2**0.5 * float(noise.scale) / 201)
    )


@pytest.mark.parametrize("way", [[], ["--interactive"]])
def test_fingerprint(run, way):
    shape = ["--users", "30", "--colluders", "3", "--length", "6000", "--failure", "1e-12"]
    told = json.loads(run("fingerprint", *shape, *way, "--epsilon", "1", "--json"))["found"]
    assert told["pirates_accused"] == 3
    assert told["innocents_accused"] == 0
    assert told["private"]["innocents_accused"] == 0
    assert told["proved_length"] > 10**7
    assert "3 of 3 pirates" in run("fingerprint", *shape, *way, "--pirate", "random-member")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("prefix", "--epsilon", "0.2"), "more than 1.222 times"),  # e^0.2 = 1.2214...
        (("prefix", "--epsilon", "1000"), "nothing is promised"),
        (("search", "--epsilon", "0.01"), "more often than 9.633e-7 of"),  # 9.63258...e-7
        (("vectors", "--epsilon", "0.1"), "better than 52.5% in"),  # 52.4979...
    ],
)
def test_what_nobody_can_do_is_rounded_up(run, arguments, said):
    told = run("online", *arguments, "--people", "3")
    assert said in " ".join(told.split())


def test_online(run):
    found = json.loads(run("online", "prefix", "--people", "2", "--json"))["found"]
    assert found["exact"]["traced"] == 2
    found = json.loads(run("online", "vectors", "--people", "400", "--json"))["found"]
    assert found["fresh"] > 0.99
    assert found["kept"] < 0.9
    assert found["ceiling"] == pytest.approx(0.7310585786)
    found = json.loads(run("online", "search", "--people", "21", "--json"))["found"]
    assert found["exact"]["right"] == 100
    assert found["private"]["ceiling"] < 1e-5
    found = json.loads(run("online", "codewords", "--people", "2", "--json"))["found"]
    assert found["exact"]["failed_at"] is not None
    assert found["proved_queries"] > 10**7
    told = run("online", "codewords", "--curve", "1,2", "--plot", "curve.png")
    assert "They grow as the power" in " ".join(told.split())
    assert Path("curve.png").exists()


def test_the_sizes_of_the_proofs(run):
    told = run("fingerprint", "--users", "100", "--colluders", "10", "--proved", status=2)
    assert "too large to be drawn" in told
    assert "practical" in told
    shape = ["--proved", "--people", "2", "--queries", "40", "--json"]
    found = json.loads(run("online", "codewords", *shape))["found"]
    assert found["exact"]["queries"] == 40
    assert found["exact"]["failed_at"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ["overfit", "--people", "0"],
        ["overfit", "--epsilon", "0"],
        ["fingerprint", "--colluders", "200"],
        ["fingerprint", "--failure", "2"],
        ["online", "prefix", "--queries", "0"],
        ["online", "search", "--epsilon", "-1"],
        ["online", "codewords", "--curve", ","],
        ["online", "guessing"],
        ["online", "codewords", "--plot", "x.txt", "--curve", "1"],
    ],
)
def test_bad_options_are_refused(run, arguments):
    run(*arguments, status=2)


class Terminal(io.StringIO):
    is_terminal = True

    def isatty(self):
        return self.is_terminal


def test_a_bar_is_drawn_for_people_and_for_nobody_else(monkeypatch):
    for is_terminal in (True, False):
        stream = Terminal()
        stream.is_terminal = is_terminal
        monkeypatch.setattr(sys, "stderr", stream)
        with counted_steps("games", 4) as bar:
            for _ in range(6):
                bar.step()
        assert ("games [" in stream.getvalue()) is is_terminal
        assert stream.getvalue().endswith("\r\x1b[K") is is_terminal


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["prefix", "--plot", "x.png"], "among --people, --queries; got --plot"),
        (["prefix", "--curve", "2,3"], "got --curve"),
        (["vectors", "--proved"], "got --proved"),
        (["search", "--queries", "3"], "among --people; got --queries"),
        (["codewords", "--plot", "x.png"], "got --plot"),
        (["codewords", "--curve", "2,3", "--people", "4"], "got --people"),
        (["search", "--people", "10"], "odd number"),
        (["search", "--people", "1"], "odd number"),
    ],
)
def test_an_option_that_an_attack_does_not_look_at_is_refused(run, given, words):
    assert words in " ".join(run("online", *given, status=2).split())
    assert not Path("x.png").exists()


def test_private_pirates_pay_for_what_they_publish_however_few_are_left(rng):
    """One of ten who are shut out leaves nine: a sign still moves a total by 2, and not by 20/9."""

    class Told:
        def release(self, totals, rng):
            self.totals = totals
            return totals

    told: Any = Told()
    answer = _private_pirate(told)(np.array([[1, -1, 1], [1, -1, -1], [1, 1, 1]], np.int8), rng)
    assert told.totals.tolist() == [3, -1, 1]
    assert answer.tolist() == [1, -1, 1]


def test_traceable_says_how_many_shares_are_too_many(run):
    found = json.loads(run("traceable", "--people", "1000", "--attributes", "9", "--json"))["found"]
    assert found["expected"] == pytest.approx(6.5e6, rel=0.01)
    assert found["proved"] == math.ceil(64 * 1000**2 * math.log(20) / (2 / 3) ** 2)
    assert found["strength"] == pytest.approx(1000 / 1001)
    assert found["is_traceable"] is False
    more = ["--prior", "beta:2,5", "--distortion", "0.3", "--references", "400"]
    told = " ".join(run("traceable", "--people", "9", "--attributes", "900", *more).split())
    assert "by more than 0.3: nothing is proved" in told
    assert "900 attributes trace most people if they are exact" in told
    told = run("traceable", "--people", "3", "--attributes", "90000", "--prior", "uniform:0,0.6")
    assert "trace everybody" in " ".join(told.split())
    assert "must be from 0 to 1; got 1.5" in " ".join(
        run("traceable", "--people", "9", "--distortion", "1.5", status=2).lower().split()
    )
    huge = run("traceable", "--people", str(10**12), "--prior", "beta:1/2,1/2", "--json")
    assert json.loads(huge)["found"]["strength"] == pytest.approx(2 / math.pi)


def test_traceable_knows_that_references_make_it_easy(run):
    """It said that 1,000 shares of 40 people trace few, whom 'likelihood' finds with 400 others."""
    shape = ["--people", "40", "--attributes", "1000"]
    many = json.loads(run("traceable", *shape, "--references", "400", "--json"))["found"]
    assert many["expected"] == expected_with_pool(40, references=400)
    assert many["expected"] < 1000
    assert many["is_traceable"]
    one = json.loads(run("traceable", *shape, "--json"))["found"]
    assert (one["expected"], one["expected_if_known"], one["is_traceable"]) == (11429, 433, False)
    assert "that takes more references" in " ".join(run("traceable", *shape).split())


@pytest.mark.parametrize(
    "prior", ["beta:1", "normal", "uniform:0.7,0.2", "uniform:0,2", "beta:a,1"]
)
def test_a_prior_that_is_none_is_refused(run, prior):
    told = run("traceable", "--people", "9", "--prior", prior, status=2)
    assert "invalid_argument" in told
