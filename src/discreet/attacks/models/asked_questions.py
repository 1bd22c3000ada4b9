"""A connection as an attack sees it: texts go in, numbers or refusals come out."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.errors import AnswerFailed, BudgetError, InvalidArgument, QueryError
from discreet.core.numbers import exact
from discreet.releases.free_answer import FreeAnswer
from discreet.releases.release import Release
from discreet.roles.connection import Connection

Asked = str | tuple[str, Any]
"""A SELECT with one row, or one with the group whose row is meant."""

_Found = Release | FreeAnswer | None


@frozen(kw_only=True)
class AskedQuestions:
    """Asks one question after the other, each at the same price; a refusal is ``None``.

    A query is the text of a SELECT whose answer has one row, or a pair of a text and the value of
    its first column that says which row is meant. What is told is the last column. Every text is
    asked once for each call, so that a thousand groups of one answer cost one question.

    Guarantee:
        Everything goes through the connection, so nothing is read that an analyst could not ask,
        every answer is charged, and the loss of all answers together is what the ledger says.
    """

    connection: Connection = field(repr=False)
    epsilon: Fraction = field(converter=exact)

    def answers(self, queries: Sequence[Asked]) -> list[Any]:
        """Return a number for each query, or ``None`` where the question was refused."""
        return _told(queries, lambda texts: [self._ask(text) for text in texts])

    def _ask(self, text: str) -> _Found:
        try:
            return self.connection.sql(text, epsilon=self.epsilon)
        except (BudgetError, QueryError, AnswerFailed):
            return None


@frozen(kw_only=True)
class BatchedQuestions:
    """Asks all questions of a call at once, for one price; either all are answered or none is."""

    connection: Connection = field(repr=False)
    epsilon: Fraction = field(converter=exact)
    delta: Fraction = field(converter=exact)

    def answers(self, queries: Sequence[Asked]) -> list[Any]:
        """Return a number for each query, or ``None`` for each if the batch was refused."""
        return _told(queries, self._ask)

    def _ask(self, texts: Sequence[str]) -> Sequence[_Found]:
        try:
            return self.connection.batch(texts, epsilon=self.epsilon, delta=self.delta)
        except (BudgetError, QueryError, AnswerFailed):
            return [None] * len(texts)


def _told(queries: Sequence[Asked], ask: Callable[[list[str]], Sequence[_Found]]) -> list[Any]:
    pairs = [(query, None) if isinstance(query, str) else query for query in queries]
    texts = list(dict.fromkeys(text for text, _ in pairs))
    found = dict(zip(texts, ask(texts), strict=True))
    rows = {text: None if one is None else _rows(one) for text, one in found.items()}
    return [_cell(rows[text], key) for text, key in pairs]


def _rows(found: Release | FreeAnswer) -> dict[Any, Any]:
    return {row[0] if len(row) > 1 else None: row[-1] for row in found.rows}


def _cell(rows: dict[Any, Any] | None, key: Any) -> Any:
    if rows is None:
        return None
    if key is None and len(rows) == 1:
        return next(iter(rows.values()))
    if key not in rows:
        raise InvalidArgument("No row of the answer is meant", must="be named by its first column")
    return rows[key]
