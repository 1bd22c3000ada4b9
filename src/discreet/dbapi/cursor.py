"""A cursor: it asks one question at a time, and hands out the rows of the answer."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from discreet.dbapi.errors import InterfaceError, NotSupportedError, ProgrammingError, Warning
from discreet.dbapi.spelling import spelled
from discreet.dbapi.types import TYPE_CODES
from discreet.releases.answer_frame import AnswerFrame
from discreet.releases.cells import Cell
from discreet.releases.free_answer import FreeAnswer
from discreet.releases.release import Release

Row = tuple[Cell, ...]

Description = tuple[str, str, None, None, None, None, None]
"""A column of an answer: its name and its type. Nothing else is known of it."""

Ask = Callable[[str, Sequence[object]], tuple[Release | FreeAnswer, AnswerFrame]]


class Cursor:
    """Asks questions, one at a time, and hands out the rows of each answer.

    The same question at the same price is answered from the stored release, for nothing. What
    DB-API 2.0 has no place for is in ``release``: notes, cost and receipt.

    Threads may share a connection, but not a cursor.
    """

    arraysize: int = 1
    """How many rows ``fetchmany`` returns if nothing is said."""
    lastrowid: None = None
    """Nothing can be written, so no row was written last."""

    def __init__(self, ask: Ask, connection: object) -> None:
        self._ask = ask
        self.connection = connection
        self.messages: list[tuple[type[Warning], Warning]] = []
        """What must be known besides the rows of the last answer: the notes of the release."""
        self._is_closed = False
        self._forget()

    def _forget(self) -> None:
        self._rows: list[Row] | None = None
        self._place = 0
        self.description: tuple[Description, ...] | None = None
        """The columns of the last answer; None before the first and after a refusal."""
        self.release: Release | FreeAnswer | None = None
        """The last answer itself, with its notes and cost, and its receipt if it was charged."""
        self.messages.clear()

    @property
    def rowcount(self) -> int:
        """How many rows the last answer has; -1 if there is none."""
        return -1 if self._rows is None else len(self._rows)

    @property
    def rownumber(self) -> int | None:
        """Which row comes next, from 0 on; None if there is no answer."""
        return None if self._rows is None else self._place

    def execute(self, operation: str, parameters: Sequence[object] | None = None) -> Self:
        """Ask a question, for the price of the connection or the one that the query names.

        Each question mark of the query stands for one of the ``parameters``. They become constants,
        and can be nothing else.
        """
        self._require_open()
        self._forget()
        values = () if parameters is None else parameters
        if isinstance(values, str | bytes) or not isinstance(values, Sequence):
            raise ProgrammingError(
                "The parameters are not a list. They must be a tuple or list with one value for"
                f" each question mark; got {type(parameters).__name__}."
            )
        release, frame = self._ask(operation, values)
        self._rows = list(zip(*frame.columns, strict=True))
        self.description = tuple(
            (name, TYPE_CODES[kind], None, None, None, None, None)
            for name, kind in zip(frame.names, frame.kinds, strict=True)
        )
        self.release = release
        first = release.headline() if isinstance(release, Release) else ()
        told = map(spelled, (*first, *release.notes()))
        self.messages += [(Warning, Warning(line)) for line in told]
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[object]]) -> None:
        """Refuse: it is made for writing, and each question would be paid for."""
        self._require_open()
        raise NotSupportedError(
            "executemany is not supported, since nothing can be written. Ask for all groups in one"
            " query with GROUP BY: one price pays for them together."
        )

    def fetchone(self) -> Row | None:
        """Return the next row, or None if there is none."""
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """Return the next rows: so many, or fewer if there are no more."""
        rows = self._answered()
        first = self._place
        self._place = min(len(rows), first + max(0, self.arraysize if size is None else size))
        return rows[first : self._place]

    def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        return self.fetchmany(len(self._answered()))

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Do nothing, as DB-API 2.0 allows."""
        self._require_open()

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing, as DB-API 2.0 allows."""
        self._require_open()

    def close(self) -> None:
        """Forget the answer, and ask nothing more."""
        self._forget()
        self._is_closed = True

    def _answered(self) -> list[Row]:
        self._require_open()
        if self._rows is None:
            raise InterfaceError("There is no answer to fetch from. Ask with execute() first.")
        return self._rows

    def _require_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("The cursor is closed. Make another one with connection.cursor().")

    def __iter__(self) -> Self:
        """Hand out the rows that are left, one by one."""
        return self

    def __next__(self) -> Row:
        found = self.fetchone()
        if found is None:
            raise StopIteration
        return found

    def __enter__(self) -> Self:
        """Use the cursor in a ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close at the end of the block."""
        self.close()
