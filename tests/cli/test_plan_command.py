"""The command ``plan``: five numbers, a picture, and clear refusals."""

import json

import pytest

from discreet.cli.main import main


def run(capsys, *arguments, code=0):
    assert main(["plan", *arguments]) == code
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_it_says_how_many_people_it_takes(capsys, tmp_path):
    picture = tmp_path / "plan.png"
    said = run(
        capsys, "marginals", "--within", "0.1", "--epsilon", "1", "--dimension", "100",
        "--plot", str(picture),
    )  # fmt: skip
    assert "1,220 people" in said
    assert "cube of random size" in said
    assert picture.stat().st_size > 10_000


def test_as_json_with_each_kind_of_loss(capsys):
    for loss in (["--epsilon", "1"], ["--epsilon", "1", "--delta", "1e-6"], ["--rho", "0.1"]):
        said = run(
            capsys, "histogram", "--people", "1000", "--within", "0.2", "--dimension", "9", *loss,
            "--json",
        )  # fmt: skip
        assert json.loads(said)["verdict"] == "achievable"
    said = run(capsys, "count", "--people", "99", "--within", "0.2", "--epsilon", "1",
               "--beta", "find", "--json")  # fmt: skip
    assert json.loads(said)["looked_for"] == "beta"


def test_adaptive_questions(capsys):
    assert "53,900 rows" in run(capsys, "adaptive", "--within", "0.1", "--dimension", "1000")
    said = run(capsys, "adaptive", "--people", "50000", "--dimension", "500", "--json")
    assert [one["method"] for one in json.loads(said)][:2] == ["gaussian/posterior", "splitting"]
    few = run(capsys, "adaptive", "--people", "10", "--dimension", "500")
    assert "nothing can be promised" in few


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["count", "--people", "9"], "left out"),
        (["count", "--people", "9", "--within", "0.1", "--delta", "1e-6"], "needs an ε"),
        (["count", "--people", "9", "--rho", "1", "--epsilon", "1"], "said twice"),
        (["count", "--people", "9", "--epsilon", "1", "--plot", "a.doc"], "end in .png"),
        (["adaptive", "--people", "9"], "--dimension"),
        (["adaptive", "--people", "9", "--dimension", "3", "--rho", "1"], "no loss"),
    ],
)
def test_it_refuses_clearly(capsys, arguments, says):
    assert says in run(capsys, *arguments, code=2)
