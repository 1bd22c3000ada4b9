"""The verbs of ``discreet survey``: what they refuse, and what they leave alone."""

import socket
from pathlib import Path

import pytest

from discreet.cli.main import main
from discreet.server.collector.batch import SentBatch
from discreet.server.collector.report_store import ReportStore
from tests.support.local.surveys import TEXT, small_survey


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "survey.toml").write_text(TEXT)
    return tmp_path


@pytest.mark.parametrize("verb", ["results", "close"])
def test_a_file_that_was_never_served_is_neither_read_nor_made(verb, folder, capsys):
    """After a change of the survey its version is another, and so is the file."""
    ReportStore(folder / "survey-0123456789ab.reports", small_survey()).close()
    assert main(["survey", verb]) != 0
    assert "other versions: survey-0123456789ab.reports" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main(["survey", verb, "--store", "mistyped.reports"]) != 0
    assert not (folder / "mistyped.reports").exists()


def test_a_survey_that_is_served_can_be_looked_at_and_closed(folder, capsys):
    ReportStore(folder / "kept.reports", small_survey()).close()
    assert main(["survey", "results", "--store", "kept.reports"]) == 0
    assert "No reports have arrived yet" in capsys.readouterr().out
    assert main(["survey", "close", "--store", "kept.reports"]) == 0


@pytest.mark.parametrize("option", ["--port=0", "--port=65536", "--port=-1", "--rate=0"])
def test_impossible_numbers_are_refused(option, capsys):
    assert main(["survey", "serve", option]) != 0
    assert "out of range" in capsys.readouterr().err


def test_a_port_that_is_taken_is_said_before_anything_is_served(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["survey", "serve", "--port", str(taken.getsockname()[1])]) == 2
    printed = capsys.readouterr()
    assert "takes reports" not in printed.out
    assert "No reports can be taken at 127.0.0.1" in printed.err


@pytest.mark.parametrize("host", ["", "no such host", "a" * 80])
def test_a_host_that_is_none_is_said(host, capsys):
    assert main(["survey", "serve", "--host", host]) == 2
    assert "No reports can be taken" in capsys.readouterr().err


def test_the_loss_that_is_shown_is_not_below_the_truth(folder, capsys):
    (folder / "survey.toml").write_text(TEXT.replace("epsilon = 2", "epsilon = 2.00049"))
    assert main(["survey", "check"]) == 0
    (said,) = [line for line in capsys.readouterr().out.splitlines() if "one report" in line]
    assert float(said.split()[-1]) >= 2.00048 + 1.5 - 1e-9


def test_reports_are_written_as_parquet_alone(folder, capsys):
    store = ReportStore(folder / "kept.reports", small_survey())
    store.add([SentBatch(bytes(16), bytes(small_survey().size))])
    store.close()
    words = ["survey", "results", "--store", "kept.reports", "--reports"]
    assert main([*words, "raw.csv"]) != 0
    assert "must end in .parquet" in capsys.readouterr().err
    assert not (folder / "raw.csv").exists()
    assert main([*words, "raw.parquet"]) == 0
    assert (folder / "raw.parquet").exists()
