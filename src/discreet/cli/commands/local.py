"""Compare collecting with a trusted curator and without one: how many it takes."""

import argparse
from pathlib import Path

from discreet.accounting.picture import save
from discreet.cli.command import CommandResult
from discreet.core.loss import short
from discreet.core.numbers import exact
from discreet.core.terminal_text import text_table
from discreet.local.compare.people_needed import ERRORS, comparison_picture, people_needed


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the one verb: compare."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    summary = "how many people the same error takes with a trusted curator, and without"
    compare = verbs.add_parser("compare", help=summary, description=summary)
    compare.add_argument("--json", action="store_true", help="print JSON")
    compare.add_argument("--epsilon", required=True, metavar="E", help="the loss of one person")
    compare.add_argument(
        "--error",
        action="append",
        metavar="A",
        help="the standard deviation of a share, such as 0.01; may be given again",
    )
    compare.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg or .pdf)")


def run(options: argparse.Namespace) -> CommandResult:
    """Show the table, and why it grows as it does."""
    errors = tuple(exact(error) for error in options.error or ERRORS)
    rows = [people_needed(error, epsilon=options.epsilon) for error in errors]
    table = text_table(
        ["error of a share", "curator is trusted", "nobody is", "times as many"],
        [
            [short(row.error), f"{row.central:,}", f"{row.local:,}", f"{row.ratio:,.3g}"]
            for row in rows
        ],
    )
    text = (
        f"People needed at ε = {short(exact(options.epsilon))} for a share to have this "
        f"standard deviation:\n{table}\n\nAt half the error a curator needs twice as many; "
        "without one it takes four times as many."
    )
    if options.plot:
        save(comparison_picture(epsilon=options.epsilon, errors=errors), Path(options.plot))
        text += f"\n\nDrew {options.plot}"
    return CommandResult(
        text,
        {
            "epsilon": str(exact(options.epsilon)),
            "rows": [
                {"error": str(row.error), "central": row.central, "local": row.local}
                for row in rows
            ],
        },
    )
