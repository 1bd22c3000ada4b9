"""Held work: run in a thread of its own, and looked at when its time is over, not before."""

from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

from discreet.ledger.public_json import public_json
from discreet.ledger.timer import Timer

Interrupt = Callable[[Thread], None]
"""Stops what a thread does, as far as that is possible."""


def nothing_to_interrupt(_: Thread) -> None:
    """Let the work run on; what it returns is thrown away."""


def held_work(
    work: Callable[[], dict[str, Any]], *, until: float, timer: Timer, interrupt: Interrupt
) -> dict[str, Any]:
    """Run ``work``; at ``until``, return what it gave, or give it up with an error.

    Guarantee:
        It returns or raises at ``until``, never earlier, whatever ``work`` does. Whether ``work``
        was in time is decided once, here: what it returns later is in a queue that nobody reads.
    """
    results: SimpleQueue[dict[str, Any]] = SimpleQueue()

    def run() -> None:
        # Every error ends here: a thread that dies of one prints it, and it may quote rows.
        with suppress(BaseException):
            results.put(public_json(work()))

    worker = Thread(target=run, name="discreet-work", daemon=True)
    try:
        # Without a thread there will be no result; that too is told when the time is over.
        with suppress(Exception):
            worker.start()
        timer.wait_until(until)
        return results.get_nowait()
    except BaseException:
        with suppress(Exception):
            interrupt(worker)
        raise
