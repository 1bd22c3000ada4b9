"""One name: a ledger that can be reached by two names could be spent twice.

SQLite keeps the newest writes in a log (``-wal``) and its locks in another file (``-shm``), and it
finds both by the *name* of the ledger. So one file under two names has two logs. Who works under
one name neither waits for the other nor sees what was spent there.

A file gets a second name in two ways: by a hard link, and by mounting *the file* somewhere else, as
containers do on request. Both are refused. A symbolic link is no second name, because it is
followed to the one name before anything is opened; neither is a mounted *folder*, because the log
and the locks come along with it.
"""

import os
import stat
from pathlib import Path

from discreet.core.errors import LedgerError

Identity = tuple[int, int]
"""The device and the number of a file. They hold while a process lives: after a restart of the
machine the device may have another number, so neither is ever written down."""


def require_one_name(path: Path) -> Identity:
    """Refuse a file that has, or could have, a second name; return which file it is.

    Guarantee:
        If this returns, then at that moment ``path`` was the only hard link to the file, and the
        mount that shows the file is the one that shows its folder.

    Assumes:
        Where the system does not say which mount a path is on (no ``/proc``, or not Linux), a
        mounted file is only noticed if it is on another device than its folder.
    """
    identity = require_one_link(path)
    if path.is_file() and is_mounted(path):
        raise LedgerError(
            f"The ledger {path} is a file that is mounted by itself",
            must="be in a mounted folder, together with its log and its locks",
            next="Mount the folder of the ledger, never the file: what is asked through one "
            "name would not count under the other",
        )
    return identity


def require_one_link(path: Path) -> Identity:
    """Refuse more than one hard link, and a symbolic one; return which file it is.

    This alone has to be asked again while a file stays open: something else that is mounted over
    its name is another file.
    """
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise LedgerError(
            f"The ledger {path} was replaced by a link", next="Put the file itself back"
        )
    # What is neither a link nor a file is refused by SQLite, in words of its own.
    if stat.S_ISREG(found.st_mode) and found.st_nlink != 1:
        raise LedgerError(
            f"The ledger {path} has more than one name",
            must="have one hard link",
            got=str(found.st_nlink),
            next="Remove the other names (find them with 'find -samefile'): what is asked through "
            "one would not count under the other. Make copies with sqlite3's '.backup'",
        )
    return found.st_dev, found.st_ino


def is_mounted(path: Path) -> bool:
    """Tell whether a file is shown by another mount than the folder that it is in."""
    own, around = _mount(path), _mount(path.parent)
    if own is None or around is None:
        return path.lstat().st_dev != path.parent.stat().st_dev
    return own != around


def _mount(path: Path) -> str | None:
    """Return the number of the mount that shows ``path``; ``None`` if the system does not tell.

    A device cannot tell: a file may be mounted from the same one, and on layered file systems a
    file and its folder have different ones. The file is not opened, only found: closing an opened
    one would give up the locks that SQLite holds on it.
    """
    if not hasattr(os, "O_PATH"):
        return None
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        told = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="ascii")
    except OSError:
        return None
    finally:
        os.close(handle)
    numbers = [line.split()[1] for line in told.splitlines() if line.startswith("mnt_id:")]
    return numbers[0] if numbers else None
