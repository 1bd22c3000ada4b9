"""Every error of Discreet, as one tree with stable codes.

.. code-block:: text

    DiscreetError
    ├── InvalidArgument          invalid_argument       a parameter outside its range
    ├── Unsupported              unsupported            known to us, but not done (or not safe)
    │   ├── MissingDependency    missing_dependency     an optional library is not installed
    │   ├── NoSuchNumber         no_such_number         a loss in this measure does not have it
    │   └── NothingReleased      nothing_released       a free answer has no receipt and no noise
    ├── DeclarationError         bad_declaration        discreet.toml says something impossible
    ├── QueryError
    │   ├── BadSyntax            bad_syntax             not SQL that we can read
    │   ├── UnknownTable         unknown_table
    │   ├── UnknownColumn        unknown_column
    │   ├── UndeclaredBound      undeclared_bound       a sum with no declared range
    │   ├── UndeclaredKeys       undeclared_keys        a GROUP BY with no public keys
    │   └── RefusedQuery         refused_query          readable, but it could leak
    ├── BudgetError
    │   ├── MissingLoss          missing_loss           nobody said how much may be spent
    │   ├── BudgetExhausted      budget_exhausted
    │   ├── BelowLeastPrice      below_least_price      a question that costs next to nothing
    │   ├── Suspended            suspended              too many answers failed
    │   └── Busy                 busy                   too many questions are in flight
    ├── LedgerError              ledger_error           the ledger is damaged or out of reach
    │   └── WrittenBefore        written_before         what it was to keep is kept: a charge stays
    ├── AnswerFailed             answer_failed          after the gate: one message for every cause
    ├── CollectionError                                 a batch that a collector does not keep
    │   ├── BadBatch             bad_batch              no report of the survey
    │   ├── OtherVersion         other_version          of another version of the survey
    │   ├── SurveyClosed         survey_closed          no more reports are taken
    │   ├── TooLarge             too_large              more bytes than a batch has
    │   ├── TooMany              too_many               more batches than are taken just now
    │   └── NotKept              not_kept               the disk is full, or fails
    ├── OutputFailed             output_failed          what was to be shown cannot be written
    └── UnexpectedError            internal_error         a fault of Discreet's own

Each error says *what* happened, what *must* hold, what we *got* and what to do *next*. Parameters
and schema may be quoted; values of private rows never are, nor counts, sizes or durations computed
from them.
"""

import os
import traceback
from collections.abc import Callable
from typing import ClassVar

from discreet.core.terminal_text import printable
from discreet.core.unit_words import put_in

TRACE = "DISCREET_TRACE"
"""The variable of the environment that asks for the way to an error."""


class DiscreetError(Exception):
    """The root of all errors that Discreet raises on purpose.

    Example:
        >>> error = InvalidArgument("scale is out of range", must="be greater than 0", got="-1")
        >>> print(error)
        scale is out of range. It must be greater than 0; got -1.
        >>> error.to_json()["error"]["code"]
        'invalid_argument'
    """

    code: ClassVar[str] = "error"
    excerpt: str = ""
    """What somebody wrote, with marks under the place that is meant; nothing if there is none."""

    def __init__(self, what: str, *, must: str = "", got: str = "", next: str = "") -> None:
        self._written = (what, must, got, next)
        self.name_units(put_in)

    def name_units(self, said: Callable[[str], str]) -> None:
        """Put the name for a unit into the places that were kept for it.

        Until a door that knows the declaration does so, it is a unit.
        """
        parts = (_short(said(part)) for part in self._written)
        self.what, self.must, self.got, self.next = parts
        self.args = (self.what,)

    def __str__(self) -> str:
        """Return the sentences, and the excerpt below them if there is one."""
        return f"{self.sentences()}\n{self.excerpt}" if self.excerpt else self.sentences()

    def sentences(self) -> str:
        """Return the error as one to three sentences."""
        return " ".join(part for part in self._parts() if part)

    def _parts(self) -> tuple[str, str]:
        """Return what is wrong, and what to do next."""
        requirement = f"It must {self.must}" if self.must else ""
        received = f"got {self.got}" if self.got else ""
        middle = "; ".join(part for part in (requirement, received) if part)
        if middle:
            middle = middle[0].upper() + middle[1:]
        wrong = " ".join(_sentence(part) for part in (self.what, middle) if part)
        return wrong, _sentence(self.next) if self.next else ""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows in place of the calls that led to the error.

        They lead through Discreet, where nothing is to be mended; ``DISCREET_TRACE=1`` in the
        environment shows them.
        """
        if os.environ.get(TRACE):
            return traceback.format_exception(self)
        wrong, next_step = self._parts()
        below = [*self.excerpt.splitlines(), *([next_step] if next_step else [])]
        return [printable(line) for line in (f"{type(self).__name__}: {wrong}", *below)]

    def to_json(self) -> dict[str, dict[str, str]]:
        """Return the stable form that every interface shows: code, what, must, got, next.

        An error that has an excerpt shows that too.
        """
        fields = ("code", "what", "must", "got", "next", *(["excerpt"] if self.excerpt else []))
        return {"error": {name: getattr(self, name) for name in fields}}


LONGEST_PART = 600
"""A message that quotes what somebody wrote need not quote all of it."""


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_PART else f"{text[: LONGEST_PART // 2]} ..."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!", ":")) else f"{text}."


class InvalidArgument(DiscreetError):
    """A parameter is outside its range."""

    code = "invalid_argument"


class Unsupported(DiscreetError):
    """We know what this is, and do not do it; there is no silent fallback."""

    code = "unsupported"


class MissingDependency(Unsupported):
    """An optional library is needed and not installed."""

    code = "missing_dependency"


class NoSuchNumber(Unsupported, AttributeError):
    """A loss in this measure has no such number; to Python, an attribute that is not there."""

    code = "no_such_number"


class NothingReleased(Unsupported, AttributeError):
    """A free answer lacks what a release has; to Python, an attribute that is not there."""

    code = "nothing_released"


class DeclarationError(DiscreetError):
    """``discreet.toml`` declares something that cannot hold."""

    code = "bad_declaration"


class QueryError(DiscreetError):
    """A query cannot be answered as it stands; nothing was spent."""

    code = "query_error"


class BadSyntax(QueryError):
    """The text is not SQL that we can read."""

    code = "bad_syntax"

    def __init__(
        self, what: str, *, must: str = "", got: str = "", next: str = "", excerpt: str = ""
    ) -> None:
        super().__init__(what, must=must, got=got, next=next)
        self.excerpt = excerpt


class UnknownTable(QueryError):
    """No table of that name is declared."""

    code = "unknown_table"


class UnknownColumn(QueryError):
    """No column of that name is declared."""

    code = "unknown_column"


class UndeclaredBound(QueryError):
    """A sum needs a declared range, or one person could move it without limit."""

    code = "undeclared_bound"


class UndeclaredKeys(QueryError):
    """A GROUP BY needs public keys, or the groups that appear would tell who is there."""

    code = "undeclared_keys"


class RefusedQuery(QueryError):
    """The query can be read, but answering it could leak, or is not supported."""

    code = "refused_query"


class BudgetError(DiscreetError):
    """The spend cannot be made; nothing was read."""

    code = "budget_error"


class MissingLoss(BudgetError):
    """Neither the query nor the connection says how much may be spent."""

    code = "missing_loss"


class BudgetExhausted(BudgetError):
    """What is left of the budget is less than what the query costs."""

    code = "budget_exhausted"


class BelowLeastPrice(BudgetError):
    """The question costs less than the least that the owner declared for a question."""

    code = "below_least_price"


class Suspended(BudgetError):
    """Too many answers failed in the id space; the owner must look before more is asked."""

    code = "suspended"


class Busy(BudgetError):
    """Too many questions are in flight; wait until one of them is answered."""

    code = "busy"


class LedgerError(DiscreetError):
    """The ledger is damaged, locked or out of reach."""

    code = "ledger_error"


class WrittenBefore(LedgerError):
    """The ledger keeps what it was to keep, but what must follow failed. A charge in it stays."""

    code = "written_before"


class AnswerFailed(DiscreetError):
    """Something failed after the gate. The charge stays, and every cause looks alike."""

    code = "answer_failed"

    def __init__(self, *, is_joined: bool = False) -> None:
        charge = (
            "Somebody else paid for it, and that charge stays; you were charged nothing"
            if is_joined
            else "The charge stays"
        )
        super().__init__(
            "The answer could not be produced",
            next=f"{charge}. The owner can run 'discreet check'; asking again pays again.",
        )


class CollectionError(DiscreetError):
    """A collector does not keep a batch, and has not acknowledged it."""

    code = "collection_error"
    status: ClassVar[int] = 400
    """How this is said over HTTP."""


class BadBatch(CollectionError):
    """What was sent is no batch that a device of this survey makes."""

    code = "bad_batch"


class OtherVersion(CollectionError):
    """The batch is of another version of the survey."""

    code = "other_version"
    status = 409


class SurveyClosed(CollectionError):
    """The survey takes no more reports."""

    code = "survey_closed"
    status = 410


class TooLarge(CollectionError):
    """The batch has more bytes than any batch of this survey."""

    code = "too_large"
    status = 413


class TooMany(CollectionError):
    """More batches arrive than are taken; the device tries again later."""

    code = "too_many"
    status = 429


class NotKept(CollectionError):
    """The batch could not be written, as on a full disk; the device tries again later."""

    code = "not_kept"
    status = 507


class OutputFailed(DiscreetError):
    """What was to be shown cannot be written, as on a full disk. A charge stays."""

    code = "output_failed"


class UnexpectedError(DiscreetError):
    """A fault of Discreet's own. It names a place in the program, and quotes no message."""

    code = "internal_error"

    def __init__(self, place: str) -> None:
        super().__init__(
            "Something went wrong inside Discreet",
            got=place,
            next=f"This is a fault of Discreet: please report it with these words. {TRACE}=1 "
            "shows the way to it, without any values",
        )
