"""A command line that cannot be read is an error like any other, in the same two forms."""

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import NoReturn

from discreet.core.errors import InvalidArgument


class CommandParser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, and where all options are listed."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        must, got, near = self._in_words(message)
        raise InvalidArgument(
            _WHAT, must=must, got=got, next=f"{_meant(near)}See '{self.prog} --help'"
        )

    def _in_words(self, message: str) -> tuple[str, str, list[str]]:
        """Return what must be, what is there and what is near it, of what the library says."""
        if found := re.fullmatch(r"the following arguments are required: (.+)", message):
            return f"have {self._explained(found[1].split(', '))}", "", []
        if found := re.fullmatch(r"argument (\S+): expected .*argument.*", message):
            return f"have a value after {found[1].rpartition('/')[2]}", "", []
        if found := re.fullmatch(r"argument (\S+): invalid int value: (.+)", message):
            return f"have a whole number after {found[1]}", found[2].strip("'"), []
        if found := re.fullmatch(r"argument (\S+): not allowed with argument (\S+)", message):
            return f"have {found[2]} or {found[1]}, not both", "", []
        choice = r"argument (\S+): invalid choice: (.+) \(choose from (.+)\)"
        if found := re.fullmatch(choice, message):
            known = [word.strip("'") for word in found[3].split(", ")]
            given = found[2].strip("'")
            near = difflib.get_close_matches(given, known, n=1)
            return f"have one of these as {found[1]}: {', '.join(known)}", given, near
        return "", message, []

    def _explained(self, names: Sequence[str]) -> str:
        """Return what is lacking, each with what it is for."""
        helps = {one.metavar or one.dest: one.help for one in self._actions}
        helps |= {text: one.help for one in self._actions for text in one.option_strings}
        return " and ".join(
            f"{name} ({helps[name]})" if helps.get(name) else name for name in names
        )

    def option_strings(self) -> list[str]:
        """Return every way to write an option."""
        return [text for action in self._actions for text in action.option_strings]

    def takes_several(self) -> str | None:
        """Return the name of what takes any number of words, if there is such a thing."""
        found = (one.dest for one in self._get_positional_actions() if one.nargs == "*")
        return next(found, None)

    def refuse(self, unknown: Sequence[str], known: Sequence[str]) -> NoReturn:
        """Refuse what no option stands for, and name the option that is near, if there is one."""
        word = next((one for one in unknown if one.startswith("-")), unknown[0])
        if not word.startswith("-"):
            raise InvalidArgument(
                _WHAT,
                got=f"{word}, which is one word too many",
                next=f"Put words that belong together into quotes. See '{self.prog} --help'",
            )
        near = difflib.get_close_matches(word.partition("=")[0], known, n=1)
        raise InvalidArgument(
            _WHAT,
            got=f"{word}, which is no option of it",
            next=f"{_meant(near)}See '{self.prog} --help'",
        )


_WHAT = "The command cannot be read"


def _meant(near: Sequence[str]) -> str:
    return f"Did you mean {near[0]}? " if near else ""
