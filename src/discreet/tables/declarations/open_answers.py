"""Open answers in ``discreet.toml``: every question mark that still stands in it, at once."""

from collections.abc import Iterator
from typing import Any

from discreet.core.errors import LONGEST_PART, DeclarationError
from discreet.tables.declarations.section import UNANSWERED, Section
from discreet.tables.declarations.toml_lines import KeyPath


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
