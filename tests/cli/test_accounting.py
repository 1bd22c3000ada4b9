"""The accounting commands: numbers for programs, sentences and pictures for people."""

import json

import pytest

from discreet.cli.main import main

PNG = b"\x89PNG"


@pytest.fixture
def run(capsys):
    def run(*arguments, code=0):
        assert main([*arguments]) == code
        captured = capsys.readouterr()
        return captured.out or captured.err

    return run


def test_epsilon_and_delta(run):
    question = ("account", "epsilon", "--delta", "1e-6", "--json")
    found = json.loads(run(*question, "gaussian(scale=10) * 1000", "laplace(scale=10) * 100"))
    assert found["method"] == "pld"
    assert found["delta"] == 1e-6
    assert 20.5 < found["lower"] <= found["epsilon"] < 20.7
    tight = json.loads(run(*question, "pure(0.1) * 100"))
    assert 0 <= tight["epsilon"] - tight["lower"] < 1e-9
    back = json.loads(run("account", "delta", "--epsilon", "4.78", "pure(0.1) * 100", "--json"))
    assert back["delta"] < 1e-6


@pytest.mark.parametrize(
    "events",
    [
        "pure(0.1) * 100",
        "approx(0.1, 1e-8) * 50",
        "zcdp(0.1)",
        "rr(p=0.75)",
        "exponential(epsilon=0.1)",
        "discrete_gaussian(scale=4)",
        "poisson(gaussian(scale=1.1), rate=256/60000) * 14063",
    ],
)
def test_everything_that_can_be_written_is_answered(run, events):
    assert "ε = " in run("account", "epsilon", "--delta", "1e-6", events)


def test_convert_and_calibrate(run):
    converted = run("account", "convert", "zcdp(0.1)", "--to", "approx", "--delta", "1e-6")
    assert converted.startswith("ε = 2.142")
    one = run(
        "account", "convert", "zcdp(0.1)", "--to", "approx", "--delta", "1e-6", "--method", "basic"
    )
    assert one.startswith("ε = 2.451")
    found = json.loads(
        run(
            "account",
            "calibrate",
            "gaussian",
            "--epsilon",
            "1",
            "--delta",
            "1e-6",
            "--count",
            "100",
            "--json",
        )
    )
    assert abs(found["scale"] - 42.247) < 0.001
    training = ("poisson(gaussian, rate=0.01)", "--epsilon", "3", "--delta", "1e-5")
    assert "scale = 1.5649" in run("account", "calibrate", *training, "--count", "10000")
    assert "10 times" in run("account", "uses", "laplace(10)", "--epsilon", "1")
    assert "scale = 10" in run("account", "calibrate", "laplace", "--epsilon", "1", "--count", "10")
    assert "ρ = 0.5" in run("account", "calibrate", "discrete_gaussian", "--rho", "0.5")


def test_pictures(run, tmp_path):
    curve, meaning = tmp_path / "curve.png", tmp_path / "meaning.png"
    run("account", "curve", "gaussian(scale=10) * 100", "--plot", str(curve))
    run("meaning", "--epsilon", "1", "--plot", str(meaning))
    tradeoff = tmp_path / "tradeoff.png"
    shown = run("account", "tradeoff", "gaussian(scale=1)", "--plot", str(tradeoff))
    assert "misses at least" in shown
    assert tradeoff.read_bytes().startswith(PNG)
    assert curve.read_bytes().startswith(PNG)
    assert meaning.read_bytes().startswith(PNG)
    assert "end in .png" in run("meaning", "--epsilon", "1", "--plot", "a.doc", code=2)


def test_meaning(run):
    assert "73.2 %" in run("meaning", "--epsilon", "1")
    data = json.loads(run("meaning", "--epsilon", "1", "--delta", "1e-6", "--json"))
    assert data["deployments"][0]["name"]
    assert data["detection"]["0.01"] < 0.0272


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("epsilon", "--delta", "2", "pure(1)"), "invalid_argument"),
        (("epsilon", "--delta", "1e-6", "pur(1)"), "unsupported"),
        (("epsilon", "--delta", "0", "gaussian(scale=1)"), "unsupported"),
        (("convert", "gaussian(scale=1)", "--to", "approx"), "invalid_argument"),
        (("convert", "approx(1, 1e-6)", "--to", "pure"), "unsupported"),
        (("calibrate", "gaussian", "--epsilon", "1"), "unsupported"),
        (("calibrate", "gaussian"), "invalid_argument"),
        (
            ("calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--count", "0"),
            "invalid_argument",
        ),
    ],
)
def test_what_cannot_be_answered_says_why(run, arguments, code):
    status = {"unsupported": 3, "invalid_argument": 2}[code]
    error = json.loads(run("account", *arguments, "--json", code=status))["error"]
    assert error["code"] == code
