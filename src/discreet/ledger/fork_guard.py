"""Transactions and forks keep apart: no process is forked while a transaction is open.

SQLite must not be open across a fork. The child would inherit its idea of which locks are held, but
not the locks, and two processes could both believe that they write alone. So a fork waits until no
transaction is open. Transactions do not wait for each other: a long one stops nobody else.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Lock, local


class ForkGuard:
    """Lets transactions run side by side, and a fork alone."""

    def __init__(self) -> None:
        self._changed = Condition(Lock())
        self._open = 0
        self._is_forking = False
        self._own = local()
        self._before: list[Callable[[], None]] = []

    def before_each_fork(self, close: Callable[[], None]) -> None:
        """Have something closed before each fork, when no other thread has a transaction open."""
        self._before.append(close)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep forks away while the block runs."""
        own = getattr(self._own, "open", 0)
        with self._changed:
            # A fork that waits goes first, but a thread that keeps it waiting must go on.
            while self._is_forking and not own:
                self._changed.wait()
            self._open += 1
        self._own.open = own + 1
        try:
            yield
        finally:
            self._own.open = own
            with self._changed:
                self._open -= 1
                self._changed.notify_all()

    def before_fork(self) -> None:
        """Wait until no other thread has a transaction open, and let none begin."""
        self._changed.acquire()
        own = getattr(self._own, "open", 0)
        self._changed.wait_for(lambda: not self._is_forking)
        self._is_forking = True
        self._changed.wait_for(lambda: self._open <= own)
        for close in self._before:
            close()
        # The lock is kept until the fork is over.

    def after_fork(self) -> None:
        """Let transactions begin again, in parent and child."""
        self._is_forking = False
        self._changed.notify_all()
        self._changed.release()


FORK_GUARD = ForkGuard()
"""The one of this process."""

os.register_at_fork(
    before=FORK_GUARD.before_fork,
    after_in_parent=FORK_GUARD.after_fork,
    after_in_child=FORK_GUARD.after_fork,
)
