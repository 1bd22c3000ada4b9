"""Runs the code blocks of a page in order, with one namespace and one folder for the page."""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from discreet.cli.main import main
from tests.support.house.markdown_blocks import Block

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1"}
SECONDS = 120  # a block that hangs is stopped; no test depends on how long one takes


class PageRunner:
    """The state of one page: what its Python has defined, and the folder it works in.

    The caller makes ``folder`` the current directory, because Python blocks run in this process.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.runners: dict[str, Callable[[Block], None]] = {
            "python": self._python,
            "pycon": self._python,
            "console": self._console,
            "sh": self._script,
        }

    def run(self, block: Block) -> None:
        """Do with one block what its language and its comment say."""
        if block.verb == "skip":
            return
        if block.verb == "file":
            self._write(block)
        elif runner := self.runners.get(block.language):
            runner(block)

    def _write(self, block: Block) -> None:
        target = (self.folder / block.value).resolve()
        assert target.is_relative_to(self.folder.resolve()), f"{block.value} leaves the folder"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text)

    def _python(self, block: Block) -> None:
        if ">>>" in block.text:
            self._doctest(block)
        else:
            padded = "\n" * (block.line - 1) + block.text
            exec(compile(padded, self.name, "exec"), self.namespace)

    def _doctest(self, block: Block) -> None:
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
        test = parser.get_doctest(block.text, {}, self.name, self.name, block.line - 1)
        test.globs = self.namespace
        report: list[str] = []
        runner.run(test, out=report.append, clear_globs=False)
        assert not runner.failures, "".join(report)

    def _console(self, block: Block) -> None:
        commands = console_commands(block.text)
        for command, expected in commands:
            last = (command, expected) == commands[-1]
            status = int(block.value) if block.verb == "exit" and last else 0
            words = own_words(command)
            found, output = _ours(words) if words else self._bash(command)
            assert found == status, (
                f"{self.name}:{block.line}: status {found}, not {status}\n$ {command}\n{output}"
            )
            if expected and not doctest.OutputChecker().check_output(expected, output, FLAGS):
                raise AssertionError(
                    f"{self.name}:{block.line}: $ {command}\nexpected:\n{expected}\ngot:\n{output}"
                )

    def _script(self, block: Block) -> None:
        status = int(block.value) if block.verb == "exit" else 0
        found, output = self._bash("set -euo pipefail\n" + block.text)
        assert found == status, f"{self.name}:{block.line}: status {found}, not {status}\n{output}"

    def _bash(self, command: str) -> tuple[int, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env={**os.environ, "PATH": path, **TERMINAL},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        return done.returncode, done.stdout


def own_words(command: str) -> list[str]:
    """Return the words of a plain call of ours; none of anything that a shell is needed for.

    Example:
        >>> own_words('discreet query "SELECT COUNT(*) FROM t" --epsilon 1')
        ['discreet', 'query', 'SELECT COUNT(*) FROM t', '--epsilon', '1']
        >>> own_words("discreet budget > file"), own_words("echo discreet")
        ([], [])
    """
    plain = command.replace("\\\n", "")
    reader = shlex.shlex(plain, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    words = list(reader)
    is_ours = words[0] == "discreet" and shlex.split(plain) == words
    return words if is_ours and not set("$`*?~;|<>&").intersection(_unquoted(plain)) else []


def _unquoted(command: str) -> str:
    return re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)


def _ours(words: list[str]) -> tuple[int, str]:
    """Run our command in this process: what takes most of its time is to begin another."""
    output = io.StringIO()
    with (
        mock.patch.dict(os.environ, TERMINAL),
        mock.patch("sys.stdin", io.StringIO()),
        redirect_stdout(output),
        redirect_stderr(output),
    ):
        try:
            status = main(words[1:])
        except SystemExit as end:
            status = int(end.code or 0)
    return status, output.getvalue()


def console_commands(text: str) -> list[tuple[str, str]]:
    r"""Split a console block into commands and the output shown below each.

    A command starts with ``$ ``, goes on after a trailing backslash or on lines that start
    with ``> ``. No output shown means that any output is fine.

    Example:
        >>> console_commands("$ echo a\\\n> b\na b\n$ true\n")
        [('echo a\\\nb', 'a b\n'), ('true', '')]
    """
    commands: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], ""))
            continue
        assert commands, f"a console block starts with '$ '; got {line!r}"
        command, output = commands[-1]
        if not output and (command.endswith("\\") or line.startswith("> ")):
            commands[-1] = (f"{command}\n{line.removeprefix('> ')}", output)
        else:
            commands[-1] = (command, f"{output}{line}\n")
    return commands
