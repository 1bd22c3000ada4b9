"""Orders for tests: short to write."""

import sys
from collections.abc import Sequence
from pathlib import Path

from discreet.core.loss import PrivacyLoss, Pure
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Charge, Order
from discreet.ledger.sqlite_store import create_sqlite

RELEASE = {"rows": [["a", 3], ["b", -1]]}


def order(
    loss: PrivacyLoss | None = None,
    *,
    plan: str = "plan",
    version: int = 1,
    analyst: str = "ann",
    spaces: Sequence[str] = ("people",),
) -> Order:
    charge = loss or Pure(1)
    return Order(
        plan_digest=plan,
        data_version=version,
        analyst=analyst,
        charges=tuple(Charge(name, charge) for name in spaces),
        description={"sql": "SELECT COUNT(*) FROM visits"},
    )


def new_ledger(folder: Path, cap: PrivacyLoss | None = None) -> Ledger:
    ledger = Ledger(create_sqlite(folder / "ledger.sqlite"))
    ledger.declare(Budget("people", cap or Pure(3)))
    return ledger


def tells_no_cause(error: BaseException) -> bool:
    """Tell that an error leads back to nothing but what whoever asks is handling already."""
    return error.__cause__ is None and error.__context__ is sys.exception()
