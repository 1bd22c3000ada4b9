"""Tables of the pages are whole: each begins with a heading, and every row has all of its cells."""

import re
from collections.abc import Iterator

import pytest

from tests.support.house.paths import DOCS, ROOT

PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
LINE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
BAR = re.compile(r"(?<!\\)\|")


def broken(text: str) -> Iterator[int]:
    """Yield the numbers of lines that look like rows of a table, and are none on the page."""
    lines = [*text.splitlines(), ""]
    is_code, cells = False, 0
    for number, line in enumerate(lines[:-1], start=1):
        is_code ^= line.lstrip().startswith("```")
        if is_code or not line.startswith("|"):
            cells = 0
        elif not cells and not LINE.fullmatch(lines[number].strip()):
            yield number
        else:
            found = len(BAR.findall(line))
            if cells not in (0, found):
                yield number
            cells = cells or found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_row_is_in_a_table(page):
    assert not list(broken(page.read_text(encoding="utf-8")))


def test_a_row_behind_an_empty_line_is_found():
    whole = "| a | b |\n|---|:-:|\n| `x\\|y` | 2 |\n"
    assert not list(broken(whole))
    assert list(broken(whole + "\n| 3 | 4 |\n")) == [5]
    assert list(broken(whole + "| 3 |\n")) == [4]
    assert not list(broken(f"```\n| 3 | 4 |\n```\n{whole}"))
