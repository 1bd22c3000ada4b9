"""The status with which a command ends: one table, for people who write scripts.

.. code-block:: text

    0    answered           the command did what it was asked for
    1    internal           the ledger is out of reach, the output cannot be written, or something
                            is wrong inside Discreet
    2    usage              the command, the declaration or the installation must be mended
    3    refused            the question cannot be answered as it stands; nothing was spent
    4    budget             the budget, a price or a suspension is in the way; nothing was spent
    5    after the charge   whatever failed then: the charge stays
    130  interrupted        somebody pressed Ctrl-C; what is said tells whether anything was charged
"""

import sys
import traceback
from collections.abc import Mapping

from discreet.core.errors import (
    AnswerFailed,
    BudgetError,
    CollectionError,
    DeclarationError,
    DiscreetError,
    InvalidArgument,
    LedgerError,
    MissingDependency,
    MissingLoss,
    OutputFailed,
    QueryError,
    UnexpectedError,
    Unsupported,
    WrittenBefore,
)

ANSWERED = 0
INTERNAL = 1
USAGE = 2
REFUSED = 3
BUDGET = 4
AFTER_CHARGE = 5
INTERRUPTED = 130

STATUSES: Mapping[type[DiscreetError], int] = {
    UnexpectedError: INTERNAL,
    OutputFailed: INTERNAL,
    LedgerError: INTERNAL,
    InvalidArgument: USAGE,
    DeclarationError: USAGE,
    MissingDependency: USAGE,
    MissingLoss: USAGE,
    QueryError: REFUSED,
    Unsupported: REFUSED,
    BudgetError: BUDGET,
    CollectionError: REFUSED,
    AnswerFailed: AFTER_CHARGE,
    WrittenBefore: AFTER_CHARGE,
}
"""The status of each family of errors. The nearest family counts."""


def status_of(error: DiscreetError, *, is_charged: bool) -> int:
    """Return the status of a command that ended in an error.

    ``is_charged`` says whether the command has charged anything: then nothing else matters.

    Example:
        >>> status_of(QueryError("no"), is_charged=False), status_of(QueryError("no"),
        ... is_charged=True)
        (3, 5)
    """
    if is_charged:
        return AFTER_CHARGE
    found = (STATUSES[family] for family in type(error).__mro__ if family in STATUSES)
    return next(found, INTERNAL)


def internal_error(cause: BaseException) -> UnexpectedError:
    """Return what may be said about an error that nobody expected.

    Guarantee:
        It holds the name of the class and a place in the program. The message of the cause is not
        quoted, for it may hold values of rows.
    """
    place = "an unknown place"
    for frame, line in traceback.walk_tb(cause.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == "discreet":
            place = f"{module}, line {line}"
    return UnexpectedError(f"{type(cause).__name__} in {place}")


def trace(cause: BaseException) -> str:
    """Return the way to an error, from call to call: lines of programs, and no message or value."""
    return "".join(traceback.format_tb(cause.__traceback__)).rstrip("\n")


def write_trace(cause: BaseException) -> None:
    """Write the way to an error where errors are written."""
    sys.stderr.write(f"{trace(cause)}\n")
