"""Ledgers as earlier versions wrote them, from their SQL texts."""

import sqlite3
from contextlib import closing
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
NAMES = tuple(sorted(path.stem for path in GOLDEN.glob("*.sql")))


def restore(name: str, folder: Path) -> Path:
    """Make the ledger file that a golden text describes."""
    file = folder / "ledger.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript((GOLDEN / f"{name}.sql").read_text(encoding="utf-8"))
    file.chmod(0o600)
    return file
