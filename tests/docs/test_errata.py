"""The errata page: complete entries, all of them in the contents, and true counter-examples."""

import re
from itertools import permutations

from tests.support.house.paths import DOCS

PAGE = (DOCS / "explanation" / "errata.md").read_text()
HEADING = re.compile(r"^### (.+)$", re.MULTILINE)
LISTED = re.compile(r"^  - \[(.+)\]\(#(.+)\)$", re.MULTILINE)
LEAST_ENTRIES = 93


def entries() -> dict[str, str]:
    parts = re.split(r"^##+ ", PAGE, flags=re.MULTILINE)
    bodies = {part.split("\n", 1)[0]: part.split("\n", 1)[1] for part in parts}
    return {title: bodies[title] for title in HEADING.findall(PAGE)}


def test_all_corrections_are_shown_the_inverted_tail_first():
    titles = list(entries())
    assert len(titles) >= LEAST_ENTRIES
    assert titles[0] == "The tail is upside down"


def test_every_entry_is_complete():
    for title, body in entries().items():
        assert "rinted" in body, title
        assert "*True" in body, title
        assert "*Here*: " in body, title
        assert "```python" in body, title


def test_the_contents_list_every_entry():
    listed = LISTED.findall(PAGE)
    assert [title for title, _ in listed] == HEADING.findall(PAGE)
    for title, anchor in listed:
        assert anchor == re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def changes(before, after, cut, other):
    left = set(before[: max(cut, 0)]) ^ set(after[: max(other, 0)])
    right = set(before[max(cut, 0) :]) ^ set(after[max(other, 0) :])
    return len(left) + len(right)


def has_one_to_one_map(before, after) -> bool:
    """Look for a one-to-one map of the cuts, cuts beyond both ends included."""
    cuts = range(-1, len(before) + 2)
    return any(
        all(
            changes(before, after, cut, other) <= 2 for cut, other in zip(cuts, images, strict=True)
        )
        for images in permutations(cuts)
    )


def test_the_bijection_fails_where_the_page_says_and_not_where_it_said_before():
    assert not has_one_to_one_map([10, 20, 30, 40], [10, 30, 40, 45])
    end_to_end = [20, 30, 40, 50]
    for cut in range(-3, 9):
        assert changes([10, 20, 30, 40], end_to_end, cut, cut - 1) <= 2
