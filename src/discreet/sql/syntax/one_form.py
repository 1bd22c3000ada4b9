"""What tools write in several ways, in one of them: formats of dates, and LIMIT."""

import re

from discreet.core import optional
from discreet.core.errors import RefusedQuery
from discreet.sql.syntax.nodes import Node, is_a, is_set, part, replaced

WORDS = {
    "YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S",
    "Mon": "%b", "FMMonth": "%B", "Dy": "%a", "FMDay": "%A",
}  # fmt: skip
"""The codes of TO_CHAR, and those of strftime that mean the same."""

OTHERWISE = "Write strftime(d, '%Y-%m'), date_trunc('month', d), year(d) or month(d)"

_WORD = re.compile("|".join(sorted(WORDS, key=len, reverse=True)))
_LETTER = re.compile("[A-Za-z]")


def from_words(text: str) -> str:
    """Return the pattern of strftime for one of TO_CHAR.

    Example:
        >>> from_words("YYYY-MM")
        '%Y-%m'
    """
    if _LETTER.search(_WORD.sub("", text)) or "%" in text:
        raise unknown_format(text, f"be made of {', '.join(WORDS)}")
    return _WORD.sub(lambda found: WORDS[found[0]], text)


def unknown_format(text: str, must: str) -> RefusedQuery:
    """Return the refusal of a format that is none of those that are read."""
    return RefusedQuery(
        "This format of a date is not supported", must=must, got=text[:40], next=OTHERWISE
    )


def in_one_form(select: Node) -> Node:
    """Return a statement with strftime(date, pattern) and LIMIT, however they are written."""
    return replaced(select, _usual)


def _usual(node: Node) -> Node:
    if is_a(node, "Fetch"):
        return _limit(node)
    return _format(node) if is_a(node, "ToChar", "TimeToStr") else node


def _limit(fetch: Node) -> Node:
    """Return FETCH FIRST n ROWS ONLY as LIMIT n."""
    options, count = part(fetch, "limit_options"), part(fetch, "count")
    is_plain = options is None or not (is_set(options, "percent") or is_set(options, "with_ties"))
    if count is None or not is_plain:
        raise RefusedQuery("FETCH takes a number of rows", next="Write LIMIT 10")
    found: Node = optional.load("sqlglot.expressions").Limit(expression=count)
    return found


def _format(node: Node) -> Node:
    """Return TO_CHAR, and strftime with the pattern in front, as strftime."""
    exp, written = optional.load("sqlglot.expressions"), part(node, "format")
    if written is None:
        return node
    day, pattern = node.this, written
    if is_a(node, "ToChar"):
        if not is_a(written, "Literal"):
            raise RefusedQuery("The format of a date is not a constant text", next=OTHERWISE)
        pattern = exp.Literal.string(from_words(written.name))
    elif is_a(day, "Literal") and day.is_string and not is_a(written, "Literal"):
        day, pattern = written, day  # as SQLite has it
    else:
        return node
    found: Node = exp.TimeToStr(this=day, format=pattern)
    return found
