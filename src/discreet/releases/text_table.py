"""Tables for people who read them in a terminal."""

from collections.abc import Sequence


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under their headings, in aligned columns; what looks like a number goes right.

    Example:
        >>> print(text_table(["clinic", "n"], [["north", "12"], ["south", "7"]]))
        clinic   n
        ------  --
        north   12
        south    7
    """
    below = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    shown = [_column(*pair) for pair in zip(columns, below, strict=True)]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*shown, strict=True))


def _column(name: str, cells: Sequence[str]) -> list[str]:
    """Return a heading, a line and the cells, all of one width."""
    width = max(map(len, (name, *cells)))
    place = str.rjust if _is_numeric(cells) else str.ljust
    return [place(cell, width) for cell in (name, "-" * width, *cells)]


def _is_numeric(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell != "NULL"]
    return bool(known) and all(map(_is_number, known))


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or (text[:1] == "-" and text[1:2].isdigit())
