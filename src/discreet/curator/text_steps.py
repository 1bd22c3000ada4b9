"""Steps for people who read them in a terminal: a heading, and its text beside it."""

import textwrap
from collections.abc import Iterable

WIDTH = 100
_WIDEST_HEADING = 24
_KEPT = "\0"


def text_steps(steps: Iterable[tuple[str, str]]) -> str:
    """Return each heading with its text beside it, in lines of at most 100 characters.

    Example:
        >>> print(text_steps([("Costs", "ε = 1"), ("A very long heading indeed", "nothing")]))
        Costs                     ε = 1
        A very long heading indeed
                                  nothing
    """
    found = list(steps)
    width = min(_WIDEST_HEADING, max(len(heading) for heading, _ in found))
    lines: list[str] = []
    for heading, text in found:
        if len(heading) > width:
            lines.append(heading)
        first = "" if len(heading) > width else heading
        for line in _wrapped(text, WIDTH - width - 2):
            lines.append(f"{first.ljust(width)}  {line}".rstrip())
            first = ""
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    """Break lines, but not within a number and its sign, or a symbol and its value."""
    whole = text.replace("± ", f"±{_KEPT}").replace(" %", f"{_KEPT}%")
    whole = whole.replace(" = ", f"{_KEPT}={_KEPT}")
    lines = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_KEPT, " ") for line in lines]
