"""Completion: the scripts know what the parsers know, and bash offers it."""

import shlex
import shutil
import subprocess

import pytest

from discreet.cli.completing import SCRIPTS, completed_command
from discreet.cli.main import COMMANDS, main, parser


@pytest.fixture(scope="module")
def commands():
    return [completed_command(name, parser(name)) for name in COMMANDS]


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_command_and_every_option_is_in_the_script(shell, commands, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert script.rstrip("\n") == SCRIPTS[shell](commands)
    for command in commands:
        assert command.name in script
        for option in command.options:
            for name in option.names:
                assert (name.lstrip("-") if shell == "fish" else name) in script


OFFERED = [
    (["qu"], ["query"]),
    (["--ver"], ["--version"]),
    (["query", "--rows-per-g"], ["--rows-per-group"]),
    (["query", "--format", "pa"], ["parquet"]),
    (["query", "--fresh", "--form"], ["--format"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["account", "ca"], ["calibrate"]),
    (["account", "calibrate", "--coun"], ["--count"]),
    (["query", "-o", ""], []),
    (["query", "--project", ""], []),
    (["nothing", "--"], []),
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_offers_what_fits(commands):
    asked = "\n".join(
        f"COMP_WORDS=({shlex.join(['discreet', *words])}); "
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _discreet; echo "${COMPREPLY[*]}"'
        for words, _ in OFFERED
    )
    script = f"set -u\n{SCRIPTS['bash'](commands)}\ncomplete -p discreet >/dev/null || exit 7\n"
    done = subprocess.run(
        ["bash", "--norc", "-c", script + asked], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = [line.split() for line in done.stdout.splitlines()]
    assert found == [words for _, words in OFFERED]


def test_texts_of_help_do_not_break_out_of_their_quotes(commands):
    for shell in ("zsh", "fish"):
        for line in SCRIPTS[shell](commands).splitlines():
            plain = line.replace("\\'", "").replace("'\"'\"'", "")
            assert plain.count("'") % 2 == 0, line
