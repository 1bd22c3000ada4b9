"""One table of ``discreet.toml``: hands out its keys, and complains of those nobody asked for."""

import datetime
import tomllib
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, TypeVar

from attrs import define, field, frozen

from discreet.core.errors import LONGEST_PART, DeclarationError, DiscreetError
from discreet.tables.declarations.toml_lines import KeyPath, TomlLines

UNANSWERED = "?"
"""What ``discreet init`` writes where only the owner knows the answer."""

T = TypeVar("T")


@frozen
class ValueTypes:
    """The types that a value may have, in Python and in words."""

    types: tuple[type, ...]
    words: str


TEXT = ValueTypes((str,), "text")
YES_OR_NO = ValueTypes((bool,), "true or false")
WHOLE = ValueTypes((int,), "a whole number")
NUMBER = ValueTypes((int, Decimal), "a number")
DATE = ValueTypes((datetime.date,), "a date such as 2025-12-31")
LIST = ValueTypes((list,), "a list")
TABLE = ValueTypes((dict,), "a table")

_TYPE_WORDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    Decimal: "a number",
    datetime.date: "a date",
    datetime.datetime: "a date with a time",
    datetime.time: "a time",
    list: "a list",
    dict: "a table",
}


@define
class Section:
    """A part of the file with its path. Every complaint names the key and its line."""

    path: KeyPath
    data: dict[str, Any]
    lines: TomlLines
    _taken: set[str] = field(factory=set)
    _known: set[str] = field(factory=set)
    """What was asked for, whether or not it is there: it is named where something else is."""

    def place(self, *keys: str) -> str:
        """Return the path of a key below this part, and its line."""
        return self.lines.shown((*self.path, *keys))

    def names(self) -> list[str]:
        """Return the names that the owner chose for what is declared here; at least one."""
        if not self.data:
            raise DeclarationError(f"{self.place()} is empty", must="declare at least one")
        if UNANSWERED in self.data:
            raise DeclarationError(
                f"{self.place(UNANSWERED)} needs a name",
                must="have a name of your choice in place of the question mark",
            )
        return list(self.data)

    def has(self, key: str) -> bool:
        """Tell whether a key is there."""
        self._known.add(key)
        return key in self.data

    def get(self, key: str, *kinds: ValueTypes) -> Any:
        """Return the value of a key; it must be there and of one of the kinds."""
        self._taken.add(key)
        if key not in self.data:
            raise DeclarationError(f"{self.place(key)} is missing", must="be declared")
        value = self.data[key]
        words = " or ".join(kind.words for kind in kinds)
        if value == UNANSWERED:
            raise DeclarationError(
                f"{self.place(key)} is not answered yet",
                must=f"be {words} in place of the question mark",
            )
        # Exactly these types: true is no number, and a date with a time is no date.
        if not any(type(value) in kind.types for kind in kinds):
            raise DeclarationError(
                f"{self.place(key)} has the wrong type",
                must=f"be {words}",
                got=_TYPE_WORDS[type(value)],
            )
        if isinstance(value, str) and "\0" in value:
            raise DeclarationError(f"{self.place(key)} has a character NUL", must="have none")
        return value

    def get_or(self, key: str, default: T, *kinds: ValueTypes) -> Any | T:
        """Return the value of a key, or ``default`` if it is not there."""
        self._taken.add(key)
        return self.get(key, *kinds) if key in self.data else default

    def whole(self, key: str, most: int, *, default: int | None = None) -> int:
        """Return a whole number between 1 and ``most``."""
        value = self.get(key, WHOLE) if default is None else self.get_or(key, default, WHOLE)
        if not 1 <= value <= most:
            raise DeclarationError(
                f"{self.place(key)} is out of range",
                must=f"lie between 1 and {most:,}",
                got=f"{value:,}",
            )
        return int(value)

    def choice(self, key: str, choices: list[str]) -> str:
        """Return a text that is one of ``choices``."""
        value = self.get(key, TEXT)
        if value not in choices:
            raise DeclarationError(
                f"{self.place(key)} is not known",
                must=f"be one of {', '.join(choices)}",
                got=value,
            )
        return str(value)

    def sub(self, key: str) -> "Section":
        """Return the table below a key."""
        return Section((*self.path, key), self.get(key, TABLE), self.lines)

    def sub_or_empty(self, key: str) -> "Section":
        """Return the table below a key, or one in which nothing is said."""
        return Section((*self.path, key), self.get_or(key, {}, TABLE), self.lines)

    def finish(self) -> None:
        """Refuse keys that mean nothing: a typing error must not silently drop a bound."""
        for key in self.data:
            if key not in self._taken:
                raise DeclarationError(
                    f"{self.place(key)} is not a setting",
                    next=f"Settings here: {', '.join(sorted(self._taken | self._known))}",
                )

    def refuse_repeats(self, items: list[T], *keys: str) -> None:
        """Refuse to declare the same thing twice, in whatever case."""
        seen: set[T] = set()
        for item in items:
            if item in seen:
                raise DeclarationError(
                    f"{self.place(*keys)} declares something twice", got=str(item)
                )
            seen.add(item)


def located(place: str, make: Callable[[], T]) -> T:
    """Run ``make``, putting ``place`` in front of what it complains of."""
    try:
        return make()
    except DeclarationError:
        raise
    except DiscreetError as cause:
        raise DeclarationError(
            f"{place}: {cause.what}", must=cause.must, got=cause.got, next=cause.next
        ) from None


def top_section(text: str, name: str) -> Section:
    """Return the whole of a file in TOML that has this ``name``; no answer may be open in it."""
    try:
        top = Section((), _read(text, name), TomlLines.of(text))
        refuse_open_answers(top)
    except RecursionError:
        raise DeclarationError(f"{name} is nested too deeply", must="be written flatly") from None
    return top


def _read(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except ValueError as cause:
        raise DeclarationError(f"{name} is not valid TOML", got=str(cause)) from None


# ---- Open answers in ``discreet.toml``: every question mark that still stands in it, at once.


def refuse_open_answers(top: Section) -> None:
    """Refuse a file with several open answers, naming all of them.

    A single one is refused where it is read, which also says what kind of answer it takes.
    """
    paths = list(open_answers(top.data))
    if len(paths) < 2:
        return
    places = ", ".join(top.place(*path) for path in paths)
    if len(places) > LONGEST_PART:
        numbers = dict.fromkeys(top.lines.known[path] for path in paths)
        places = f"lines {', '.join(map(str, numbers))}"
    raise DeclarationError(
        f"{len(paths)} answers are open",
        must=f'have your answer wherever "{UNANSWERED}" stands',
        got=places,
    )


def open_answers(data: dict[str, Any], above: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the path of every open name and every open value; a list has values of its own.

    Example:
        >>> list(open_answers({"id_spaces": {"?": {"unit": "?", "budget": {"epsilon": 1}}}}))
        [('id_spaces', '?'), ('id_spaces', '?', 'unit')]
    """
    for key, value in data.items():
        path = (*above, key)
        if UNANSWERED in (key, value):
            yield path
        if isinstance(value, dict):
            yield from open_answers(value, path)
