"""Everything that a user can meet is documented: commands, and error codes."""

from collections.abc import Iterator

from discreet.cli.main import COMMANDS
from discreet.core.errors import DiscreetError
from tests.support.paths import DOCS


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
