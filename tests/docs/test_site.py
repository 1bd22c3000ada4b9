"""The site builds with no warning; a soak builds it with the pages of source code too."""

import subprocess
import sys
from pathlib import Path

from docs._ext.api_pages import page_of, public_modules, write_pages
from docs._ext.bibliography import Entry
from tests.support.house.paths import DOCS
from tests.support.statistics.soak import Soak


def test_site_builds_strictly(tmp_path: Path, soak: Soak):
    site, modules = tmp_path / "html", public_modules()
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "-b", "html"]
    command += ["-t", "sources"] if soak.active else []
    places = ["-d", str(tmp_path / "doctrees"), str(DOCS), str(site)]
    done = subprocess.run([*command, *places], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (site / "index.html").exists()
    pages = {
        file.stem: file.read_text(encoding="utf-8")
        for file in (site / "reference" / "api").glob("*.html")
    }
    missing = [
        name for name in modules if f'id="module-{name}"' not in pages.get(page_of(name), "")
    ]
    assert not missing


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
