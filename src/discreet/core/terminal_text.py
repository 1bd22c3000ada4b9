"""Text for people who read it in a terminal: lines, steps beside their headings, and tables."""

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

WIDEST = 100
"""How many columns people like to read."""

_WIDEST_HEADING = 24
_KEPT = "\0"


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
    shown: list[str] = []
    for heading, text in found:
        if len(heading) > width:
            shown.append(heading)
        first = "" if len(heading) > width else heading
        for line in _wrapped(text, WIDEST - width - 2):
            shown.append(f"{first.ljust(width)}  {line}".rstrip())
            first = ""
    return "\n".join(shown)


def _wrapped(text: str, width: int) -> list[str]:
    """Break lines, but not within a number and its sign, or a symbol and its value."""
    whole = text.replace("± ", f"±{_KEPT}").replace(" %", f"{_KEPT}%")
    whole = whole.replace(" = ", f"{_KEPT}={_KEPT}")
    broken = textwrap.wrap(whole, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_KEPT, " ") for line in broken]


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under their headings, in aligned columns; what looks like a number goes right.

    A cell is one line, whatever is in it (:func:`one_line`).

    Example:
        >>> print(text_table(["clinic", "n"], [["north", "12"], ["south", "7"]]))
        clinic   n
        ------  --
        north   12
        south    7
    """
    below = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    pairs = zip(columns, below, strict=True)
    shown = [_column(one_line(name), [one_line(cell) for cell in cells]) for name, cells in pairs]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*shown, strict=True))


def _column(name: str, cells: Sequence[str]) -> list[str]:
    """Return a heading, a line and the cells, all of one width."""
    width = max(map(_width, (name, *cells)))
    is_right = is_numeric(cells)
    return [_placed(cell, width, is_right=is_right) for cell in (name, "-" * width, *cells)]


def one_line(text: str) -> str:
    r"""Return a text as it is if it can be printed; else in quotes, with escapes for what cannot.

    Line breaks, tabs and other control characters would break a table, and those that change the
    direction of writing would let a key stand where its number does. A text that begins with a
    quotation mark is quoted too, so that no two texts look alike.

    Example:
        >>> print(one_line("north"), one_line("a\nb"), one_line("é\t"), one_line('"a'))
        north "a\nb" "é\t" "\"a"
    """
    if text.isprintable() and not text.startswith('"'):
        return text
    return f'"{"".join(map(_escaped, text))}"'


def printable(text: str) -> str:
    """Return a sentence as it is if it can be printed; else as :func:`one_line` does."""
    return text if text.isprintable() else one_line(text)


def _escaped(character: str) -> str:
    if character in '\\"':
        return f"\\{character}"
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _placed(text: str, width: int, *, is_right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if is_right else text + space


def is_numeric(cells: Sequence[str]) -> bool:
    """Tell whether all cells of a column look like numbers, but for those without a value."""
    known = [cell for cell in cells if cell != "NULL"]
    return bool(known) and all(map(_is_number, known))


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or (text[:1] == "-" and text[1:2].isdigit())
