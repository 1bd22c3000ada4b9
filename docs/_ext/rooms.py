"""The names that users import, room by room, each with the first line of its docstring.

``python -m docs._ext.rooms`` (or ``make names``) writes the tables of ``reference/python.md``
between its marks. A test compares them with the package.
"""

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "reference" / "python.md"

_TABLE = re.compile(r"(?<=<!-- names of )([a-z.]+)( -->\n).*?(?=<!-- end of names -->)", re.DOTALL)
_ROLE = re.compile(r":(\w+):`([^`]*)`")


def rooms(text: str) -> list[str]:
    """Return the packages whose names a page lists, in its order."""
    return [found[1] for found in _TABLE.finditer(text)]


def with_tables(text: str) -> str:
    """Return a page with its tables written anew."""
    return _TABLE.sub(lambda found: f"{found[1]}{found[2]}\n{table(found[1])}\n\n", text)


def table(room: str) -> str:
    """Return the table of all names that a package lends."""
    package = importlib.import_module(room)
    rows = [f"| `{name}` | {first_line(getattr(package, name))} |" for name in package.__all__]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def first_line(thing: object) -> str:
    """Return the first line of a docstring as Markdown that can stand in a table."""
    line = (thing.__doc__ or "").strip().split("\n", 1)[0]
    return _ROLE.sub(_shown, line.replace("``", "`")).replace("|", r"\|")


def _shown(found: re.Match[str]) -> str:
    role, text = found.groups()
    if role == "math":
        return "$" + text.replace(r"\|", r"\Vert{}").replace("|", r"\vert{}") + "$"
    return f"`{text.lstrip('~').rpartition('.')[2]}`"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
