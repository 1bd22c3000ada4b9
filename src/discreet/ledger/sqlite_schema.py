"""The tables of a ledger file, and the triggers that let them only grow."""

APPLICATION = 0x44736372
"""Marks the file as ours: "Dscr"."""

VERSION = 1
"""The version of the tables. A file of another version is refused, not guessed at."""

_KEYS = {
    "entries": ("sequence",),
    "subjects": ("kind", "subject", "sequence"),
    "releases": ("ticket",),
    "salts": ("id_space", "version"),
}


def _append_only(table: str) -> str:
    # INSERT OR REPLACE removes a row without firing the trigger on removal, so it has its own.
    same = " AND ".join(f"{key} = NEW.{key}" for key in _KEYS[table])
    refuse = f"BEGIN SELECT RAISE(ABORT, '{table} can only be added to'); END;"
    return f"""
CREATE TRIGGER {table}_update BEFORE UPDATE ON {table} {refuse}
CREATE TRIGGER {table}_delete BEFORE DELETE ON {table} {refuse}
CREATE TRIGGER {table}_replace BEFORE INSERT ON {table}
    WHEN EXISTS (SELECT 1 FROM {table} WHERE {same}) {refuse}
"""


SCHEMA = f"""
BEGIN;
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE subjects (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    sequence INTEGER NOT NULL REFERENCES entries,
    PRIMARY KEY (kind, subject, sequence)
) WITHOUT ROWID;
CREATE TABLE releases (
    ticket INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE salts (
    id_space TEXT NOT NULL,
    version INTEGER NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (id_space, version)
);
{"".join(_append_only(table) for table in _KEYS)}
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
COMMIT;
"""
"""Makes an empty ledger, in one transaction."""
