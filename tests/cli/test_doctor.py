"""The doctor: finds what is broken, says what to do, spends nothing and opens no private source."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from discreet.cli import installation_checks as checks
from discreet.cli.diagnosis import Diagnosis, Health, fine, looked_at
from discreet.cli.main import main
from discreet.core.loss import Pure
from discreet.ledger.ledger import Ledger
from discreet.project.open_ledger import open_ledger
from discreet.randomness.rng import SystemRng
from discreet.randomness.samplers import discrete_laplace
from discreet.tables.declarations.declaration import read_catalog
from tests.ledger.orders import order
from tests.support.projects.clinic import visit, write_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = write_project(tmp_path / "clinic", [visit("p1")])
    (folder / "visits.parquet").chmod(0o600)
    return folder


@pytest.fixture
def look(project, capsys):
    def look(code=0, path=None):
        assert main(["doctor", "--project", str(path or project), "--json"]) == code
        found = json.loads(capsys.readouterr().out)
        assert found["ok"] is (code == 0)
        return {
            (one["subject"], one["health"]): f"{one['told']}. {one['advice']}"
            for one in found["checks"]
        }

    return look


def opened(project: Path) -> Ledger:
    return open_ledger(read_catalog(project))


def test_all_is_well_in_a_new_project_and_nothing_is_begun(look, project):
    before = sorted(project.iterdir())
    found = look()
    assert {health for _, health in found} == {"ok"}
    assert "first question" in found["ledger", "ok"]
    assert sorted(project.iterdir()) == before


def test_the_text_has_a_line_for_each(project, capsys):
    assert main(["doctor", "--project", str(project)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("ok    Python: ")
    assert told.rstrip().endswith(" ok")


def test_a_ledger_in_use_is_to_be_verified(look, project):
    ledger = opened(project)
    ledger.reserve(order(Pure("1/2")))
    entries = ledger.entries()
    assert "ledger --verify" in look()["ledger", "warn"]
    ledger.verify()
    assert ("ledger", "warn") not in look()
    assert opened(project).entries() == entries, "nothing was written"


def test_no_private_source_is_opened(look, project):
    (project / "visits.parquet").write_bytes(b"not what it says")
    assert "are where they are declared" in look()["sources", "ok"]


def test_a_missing_source_a_lost_ledger_and_a_bad_declaration_fail(look, project):
    opened(project)
    shutil.rmtree(project / ".discreet")
    (project / "visits.parquet").unlink()
    found = look(code=2)
    assert "--begin-again" in found["ledger", "fail"]
    assert ("sources", "fail") in found
    (project / "discreet.toml").write_text("[tables.x]\n")
    assert ("declaration", "fail") in look(code=2)


def test_without_a_project_the_installation_alone_is_looked_at(look, tmp_path):
    found = look(path=tmp_path)
    assert ("engine", "ok") in found
    assert "discreet init" in found["project", "warn"]


def test_files_that_others_can_read_are_named(look, project):
    opened(project)
    (project / "visits.parquet").chmod(0o644)
    assert "chmod 600" in look()["permissions", "warn"]
    (project / "visits.parquet").chmod(0o600)
    (project / ".discreet").chmod(0o755)
    assert "chmod 700" in look()["permissions", "warn"]


def test_a_clock_that_went_back_is_found(look, project):
    ahead = Ledger(opened(project).store, now=lambda: datetime.now(UTC) + timedelta(days=1))
    ahead.reserve(order(Pure("1/2")))
    assert "behind the newest charge" in look(code=2)["clock", "fail"]


def repeated(_: object, count: int):
    return np.zeros(count, dtype=np.uint64)


def test_broken_randomness_is_found(look, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(SystemRng, "words", repeated)
        assert ("random words", "fail") in look(code=2)
    with monkeypatch.context() as patch:
        # Noise of half the scale: its power. Zeros are more often then, by 0.30.
        real = discrete_laplace
        patch.setattr(
            checks, "discrete_laplace", lambda scale, size, rng: real(scale / 2, size, rng)
        )
        assert ("noise", "fail") in look(code=2)


def test_the_share_of_zeros_is_what_the_law_says():
    exact = (1 - np.exp(-1)) / (1 + np.exp(-1))
    assert abs(float(checks.ZEROS) - exact) < 0.001
    assert 2 * np.exp(-2 * checks.DRAWS * 0.099**2) < 1e-34
    assert Fraction(1, 10) == checks.FARTHEST


def test_old_and_missing_libraries_are_named(monkeypatch):
    found = {"attrs": "21.1", "numpy": "99.0"}

    def version(name: str) -> str:
        if name == "duckdb":
            raise metadata.PackageNotFoundError(name)
        return found.get(name, "2026.1")

    monkeypatch.setattr(metadata, "version", version)
    told = {one.subject: one for one in checks._libraries()}
    assert told["attrs"].health is Health.FAIL
    assert "pip install 'duckdb>=" in told["duckdb"].advice
    assert "numpy" not in told


def test_room_and_python_are_judged(monkeypatch):
    monkeypatch.setattr(checks, "ROOM", 2**80)
    (room,) = checks._room()
    assert room.health is Health.WARN
    monkeypatch.setattr(checks, "OLDEST_PYTHON", (9, 0))
    (python,) = checks._python()
    assert python.health is Health.FAIL


def test_a_look_that_breaks_is_told_without_its_message():
    def look() -> Iterator[Diagnosis]:
        yield from [one for one in [fine("engine", "so far")] if int("Mrs Miller")]

    (found,) = looked_at("engine", look)
    assert (found.health, found.told) == (Health.FAIL, "failed with ValueError")
