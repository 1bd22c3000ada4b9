"""Everything that a user can meet is documented: commands, error codes, events, and names."""

import inspect
import re
from collections.abc import Iterator

from discreet import dbapi, events
from discreet.accounting.notation import read_events
from discreet.accounting.notation_names import NAMES
from discreet.cli.main import COMMANDS
from discreet.core.errors import DiscreetError
from docs._ext import rooms
from tests.support.house.paths import DOCS
from tests.support.house.rules import DOORS


def pages() -> str:
    return "\n".join(page.read_text() for page in sorted(DOCS.rglob("*.md")))


def error_classes(root: type[DiscreetError] = DiscreetError) -> Iterator[type[DiscreetError]]:
    for kind in root.__subclasses__():
        if kind.__module__.startswith("discreet."):
            yield kind
            yield from error_classes(kind)


def test_every_command_is_documented():
    text = pages()
    assert COMMANDS
    missing = [name for name in COMMANDS if f"`discreet {name}`" not in text]
    assert not missing


def test_every_error_code_is_documented():
    text = pages()
    codes = {kind.code for kind in error_classes()}
    assert codes
    missing = sorted(code for code in codes if f"`{code}`" not in text)
    assert not missing


def test_error_codes_are_stable_words():
    assert all(kind.code.isidentifier() and kind.code.islower() for kind in error_classes())


def event_rows() -> dict[str, tuple[str, str]]:
    """The events of the reference: each with the arguments, and the text, that its row shows."""
    page = (DOCS / "reference" / "events.md").read_text()
    rows = re.findall(r"^\| `(\w+Event)(?:\(([^)]*)\))?`[^|]*\| `([^`]+)`", page, re.MULTILINE)
    return {name: (arguments, text) for name, arguments, text in rows}


def test_every_event_has_a_row_that_is_true():
    """The arguments are those of the class, in their order; the text reads as such an event."""
    rows = event_rows()
    assert set(rows) == set(events.__all__) - {"Event"}
    for name, (arguments, text) in rows.items():
        kind = getattr(events, name)
        parameters = inspect.signature(kind).parameters.values()
        in_order = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        shown = [argument.split("=")[0].strip() for argument in arguments.split(",") if argument]
        assert shown == in_order, name
        event = read_events(text)
        assert kind is type(event) or kind in {type(part) for part, _ in event.parts}, name


def test_every_name_of_the_notation_is_documented():
    page = (DOCS / "reference" / "events.md").read_text()
    assert not [name for name in NAMES if f"{name}(" not in page]


def test_every_name_of_the_doors_has_a_row():
    """If it is not as it should be: ``make names``."""
    page = rooms.PAGE.read_text(encoding="utf-8")
    assert {*rooms.rooms(page), "discreet.events", "discreet.dbapi"} == set(DOORS)
    assert rooms.with_tables(page) == page
    assert not [name for name in dbapi.__all__ if f"`{name}`" not in page]


def test_a_docstring_becomes_a_cell_of_a_table():
    def documented() -> None:
        r"""Enclose :math:`D(P \| Q) = |x|` of ``a|b``, see :class:`~discreet.core.event.Event`.

        More.
        """

    cell = r"Enclose $D(P \Vert{} Q) = \vert{}x\vert{}$ of `a\|b`, see `Event`."
    assert rooms.first_line(documented) == cell
