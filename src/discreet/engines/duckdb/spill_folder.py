"""Where plans put what does not fit in memory: a folder that is gone when its process is."""

import fcntl
import os
import shutil
import stat
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import frozen

PREFIX = "discreet-spill-"
"""How the names of these folders begin."""

LOCK = "lock"
"""The file in a folder that its process holds locked."""

_UNREADY = "lock.new"


class SpillFolder:
    """A folder in the temporary folder of the machine that only this user can read.

    Guarantee:
        *Rows do not outlive their process.* A folder is removed when it is closed, or when its
        process ends. If the process was killed, the next one of the same user that makes such a
        folder removes it, as far as the system lets it; and nobody removes one that is in use.

        Proof. A file in the folder is locked by the process that made it, and the kernel gives the
        lock up when the last process that has it open is gone, however it ended. The file gets its
        name after it is locked, so whoever finds it by that name, and gets the lock, knows that
        nobody is left. One without such a file is left alone: it is just being made, and empty. The
        lock file is removed last, so that what could not be removed is tried again.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: _Held | None = None
        self._cleanup = weakref.finalize(self, _nothing)

    @property
    def path(self) -> Path | None:
        """Where it is, if it is there."""
        return None if self._held is None else self._held.path

    def room(self) -> str:
        """Return a new folder inside; the first one makes the whole, and tidies up after others."""
        with self._guard:
            if self._held is None:
                remove_abandoned(Path(tempfile.gettempdir()))
                self._held = _held()
                self._cleanup = weakref.finalize(self, self._held.remove)
            return tempfile.mkdtemp(dir=self._held.path)

    def remove(self) -> None:
        """Remove it with all that is in it; the next room makes another one."""
        with self._guard:
            self._cleanup()
            self._held = None


@frozen
class _Held:
    """A folder, the lock on it, and the process that holds it."""

    path: Path
    lock: int | None
    process: int

    def remove(self) -> None:
        """Remove the folder, and give up the lock; a forked process only gives up its copy."""
        if os.getpid() == self.process:
            with suppress(OSError), _opened(self.path.name, self.path.parent) as folder:
                _empty(folder, self.path.name, self.path.parent)
        if self.lock is not None:
            os.close(self.lock)


def _nothing() -> None:
    """There is nothing to be removed yet."""


def _held() -> _Held:
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    return _Held(path, _locked(path), os.getpid())


def _locked(path: Path) -> int | None:
    """Return the lock on a new folder; ``None`` where files cannot be locked."""
    handle = os.open(path / _UNREADY, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (path / _UNREADY).rename(path / LOCK)
    except OSError:
        os.close(handle)
        return None
    return handle


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of this user in ``parent`` whose process is gone.

    No link is followed, folders of others are not opened, and what cannot be removed stays.
    """
    with suppress(OSError):
        for name in [one for one in os.listdir(parent) if one.startswith(PREFIX)]:
            with suppress(OSError), _opened(name, parent) as folder, _abandoned(folder):
                _empty(folder, name, parent)


@contextmanager
def _opened(name: str, parent: Path) -> Iterator[int]:
    """Open a folder of this user, and no link to one."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(parent / name, flags)
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise PermissionError("a folder of somebody else")
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _abandoned(folder: int) -> Iterator[None]:
    """Hold the lock of a folder while it is removed; it is an error if somebody else has it."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(LOCK, flags, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise PermissionError("no lock of ours")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _empty(folder: int, name: str, parent: Path) -> None:
    """Remove all that is in a folder, then its lock, then the folder."""
    for found in os.listdir(folder):
        if found != LOCK:
            with suppress(OSError):
                _remove(found, folder)
    if set(os.listdir(folder)) <= {LOCK}:
        with suppress(FileNotFoundError):
            os.unlink(LOCK, dir_fd=folder)
        (parent / name).rmdir()


def _remove(name: str, folder: int) -> None:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
