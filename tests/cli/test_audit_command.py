"""The auditor as a command: outputs of two neighbours, and canaries of one run."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.cli.main import main
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.samplers import bernoulli


@pytest.fixture
def run(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    for scale in (1, 4):
        for centre in (0, 1):
            noisy = DiscreteLaplace(scale=scale).release(np.full((4000, 1), centre), rng)
            np.savetxt(f"{scale}-{centre}.csv", noisy, fmt="%d", header="n", comments="")
    coins = bernoulli("1/2", 1000, rng).astype(np.int64)
    scores = DiscreteLaplace(scale=1).release(coins, rng)
    np.savetxt(
        "canaries.csv",
        np.stack([coins, scores], axis=1),
        fmt="%d",
        delimiter=",",
        header="included,score",
        comments="",
    )

    def call(*arguments: str, status: int = 0) -> str:
        assert main(["audit", *arguments]) == status
        shown = capsys.readouterr()
        return shown.out if status == 0 else shown.out + shown.err

    return call


def test_outputs(run):
    told = run("outputs", "1-0.csv", "1-1.csv", "--epsilon", "1/4")
    assert told.startswith("ε is at least")
    assert "The claim (ε = 0.25) is broken." in told
    assert "order 2" in told
    found = json.loads(run("outputs", "4-0.csv", "4-1.csv", "--epsilon", "1/4", "--json"))
    assert found["refuted"] is False
    assert 0 <= found["epsilon_lower"] <= 0.25
    assert "refuted" not in json.loads(run("outputs", "4-0.csv", "4-1.csv", "--json"))


def test_canaries(run):
    told = run("canaries", "canaries.csv", "--epsilon", "1/4")
    assert "guesses about 1,000 canaries" in told
    assert "is broken" in told
    found = json.loads(
        run("canaries", "canaries.csv", "--epsilon", "1", "--delta", "1e-9", "--json")
    )
    assert found["refuted"] is False
    assert found["canaries"] == 1000


def test_bad_input_is_refused(run):
    assert "does not say" in run("canaries", "canaries.csv", "--included", "score", status=2)
    assert "no column" in run("canaries", "canaries.csv", "--score", "x", status=2)
    assert "guesses" in run("canaries", "canaries.csv", "--guesses", "7", status=2)
    assert "cannot be read" in run("outputs", "1-0.csv", "none.csv", status=2)


def test_a_bound_of_nothing_is_plain_nothing(run):
    told = run("outputs", "4-0.csv", "4-0.csv", "--json")
    assert "-0.0" not in told
    assert json.loads(told)["renyi_lower"]["2"] == 0


def test_a_bar_is_drawn_where_somebody_watches(run, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["audit", "outputs", "1-0.csv", "1-1.csv"]) == 0
    assert "stages [" in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert main(["audit", "outputs", "1-0.csv", "1-1.csv"]) == 0
    assert capsys.readouterr().err == ""


def test_sorted_files_accuse_nobody(run):
    """Coins whose files were sorted: the first halves told of an event that the second ones had."""
    for name, zeros in (("one", 2060), ("other", 1970)):
        coins = np.repeat([0, 1], [zeros, 4000 - zeros])
        np.savetxt(f"{name}.csv", coins, fmt="%d", header="n", comments="")
    assert "is not refuted" in run("outputs", "one.csv", "other.csv", "--epsilon", "1/4")
    rows = np.stack([np.arange(1000) >= 500, np.zeros(1000)], axis=1)
    np.savetxt("sorted.csv", rows, fmt="%d", delimiter=",", header="included,score", comments="")
    assert "is not refuted" in run("canaries", "sorted.csv", "--epsilon", "1/4")


@pytest.mark.parametrize("shown", ["{}.0", "{:02d}", "{}\n0.5"])
def test_how_a_file_writes_numbers_accuses_nobody(run, shown):
    """A reader takes the columns for numbers of another kind, or for texts."""
    numbers = [place % 20 for place in range(2000)]
    Path("plain.csv").write_text("n\n" + "\n".join(map(str, numbers)) + "\n")
    last = [shown.format(numbers[-1])]
    every = last if "0.5" in shown else [shown.format(one) for one in numbers]
    Path("other.csv").write_text("n\n" + "\n".join([*map(str, numbers[:-1]), *every]) + "\n")
    for pair in (("plain.csv", "other.csv"), ("other.csv", "plain.csv")):
        assert "is not refuted" in run("outputs", *pair, "--epsilon", "1/4")


def test_columns_are_compared_by_their_names(run):
    lines = [(place % 20, place % 2) for place in range(2000)]
    for name, head, turn in (("one", "a,b", 1), ("other", "b,a", -1), ("wide", "a,b,c", 1)):
        written = [",".join(map(str, (*line[::turn], 0)[: head.count(",") + 1])) for line in lines]
        Path(f"{name}.csv").write_text("\n".join([head, *written]) + "\n")
    assert "is not refuted" in run("outputs", "one.csv", "other.csv", "--epsilon", "1/4")
    assert "same columns" in run("outputs", "one.csv", "wide.csv", status=2)
