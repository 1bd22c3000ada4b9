"""Interrupts of the keyboard: what one says about an answer, and blocks that it waits for."""

import signal
import sys
import threading
import time
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


def pressed_behind(error: BaseException) -> KeyboardInterrupt | None:
    """Return the interrupt that an error came of, if it came of one.

    Python makes another error of an interrupt that comes while it puts a class together, and there
    may be more between it and who is told.

    Example:
        >>> pressed_behind(RuntimeError("while a class is made")) is None
        True
    """
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, KeyboardInterrupt):
            return one
        if id(one) not in seen:
            seen.add(id(one))
            waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
    return None


PAUSE = 0.01
"""How many seconds pass before an interrupt that was dropped is raised again."""


def drop_no_interrupts() -> None:
    """Raise an interrupt again that came where Python can only print errors and go on.

    It calls functions on its own, as when something is let go of while modules are loaded. What
    they raise is dropped, so whoever pressed the key would be charged all the same.
    """
    before = sys.unraisablehook

    def told(unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            threading.Thread(target=_press_again, daemon=True).start()
        else:
            before(unraisable)

    sys.unraisablehook = told


def _press_again() -> None:
    time.sleep(PAUSE)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


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
