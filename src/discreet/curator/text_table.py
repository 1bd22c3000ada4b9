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
    widths = [
        max(len(name), *(len(row[i]) for row in rows), 0) if rows else len(name)
        for i, name in enumerate(columns)
    ]
    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        placed = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(placed).rstrip()

    return "\n".join([line(columns), line(["-" * width for width in widths]), *map(line, rows)])


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or (text[:1] == "-" and text[1:2].isdigit())
