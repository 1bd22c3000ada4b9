"""Held work: run in a thread of its own, and looked at when its time is over, not before."""

import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, TypeVar

from attrs import frozen

from discreet.ledger.under_way import WORK


@frozen
class Timer:
    """A clock that never goes back, and a way to let it go on. Tests bring their own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def wait_until(self, moment: float) -> None:
        """Return when the clock shows ``moment``, and not before."""
        while (rest := moment - self.clock()) > 0:
            self.sleep(rest)


SYSTEM_TIMER = Timer()
"""The clock of the machine."""


T = TypeVar("T")

Interrupt = Callable[[Thread], None]
"""Stops what a thread does, as far as that is possible."""


def nothing_to_interrupt(_: Thread) -> None:
    """Let the work run on; what it returns is thrown away."""


class HeldWork(Generic[T]):
    """Work that is begun once and looked at once.

    Guarantee:
        Whether the work was in time is decided by the one :meth:`look`: what it returns later is in
        a queue that nobody reads. Its thread is there before it is begun, so that a machine which
        has no thread to spare says so before anything is charged.

    The thread is no daemon: at the end of a process it is waited for, because an interpreter that
    is taken down under a thread inside the engine aborts, and may leave rows in a core dump.
    """

    def __init__(
        self, work: Callable[[], T], interrupt: Interrupt, *, seconds: float, aside: float
    ) -> None:
        """Hold ``work`` for so many ``seconds``, the last of which are set ``aside`` to settle."""
        self.seconds, self.aside = seconds, aside
        self._work = work
        self._interrupt = interrupt
        self._results: SimpleQueue[T] = SimpleQueue()
        self._decided = Event()
        self._is_begun = False
        self._thread = Thread(target=self._run, name=WORK, daemon=False)

    def prepare(self) -> None:
        """Start the thread, which waits."""
        self._thread.start()

    def begin(self) -> None:
        """Let the work begin."""
        self._is_begun = True
        self._decided.set()

    def call_off(self) -> None:
        """Let the thread end; work that has begun goes on."""
        self._decided.set()

    def look(self) -> T:
        """Return what the work gave, or give it up with an error."""
        try:
            return self._results.get_nowait()
        except BaseException:
            with suppress(Exception):
                self._interrupt(self._thread)
            raise

    def _run(self) -> None:
        self._decided.wait()
        if self._is_begun:
            # Every error ends here: a thread that dies of one prints it, and it may quote rows.
            with suppress(BaseException):
                self._results.put(self._work())
