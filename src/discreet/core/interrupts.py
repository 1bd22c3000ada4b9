"""Interrupts of the keyboard: what one says about an answer, and blocks that it waits for."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

_AGAIN = (
    "The work goes on without you and is settled as if you had waited. Ask the same question again"
    " (not as a fresh one): if it was answered in the meantime, it costs nothing"
)


class Interrupted(KeyboardInterrupt):
    """The wait for an answer was broken off. No failure: an interrupt changes who waits.

    Guarantee:
        ``spent`` is what the ledger was charged, durably, or nothing if the interrupt came before
        the charge. Nothing in it depends on what the work did, or whether it is done.

    Example:
        >>> print(Interrupted())
        Interrupted before the charge. Nothing was spent.
        >>> Interrupted("ε = 0.5 of 'patients'").what
        "Interrupted after the charge: ε = 0.5 of 'patients' is spent"
    """

    code = "interrupted"

    def __init__(self, spent: str = "") -> None:
        self.spent = spent
        what = f"after the charge: {spent} is spent" if spent else "before the charge"
        self.what = f"Interrupted {what}"
        self.next = _AGAIN if spent else "Nothing was spent"
        super().__init__(f"{self.what}. {self.next}.")

    def to_json(self) -> dict[str, dict[str, str]]:
        """Return it in the form that errors have."""
        parts = {"code": self.code, "what": self.what, "must": "", "got": "", "next": self.next}
        return {"error": parts}


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
