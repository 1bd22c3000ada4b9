"""Completion: what the parsers know, as a script for each shell."""

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen


@frozen(kw_only=True)
class CompletedOption:
    """One option of a command, as far as a shell is to know it."""

    names: tuple[str, ...]
    summary: str
    takes_value: bool
    choices: tuple[str, ...]


@frozen(kw_only=True)
class CompletedCommand:
    """One command: its options, and the words that may follow it."""

    name: str
    summary: str
    options: tuple[CompletedOption, ...]
    words: tuple[str, ...]
    """Verbs, or the choices of an argument."""


def completed_command(name: str, top: argparse.ArgumentParser) -> CompletedCommand:
    """Return what the parser of a command knows; its verbs bring their options along."""
    (below,) = (one for one in top._actions if isinstance(one, argparse._SubParsersAction))
    parser = below.choices[name]
    verbs = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    inner = [one for verb in verbs for one in verb.choices.values()]
    actions = [action for one in (parser, *inner) for action in one._actions]
    options = {
        action.option_strings[-1]: CompletedOption(
            names=tuple(action.option_strings),
            summary=_one_line(action.help),
            takes_value=action.nargs != 0,
            choices=tuple(map(str, action.choices or ())),
        )
        for action in actions
        if action.option_strings
    }
    words = [
        str(word)
        for action in actions
        if not action.option_strings and action.choices
        for word in action.choices
    ]
    return CompletedCommand(
        name=name,
        summary=_one_line(parser.description),
        options=tuple(options.values()),
        words=tuple(dict.fromkeys(words)),
    )


def _one_line(text: str | None) -> str:
    return " ".join((text or "").replace("%%", "%").split())


def bash(commands: Sequence[CompletedCommand]) -> str:
    """Return the script for bash; after an option with a value of any kind, files are offered."""
    cases, values, names = [], [], [command.name for command in commands]
    for command in commands:
        options = _quoted(*(name for option in command.options for name in option.names))
        words = _quoted(*command.words)
        cases.append(f"        {command.name}) words={words} options={options} ;;")
        for option in command.options:
            if option.takes_value:
                places = "|".join(f"{command.name}:{name}" for name in option.names)
                values.append(f"        {places}) {_reply(option.choices)} ;;")
    return "\n".join(
        [
            "# Completion of discreet for bash. Load it with:",
            '#     eval "$(discreet completion bash)"',
            "_discreet() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} command= words= options= word index",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        word=${COMP_WORDS[index]}",
            "        if [[ $word != -* ]]; then command=$word; break; fi",
            "    done",
            "    COMPREPLY=()",
            '    case "$command:${COMP_WORDS[COMP_CWORD - 1]}" in',
            *values,
            "    esac",
            '    case "$command" in',
            f"        '') words={_quoted(*names)} options='--help --version' ;;",
            *cases,
            "    esac",
            "    if [[ $current == -* ]]; then words=$options; fi",
            '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o bashdefault -o default -F _discreet discreet",
        ]
    )


def _reply(choices: Sequence[str]) -> str:
    """Return what offers the values of an option; without choices, those that bash offers."""
    if not choices:
        return "return"
    return f'COMPREPLY=($(compgen -W {_quoted(*choices)} -- "$current")); return'


def _quoted(*words: str) -> str:
    return shlex.quote(" ".join(words))


def zsh(commands: Sequence[CompletedCommand]) -> str:
    """Return the script for zsh."""
    listed = [f"        {shlex.quote(f'{one.name}:{one.summary}')}" for one in commands]
    cases = []
    for command in commands:
        specs = [_zsh_option(option, name) for option in command.options for name in option.names]
        rest = f"'*:word:({' '.join(command.words)})'" if command.words else "'*:file:_files'"
        lines = " \\\n                ".join([*specs, rest])
        cases.append(
            f"        {command.name})\n            _arguments \\\n                {lines} ;;"
        )
    return "\n".join(
        [
            "#compdef discreet",
            "# Completion of discreet for zsh. Load it with:",
            '#     eval "$(discreet completion zsh)"',
            "_discreet() {",
            "    local -a commands",
            "    commands=(",
            *listed,
            "    )",
            "    if (( CURRENT == 2 )); then _describe command commands; return; fi",
            "    shift words; (( CURRENT-- ))",
            "    case $words[1] in",
            *cases,
            "    esac",
            "}",
            "compdef _discreet discreet",
        ]
    )


def _zsh_option(option: CompletedOption, name: str) -> str:
    summary = option.summary.replace("[", "(").replace("]", ")").replace(":", "\\:")
    value = ""
    if option.takes_value:
        value = f":value:({' '.join(option.choices)})" if option.choices else ":value:_files"
    return shlex.quote(f"*{name}[{summary}]{value}")


def fish(commands: Sequence[CompletedCommand]) -> str:
    """Return the script for fish."""
    lines = [
        "# Completion of discreet for fish. Load it with:",
        "#     discreet completion fish | source",
        "complete -c discreet -n __fish_use_subcommand -l version -d 'say which version this is'",
    ]
    for command in commands:
        lines.append(
            "complete -c discreet -f -n __fish_use_subcommand"
            f" -a {command.name} -d {_fish(command.summary)}"
        )
        seen = f"complete -c discreet -n '__fish_seen_subcommand_from {command.name}'"
        if command.words:
            lines.append(f"{seen} -f -a {_fish(' '.join(command.words))}")
        lines += [f"{seen} {_fish_option(option)}" for option in command.options]
    return "\n".join(lines)


def _fish_option(option: CompletedOption) -> str:
    names = [f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}" for one in option.names]
    value = ["-r"] if option.takes_value else []
    if option.choices:
        value = ["-x", f"-a {_fish(' '.join(option.choices))}"]
    return " ".join([*names, *value, f"-d {_fish(option.summary)}"])


def _fish(text: str) -> str:
    """Return a text in the quotes of fish, where only these two signs mean anything."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: Mapping[str, Callable[[Sequence[CompletedCommand]], str]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
}
"""The script for each shell, by the name of the shell."""
