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

    __slots__ = ("_is_open",)

    def __init__(self) -> None:
        self._is_open = False

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
