"""Lines for a terminal: no wider than people like to read."""

import textwrap

WIDEST = 100


def lines(text: str, *, indent: str = "  ", width: int = WIDEST) -> str:
    """Return a text in lines of at most ``width`` columns; all but the first are indented.

    Example:
        >>> print(lines("one two three", width=9))
        one two
          three
    """
    return textwrap.fill(
        text,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
