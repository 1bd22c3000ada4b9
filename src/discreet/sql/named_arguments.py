"""Named arguments of aggregates, as BigQuery has them, written as the CLAMP that they mean.

``SUM(x, contribution_bounds_per_row => (0, 10))`` becomes ``SUM(CLAMP(x, 0, 10))``, and with
``contribution_bounds_per_group`` it becomes ``SUM(CLAMP_TOTAL(x, 0, 10))``. It is done with tokens,
before the query is parsed: no parser of SQL knows these arguments.
"""

from collections.abc import Sequence
from functools import cached_property

from attrs import field, frozen

from discreet.core.errors import BadSyntax, RefusedQuery
from discreet.core.unit_words import A_UNIT, BARE_UNIT
from discreet.sql.aggregates.functions import TOTAL, takes_number
from discreet.sql.syntax.nodes import Token, token_kind, tokens_of

_PER_ROW, _PER_GROUP = "contribution_bounds_per_row", "contribution_bounds_per_group"
_OPENING, _CLOSING = ("L_PAREN", "L_BRACKET", "L_BRACE"), ("R_PAREN", "R_BRACKET", "R_BRACE")
_EXAMPLE = f"Write SUM(x, {_PER_ROW} => (0, 100)), or SUM(CLAMP(x, 0, 100))"


def with_clamps(sql: str) -> str:
    """Return the text with every named bound written as a CLAMP.

    Example:
        >>> with_clamps("SELECT SUM(cost + f(1, 2), contribution_bounds_per_row => (0, 9)) FROM t")
        'SELECT SUM(CLAMP(cost + f(1, 2), 0, 9)) FROM t'
    """
    if "=>" not in sql:
        return sql
    text = _Text(sql)
    edits: list[tuple[int, int, str]] = []
    used: set[int] = set()
    for place in text.places("FARROW"):
        call = text.opening(place)
        if call in used:
            raise RefusedQuery("An aggregate has two named arguments", next=_EXAMPLE)
        used.add(call)
        edits += _edits(text, place, call)
    for start, end, new in sorted(edits, reverse=True):
        sql = sql[:start] + new + sql[end:]
    return sql


@frozen
class _Text:
    """A query, its tokens, and which bracket each of them stands in."""

    sql: str
    tokens: Sequence[Token] = field(init=False)
    inside: Sequence[int] = field(init=False)
    """The place of the bracket around each token, or -1. A closing bracket is in its own."""

    @tokens.default
    def _tokenised(self) -> Sequence[Token]:
        return tokens_of(self.sql)

    @inside.default
    def _nested(self) -> Sequence[int]:
        found, opened = [], [-1]
        for place, token in enumerate(self.tokens):
            found.append(opened[-1])
            if token_kind(token) in _OPENING:
                opened.append(place)
            elif token_kind(token) in _CLOSING and len(opened) > 1:
                opened.pop()
        return found

    @cached_property
    def _marks(self) -> dict[int, list[int]]:
        """The commas and the end of each bracket."""
        found: dict[int, list[int]] = {}
        for place, bracket in enumerate(self.inside):
            if token_kind(self.tokens[place]) in ("COMMA", *_CLOSING):
                found.setdefault(bracket, []).append(place)
        return found

    def places(self, kind: str) -> list[int]:
        """Return where the tokens of a kind stand."""
        return [place for place, token in enumerate(self.tokens) if token_kind(token) == kind]

    def opening(self, place: int) -> int:
        """Return the bracket around a token, which must be that of a function."""
        bracket = self.inside[place]
        if bracket < 1 or token_kind(self.tokens[bracket]) != "L_PAREN":
            raise BadSyntax("=> stands outside of a function", next=_EXAMPLE)
        return bracket

    def parts(self, bracket: int) -> list[tuple[int, int]]:
        """Return the first and the last place of each part between the commas in a bracket."""
        ends = self._marks.get(bracket, [])
        if not ends or token_kind(self.tokens[ends[-1]]) != "R_PAREN":
            raise BadSyntax("A bracket has no end", next=_EXAMPLE)
        starts = [bracket, *ends[:-1]]
        return [(start + 1, end - 1) for start, end in zip(starts, ends, strict=True)]

    def between(self, first: int, last: int) -> str:
        """Return the text from one token to another."""
        return self.sql[self.tokens[first].start : self.tokens[last].end + 1]

    def ends(self, first: int, last: int) -> tuple[int, int]:
        """Return where the text from one token to another begins and ends."""
        return self.tokens[first].start, self.tokens[last].end + 1


def _edits(text: _Text, arrow: int, call: int) -> list[tuple[int, int, str]]:
    """Return the changes that make one named argument a CLAMP of the first one."""
    parts = text.parts(call)
    named = next((part for part in parts if part[0] == arrow - 1), None)
    function = text.between(call - 1, call - 1).upper()
    first, last = parts[0]
    if named is None or named == parts[0] or first > last:
        raise BadSyntax("=> does not follow the name of an argument", next=_EXAMPLE)
    name = text.between(named[0], named[0]).lower()
    if named != parts[-1]:
        raise BadSyntax("A named argument is not the last one", next=_EXAMPLE)
    bounds = _bounds(text, arrow + 1, named[1])
    _require_known(function, name, bounds)
    if token_kind(text.tokens[first]) == "DISTINCT" and last > first:
        first += 1  # so that it is DISTINCT that is refused
    clamp = TOTAL if name == _PER_GROUP else "CLAMP"
    start, end = text.ends(first, last)
    dropped = text.ends(named[0] - 1, named[1])  # with the comma before it
    if dropped[0] == text.ends(last, last)[1]:
        return [(start, start, f"{clamp}("), (end, dropped[1], f", {bounds[0]}, {bounds[1]})")]
    return [(start, start, f"{clamp}("), (end, end, f", {bounds[0]}, {bounds[1]})"), (*dropped, "")]


def _bounds(text: _Text, first: int, last: int) -> tuple[str, str]:
    """Return the two ends of ``(lower, upper)``, as they are written."""
    is_bracketed = first < last and token_kind(text.tokens[first]) == "L_PAREN"
    parts = text.parts(first) if is_bracketed and text.inside[last] == first else []
    if len(parts) != 2 or any(start > end for start, end in parts):
        raise BadSyntax("Bounds cannot be read", must="be written (lower, upper)", next=_EXAMPLE)
    if any(token_kind(token) == "FARROW" for token in text.tokens[first:last]):
        raise BadSyntax("=> stands in bounds", must="be two numbers", next=_EXAMPLE)
    lower, upper = (text.between(*part) for part in parts)
    return lower, upper


def _require_known(function: str, name: str, bounds: tuple[str, str]) -> None:
    if name == _PER_GROUP and function == "SUM":
        return
    if name == _PER_GROUP:
        raise _per_group(function, bounds)
    if name != _PER_ROW:
        raise RefusedQuery(
            "This named argument is not known", must=f"be {_PER_ROW}", got=name[:40], next=_EXAMPLE
        )
    if not takes_number(function):
        raise RefusedQuery(
            f"{function[:40]} has no value in a row that could be clamped",
            must=f"be SUM, AVG or the like with {_PER_ROW}",
            next=f"Leave the bounds out: max_rows_contributed limits how often {A_UNIT} counts",
        )


def _per_group(function: str, bounds: tuple[str, str]) -> RefusedQuery:
    """Return the refusal of bounds on what a person adds to a group, and what does the same.

    A mean of totals that are clamped is no mean of values, and a count has its limit of rows.
    """
    lower, upper = (end[:20] for end in bounds)
    is_count = function == "COUNT"
    own = "COUNT(*)" if is_count else "SUM(x)"
    simple = (
        f"Write OPTIONS (max_rows_contributed = {upper}) and COUNT(*)"
        if is_count
        else f"Write {function[:40]}(x, {_PER_ROW} => ({lower}, {upper}))"
    )
    return RefusedQuery(
        f"{_PER_GROUP} is not supported in {function[:40]}",
        must=f"stand in SUM; elsewhere so many rows of {A_UNIT} count in a group, each within its"
        " bounds",
        next=f"{simple}; or clamp the total of each {BARE_UNIT}: SUM(CLAMP(total, {lower},"
        f" {upper})) FROM (SELECT unit, key, {own} AS total FROM ... GROUP BY unit, key)",
    )
