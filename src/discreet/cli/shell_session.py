"""A session of the shell: read a question, explain it, ask it if told so, and show the answer."""

import sys
from collections.abc import Callable, Mapping

from attrs import frozen

from discreet.cli.answer_file import shown
from discreet.cli.exit_status import ANSWERED, INTERRUPTED, internal_error, status_of
from discreet.cli.shell_history import LineHistory
from discreet.cli.spelling import spelled_in_shell
from discreet.cli.terminal import explain, flush_output, json_text, write
from discreet.core.errors import DiscreetError, OutputFailed
from discreet.core.terminal_text import lines, text_steps
from discreet.curator.explanation.explanation import Explanation
from discreet.curator.free_answer import FreeExplanation
from discreet.ledger.under_way import last_charge, told_by
from discreet.roles.connection import Connection
from discreet.sql.syntax.place import unclosed

PROMPT, MORE = "discreet> ", "     ...> "
QUESTION = "Ask it? [y/N] "

SUMMARY = ("Left out", "Error", "Accuracy", "Costs", "Left")
"""The steps of an explanation that are shown before a question is asked."""

HELP = """A question is a SELECT that ends with ;  It is explained, and asked if you say yes.
  explain SELECT ... ;  show every step of the explanation, and ask nothing
  tables, \\d            show what may be asked
  budget                show what is spent and left
  help, \\?              show this
  quit, \\q              leave (or Ctrl-D). Ctrl-C drops what you have typed"""

_EXPLAIN = "explain"


def is_complete(text: str) -> bool:
    """Tell whether a question has its end: a semicolon that is in no quotes and no comment.

    Example:
        >>> is_complete("SELECT ';'"), is_complete("SELECT 1;"), is_complete("SELECT 1; -- so")
        (False, True, True)
    """
    if unclosed(text) is not None:
        return False
    return _without_comments(text).rstrip().endswith(";")


def _without_comments(text: str) -> str:
    """Return a text whose last comment, if it stands at the end, is taken off."""
    kept = []
    for line in text.splitlines():
        before, mark, _ = line.partition("--")
        is_comment = bool(mark) and unclosed(before) is None
        kept.append(before if is_comment else line)
    return "\n".join(kept)


@frozen(kw_only=True)
class ShellSession:
    """One user, one connection, and the lines that are read."""

    connection: Connection
    read: Callable[[str], str]
    """Shows a prompt and returns a line; ``EOFError`` where there are no more."""
    history: LineHistory
    is_interactive: bool
    """Whether somebody types: then an error does not end the session."""
    confirms: bool
    """Whether each question is asked only after a yes."""
    commands: Mapping[str, Callable[[Connection], str]]
    """What can be typed instead of a question, and what shows it."""
    is_json: bool = False

    def loop(self) -> int:
        """Read until the end; return the status of the first that failed, if nobody types."""
        while True:
            try:
                text = self._next()
            except EOFError:
                return ANSWERED
            except KeyboardInterrupt:
                if not self.is_interactive:
                    raise
                write(sys.stdout, "")
                continue
            if text in ("quit", "exit", "\\q"):
                return ANSWERED
            status = self._do(text) if text else ANSWERED
            if status and not self.is_interactive:
                return status

    def _next(self) -> str:
        """Return a command, or a question with all of its lines; nothing for an empty line."""
        text = ""
        while True:
            try:
                line = self.read(MORE if text else PROMPT)
            except EOFError:
                # A file may leave out the last semicolon; who types has changed their mind.
                if self.is_interactive or not text.strip():
                    raise
                return text.strip()
            text = f"{text}\n{line}" if text else line
            word = text.strip().rstrip(";").strip()
            if word in self.commands or word in ("", "quit", "exit", "\\q"):
                return word
            if is_complete(text):
                return text.strip()

    def _do(self, text: str) -> int:
        """Do one thing, and return its status. Whatever goes wrong is told in two lines."""
        before = last_charge()
        try:
            command = self.commands.get(text)
            if command is not None:
                write(sys.stdout, command(self.connection))
            else:
                self.history.note(text)
                self._question(text)
        except KeyboardInterrupt as pressed:
            if not self.is_interactive:
                raise
            write(sys.stdout, "")
            explain(told_by(pressed, before), is_json=self.is_json)
            return INTERRUPTED
        except (BrokenPipeError, OutputFailed):
            raise
        except Exception as cause:
            error = cause if isinstance(cause, DiscreetError) else internal_error(cause)
            self._explain(error)
            return status_of(error, is_charged=last_charge() != before)
        finally:
            flush_output()
        return ANSWERED

    def _question(self, text: str) -> None:
        first, *rest = text.split(maxsplit=1)
        if first.lower() == _EXPLAIN:
            write(sys.stdout, spelled_in_shell(str(self.connection.explain(*rest or [""]))))
            return
        if self.confirms and not self._is_wanted(self.connection.explain(text)):
            write(sys.stdout, "Not asked; nothing was spent.")
            return
        release = self.connection.sql(text)
        write(
            sys.stdout,
            json_text(release.to_json(), sys.stdout)
            if self.is_json
            else shown(release, spelled_in_shell),
        )

    def _is_wanted(self, explanation: Explanation | FreeExplanation) -> bool:
        """Show what an answer would cost and how exact it would be; ask, if it costs anything."""
        if isinstance(explanation, FreeExplanation):
            return True
        if explanation.is_stored or not explanation.is_affordable():
            # It is given again for nothing, or is refused with a reason.
            return True
        steps = [(name, told) for name, told in explanation.steps() if name in SUMMARY]
        write(sys.stdout, spelled_in_shell(text_steps(steps)))
        try:
            return self.read(QUESTION).strip().lower() in ("y", "yes")
        except EOFError:
            write(sys.stdout, "")
            return False

    def _explain(self, error: DiscreetError) -> None:
        if self.is_json:
            explain(error, is_json=True, spelled=spelled_in_shell)
            return
        whole = error.sentences()
        advice = error.next if whole.endswith(error.next) else f"{error.next}."
        first = whole.removesuffix(advice).rstrip()
        code = f"[{error.code}]"
        told = [first, f"{advice} {code}"] if advice else [f"{first} {code}"]
        write(sys.stderr, "\n".join(lines(spelled_in_shell(text)) for text in told))
        if error.excerpt:
            write(sys.stderr, error.excerpt)
