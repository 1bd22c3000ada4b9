"""A process that answers one query and kills itself at a named step. Run as a module by a test."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from discreet.core.loss import Pure
from discreet.core.permit import Permit
from discreet.curator.answer import answer
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.ledger.ledger import Ledger
from discreet.project.project import Project
from discreet.randomness.rng import SystemRng
from tests.support.projects.clinic import make_curator

SQL = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
STEPS = (
    "before the charge",
    "after the charge",
    "after the rows are read",
    "while noise is drawn",
    "before the release is stored",
    "after the release is stored",
    "after the answer is seen",
)


def die() -> None:
    """End as a power cut would: no handlers, no clean-up."""
    os.kill(os.getpid(), signal.SIGKILL)


class DyingLedger(Ledger):
    """Dies around reserve and commit."""

    step = ""

    def join_or_reserve(self, *asked: Any, **how: Any) -> Any:
        if DyingLedger.step == "before the charge":
            die()
        return super().join_or_reserve(*asked, **how)

    def commit_sealed(self, ticket: Any, sealed: Any, **how: Any) -> Any:
        if DyingLedger.step == "before the release is stored":
            die()
        receipt = super().commit_sealed(ticket, sealed, **how)
        if DyingLedger.step == "after the release is stored":
            die()
        return receipt


class DyingEngine(DuckDbEngine):
    """Dies around the reading of rows."""

    def __init__(self, step: str) -> None:
        super().__init__()
        self.step = step

    def execute(self, plan: Any, salt: bytes, permit: Permit) -> Any:
        if self.step == "after the charge":
            die()
        exact = super().execute(plan, salt, permit)
        if self.step == "after the rows are read":
            die()
        return exact


class DyingRng:
    """Dies when noise is asked for."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.inner = SystemRng()

    def words(self, count: int) -> Any:
        if self.step == "while noise is drawn":
            die()
        return self.inner.words(count)


def main(folder: str, step: str) -> None:
    """Answer, dying at ``step``."""
    DyingLedger.step = step
    usual = make_curator(Path(folder), SystemRng())
    usual.ledger.data_version("people", SystemRng())  # drawn before, so that only noise is left
    curator = Project(
        catalog=usual.catalog,
        engine=DyingEngine(step),
        ledger=DyingLedger(usual.ledger.store),
        rng=DyingRng(step),
    )
    release = answer(curator, SQL, terms=Pure(1), analyst="a")
    sys.stdout.write(f"{release.rows}\n")
    sys.stdout.flush()
    if step == "after the answer is seen":
        die()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
