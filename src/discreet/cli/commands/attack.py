"""Attack your own release before an adversary does, from files that you name."""

import argparse
import json
from pathlib import Path

from discreet.cli.attack_verbs.answer_attacks import ANSWER_ATTACKS
from discreet.cli.attack_verbs.attack_verb import (
    MADE_UP,
    MARK,
    AttackPage,
    check_new,
    write_private,
)
from discreet.cli.attack_verbs.cell_attacks import CELL_ATTACKS
from discreet.cli.attack_verbs.count_attacks import COUNT_ATTACKS
from discreet.cli.attack_verbs.model_attacks import MODEL_ATTACKS
from discreet.cli.attack_verbs.online_attacks import ONLINE_ATTACKS
from discreet.cli.attack_verbs.row_attacks import ROW_ATTACKS
from discreet.cli.attack_verbs.statistics_attacks import STATISTICS_ATTACKS
from discreet.cli.attack_verbs.trace_limits import LIMIT_ATTACKS
from discreet.cli.command import CommandResult
from discreet.core.errors import InvalidArgument
from discreet.core.terminal_text import lines

_VERBS = {
    verb.name: verb
    for verbs in (
        ANSWER_ATTACKS,
        COUNT_ATTACKS,
        CELL_ATTACKS,
        ROW_ATTACKS,
        STATISTICS_ATTACKS,
        LIMIT_ATTACKS,
        ONLINE_ATTACKS,
        MODEL_ATTACKS,
    )
    for verb in verbs
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs, each with its own options and those that all have."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in _VERBS.values():
        sub = verbs.add_parser(verb.name, help=verb.summary, description=verb.summary)
        sub.add_argument("--json", action="store_true", help="print JSON")
        sub.add_argument(
            "-o", "--output", metavar="FILE", help="write all of it into a new file of mode 0600"
        )
        verb.configure(sub)


def run(options: argparse.Namespace) -> CommandResult:
    """Run one attack, and mark what it found as private, or as made up."""
    verb = _VERBS[options.verb]
    for name in ("output", "plot"):
        target = getattr(options, name, None)
        if target is not None:
            check_new(Path(target))
    try:
        text, found = verb.run(options)
    except MemoryError:
        raise InvalidArgument(
            "There is not enough memory for this attack",
            must="be of fewer people, rows, games or queries",
        ) from None
    page = found.html if isinstance(found, AttackPage) else None
    shown = found.attacks if isinstance(found, AttackPage) else found
    key, mark = ("made_up", MADE_UP) if verb.makes_up(options) else ("private", MARK)
    data = {key: mark, "attack": verb.name, "found": shown, "told": text}
    told = f"{lines(mark)}\n\n{text}"
    if options.output:
        written = page or json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        write_private(Path(options.output), written.encode())
        told += f"\n\nWrote {options.output}, which only you can read"
    return CommandResult(told, data)
