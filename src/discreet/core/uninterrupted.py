"""Uninterrupted: an interrupt of the keyboard waits until a block is over."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

Handler = Callable[[int, FrameType | None], Any]


class Uninterrupted:
    """A block that Ctrl-C does not break off: it is noted, and acted upon after the block.

    Python raises an interrupt in the main thread between any two steps, also between taking a lock
    and noting that it must be given back. What takes locks that others wait for is short, and runs
    in such a block.

    Guarantee:
        Until the handler is exchanged an interrupt is raised as ever, and nothing was begun. From
        then on it is noted. When the handler is put back the block has been left, and what was
        noted is handed to it: nothing is lost. Other threads get no interrupts, and blocks may
        stand in each other.
    """

    def __init__(self) -> None:
        self._own: Handler | None = None
        self._is_noted = False

    def __enter__(self) -> Self:
        """Begin to note interrupts, where there is somebody to hand them to."""
        if threading.current_thread() is threading.main_thread():
            found = signal.getsignal(signal.SIGINT)
            if callable(found):
                self._own = found
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """Let interrupts through again, first the one that was noted."""
        if self._own is not None:
            signal.signal(signal.SIGINT, self._own)
            if self._is_noted:
                self._own(signal.SIGINT, None)

    def _note(self, _: int, __: FrameType | None) -> None:
        self._is_noted = True
