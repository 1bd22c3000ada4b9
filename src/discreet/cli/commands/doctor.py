"""Look whether the installation and the project are in order; nothing is spent."""

import argparse
from pathlib import Path

from discreet.cli.command import CommandResult, add_project
from discreet.cli.diagnosis import Diagnosis, Health
from discreet.cli.exit_status import ANSWERED, USAGE
from discreet.cli.installation_checks import installation
from discreet.cli.project_checks import project_in_order
from discreet.core.terminal_text import lines


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Look, and say what to do. Nothing is charged or written, and no private source is opened."""
    found = [*installation(), *project_in_order(Path(options.project))]
    counts = {health: sum(one.health is health for one in found) for health in Health}
    is_sound = not counts[Health.FAIL]
    told = ", ".join(f"{count} {health.value}" for health, count in counts.items() if count)
    text = "\n".join([*map(_line, found), told])
    data = {"ok": is_sound, "checks": [one.to_json() for one in found]}
    return CommandResult(text, data, status=ANSWERED if is_sound else USAGE)


def _line(one: Diagnosis) -> str:
    told = f"{one.health.value:<4}  {one.subject}: {one.told}"
    return lines(f"{told}. {one.advice}" if one.advice else told, indent="      ")
