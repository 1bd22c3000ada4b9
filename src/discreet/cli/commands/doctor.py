"""Look whether the installation and the project are in order; nothing is spent."""

import argparse
from pathlib import Path

from discreet.cli.command import CommandResult, add_project
from discreet.cli.exit_status import ANSWERED, USAGE
from discreet.cli.installation_checks import installation
from discreet.cli.project_checks import project_in_order
from discreet.cli.verdict import Finding, Verdict
from discreet.core.terminal_text import lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Look, and say what to do. Nothing is charged or written, and no private source is opened."""
    found = [*installation(), *project_in_order(Path(options.project))]
    counts = {verdict: sum(one.verdict is verdict for one in found) for verdict in Verdict}
    is_sound = not counts[Verdict.FAIL]
    told = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    text = "\n".join([*map(_line, found), told])
    data = {"ok": is_sound, "checks": [one.to_json() for one in found]}
    return CommandResult(text, data, status=ANSWERED if is_sound else USAGE)


def _line(one: Finding) -> str:
    told = f"{one.verdict.value:<4}  {one.subject}: {one.told}"
    return lines(f"{told}. {one.advice}" if one.advice else told, indent="      ")
