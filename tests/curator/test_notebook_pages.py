"""What a notebook shows: everything that users hold has a page, and no name breaks one."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from attrs import evolve

import discreet
from discreet.core.html_text import html_bar
from discreet.core.overview import MOST_SHOWN_IN_HTML
from discreet.ledger.history import History
from discreet.releases.shown_answer import MOST_ROWS_IN_HTML
from tests.support.projects.hostile_names import (
    ALIAS,
    ANALYST,
    COLUMN,
    EVIL,
    KEYS,
    QUESTION,
    UNIT,
    write_hostile_project,
)

TAGS = {"div", "table", "thead", "tbody", "tr", "th", "td", "p", "strong", "small", "span", "br"}


class Page(HTMLParser):
    """The text of a page, and proof that its tags are ours and close one another."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.cells: list[str] = []
        self.classes: list[str | None] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        assert {name for name, _ in attrs} <= {"style", "class"}
        self.classes.append(dict(attrs).get("class"))
        if tag in ("td", "th"):
            self.cells.append("")
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open[-1] in ("td", "th"):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Iterator[dict[str, Page]]:
    folder: Path = write_hostile_project(tmp_path_factory.mktemp("hostile"))
    with discreet.own(folder) as owner, owner.connect(analyst=ANALYST, epsilon=1) as asker:
        release = asker.sql(QUESTION)
        profile = owner.profile("visits", epsilon=1)
        shown = {
            "release": release,
            "connection": asker,
            "owner": owner,
            "tables": asker.tables(),
            "budget": asker.budget(),
            "status": asker.budget()[0],
            "explanation": asker.explain(QUESTION),
            "rehearsal": asker.rehearse(QUESTION),
            "receipt": release.receipt,
            "history": asker.history(),
            "entry": next(one for one in asker.history() if one.kind.value == "reserve"),
            "ledger": owner.ledger(),
            "profile": profile,
            "result": discreet.account(discreet.events.GaussianEvent(5), delta="1e-6"),
            "meaning": discreet.Meaning.of(discreet.Pure(1)),
        }
        yield {name: Page(thing._repr_html_()) for name, thing in shown.items()}


def test_every_page_is_whole_and_has_no_tags_of_others(pages):
    assert all(page.texts for page in pages.values())
    with pytest.raises(AssertionError):
        Page("<p><marquee></marquee></p>")
    with pytest.raises(AssertionError):
        Page("<p></div>")


def test_names_are_shown_as_they_are(pages):
    for name in ("tables", "release", "rehearsal"):
        assert COLUMN in pages[name].cells, name
    assert f"person, {COLUMN}" in pages["connection"].cells
    assert ALIAS in pages["release"].cells
    assert any(UNIT in text for text in pages["tables"].texts)
    assert any(ANALYST in text for text in pages["connection"].texts)
    cells = pages["release"].cells
    assert [key for key in KEYS if key in cells] == [EVIL, *KEYS[1:3], *KEYS[4:6]]
    # What would turn the line round, or break it, is written out.
    assert '"\\u202ereversed"' in cells
    assert '"line\\nbreak"' in cells


def test_formulas_are_not_typeset(pages):
    """MathJax, which notebooks have, would take the text between two dollars for one."""
    assert all(page.classes[0] == "tex2jax_ignore mathjax_ignore" for page in pages.values())


def test_budgets_have_bars(pages):
    for name in ("connection", "owner", "budget", "status", "ledger"):
        assert any("ε = 2 spent of ε = 10; ε = 8 left" in text for text in pages[name].texts), name


@pytest.mark.parametrize(
    ("share", "width"),
    [("0", "0%"), ("1/3", "33.3%"), ("9999/10000", "99.9%"), ("1", "100%"), ("7", "100%")],
)
def test_a_bar_is_full_only_when_nothing_is_left(share, width):
    assert f"width: {width};" in html_bar("people", discreet.exact(share), "spent")


def test_long_things_are_cut(pages, tmp_path):
    with discreet.connect(write_hostile_project(tmp_path), epsilon=1) as asker:
        release = asker.sql(QUESTION)
        (entry, *_) = asker.history()
    many = History(evolve(entry, sequence=i) for i in range(MOST_SHOWN_IN_HTML + 5))
    page = Page(many._repr_html_())
    assert "5 more come before these" in page.texts
    assert page.cells.count("budget") == MOST_SHOWN_IN_HTML
    assert str(many).count("\n") == MOST_SHOWN_IN_HTML + 6
    shown = release._shown
    longer = evolve(shown, columns=[evolve(shown.columns[0], values=["k"] * 1_007)])
    page = Page(longer.html())
    assert page.cells.count("k") == MOST_ROWS_IN_HTML
    assert any("7 more rows" in text for text in page.texts)


def test_tables_are_found_by_name(tmp_path):
    with discreet.connect(write_hostile_project(tmp_path)) as asker:
        tables = asker.tables()
        assert tables["VISITS"] is tables[0]
        assert tables[:1] == (tables["visits"],)
        assert tables._ipython_key_completions_() == ["visits"]
        with pytest.raises(discreet.DiscreetError, match="Tables: visits"):
            tables["visit"]
        assert str(tables).startswith("visits: private (id space people)")
        assert asker.public_tables() == ()
        assert repr(asker.budget()).startswith("id space")
