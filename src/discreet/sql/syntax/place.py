"""Where a query cannot be read: an excerpt with marks under the place, and what is expected there.

The parser's own words name its classes, so each kind of complaint is put into plain words here. One
that is not known is told by its place alone.
"""

import difflib
import re
import unicodedata
from collections.abc import Callable, Sequence

from attrs import frozen

from discreet.core.errors import BadSyntax
from discreet.sql.syntax.nodes import Token, token_kind, tokens_of

WIDEST_EXCERPT = 76
"""How many characters of a line are shown around the place."""

_INDENT = "  "

_CLAUSES = ("SELECT", "WITH", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "UNION")
"""Words that are often mistyped; a name that is nearly one of them was probably meant to be it."""


def excerpt(sql: str, start: int, end: int) -> str:
    """Return the line around a place, and marks under it; ``end`` is where its last sign stands.

    Example:
        >>> print(excerpt("SELECT COUNT(* FROM visits", 15, 18))
          SELECT COUNT(* FROM visits
                         ^^^^
    """
    first = sql.rfind("\n", 0, start) + 1
    stop = sql.find("\n", first)
    line = sql[first:] if stop < 0 else sql[first:stop]
    begin, length = start - first, max(1, min(end, first + len(line) - 1) - start + 1)
    skipped = max(0, begin - WIDEST_EXCERPT // 2) if len(line) > WIDEST_EXCERPT else 0
    shown = line[skipped : skipped + WIDEST_EXCERPT]
    before = "... " if skipped else ""
    after = " ..." if skipped + WIDEST_EXCERPT < len(line) else ""
    marks = "^" * max(1, _width(shown[begin - skipped : begin - skipped + length]) or 1)
    blank = " " * (len(before) + _width(shown[: begin - skipped]))
    return f"{_INDENT}{before}{_plain(shown)}{after}\n{_INDENT}{blank}{marks}"


def _plain(text: str) -> str:
    """Return a text in which every character that moves the cursor is a space."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(_columns(sign) for sign in _plain(text))


def _columns(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


@frozen(kw_only=True)
class _Complaint:
    """What the parser complains about, and the tokens around it."""

    sql: str
    tokens: Sequence[Token]
    index: int
    """Which token it is that the parser could not read, or after which the query ended."""

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    @property
    def is_at_end(self) -> bool:
        return self.index == len(self.tokens) - 1

    def beside(self, wanted: str) -> str:
        """Say on which side of the token something is missing."""
        side = "after" if self.is_at_end else "before"
        return f"have {wanted} {side} {self.quoted(self.token)}"

    def quoted(self, token: Token) -> str:
        """Return a token as it is written."""
        return self.sql[token.start : token.end + 1][:40]


def not_valid(sql: str, description: str, line: int, column: int, *, shown: str) -> BadSyntax:
    """Return the error about a query that the parser complains about at the end of a token.

    ``shown`` is what somebody wrote, with every word at the same place; nothing if it differs.
    """
    tokens = tokens_of(sql)
    places = (
        index
        for index, token in enumerate(tokens)
        if (getattr(token, "line", 0), getattr(token, "col", 0)) == (line, column)
    )
    index = next(places, None)
    if index is None or not shown:
        return BadSyntax("The query is not valid SQL", got=f"an error at line {line}")
    is_begun = token_kind(tokens[0]) in ("SELECT", "WITH", "FROM", "L_PAREN")
    found = _Complaint(sql=shown, tokens=tokens, index=index if is_begun else 0)
    known = next((words(found, *match) for words, match in _matches(description)), "")
    return BadSyntax(
        f"The query is not valid SQL at {_place(sql, found.token.start)}",
        must=known if is_begun else "begin with SELECT or WITH",
        next=_meant(found),
        excerpt=excerpt(shown, found.token.start, found.token.end),
    )


def not_closed(sql: str) -> BadSyntax:
    """Return the error about a query that cannot be divided into words: a quote does not end."""
    advice, opened = "Check its quotes and brackets", unclosed(sql)
    if opened is None:
        return BadSyntax("The query cannot be read", next=advice)
    start, sign = opened
    return BadSyntax(
        f"The query cannot be read from {_place(sql, start)} on",
        must=f"have {_ENDS[sign]} where what begins with {sign} ends",
        next=advice,
        excerpt=excerpt(sql, start, start + len(sign) - 1),
    )


_ENDS = {"'": "'", '"': '"', "/*": "*/"}
_OPENERS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|'|\"|/\*", re.DOTALL)


def unclosed(sql: str) -> tuple[int, str] | None:
    """Return where a quote or a comment begins that does not end, and its sign.

    Example:
        >>> unclosed("SELECT 'a', 'b"), unclosed("SELECT 'it''s' -- isn't")
        ((12, "'"), None)
    """
    for found in _OPENERS.finditer(sql):
        if found.group() in _ENDS:
            return found.start(), found.group()
    return None


def _place(sql: str, start: int) -> str:
    line = sql.count("\n", 0, start) + 1
    return f"line {line}, column {start - sql.rfind(chr(10), 0, start)}"


def _meant(found: _Complaint) -> str:
    """Return which word was probably meant by one up to the place, if one is nearly another."""
    if found.token.text in ("`", "["):
        return 'Names stand in double quotes: "name"'
    before = [token.text.lower() for token in found.tokens[max(0, found.index - 2) : found.index]]
    if before in (["{", "d"], ["{", "ts"]):
        return f"Write {'DATE' if before[1] == 'd' else 'TIMESTAMP'} before the text, without {{ }}"
    for token in reversed(found.tokens[max(0, found.index - 1) : found.index + 1]):
        if close := _near(token):
            return f"Did you mean {close} instead of {found.quoted(token)}?"
    return ""


def _near(token: Token) -> str:
    """Return the word that a name nearly is."""
    word = token.text.upper()
    if token_kind(token) != "VAR" or word in _CLAUSES:
        return ""
    return next(iter(difflib.get_close_matches(word, _CLAUSES, n=1, cutoff=0.7)), "")


def _expecting(found: _Complaint, sign: str) -> str:
    return found.beside(sign)


def _missing(found: _Complaint) -> str:
    return found.beside("a value")


def _table(found: _Complaint) -> str:
    return found.beside("the name of a table")


_WORDS = {"TYPE": "a type"}


def _expected(found: _Complaint, word: str, after: str) -> str:
    return f"have {_WORDS.get(word, word)} after {after}"


def _unexpected(found: _Complaint) -> str:
    before = found.tokens[found.index - 1].text.upper() if found.index else ""
    if before in ("GROUP", "ORDER"):
        return f"have BY after {before}"
    if token_kind(found.token) == "R_PAREN":
        return "have a ( for every )"
    is_call = token_kind(found.token) == "L_PAREN" and found.index > 0
    token = found.tokens[found.index - 1] if is_call else found.token
    return f"have a comma, an operator or another clause before {found.quoted(token)}"


_KINDS: tuple[tuple[re.Pattern[str], Callable[..., str]], ...] = (
    (re.compile(r"Expecting (\S{1,2})$"), _expecting),
    (re.compile(r"Required keyword: '\w+' missing"), _missing),
    (re.compile(r"Expected table name"), _table),
    (re.compile(r"Expected ([A-Z]+) after ([A-Z]+)$"), _expected),
    (re.compile(r"Invalid expression / Unexpected token"), _unexpected),
)


def _matches(description: str) -> list[tuple[Callable[..., str], tuple[str, ...]]]:
    found = ((words, pattern.match(description)) for pattern, words in _KINDS)
    return [(words, match.groups()) for words, match in found if match]
