"""What a verb of ``discreet attack`` is, and what several of them read and write."""

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from discreet.attacks.records.coded_rows import CodedRows
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray
from discreet.core.terminal_text import lines

MARK = "PRIVATE: for the owner of these rows alone. What an attack finds is the data."
"""Stands above every report about rows."""

MADE_UP = "All people of this attack are made up: nothing here is anybody's data."
"""Stands above the others, which read no file."""

Told = tuple[str, Any]
"""What an attack found, as text and for other programs."""


@frozen
class AttackVerb:
    """One attack: its name, what it does, its options, how it is run, and on whom."""

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Told]
    is_made_up: bool = False
    """Whether no file is read ever: all people are made up."""
    files: str = ""
    """The option that names the files; people are made up if it names none."""

    def makes_up(self, options: argparse.Namespace) -> bool:
        """Tell whether all people of this attack are made up."""
        return self.is_made_up or (bool(self.files) and not getattr(options, self.files))


@frozen(kw_only=True)
class AttackPage:
    """A page that is written as it is, in place of JSON."""

    html: str = field(repr=False)
    attacks: list[str]


def write_private(target: Path, data: bytes) -> None:
    """Make a new file that nobody else can read, under any umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
            file.write(data)
    except OSError as cause:
        got = (cause.strerror or type(cause).__name__).lower()
        raise InvalidArgument(
            f"{target} cannot be written", must="be a new file", got=got
        ) from None


def check_new(target: Path) -> None:
    """Refuse a file that is there already, before an attack takes its time."""
    if os.path.lexists(target) or not target.parent.is_dir():
        raise InvalidArgument(
            f"{target} cannot be written",
            must="be a new file in a folder that is there",
            next="Choose another name",
        )


def read_json(path: str) -> Any:
    """Return what a file of JSON holds; a name that stands twice in an object is refused."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_named_once)
    except (OSError, ValueError, RecursionError):
        raise InvalidArgument(f"{path} cannot be read", must="be a file of JSON") from None


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        again = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise InvalidArgument(
            "A name stands twice in an object of JSON", must="stand once", got=again
        )
    return found


def named(text: str) -> list[str]:
    """Return names that are separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def wrapped(text: str) -> str:
    r"""Break each line of a text by itself.

    Example:
        >>> wrapped("word " * 21).count("\n"), wrapped("one\n\ntwo").count("\n")
        (1, 2)
    """
    return "\n".join(lines(line, indent="") for line in text.splitlines())


def add_bit(parser: argparse.ArgumentParser, rows: str, *, is_needed: bool) -> None:
    """Add what says where a secret bit is."""
    parser.add_argument(rows, help="the rows with the secret bit: CSV or Parquet")
    parser.add_argument("--column", required=is_needed, metavar="C", help="where the bit is")
    parser.add_argument("--equals", required=is_needed, metavar="V", help="what means yes there")


def bits_of(rows: CodedRows, column: str, equals: str) -> IntArray:
    """Return who has a value in a column."""
    found = rows.column(column)
    is_yes = np.array(
        [value is not None and _shown(value) == equals for value in found.values], dtype=np.int64
    )
    if not is_yes.any():
        raise InvalidArgument(f"No row has this value in {column}", got=equals)
    return is_yes[found.codes]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where a picture is written."""
    parser.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg or .pdf)")
