"""The command ``plan``: five numbers, a picture, and clear refusals."""

import json

import pytest

from discreet.cli.main import main
from tests.support.projects.clinic import visit, write_project


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
    assert "53,900 people" in run(capsys, "adaptive", "--within", "0.1", "--dimension", "1000")
    said = run(capsys, "adaptive", "--people", "50000", "--dimension", "500", "--json")
    names = [one["name"] for one in json.loads(said)["ways"]]
    assert names[:2] == ["gaussian/posterior", "splitting"]
    few = run(capsys, "adaptive", "--people", "10", "--dimension", "500", code=2)
    assert "too few people" in few


def test_bounds_maps_and_costs(capsys, tmp_path):
    files = [tmp_path / f"{name}.png" for name in ("map", "costs")]
    said = run(
        capsys, "histogram", "--people", "900", "--within", "0.01", "--dimension", "9",
        "--rho", "0.5", "--bounds", "--map", str(files[0]), "--costs", str(files[1]),
    )  # fmt: skip
    assert "Lower bounds" in said
    assert "packing of blocks" in said
    assert all(file.stat().st_size > 10_000 for file in files)


def test_a_question_about_a_table(capsys, tmp_path):
    write_project(tmp_path, [visit(f"p{i}") for i in range(9)], epsilon="2")
    said = run(
        capsys, "--table", "visits", "SELECT COUNT(*) FROM visits", "--accuracy", "0.01",
        "--confidence", "0.9", "--people", "5000", "--project", str(tmp_path),
    )  # fmt: skip
    assert "± 50 at 90 %: achievable" in said
    assert "of your own" in said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["count", "--people", "9"], "left out"),
        (["count", "--people", "9", "--within", "0.1", "--delta", "1e-6"], "needs an ε"),
        (["count", "--people", "9", "--rho", "1", "--epsilon", "1"], "said twice"),
        (["count", "--people", "9", "--epsilon", "1", "--plot", "a.doc"], "end in .png"),
        (["count", "--people", "9", "--epsilon", "1", "--plot", "no/a.png"], "folder that exists"),
        (["adaptive", "--people", "9"], "left out"),
        (["count", "--people", "9", "--within", "0.1", "--epsilon", "1", "--map", "a.png"], "draw"),
        (["SELECT 1", "--table", "t", "--epsilon", "1"], "what is left"),
        (["adaptive", "--people", "9", "--dimension", "3", "--rho", "1"], "no loss"),
        (["SELECT 1", "--table", "t", "--confidence", "0.9"], "have --accuracy too"),
    ],
)
def test_it_refuses_clearly(capsys, arguments, says):
    assert says in run(capsys, *arguments, code=2)
