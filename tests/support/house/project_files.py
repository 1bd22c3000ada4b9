"""Every text file that belongs to the project."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.support.house.paths import ROOT

MADE = {".git", ".venv", ".bench", ".hypothesis", "__pycache__", "_build", "dist", "build"}


def text_files() -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every file that git would keep, or of every file without git."""
    for path in _paths():
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def _paths() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not _is_made(path)]
    return sorted(path for path in paths if path.is_file())


def _is_made(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part in MADE or part.endswith(("_cache", ".egg-info")) for part in parts)
