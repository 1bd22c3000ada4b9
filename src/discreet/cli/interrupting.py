"""What the command line does when somebody presses Ctrl-C, and how it ends.

The first time, the process says what was charged and stays until that is settled, so that the same
question finds the answer. The second time it leaves at once.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from discreet.cli.exit_status import INTERRUPTED
from discreet.core.interrupts import Interrupted
from discreet.ledger.under_way import FLIGHT, WORK, Spent, finish_flights, is_under_way, told_by

STAYING = (
    "discreet: finishing in the background, so that what was charged is not lost;"
    " press Ctrl-C again to leave now"
)

LEAVING = (
    "discreet: left before the end; what was charged stays, and an answer that was not settled"
    " counts as failed when its time is over"
)


def interrupted(
    pressed: KeyboardInterrupt, before: Spent, explain: Callable[[Interrupted], None]
) -> int:
    """Say what was charged, stay until it is settled, and return the status.

    ``before`` is what had been charged last when the command began.

    Guarantee:
        What is said, and how long it takes under a deadline, does not depend on what the work did.
    """
    try:
        said = told_by(pressed, before)
        explain(said)
        if said.spent:
            # Whether or not anything is left to finish: that is not to be seen.
            sys.stderr.write(f"{STAYING}\n")
            _flush()
            finish_flights()
    except KeyboardInterrupt:
        sys.stderr.write(f"{LEAVING}\n")
        _end(INTERRUPTED)
    return INTERRUPTED


def leave(status: int) -> NoReturn:
    """End the process.

    Work that was given up at its deadline may still be going on. It is not waited for: how long it
    takes must not be seen. If nothing is under way, all is said: an interrupt that comes while the
    interpreter is taken down changes neither the status nor what was written.
    """
    if is_under_way(WORK):
        _end(status)
    if not is_under_way(FLIGHT):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _end(status: int) -> NoReturn:
    """End at once: an interpreter that is taken down while a thread works aborts instead."""
    _flush()
    os._exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
