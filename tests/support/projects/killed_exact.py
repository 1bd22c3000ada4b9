"""A process that publishes an exact total and kills itself at a named step. Run as a module."""

import os
import signal
import sys
from typing import Any

import discreet
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.ledger import Ledger
from tests.support.projects.exact import know_stated_law

STEPS = (
    "before the mark",
    "after the mark",
    "before the release is stored",
    "after the release is stored",
)


def dying(kind: type, name: str, *, before: bool) -> None:
    """Let a process die right before, or right after, a method of a class."""
    original = getattr(kind, name)

    def dies(*given: Any, **named: Any) -> Any:
        found = None if before else original(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(kind, name, dies)


DEATHS = {
    "before the mark": (Ledger, "join_or_reserve", True),
    "after the mark": (DuckDbEngine, "execute", True),
    "before the release is stored": (Ledger, "commit_sealed", True),
    "after the release is stored": (Ledger, "commit_sealed", False),
}

if __name__ == "__main__":
    folder, step = sys.argv[1:]
    know_stated_law()
    kind, name, is_before = DEATHS[step]
    dying(kind, name, before=is_before)
    with discreet.own(folder) as owner:
        print(owner.publish_exact("total").value())
