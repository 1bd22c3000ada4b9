"""Imports point down, make no circle, and leave heavy libraries asleep."""

import json
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.house.paths import ROOT, SRC
from tests.support.house.rules import HEAVY
from tests.support.house.source import Module, folder_graphs, import_graph, modules


def lint_imports(config: Path, *, path: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on the package found below ``path``."""
    program = "import sys; from importlinter.cli import lint_imports_command as run; run()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--config", str(config)],
        cwd=path,
        env={"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
    )


def test_imports_point_down():
    done = lint_imports(ROOT / "pyproject.toml", path=SRC.parent)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("core/errors.py", "from discreet.ledger import gate"),
        ("ledger/gate.py", "import discreet.tables.catalog"),
        ("tables/catalog.py", "from discreet.curator.answer import x"),
        ("nowhere/thing.py", ""),
    ],
)
def test_contract_catches(tmp_path: Path, place: str, text: str):
    """A copy of the house with one wrong import, or one room too many, is refused."""
    for room in ("core", "ledger", "tables", "curator"):
        write(tmp_path / "discreet" / room / "__init__.py", "")
    for file in ("ledger/gate.py", "tables/catalog.py", "curator/answer.py"):
        write(tmp_path / "discreet" / file, "")
    write(tmp_path / "discreet" / "__init__.py", "")
    assert lint_imports(ROOT / "pyproject.toml", path=tmp_path).returncode == 0
    write((tmp_path / "discreet" / place).parent / "__init__.py", "")
    write(tmp_path / "discreet" / place, text)
    assert lint_imports(ROOT / "pyproject.toml", path=tmp_path).returncode == 1


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_no_cycles():
    TopologicalSorter(import_graph(modules())).prepare()


def test_a_cycle_is_found():
    circle = (
        Module.parse("from discreet.core.b import x", place="core/a.py"),
        Module.parse("from . import c", place="core/b.py"),
        Module.parse("import discreet.core.a", place="core/c.py"),
    )
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph(circle)).prepare()


def test_folders_make_no_circle():
    graphs = folder_graphs(modules())
    assert {"discreet", "discreet.accounting", "discreet.accounting.pld"} <= graphs.keys()
    assert not {folder for folder, graph in graphs.items() if is_knotted(graph)}


def is_knotted(graph: dict[str, set[str]]) -> bool:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def test_a_knot_of_folders_is_found():
    """No two files import one another in a circle, but two folders do, or a folder and its own."""
    beside = (
        Module.parse("from discreet.core.b.two import x", place="core/a/one.py"),
        Module.parse("", place="core/b/two.py"),
        Module.parse("from discreet.core.a.c.four import x", place="core/b/three.py"),
        Module.parse("", place="core/a/c/four.py"),
    )
    inside = (
        Module.parse("from discreet.core.a.one import x", place="core/noun.py"),
        Module.parse("from discreet.core.other import x", place="core/a/one.py"),
        Module.parse("", place="core/other.py"),
    )
    for package in (beside, inside):
        TopologicalSorter(import_graph(package)).prepare()
        assert is_knotted(folder_graphs(package)["discreet.core"])
        assert not is_knotted(folder_graphs(package)["discreet"])
    assert not is_knotted(folder_graphs(beside[:2])["discreet.core"])


def test_every_folder_is_a_package():
    folders = {path.parent for path in SRC.rglob("*.py")}
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_import_leaves_heavy_libraries_asleep():
    program = "import json, sys, discreet; print(json.dumps(sorted(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert not HEAVY & set(json.loads(loaded))
