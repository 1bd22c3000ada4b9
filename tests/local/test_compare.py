"""Central against local: only the scaling is a law; the command shows it."""

import json

import pytest

from discreet.cli.main import main
from discreet.core.errors import InvalidArgument
from discreet.local.compare.people_needed import people_needed


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_half_the_error_takes_twice_as_many_or_four_times(epsilon: str):
    near, far = (people_needed(error, epsilon=epsilon) for error in ("0.0005", "0.001"))
    assert near.central / far.central == pytest.approx(2, rel=0.01)
    assert near.local / far.local == pytest.approx(4, rel=0.01)


def test_a_tenth_of_the_loss_takes_ten_times_as_many_or_a_hundred():
    small, large = (people_needed("0.001", epsilon=epsilon) for epsilon in ("0.01", "0.1"))
    assert small.central / large.central == pytest.approx(10, rel=0.01)
    assert small.local / large.local == pytest.approx(100, rel=0.01)


def test_they_are_the_least_numbers_that_reach_the_error():
    needed = people_needed("0.01", epsilon="0.5")
    assert 2**0.5 / (0.5 * needed.central) <= 0.01 < 2**0.5 / (0.5 * (needed.central - 1))
    for error in ("0", "1", "2"):
        with pytest.raises(InvalidArgument):
            people_needed(error, epsilon=1)


def test_the_command(capsys, tmp_path):
    assert main(["local", "compare", "--epsilon", "1", "--error", "0.01"]) == 0
    assert "9,207" in capsys.readouterr().out
    assert main(["local", "compare", "--epsilon", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["central"] for row in rows][:3] == [15, 48, 142]


def test_the_command_draws(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "compare.svg"
    assert main(["local", "compare", "--epsilon", "1", "--plot", str(path)]) == 0
    assert "<svg" in path.read_text(encoding="utf-8")
    assert main(["local", "compare", "--epsilon", "0"]) != 0
