"""A queue at an open file or folder: whoever came first is next, among all processes."""

import errno
import fcntl
import os
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

NO_QUEUE = frozenset({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL})
"""What is said where a file system has no queue: there nobody has one."""

LOOK = 0.01
"""How many seconds pass between two looks where no thread can wait."""


@contextmanager
def in_turn(handle: int, timeout: float) -> Iterator[bool]:
    """Wait until it is one's turn among all processes, or until the time is over; tell which.

    The system wakes whoever came first, and nobody has to look again and again. The handle is
    closed at the end. Where the file system has no such queue, ``OSError`` is raised, with one of
    the numbers :data:`NO_QUEUE`.
    """
    place = _Place(handle)
    try:
        yield place.wait(timeout)
    finally:
        place.leave()


class _Place:
    """A place in the queue. Giving it up gives the turn to somebody else; so does dying."""

    def __init__(self, handle: int) -> None:
        self._handle, self._process = handle, os.getpid()
        self._lock, self._is_left, self._is_waiting = Lock(), False, False
        self._has_turn, self._woken = False, Lock()

    def wait(self, seconds: float) -> bool:
        """Return when it is one's turn, or after so many seconds; tell whether it is."""
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._wait_in_line(seconds)
        self._has_turn = True
        return True

    def _wait_in_line(self, seconds: float) -> bool:
        # A thread can wait without end, and be left behind when the time is over. It is the bare
        # kind: the other one is waited for until it says that it has begun.
        self._is_waiting = True
        self._woken.acquire()
        try:
            start_new_thread(self._wait, ())
        except RuntimeError:  # the machine has no threads left
            self._is_waiting = False
            return self._look_again_and_again(seconds)
        self._woken.acquire(timeout=max(seconds, 0.0))
        return self._has_turn

    def _look_again_and_again(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(LOOK)
            with suppress(BlockingIOError):
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
        return False

    def _wait(self) -> None:
        with suppress(OSError):
            fcntl.flock(self._handle, fcntl.LOCK_EX)
            self._has_turn = True
        with self._lock:
            self._is_waiting = False
            if self._is_left:
                self._give_up()
        self._woken.release()

    def leave(self) -> None:
        """Give up the place, or have it given up as soon as it comes."""
        with self._lock:
            self._is_left = True
            if not self._is_waiting:
                self._give_up()

    def _give_up(self) -> None:
        # A child that was forked while this one waited has the handle as well, and keeps it open.
        if self._process == os.getpid():
            with suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_UN)
        os.close(self._handle)
