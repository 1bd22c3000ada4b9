"""What is under way in this process: its threads by name, and what it charged last.

Who ends the process has to know, without loading anything.
"""

import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from discreet.core.interrupts import Interrupted

P = ParamSpec("P")
T = TypeVar("T")

FLIGHT = "discreet-flight"
"""What the threads are called that charge an order and settle it."""

WORK = "discreet-work"
"""What the threads are called that are held to a deadline."""

GLANCE = 0.1
"""How many seconds are waited for another thread at once. A signal that comes just before a wait
begins does not end it; it is noticed after this time."""

Spent = tuple[int, str]
"""How many charges this process has made, and what the last one was, in words."""

_newest: list[Spent] = [(0, "")]


def is_interruptible() -> bool:
    """Tell whether an interrupt of the keyboard would be raised in this thread."""
    return threading.current_thread() is threading.main_thread()


def note_charge(words: str) -> None:
    """Note that something was charged for the thread that can be interrupted."""
    _newest[0] = (_newest[0][0] + 1, words)


def last_charge() -> Spent:
    """Return what was charged last for the thread that can be interrupted."""
    return _newest[0]


def told_by(pressed: KeyboardInterrupt, before: Spent) -> Interrupted:
    """Return what the gate said, or what is known if the interrupt came before or after it.

    ``before`` is what had been charged last when it all began.
    """
    if isinstance(pressed, Interrupted):
        return pressed
    newest = last_charge()
    return Interrupted("" if newest == before else newest[1])


def telling(method: Callable[P, T]) -> Callable[P, T]:
    """Let what may charge something say of an interrupt, wherever it comes, what was charged."""

    @wraps(method)
    def told(*args: P.args, **kwargs: P.kwargs) -> T:
        before = last_charge()
        try:
            return method(*args, **kwargs)
        except KeyboardInterrupt as pressed:
            said = told_by(pressed, before)
        raise said

    return told


def is_under_way(name: str) -> bool:
    """Tell whether a thread of this name is at work."""
    return any(thread.name == name for thread in threading.enumerate())


def finish_flights() -> None:
    """Wait until all that this process was charged for is settled."""
    for thread in threading.enumerate():
        while thread.name == FLIGHT and thread.is_alive():
            thread.join(GLANCE)


def wait_for(event: threading.Event) -> None:
    """Wait for an event."""
    while not event.wait(GLANCE):
        pass
