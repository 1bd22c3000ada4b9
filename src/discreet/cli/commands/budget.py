"""Show what is spent and what is left."""

import argparse
from decimal import ROUND_FLOOR

from discreet.cli.command import CommandResult, add_project
from discreet.core.terminal_text import lines, text_table
from discreet.curator.budget.budget_report import BudgetReport, budget_reports
from discreet.curator.budget.budget_status import AMOUNTS, Budgets
from discreet.roles.connection import LOCAL_ANALYST
from discreet.roles.owner import own


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--analyst", default=LOCAL_ANALYST, metavar="NAME", help="whose share to show besides"
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Show every id space: its budget, everybody's shares, and what stands in the way."""
    with own(options.project) as owner:
        reports = budget_reports(owner.ledger(), owner.catalog(), options.analyst)
    parts = [str(Budgets(report.status for report in reports))]
    parts += [text for report in reports for text in report_texts(report)]
    return CommandResult("\n".join(parts), [report.to_json() for report in reports])


def report_texts(report: BudgetReport) -> list[str]:
    """Return what is to be said about an id space below its bar."""
    found = [lines(text) for text in report.suspensions()]
    if report.shares:
        rows = [
            [one.analyst, str(one.spent), one.remaining.shown(rounding=ROUND_FLOOR), str(one.cap)]
            for one in report.shares
        ]
        found += ["", text_table([f"share of {report.status.id_space}", *AMOUNTS], rows)]
    return [*found, *([lines(str(report.more))] if report.more else [])]
