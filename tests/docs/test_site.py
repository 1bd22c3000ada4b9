"""The site builds with no warning; a soak writes it, with the pages of source code too."""

import pickle
import subprocess
import sys
from pathlib import Path

from docs._ext.api_pages import public_modules, write_pages
from docs._ext.bibliography import Entry
from tests.support.house.paths import DOCS
from tests.support.statistics.soak import Soak


def test_site_builds_strictly(tmp_path: Path, soak: Soak):
    """A usual run reads all pages and resolves all references, and writes nothing."""
    doctrees, builder = tmp_path / "doctrees", "html" if soak.active else "dummy"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "-b", builder]
    command += ["-t", "sources"] if soak.active else []
    places = ["-d", str(doctrees), str(DOCS), str(tmp_path / "site")]
    done = subprocess.run([*command, *places], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "index.html").exists() == soak.active
    known = pickle.loads((doctrees / "environment.pickle").read_bytes())
    assert "index" in known.all_docs
    documented = known.domaindata["py"]["modules"]
    assert not [name for name in public_modules() if name not in documented]


def test_public_modules_are_found(tmp_path: Path):
    package = tmp_path / "discreet"
    for place in (
        "__init__.py",
        "core/__init__.py",
        "core/a.py",
        "core/_b.py",
        "cli/commands/query.py",
    ):
        (package / place).parent.mkdir(parents=True, exist_ok=True)
        (package / place).touch()
    assert public_modules(package) == ["discreet.core.a"]


def test_pages_of_removed_packages_go(tmp_path: Path):
    write_pages(tmp_path, ["discreet.core.a", "discreet.core.b", "discreet.tables.c"])
    write_pages(tmp_path, ["discreet.core.b"])
    assert [path.name for path in tmp_path.iterdir()] == ["discreet.core.rst"]
    text = (tmp_path / "discreet.core.rst").read_text()
    assert "automodule:: discreet.core.b" in text
    assert "discreet.core.a" not in text


def test_reference_reads_well():
    fields = {
        "author": "A. Lovelace and C. Babbage",
        "title": "On {N}oise",
        "journal": "Journal",
        "volume": "2",
        "pages": "1--9",
        "year": "1843",
        "doi": "10.1/x",
    }
    assert Entry("LB43", fields).as_text() == (
        "A. Lovelace, C. Babbage. *On Noise*. Journal 2, 1–9, 1843. "
        "`doi:10.1/x <https://doi.org/10.1/x>`__."
    )
