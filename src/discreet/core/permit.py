"""A permit: the word of the gate that a plan was paid for. Without it no engine reads a row."""

from discreet.core.errors import AnswerFailed


class Permit:
    """Made by the gate alone, for the work of one charge.

    Guarantee:
        It is open from when the charge is durable until its ticket is settled. So a plan that is
        run by mistake, before a charge or after it, reads nothing.

    Assumes:
        Nobody makes one. In Python that cannot be hindered; a test of the house sees to it that no
        file but the gate's does.
    """

    __slots__ = ("_is_exact", "_is_open")

    def __init__(self, *, is_exact: bool = False) -> None:
        """Begin shut; ``is_exact`` if the order is one whose numbers leave the gate as they are."""
        self._is_open = False
        self._is_exact = is_exact

    def open(self) -> None:
        """Note that what is to be run was paid for."""
        self._is_open = True

    def end(self) -> None:
        """Note that it was settled: nothing more is run for it."""
        self._is_open = False

    def require_open(self) -> None:
        """Refuse to run what was not paid for, or was settled; what it was is not said."""
        if not self._is_open:
            raise AnswerFailed

    def require_exact(self) -> None:
        """Refuse exact numbers to an order that has no mark in the ledger."""
        self.require_open()
        if not self._is_exact:
            raise AnswerFailed
