"""Parameters: the constants that stand where a query has question marks."""

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Integral

from discreet.core import optional
from discreet.core.errors import InvalidArgument
from discreet.sql.parse import read_tokens
from discreet.sql.syntax.nodes import Node, Token, token_kind

PLACE = "PLACEHOLDER"
"""What the parser calls a question mark that stands for a constant."""

Word = tuple[str, str]
"""What a word or sign is, and what it says: all that the parser reads of it."""


def with_parameters(sql: str, parameters: Sequence[object]) -> str:
    """Return the query with a constant in the place of each question mark, in their order.

    Guarantee:
        A parameter is a constant, whatever is in it: it neither ends a text nor begins a comment.

        Proof. The parser reads words and signs, and nothing else. Those of the result are compared
        with those of the query: they are the same, but that in the place of each question mark
        stand the words of one constant, which the parser's own writer wrote. What is not so is
        refused.

    Example:
        >>> with_parameters("SELECT COUNT(*) FROM visits WHERE clinic = ?", ["Kings' Cross"])
        "SELECT COUNT(*) FROM visits WHERE clinic = 'Kings'' Cross'"
    """
    tokens = read_tokens(sql)
    places = [token for token in tokens if token_kind(token) == PLACE]
    if len(places) != len(parameters):
        raise InvalidArgument(
            "The parameters are not as many as the question marks",
            must=f"be {len(places)}",
            got=str(len(parameters)),
            next="A question mark in quotes is a text, and takes no parameter",
        )
    if not places:
        return sql
    texts = [_constant(value).sql("duckdb") for value in parameters]
    written = iter([_constant_words(*pair) for pair in zip(texts, parameters, strict=True)])
    wanted = [
        word
        for token in tokens
        for word in (next(written) if token_kind(token) == PLACE else _words([token]))
    ]
    found = _put(sql, places, texts)
    if _words(read_tokens(found)) != wanted:
        raise _not_here()
    return found


def _not_here() -> InvalidArgument:
    return InvalidArgument(
        "A parameter cannot be written as a constant here",
        must="stand by itself, as in clinic = ?",
    )


def _constant_words(text: str, value: object) -> list[Word]:
    """Return the words of a constant. Of a text, which can say anything, they are that text."""
    words = _words(read_tokens(text))
    if isinstance(value, str) and words != [("STRING", value)]:
        raise _not_here()
    return words


def _words(tokens: Sequence[Token]) -> list[Word]:
    return [(token_kind(token), token.text) for token in tokens]


def _put(sql: str, places: Sequence[Token], texts: Sequence[str]) -> str:
    parts, after = [], 0
    for place, text in zip(places, texts, strict=True):
        parts += [sql[after : place.start], text]
        after = place.end + 1
    return "".join([*parts, sql[after:]])


def _constant(value: object) -> Node:
    """Return a value as a constant of the parser's tree."""
    exp = optional.load("sqlglot.expressions")
    node: Node
    if value is None:
        node = exp.null()
    elif isinstance(value, bool):
        node = exp.true() if value else exp.false()
    elif isinstance(value, Integral | float | Decimal):
        node = _number(value)
    elif isinstance(value, str):
        node = exp.Literal.string(value)
    elif isinstance(value, datetime.date | datetime.time):
        node = exp.cast(exp.Literal.string(_moment(value)), _kind_of_moment(value))
    else:
        raise InvalidArgument(
            "A parameter is of a type that has no constants",
            must="be None, a bool, a number, a text or a date",
            got=type(value).__name__,
        )
    return node


def _moment(value: datetime.date | datetime.time) -> str:
    return value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()


def _kind_of_moment(value: datetime.date | datetime.time) -> str:
    """Return the type in SQL. A zone is part of it, so that none is lost or added."""
    has_zone = getattr(value, "tzinfo", None) is not None
    # A datetime is a date to Python, so it is looked for first.
    kinds = {datetime.datetime: "timestamp", datetime.date: "date", datetime.time: "time"}
    kind = next(name for python, name in kinds.items() if isinstance(value, python))
    return f"{kind}tz" if has_zone else kind


def _number(value: Integral | float | Decimal) -> Node:
    """Return a number; one below 0 is in brackets, so that no sign before it changes it."""
    exp = optional.load("sqlglot.expressions")
    if not isinstance(value, Integral) and not math.isfinite(value):
        raise InvalidArgument(
            "A parameter is no number", must="be finite, or None for NULL", got=str(value)
        )
    plain = int(value) if isinstance(value, Integral) else value
    plain = float(plain) if isinstance(plain, float) else plain
    try:
        text = str(plain).lower()
    except ValueError:  # Python writes no whole number of many thousand digits
        raise InvalidArgument("A parameter is a number of too many digits") from None
    literal = exp.Literal.number(text.lstrip("-"))
    found: Node = exp.paren(exp.Neg(this=literal)) if text.startswith("-") else literal
    return found
