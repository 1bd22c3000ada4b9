"""Deadlines of orders: the one that is in force at the charge is the one that work is held to."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction

from discreet.ledger.chain import Latest
from discreet.ledger.gate_rules import rules_of
from discreet.ledger.order import Order
from discreet.ledger.store import Snapshot

IsHeld = Callable[[Fraction | None], bool]
"""Whether work is held to a deadline; ``None``: to none."""


def always(_: Fraction | None) -> bool:
    """Say so of any deadline, where nobody waits for the work."""
    return True


class DeadlineChanged(Exception):
    """Work is held to another deadline than the one in force. Nothing was charged."""


class Deadlines:
    """The longest deadline of the id spaces of an order.

    That an id space has none is remembered, so that it is not looked up before each charge.

    Guarantee:
        :meth:`require` refuses an order, in the transaction that would charge it, whose work is
        held to anything but the deadline in force. What is remembered is only what to prepare for.
    """

    def __init__(self) -> None:
        self._without: set[str] = set()

    def expected(
        self, order: Order, read: Callable[[], AbstractContextManager[Snapshot]]
    ) -> Fraction | None:
        """Return the deadline to prepare for; ``read`` opens the ledger where it is not known."""
        if self._without.issuperset(charge.id_space for charge in order.charges):
            return None
        with read() as snapshot:
            return self._longest(snapshot.latest, order)

    def require(self, latest: Latest, order: Order, is_held: IsHeld) -> None:
        """Refuse an order whose work is not held to the deadline in force."""
        if not is_held(self._longest(latest, order)):
            raise DeadlineChanged

    def _longest(self, latest: Latest, order: Order) -> Fraction | None:
        names = [charge.id_space for charge in order.charges]
        found = {name: rules_of(latest, name).deadline for name in names}
        declared = {name: deadline for name, deadline in found.items() if deadline is not None}
        self._without.update(found.keys() - declared)
        self._without.difference_update(declared)
        return max(declared.values(), default=None)
