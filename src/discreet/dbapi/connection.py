"""A connection of DB-API 2.0: an analyst's connection in the form that other tools know."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import discreet.dbapi.errors as errors
from discreet.core.numbers import Number
from discreet.dbapi.cursor import Cursor
from discreet.releases.accuracy import Accuracy
from discreet.releases.answer_frame import AnswerFrame
from discreet.releases.free_answer import FreeAnswer
from discreet.releases.release import Release
from discreet.roles.connection import LOCAL_ANALYST
from discreet.roles.connection import Connection as AnalystConnection
from discreet.roles.connection import connect as connect_analyst
from discreet.sql.parameters import with_parameters
from discreet.tables.catalog import Catalog


class DatabaseConnection:
    """An open project behind DB-API 2.0, in the hands of an analyst.

    A question costs what it names itself, or else what the connection says; asked again, nothing.

    There are no transactions: an answer is paid for before it is given, and what somebody has seen
    cannot be taken back. So ``commit`` has nothing to do, and ``rollback`` undoes nothing.

    Threads may share it. Opening it, closing it and looking at tables cost nothing.
    """

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, connection: AnalystConnection, *, intervals: bool) -> None:
        self._connection = connection
        self._intervals = intervals
        self._is_closed = False

    def cursor(self) -> Cursor:
        """Return a cursor, with which questions are asked."""
        self.require_open()
        return Cursor(self._ask, self)

    def commit(self) -> None:
        """Do nothing: every answer is durable before it is given."""
        self.require_open()

    def rollback(self) -> None:
        """Do nothing: a charge cannot be undone. No error, for pools call it after every use."""
        self.require_open()

    def catalog(self) -> Catalog:
        """Return everything that is declared, for nothing."""
        self.require_open()
        return self._connection.catalog()

    def close(self) -> None:
        """Close the connection and all of its cursors; a second time does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._connection.close()

    def require_open(self) -> None:
        """Refuse what is asked of a connection that is closed. Nothing is asked of the data."""
        if self._is_closed:
            raise errors.ClosedConnection("The connection is closed. Open another with connect().")

    def _ask(
        self, query: str, parameters: Sequence[object]
    ) -> tuple[Release | FreeAnswer, AnswerFrame]:
        self.require_open()
        with errors.as_dbapi_errors():
            release = self._connection.sql(with_parameters(query, parameters))
            return release, release.frame(errors=self._intervals)

    def __enter__(self) -> Self:
        """Use the connection in a ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close at the end of the block."""
        self.close()


def connect(
    project: str | Path = ".",
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    accuracy: Accuracy | Number | None = None,
    delta: Number | None = None,
    analyst: str = LOCAL_ANALYST,
    intervals: bool = False,
) -> DatabaseConnection:
    """Open the project whose ``discreet.toml`` is at ``project`` (the file, or its folder).

    ``epsilon``, ``rho`` or ``accuracy`` is the price of each question, and ``delta`` the δ that
    each may spend besides. Without a price every query must name its own, unless the owner declared
    one, so that no dashboard spends a budget unseen. With ``intervals``, each noisy column ``n``
    has two more behind it, ``n_low`` and ``n_high``.
    """
    if not isinstance(intervals, bool):
        raise errors.ProgrammingError("intervals is not True or False.")
    with errors.as_dbapi_errors():
        connection = connect_analyst(
            project, epsilon=epsilon, rho=rho, accuracy=accuracy, delta=delta, analyst=analyst
        )
    return DatabaseConnection(connection, intervals=intervals)
