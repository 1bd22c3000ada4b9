"""Run something in a forked process, and see how it ended."""

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from attrs import frozen

UNCAUGHT = 99
"""The status of a child in which an error got through."""


@frozen
class Ended:
    """The status of a child (below 0: the signal that killed it), and what it wrote to stderr."""

    status: int
    said: str


def forked(run: Callable[[], int], folder: Path) -> Ended:
    """Fork, run, and wait for the end. The child never comes back to the test."""
    file = folder / "stderr"
    child = os.fork()
    if child == 0:
        _be_child(run, file)
    _, status = os.waitpid(child, 0)
    return Ended(os.waitstatus_to_exitcode(status), file.read_text(encoding="utf-8"))


def _be_child(run: Callable[[], int], file: Path) -> None:
    status = UNCAUGHT
    try:
        sys.stderr = file.open("w", encoding="utf-8")
        status = run()
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
