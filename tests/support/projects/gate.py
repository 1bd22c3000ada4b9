"""The gate for work that needs no permit, and permits for engines that are run without a gate."""

from collections.abc import Callable
from typing import Any

from discreet.core.permit import Permit
from discreet.ledger import gate
from discreet.ledger.gate import Answer, Release
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order


def pass_gate(ledger: Ledger, order: Order, work: Callable[[], Release], **options: Any) -> Answer:
    """Pass the gate with work that runs no engine."""
    return gate.pass_gate(ledger, order, lambda _: work(), **options)


def open_permit() -> Permit:
    """Return a permit as the gate would give it, for made-up rows."""
    permit = Permit()
    permit.open()
    return permit
