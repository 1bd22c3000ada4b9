"""``discreet certify``: from options, from a file, as JSON, as a picture, and small models."""

import json
import sys

import pytest

from discreet.cli.main import main
from discreet.noiseless.certificate import Certificate

HISTOGRAM = ["certify", "histogram", "--law", "poisson()", "--epsilon", "0.6", "--delta", "3e-6"]

FILE = """
statistic = "histogram"
law = "poisson()"
suppress_below = 51
epsilon = 0.6
delta = 3e-6
given = ["the count of March"]
"""

LINE = """
statistic = "regression"
rows = 100
use = "sideways"
[law]
density = "1/4"
[law.regressors.g]
low = -1
high = 1
[law.outcome.h]
low = -1
high = 1
"""

MODEL = """
definition = "distributional"
epsilon = [0, 0.5]
universe = [0, 1]
rows = 4
[law]
probabilities = ["1/2", "1/2"]
[mechanism]
name = "sum"
"""


def test_text_says_the_verdict_first(capsys):
    assert main(HISTOGRAM) == 0
    out = capsys.readouterr().out
    assert out.startswith("Verdict")
    assert "Suppress every cell with fewer than 51 rows" in out
    assert "No row was read" in out


def test_json_is_a_certificate(capsys):
    assert main([*HISTOGRAM, "--suppress-below", "51", "--json"]) == 0
    found = Certificate.from_json(json.loads(capsys.readouterr().out))
    assert found.may_publish
    assert found.delta("0.6") <= found.target.delta


def test_a_file_says_the_same(tmp_path, capsys):
    path = tmp_path / "cells.toml"
    path.write_text(FILE)
    assert main(["certify", str(path), "--json"]) == 0
    from_file = json.loads(capsys.readouterr().out)
    given = ["--suppress-below", "51", "--given", "the count of March", "--json"]
    assert main([*HISTOGRAM, *given]) == 0
    assert json.loads(capsys.readouterr().out) == from_file
    assert "the count of March" in str(from_file["assumptions"])
    assert main(["certify", str(path), "--epsilon", "0.3"]) == 0
    assert "Suppress every cell with fewer than" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture(tmp_path, capsys, ending: str):
    path = tmp_path / f"curve.{ending}"
    assert main([*HISTOGRAM, "--suppress-below", "51", "--plot", str(path)]) == 0
    assert f"Drew {path}" in capsys.readouterr().out
    assert path.stat().st_size > 1_000


def test_a_model_is_checked(tmp_path, capsys):
    path = tmp_path / "model.toml"
    path.write_text(MODEL)
    assert main(["certify", "check", str(path)]) == 0
    assert "0.1875" in capsys.readouterr().out
    assert main(["certify", "check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["deltas"][0]["high"] == "3/16"


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["sum", "--rows", "60", "--law", "normal(1, 2)"], 2, "range"),
        (["sum", "--rows", "60", "--known", "60", "--law", "uniform(0, 1)"], 2, "every row"),
        (["sum", "--rows", "x", "--law", "uniform(0, 1)"], 2, "number"),
        (["sum", "--rows", "60", "--law", "uniform(0, 1)", "--chosen", "from the data"], 3, "data"),
        (["median", "--rows", "60"], 2, "one of sum"),
        (["nothing.toml"], 2, "no readable file"),
        (["sum", "more.toml"], 2, "one word too many"),
        (["check"], 2, "one TOML file"),
        (["check", "nothing.toml"], 2, "cannot be read"),
        (["check", "nothing.toml", "--rows", "5"], 2, "no option but --json"),
        (["histogram", "--law", "poisson()", "--plot", "curve.gif"], 2, ".png"),
        (["histogram", "--law", "poisson()", "--epsilon", "-1"], 2, "--epsilon"),
        (["histogram", "--rws", "5"], 2, "--rows"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, monkeypatch, capsys, words, status: int, told: str):
    monkeypatch.chdir(tmp_path)
    assert main(["certify", *words]) == status
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("key", ["statistic", "law"])
def test_a_file_without_a_line(tmp_path, capsys, key: str):
    path = tmp_path / "cells.toml"
    path.write_text("\n".join(line for line in FILE.splitlines() if not line.startswith(key)))
    assert main(["certify", str(path)]) == 2
    assert key in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("suppress_below = 51", "suppres_below = 51", "line 4"),
        ("suppress_below = 51", 'suppress_below = "51"', "whole number"),
        ('law = "poisson()"', "law = [1, 2, 3]", "text or a table"),
        ('law = "poisson()"', "law = {mean = 3}", "kind"),
        ("epsilon = 0.6", "epsilon = ", "TOML"),
        ("epsilon = 0.6", "epsilon = -1", "cells.toml"),
    ],
)
def test_a_file_with_a_fault(tmp_path, capsys, old: str, new: str, told: str):
    path = tmp_path / "cells.toml"
    path.write_text(FILE.replace(old, new))
    assert main(["certify", str(path)]) == 2
    assert told in capsys.readouterr().err


def test_options_beside_a_file_are_refused(tmp_path, capsys):
    path = tmp_path / "cells.toml"
    path.write_text(FILE)
    assert main(["certify", str(path), "--suppress-below", "9"]) == 2
    assert "--suppress-below" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", "no such use"),
        ('use = "sideways"', 'suppress_below = 3\nuse = "split"', "means nothing"),
        ("[law.outcome.h]\nlow = -1", "[law.outcome.h]\nlow = 2", "law.outcome.h"),
        ('density = "1/4"', "density = 9", "cannot be true"),
        ('density = "1/4"', "densty = 1", "not a setting"),
        ("[law.outcome.h]", "[law.outcome.k]\nlow = 0\nhigh = 1\n[law.outcome.h]", "have one"),
        ("low = -1\nhigh = 1\n[law.outcome.h]", "low = -1\n[law.outcome.h]", "g.high"),
    ],
)
def test_a_regression_with_a_fault(tmp_path, capsys, old: str, new: str, told: str):
    path = tmp_path / "line.toml"
    path.write_text(LINE.replace(old, new) if old else LINE)
    assert main(["certify", str(path)]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("is_watched", [True, False])
def test_whoever_watches_is_told_that_it_takes_a_while(is_watched, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_watched)
    asked = ["certify", "majority", "--rows", "101", "--law", "yes(0.7)"]
    assert main(asked) == 0
    said = capsys.readouterr()
    assert "Verdict" in said.out
    assert said.err.endswith("\r\x1b[K") == is_watched
    assert said.err.startswith("The certificate is worked out") == is_watched
