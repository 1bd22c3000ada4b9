"""Every citation leads somewhere: ``[CKS20, section 5]`` names an entry of references.bib."""

import re

import pytest

from docs._ext.bibliography import Entry, read_bibliography
from tests.support.house.paths import DOCS, ROOT
from tests.support.house.source import modules

BRACKETS = re.compile(r"(?<!\w)\[([^\[\]]{3,120})\]")
KEY = re.compile(r"[A-Z][A-Za-z]+\d{2}[a-z]?")


def cited(text: str) -> set[str]:
    """The keys that a text cites."""
    inside = " ".join(match for match in BRACKETS.findall(text))
    return {word for word in re.split(r"[\s,;]+", inside) if KEY.fullmatch(word)}


def entries() -> list[Entry]:
    return read_bibliography(ROOT / "references.bib")


def test_citations_are_recognised():
    text = "as in [CKS20, section 5] and [BS16; Mir17]_; not x[Int64], [a link](to) or [0, 1]"
    assert cited(text) == {"CKS20", "BS16", "Mir17"}


def test_every_citation_is_in_the_bibliography():
    texts = {module.place: module.text for module in modules()}
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    texts |= {str(page.relative_to(ROOT)): page.read_text() for page in pages}
    known = {entry.key for entry in entries()}
    missing = {place: cited(text) - known for place, text in texts.items() if cited(text) - known}
    assert not missing


def test_keys_are_unique_and_short():
    keys = [entry.key for entry in entries()]
    assert len(keys) == len(set(keys))
    assert all(KEY.fullmatch(key) for key in keys)


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.key)
def test_entry_is_whole(entry: Entry):
    assert {"author", "title", "year"} <= entry.fields.keys()
    assert entry.key.rstrip("abc")[-2:] == entry.fields["year"][-2:]
