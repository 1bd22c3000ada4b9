"""Where things are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SRC = ROOT / "src" / "discreet"
DOCS = ROOT / "docs"
TESTS = ROOT / "tests"
