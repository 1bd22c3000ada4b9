"""Modules that wait are loaded once, by whoever uses a name of theirs first."""

import gc
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Barrier
from types import ModuleType

import pytest

from discreet import roles
from discreet.core.waiting_modules import is_waiting, let_wait


@pytest.fixture
def written(tmp_path: Path, monkeypatch):
    """Write a module of a package of its own, and let it wait."""

    def write(name: str, text: str) -> str:
        package = tmp_path / f"waiting_{name}"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "late.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        full = f"{package.name}.late"
        let_wait(full)
        assert is_waiting(full)
        return full

    yield write
    for name in [name for name in sys.modules if name.startswith("waiting_")]:
        del sys.modules[name]


def test_it_is_loaded_when_a_name_is_used(written):
    name = written("used", "found = 1")
    module = import_module(name)
    assert module.__name__ == name
    assert is_waiting(name)
    assert module.found == 1
    assert not is_waiting(name)


def test_it_is_loaded_when_a_name_is_imported(written):
    name = written("imported", "found = 1")
    space: dict[str, object] = {}
    exec(f"from {name} import found", space)
    assert space["found"] == 1
    assert not is_waiting(name)


def test_a_name_can_be_replaced(written, monkeypatch):
    module = import_module(written("replaced", "found = 1"))
    monkeypatch.setattr(module, "found", 2)
    assert module.found == 2
    monkeypatch.undo()
    assert module.found == 1


def test_all_names_are_listed(written):
    name = written("listed", "found = 1")
    assert "found" in vars(import_module(name))


def test_unknown_names_are_unknown(written):
    with pytest.raises(AttributeError, match="lost"):
        _ = import_module(written("unknown", "found = 1")).lost


def test_what_fails_goes_on_waiting(written, tmp_path: Path):
    name = written("failing", f"import os; os.stat({str(tmp_path / 'there')!r}); found = 1")
    with pytest.raises(FileNotFoundError):
        _ = import_module(name).found
    assert is_waiting(name)
    (tmp_path / "there").write_text("")
    assert import_module(name).found == 1


def test_an_interrupt_before_it_is_loaded_leaves_it_waiting(written, monkeypatch):
    class Pressed(set[str]):
        def add(self, name: str) -> None:
            super().add(name)
            raise KeyboardInterrupt

    module = import_module(written("pressed", "found = 1"))
    with monkeypatch.context() as patch:
        patch.setattr("discreet.core.waiting_modules._LOADING", Pressed())
        with pytest.raises(KeyboardInterrupt):
            _ = module.found
    assert module.found == 1
    assert gc.isenabled()


def test_a_module_that_somebody_else_was_quicker_to_import_stays(written, monkeypatch):
    """There would be two of each of its classes."""
    name = written("quicker", "found = 1")
    del sys.modules[name]
    found = find_spec(name)
    theirs = ModuleType(name)

    def quicker(_: str) -> object:
        sys.modules[name] = theirs
        return found

    monkeypatch.setattr("discreet.core.waiting_modules.find_spec", quicker)
    let_wait(name)
    assert sys.modules[name] is theirs


def test_threads_wait_for_the_first_of_them(written, tmp_path: Path):
    noted = tmp_path / "noted"
    noted.mkdir()
    slow = (
        f"import tempfile, time\ntempfile.mkdtemp(dir={str(noted)!r})\ntime.sleep(0.05)\nfound = 1"
    )
    module, start = import_module(written("threads", slow)), Barrier(4)

    def found() -> int:
        start.wait()
        return int(module.found)

    with ThreadPoolExecutor(4) as pool:
        assert [one.result() for one in [pool.submit(found) for _ in range(4)]] == [1] * 4
    assert len(list(noted.iterdir())) == 1


def test_what_is_loaded_does_not_wait_again():
    let_wait("discreet.core.waiting_modules")
    assert not is_waiting("discreet.core.waiting_modules")


def test_a_connection_loads_no_model_before_it_is_used():
    """What is said to wait does wait: nothing at the top of a file uses a name of it."""
    program = (
        "import json, discreet; discreet.connect\n"
        "from discreet.core.waiting_modules import is_waiting\n"
        "from discreet.roles import WAITING\n"
        "print(json.dumps([name for name in WAITING if not is_waiting(name)]))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert json.loads(printed) == []


@pytest.mark.parametrize("name", roles.WAITING)
def test_everything_that_waits_can_be_loaded(name):
    assert import_module(name).__doc__
