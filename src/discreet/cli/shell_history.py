"""The history of the shell: SQL alone, in a file that only its owner can read."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.core import optional
from discreet.core.errors import MissingDependency

LONGEST = 1_000
"""How many questions are kept."""


def history_path(environment: Mapping[str, str]) -> Path:
    """Return where the history is kept: in the folder for what programs remember.

    Example:
        >>> history_path({"XDG_STATE_HOME": "/var/state"}).as_posix()
        '/var/state/discreet/history'
    """
    state = environment.get("XDG_STATE_HOME", "")
    # A relative path is to be ignored, as the standard for these folders has it.
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return base / "discreet" / "history"


@frozen
class LineHistory:
    """Lines that can be called up again with the arrow keys, and where they are kept, if anywhere.

    Questions alone are kept: no answers, and nothing that is typed in reply.
    """

    editor: Any
    """Python's line editor; ``None`` where there is none."""
    path: Path | None

    def note(self, sql: str) -> None:
        """Keep a question, in one line."""
        if self.editor is None:
            return
        self.editor.add_history(" ".join(sql.split()))
        if self.path is not None:
            with suppress(OSError):
                self.editor.append_history_file(1, self.path)


def open_history(*, keeps: bool, environment: Mapping[str, str] = os.environ) -> LineHistory:
    """Return the history, with what is there already.

    A file that others could read or that belongs to somebody else is not used.
    """
    try:
        editor = optional.load("readline")
    except MissingDependency:
        return LineHistory(None, None)
    editor.set_auto_history(False)
    editor.clear_history()
    path = _own_file(history_path(environment)) if keeps else None
    if path is not None:
        with suppress(OSError):
            editor.read_history_file(path)
            editor.set_history_length(LONGEST)
            editor.write_history_file(path)
    return LineHistory(editor, path)


def _own_file(path: Path) -> Path | None:
    """Make the file if need be, and return it if it is one's own alone."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(path, flags, 0o600)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()
        if is_own and stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(handle, 0o600)
        return path if is_own else None
    except OSError:
        return None
    finally:
        os.close(handle)
