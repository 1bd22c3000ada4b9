"""The command ``discreet``: finds the sub-command, runs it, and shows errors in one form."""

import argparse
import json
import sys
from collections.abc import Sequence

from discreet.cli import (
    account,
    budget,
    check,
    data_changed,
    demo,
    explain,
    ledger,
    meaning,
    query,
    tables,
    to_parquet,
)
from discreet.core.errors import DiscreetError

COMMANDS = {
    "query": query,
    "explain": explain,
    "budget": budget,
    "ledger": ledger,
    "tables": tables,
    "check": check,
    "data-changed": data_changed,
    "account": account,
    "meaning": meaning,
    "to-parquet": to_parquet,
    "demo": demo,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="discreet",
        description="Learn from data about people without learning about any one of them.",
    )
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        summary = (command.__doc__ or "").splitlines()[0]
        sub = subparsers.add_parser(name, help=summary, description=summary)
        sub.add_argument("--json", action="store_true", help="print JSON")
        command.configure(sub)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 on an error that was explained."""
    options = parser().parse_args(arguments)
    try:
        shown = COMMANDS[options.command].run(options)
    except DiscreetError as error:
        if options.json:
            sys.stdout.write(json.dumps(error.to_json(), ensure_ascii=False) + "\n")
        else:
            sys.stderr.write(f"discreet: {error} [{error.code}]\n")
        return 1
    except BrokenPipeError:
        return 0
    text = json.dumps(shown.data, ensure_ascii=False, indent=2) if options.json else shown.text
    sys.stdout.write(text.rstrip("\n") + "\n")
    return 0
