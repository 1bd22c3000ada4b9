"""Guides that use mechanisms outside any project say at once that nothing is charged."""

import re

import pytest

from tests.support.house.paths import DOCS

OUTSIDE = re.compile(r"^(>>> )?(from|import) discreet\.(mechanisms|synthesis)\b", re.MULTILINE)
PAGES = [
    page
    for page in sorted((DOCS / "how-to").glob("*.md"))
    if OUTSIDE.search(page.read_text(encoding="utf-8"))
]


ALONE = "## Standing alone\n"
"""The section of a page that first goes through a project."""


def says_so(text: str) -> bool:
    """Tell whether the first paragraph says that no ledger knows of what follows.

    That is the first one of the page, or of its section in which things stand alone.
    """
    _, _, alone = text.partition(ALONE)
    paragraph = alone.strip().split("\n\n")[0] if alone else text.split("\n\n")[1]
    return "nothing is charged to a ledger" in paragraph.replace("\n", " ")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_first_lines_say_that_nothing_is_charged(page):
    assert says_so(page.read_text(encoding="utf-8"))


def test_there_are_such_guides_and_silence_is_found():
    assert len(PAGES) >= 7
    assert not says_so("# How?\n\nSo.\n\nBut **nothing is charged to a ledger**.\n")
