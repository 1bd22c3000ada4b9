"""The errors of DB-API 2.0, and which of them each error of Discreet is.

.. code-block:: text

    Warning                     what must be known besides an answer: see ``Cursor.messages``
    Error
    ├── InterfaceError          a cursor or a connection is used wrongly: closed, nothing asked
    └── DatabaseError
        ├── DataError           never raised
        ├── OperationalError    the budget, or a declaration or ledger that is out of reach
        ├── IntegrityError      never raised
        ├── InternalError       something failed after the charge: asking again pays again
        ├── ProgrammingError    the query or a parameter is wrong
        └── NotSupportedError   the query can be read, and is refused
"""

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.core import errors
from discreet.dbapi.spelling import spelled


class Warning(Exception):
    """What must be known besides an answer. It is never raised."""


class Error(Exception):
    """The root of all errors of this interface.

    ``code`` is Discreet's own, such as ``refused_query``, where the error has one.
    """

    code: str = "error"

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: as for the error that it stands for, and no calls."""
        cause = self.__cause__
        if isinstance(cause, errors.DiscreetError):
            return cause._render_traceback_()
        return [f"{type(self).__name__}: {self}"]


class InterfaceError(Error):
    """A cursor or a connection is used in a way that it cannot be."""


class ClosedConnection(InterfaceError):
    """A connection is used after it was closed; pools open another one then."""

    code = "closed_connection"


class DatabaseError(Error):
    """The root of the errors that come from behind the interface."""


class DataError(DatabaseError):
    """DB-API 2.0 has it; nothing here raises it, since no error tells of data."""


class OperationalError(DatabaseError):
    """The budget does not allow it, or the project is out of reach. Nothing was spent."""


class IntegrityError(DatabaseError):
    """DB-API 2.0 has it; nothing here raises it, since nothing can be written."""


class InternalError(DatabaseError):
    """Something failed after the charge, which stays. Programs must not simply try again."""


class ProgrammingError(DatabaseError):
    """The query or a parameter is wrong. Nothing was spent."""


class NotSupportedError(DatabaseError):
    """The query can be read, and is refused. Nothing was spent."""


_KINDS: dict[type[errors.DiscreetError], type[Error]] = {
    errors.InvalidArgument: ProgrammingError,
    errors.Unsupported: NotSupportedError,
    errors.DeclarationError: OperationalError,
    errors.QueryError: ProgrammingError,
    errors.RefusedQuery: NotSupportedError,
    errors.BudgetError: OperationalError,
    errors.CollectionError: OperationalError,
    errors.MissingLoss: ProgrammingError,
    errors.LedgerError: OperationalError,
    # Tools that try an OperationalError again must not pay twice: these keep a charge.
    errors.WrittenBefore: InternalError,
    errors.AnswerFailed: InternalError,
    errors.OutputFailed: InternalError,
    errors.UnexpectedError: InternalError,
}

_PRICE = (
    "Give the connection a price: connect(..., epsilon=0.1), or ?epsilon=0.1 in its URL. Or give it"
    " to one query: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) ..."
)


def translated(error: errors.DiscreetError) -> Error:
    """Return an error of Discreet as the nearest one of DB-API 2.0, with the same words.

    Example:
        >>> translated(errors.UnknownTable("No table 'visit' is declared"))
        ProgrammingError("No table 'visit' is declared.")
    """
    kind = next(_KINDS[base] for base in type(error).__mro__ if base in _KINDS)
    is_unpriced = isinstance(error, errors.MissingLoss) and "connect()" in error.next
    text = f"{error.what}. {_PRICE}" if is_unpriced else _spelled(error)
    found = kind(text)
    found.code = error.code
    return found


def _spelled(error: errors.DiscreetError) -> str:
    below = f"\n{error.excerpt}" if error.excerpt else ""
    return f"{spelled(error.sentences())}{below}"


@contextmanager
def as_dbapi_errors() -> Iterator[None]:
    """Raise errors of Discreet as those of DB-API 2.0; the first is the cause of the second."""
    try:
        yield
    except errors.DiscreetError as error:
        raise translated(error) from error
