"""What only the owner knows, as options, or as answers to short questions."""

import argparse
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import PurePath
from typing import Any, TypeVar

from attrs import evolve, frozen

from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.numbers import exact
from discreet.core.terminal_text import lines
from discreet.tables.catalog import LARGEST_LIMIT
from discreet.tables.declarations.section import UNANSWERED
from discreet.tables.unit_name import UNIT, UnitName, unit_name

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
    rows_per_unit: int | None = None
    unit_words: str | None = None
    """What one unit is, in the owner's words; if nothing is said, the column's name has to do."""

    def missing(self) -> tuple[str, ...]:
        """Return what is still open."""
        names = ["id_space", "unit", "budget", *self._limits()]
        return tuple(name for name in names if getattr(self, name) is None)

    def _limits(self) -> list[str]:
        """Return the limits that are needed: one over all groups, or the two others."""
        if self.unit == EACH_ROW or self.rows_per_unit is not None:
            return []
        if self.rows_per_group is None and self.groups_per_unit is None:
            return ["rows_per_unit"]
        return ["rows_per_group", "groups_per_unit"]

    def with_rows(self, rows: int | None) -> "InitReplies":
        """Return the same with a limit of rows over all groups instead of any other."""
        if rows is None:
            return evolve(self, rows_per_unit=None)
        return evolve(self, rows_per_unit=rows, rows_per_group=None, groups_per_unit=None)

    def who(self) -> str | None:
        """Return what one unit is, in words, if that is known."""
        if self.unit_words is not None or self.unit is None:
            return self.unit_words
        return "one row" if self.unit == EACH_ROW else f"one {self.unit}"

    def name(self) -> UnitName:
        """Return what a unit is called."""
        return UNIT if self.unit_words is None else unit_name(self.unit_words)


def add_replies(parser: argparse.ArgumentParser) -> None:
    """Add an option for each answer."""
    parser.add_argument(
        "--id-space", metavar="NAME", help="what all units are called together: patients"
    )
    unit = parser.add_mutually_exclusive_group()
    unit.add_argument("--unit", metavar="COLUMN", help="the column that says whose row it is")
    unit.add_argument("--each-row", action="store_true", help="each row is a unit of its own")
    parser.add_argument("--unit-words", metavar="TEXT", help="what one unit is: a patient")
    parser.add_argument("--epsilon", metavar="E", help="the budget of the id space, in ε")
    parser.add_argument("--rho", metavar="R", help="the budget of the id space, in ρ")
    parser.add_argument("--delta", metavar="D", help="the δ of the budget")
    parser.add_argument(
        "--rows-per-unit", metavar="N", help="rows of one unit that count, over all groups"
    )
    parser.add_argument("--rows-per-group", metavar="N", help="or: rows of one unit in a group")
    parser.add_argument("--groups-per-unit", metavar="N", help="and groups of one unit that count")


def given_replies(options: argparse.Namespace) -> InitReplies:
    """Return the answers that were given as options."""
    rows, groups = options.rows_per_group, options.groups_per_unit
    over_all = options.rows_per_unit
    return InitReplies(
        id_space=None if options.id_space is None else name(options.id_space),
        unit=EACH_ROW if options.each_row else options.unit,
        budget=_budget(options.epsilon, options.rho, options.delta),
        rows_per_group=None if rows is None else limit(rows),
        groups_per_unit=None if groups is None else limit(groups),
        rows_per_unit=None if over_all is None else limit(over_all),
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
    answers = _ask_for_unit(answers, table, columns, ask)
    called = answers.name()
    others = "" if called == UNIT else called.plural
    together = _WORDS.sub("_", others).strip("_")
    questions: dict[str, tuple[str, Callable[[str], Any]]] = {
        "id_space": ("What are all of them together called, such as patients?", name),
        "budget": (_BUDGET.format(one=called.one), _epsilon),
        "rows_per_unit": (_ROWS.format(table=table, one=called.one), limit),
        "rows_per_group": (f"{table}: how many rows of {called.one} may count in a group?", limit),
        "groups_per_unit": (f"{table}: how many groups of {called.one} may count?", limit),
    }
    for key, (question, read) in questions.items():
        if key in answers.missing():
            usual = together if key == "id_space" else ""
            answers = evolve(answers, **{key: _ask(question, read, ask, usual=usual)})
    return answers


_WORDS = re.compile(r"\W+")

_BUDGET = (
    "How much may all answers together ever tell about {one}, as an epsilon such as 1? The smaller,"
    " the less; 'discreet meaning --epsilon 1' says what a number means."
)
_ROWS = (
    "{table}: how many rows of {one} may count in an answer? What is beyond is left out; each more"
    " needs more noise. If you do not know, a profile can measure it."
)
_OWNER = (
    "{table}: whose rows are these? Which column names the person, or whatever else must stay"
    " unknown ({listed})?"
)


def confirm_public(files: Sequence[str], ask: Ask) -> None:
    """Ask whether all files are public, where none was named as private; go on only after a yes."""
    names = ", ".join(PurePath(file).name for file in files)
    if ask(f"{lines(_ALL_PUBLIC.format(names=names))} [y/N] ").strip().lower() in ("y", "yes"):
        return
    raise InvalidArgument(
        "Nothing was written, and no file was read",
        next="Name the private files before --public: all that follows it is public",
    )


_ALL_PUBLIC = (
    "No private file is named. May everybody know every row of {names}? Then all of it is read, and"
    " ranges of its values are written down."
)


def _ask_for_unit(
    answers: InitReplies, table: str, columns: Sequence[str], ask: Ask
) -> InitReplies:
    """Ask whose the rows of a table are, and how the owner calls one of them."""
    listed = ", ".join([*columns, EACH_ROW])

    def column(text: str) -> str:
        found = [one for one in (*columns, EACH_ROW) if one.lower() == text.lower()]
        if text not in found and len(found) != 1:
            raise InvalidArgument("There is no such column", must=f"be one of {listed}", got=text)
        return text if text in found else found[0]

    if answers.unit is None:
        question = _OWNER.format(table=table, listed=listed)
        answers = evolve(answers, unit=_ask(question, column, ask))
    if answers.unit_words is None and answers.unit is not None and answers.id_space is None:
        usual = "a row" if answers.unit == EACH_ROW else f"one {answers.unit}"
        question = "What is one of them, in your words, such as a patient?"
        return evolve(answers, unit_words=_ask(question, name, ask, usual=usual))
    return answers


def _epsilon(text: str) -> str:
    return f"epsilon = {number(text)}"


def _ask(question: str, read: Callable[[str], T], ask: Ask, *, usual: str = "") -> T | None:
    """Ask until the reply can be read, or is empty: then it is the usual one, or left open."""
    hint = ""
    while True:
        otherwise = f"Enter: {usual}" if usual else "Enter: later"
        reply = ask(f"{hint}{lines(f'{question} ({otherwise})')} ").strip() or usual
        if not reply:
            return None
        try:
            return read(reply)
        except DiscreetError as error:
            hint = f"{error}\n"
