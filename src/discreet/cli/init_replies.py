"""What only the owner knows, as options, or as answers to short questions."""

import argparse
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from attrs import evolve, frozen

from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.numbers import exact
from discreet.tables.catalog import LARGEST_LIMIT
from discreet.tables.declarations.section import UNANSWERED

Ask = Callable[[str], str]
"""Puts a question and returns what was typed; nothing means that it is left open."""

EACH_ROW = "each row"

T = TypeVar("T")


@frozen(kw_only=True)
class InitReplies:
    """What is known so far; what is ``None`` stays a question mark in the file."""

    id_space: str | None = None
    unit: str | None = None
    """The column that names the owner of a row, or :data:`EACH_ROW`."""
    budget: str | None = None
    """What stands between the braces of the budget."""
    rows_per_group: int | None = None
    groups_per_unit: int | None = None
    unit_words: str | None = None
    """What one unit is, in the owner's words; if nothing is said, the column's name has to do."""

    def missing(self) -> tuple[str, ...]:
        """Return what is still open."""
        names = ["id_space", "unit", "budget"]
        names += [] if self.unit == EACH_ROW else ["rows_per_group", "groups_per_unit"]
        return tuple(name for name in names if getattr(self, name) is None)


def add_replies(parser: argparse.ArgumentParser) -> None:
    """Add an option for each answer."""
    parser.add_argument("--id-space", metavar="NAME", help="what the people are called together")
    unit = parser.add_mutually_exclusive_group()
    unit.add_argument("--unit", metavar="COLUMN", help="the column that says whose row it is")
    unit.add_argument("--each-row", action="store_true", help="each row is a unit of its own")
    parser.add_argument("--unit-words", metavar="TEXT", help="what one unit is: one patient")
    parser.add_argument("--epsilon", metavar="E", help="the budget of the id space, in ε")
    parser.add_argument("--rho", metavar="R", help="the budget of the id space, in ρ")
    parser.add_argument("--delta", metavar="D", help="the δ of the budget")
    parser.add_argument("--rows-per-group", metavar="N", help="rows of one unit that count")
    parser.add_argument("--groups-per-unit", metavar="N", help="groups of one unit that count")


def given_replies(options: argparse.Namespace) -> InitReplies:
    """Return the answers that were given as options."""
    rows, groups = options.rows_per_group, options.groups_per_unit
    return InitReplies(
        id_space=None if options.id_space is None else name(options.id_space),
        unit=EACH_ROW if options.each_row else options.unit,
        budget=_budget(options.epsilon, options.rho, options.delta),
        rows_per_group=None if rows is None else limit(rows),
        groups_per_unit=None if groups is None else limit(groups),
        unit_words=None if options.unit_words is None else name(options.unit_words),
    )


def _budget(epsilon: str | None, rho: str | None, delta: str | None) -> str | None:
    if epsilon is None and rho is None and delta is None:
        return None
    if (epsilon is None) == (rho is None):
        raise InvalidArgument("The budget must say how much, once", must="be --epsilon or --rho")
    parts = [
        f"{key} = {number(text)}" for key, text in (("epsilon", epsilon), ("rho", rho)) if text
    ]
    return ", ".join([*parts, *([] if delta is None else [f"delta = {number(delta)}"])])


def name(text: str) -> str:
    """Return a name that can be declared."""
    if not text or text == UNANSWERED:
        raise InvalidArgument("That is no name", must="be some text", got=text)
    return text


def number(text: str) -> str:
    """Return a number as it is written in the file.

    Example:
        >>> number(".5"), number("1e-9")
        ('0.5', '1E-9')
    """
    wrong = InvalidArgument("That is no amount", must="be a decimal such as 0.5", got=text[:64])
    try:
        amount = exact(text)
    except InvalidArgument:
        raise wrong from None
    if "/" in text or amount < 0:
        raise wrong
    return str(Decimal(text.strip()))


def limit(text: str) -> int:
    """Return a contribution limit."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits[:9]) <= LARGEST_LIMIT):
        raise InvalidArgument(
            "That is no limit", must=f"be a whole number from 1 to {LARGEST_LIMIT:,}", got=text
        )
    return int(digits)


def ask_the_rest(answers: InitReplies, table: str, columns: Sequence[str], ask: Ask) -> InitReplies:
    """Return the answers, after asking for those that are open; an empty reply leaves one open."""

    def column(text: str) -> str:
        if text not in (*columns, EACH_ROW):
            raise InvalidArgument("There is no such column", must=f"be one of {listed}", got=text)
        return text

    listed = ", ".join([*columns, EACH_ROW])
    questions: dict[str, tuple[str, Callable[[str], Any]]] = {
        "id_space": ("What are all the people together called, such as patients?", name),
        "budget": ("What may ever be told about one of them, in epsilon, such as 1?", _epsilon),
        "unit": (f"{table}: which column says whose row it is ({listed})?", column),
        "rows_per_group": (f"{table}: how many rows of one unit may count in a group?", limit),
        "groups_per_unit": (f"{table}: how many groups of one unit may count?", limit),
    }
    for key, (question, read) in questions.items():
        if key in answers.missing():
            answers = evolve(answers, **{key: _ask(question, read, ask)})
    return answers


def _epsilon(text: str) -> str:
    return f"epsilon = {number(text)}"


def _ask(question: str, read: Callable[[str], T], ask: Ask) -> T | None:
    """Ask until the reply can be read, or is empty."""
    hint = ""
    while True:
        reply = ask(f"{hint}{question} (Enter: later) ").strip()
        if not reply:
            return None
        try:
            return read(reply)
        except DiscreetError as error:
            hint = f"{error}\n"
