"""Whether a project is in order: its declaration, its ledger, and who else can read the files."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from discreet.cli.diagnosis import Diagnosis, broken, doubtful, fine, looked_at
from discreet.engines.open_engine import open_engine
from discreet.ledger.anchor import Anchor
from discreet.ledger.anchoring import ELSEWHERE, STAY_HERE, read_marks
from discreet.ledger.chain import Kind
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import SqliteStore
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.declarations.declaration import read_catalog

UNVERIFIED = 10_000
"""After so many entries a ledger should be verified again."""

FEW = 1_000
"""How many of the newest entries are looked at."""


def project_in_order(path: Path) -> list[Diagnosis]:
    """Look at a project, if there is one. Nothing is written, and no private source is opened."""
    if not _declaration(path).exists():
        advice = "Say --project PATH, or begin with 'discreet init' or 'discreet demo --keep'"
        return [doubtful("project", f"there is no {_declaration(path)}", advice)]
    catalogs: list[Catalog] = []

    def declared() -> Iterator[Diagnosis]:
        catalog = read_catalog(path)
        catalogs.append(catalog)
        names = [table.name for table in _tables(catalog)]
        yield fine("declaration", f"can be read; tables: {', '.join(names)}")

    found = looked_at("declaration", declared)
    for catalog in catalogs:
        for subject, look in _LOOKS.items():
            found += looked_at(subject, partial(look, catalog))
    return found


def _tables(catalog: Catalog) -> tuple[Table | PublicTable, ...]:
    return (*catalog.tables, *catalog.public_tables)


def _declaration(path: Path) -> Path:
    return path / "discreet.toml" if path.is_dir() else path


def _sources(catalog: Catalog) -> Iterator[Diagnosis]:
    engine = open_engine(catalog)
    try:
        for table in _tables(catalog):
            engine.require_present(table)
    finally:
        engine.close()
    yield fine("sources", "are where they are declared ('discreet check' looks into them)")


def _ledger(catalog: Catalog) -> Iterator[Diagnosis]:
    anchors = tuple(map(Anchor, catalog.anchors))
    marks = [mark for _, mark in read_marks(anchors) if mark is not None]
    if not catalog.ledger.exists():
        if marks:
            advice = "Put the newest copy back, or see 'discreet ledger --begin-again'"
            yield broken("ledger", f"there is none at {catalog.ledger}, but there was", advice)
        else:
            yield fine("ledger", "is begun with the first question")
        return
    ledger = Ledger(SqliteStore(catalog.ledger.resolve()), anchors=anchors)
    entries = ledger.entries(last=FEW)
    end = entries[-1].sequence if entries else 0
    yield fine("ledger", f"can be read, and the newest {len(entries):,} entries hold")
    if ledger.is_elsewhere():
        yield doubtful("ledger", ELSEWHERE, STAY_HERE)
    verified = max((mark.verified.sequence for mark in marks), default=0)
    if end - verified > (UNVERIFIED if verified else 0):
        told = f"was verified {end - verified:,} entries ago" if verified else "was never verified"
        yield doubtful("ledger", told, "Run 'discreet ledger --verify'")
    times = [entry.payload["reserved_at"] for entry in entries if entry.kind is Kind.RESERVE]
    newest = max(map(datetime.fromisoformat, times), default=None)
    if newest is not None and newest > datetime.now(newest.tzinfo):
        advice = "Set the clock: it went back, or it was wrong when a question was charged"
        yield broken("clock", "is behind the newest charge", advice)


def _permissions(catalog: Catalog) -> Iterator[Diagnosis]:
    """Look at modes alone: who else on this machine can read or change what should be one's own."""
    folder = catalog.ledger.parent
    own = [folder, catalog.ledger, *catalog.anchors]
    private = [one.source.path for one in catalog.tables]
    open_ones = [path for path in own if _mode(path) & (stat.S_IRWXG | stat.S_IRWXO)]
    open_ones += [path for path in private if _mode(path) & stat.S_IRWXO]
    for path in open_ones:
        advice = f"Run: chmod {'700' if path.is_dir() else '600'} {path}"
        yield doubtful("permissions", f"others on this machine can get at {path}", advice)
    if folder.exists() and not os.access(folder, os.W_OK):
        advice = "Give yourself the right to write there: charges are written before an answer"
        yield broken("permissions", f"{folder} cannot be written to", advice)
    if not open_ones:
        yield fine("permissions", "ledger and private sources are out of reach of others")


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0


_LOOKS: Mapping[str, Callable[[Catalog], Iterator[Diagnosis]]] = {
    "sources": _sources,
    "ledger": _ledger,
    "permissions": _permissions,
}
