"""The notebook of the guide runs from top to bottom, and shows what it promises."""

import json
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib import pyplot
from traitlets.config import Config

from discreet.cli.main import main
from tests.support.house.paths import DOCS

NOTEBOOK = DOCS / "how-to" / "clinic.ipynb"


def cells() -> list[dict[str, Any]]:
    found: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in found["cells"] if cell["cell_type"] == "code"]


def test_no_outputs_are_kept():
    """They would have numbers that nobody sees again."""
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells())


@pytest.fixture
def shell(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    pyplot.close("all")  # of tests before this one
    yield InteractiveShell(
        config=Config({"HistoryManager": {"enabled": False}}), ipython_dir=str(tmp_path / "ipython")
    )
    pyplot.close("all")


def test_the_notebook_runs(shell):
    shown: dict[str, str] = {}
    for cell in cells():
        source = "".join(cell["source"])
        if source.startswith("!discreet "):
            # In this process: another one would load everything again.
            assert main(source.removeprefix("!discreet ").split()) == 0
            continue
        with capture_output() as captured:
            result = shell.run_cell(source)
        is_expected = "raises-exception" in cell["metadata"].get("tags", [])
        assert (result.error_in_exec is not None) == is_expected, captured.stdout
        if is_expected:
            assert len((captured.stdout + captured.stderr).splitlines()) == 2
        elif result.result is not None:
            formats, _ = shell.display_formatter.format(result.result)
            shown[source.splitlines()[-1]] = formats.get("text/html", "")
    pages = {source for source, page in shown.items() if page}
    assert pages == {
        "clinic",
        "clinic.tables()",
        "clinic.explain(question)",
        "release",
        "clinic.budget()",
        "clinic.releases()",
        "clinic.releases()[0].open()",
        "release.receipt",
    }
    assert "ε = 0.2, δ = 0 spent of ε = 3" in shown["clinic.budget()"]
    assert len(pyplot.get_fignums()) == 1
