"""Show what is spent and what is left."""

import argparse
from collections.abc import Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction

from discreet.cli.command import CommandResult, add_project
from discreet.core.terminal_text import WIDEST, lines, text_table
from discreet.curator.budget_report import BudgetReport, budget_reports
from discreet.curator.connection import LOCAL_ANALYST, BudgetStatus
from discreet.curator.owner import own

BAR_WIDTH = 24


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
    parts = [status_text(tuple(report.status for report in reports))]
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
        found += ["", text_table([f"share of {report.status.id_space}", *_AMOUNTS], rows)]
    return [*found, *([lines(str(report.more))] if report.more else [])]


def status_text(statuses: tuple[BudgetStatus, ...]) -> str:
    """Return the budgets as a table with bars."""
    rows = [
        [status.id_space, bar(status), str(status.spent), left(status), str(status.cap)]
        for status in statuses
    ]
    shares = [lines(text) for text in map(share, statuses) if text]
    table = text_table(["id space", "", *_AMOUNTS], rows)
    is_wide = any(len(line) > WIDEST for line in table.splitlines())
    return "\n".join([_below(rows) if is_wide else table, *shares])


_AMOUNTS = ("spent", "left", "of")


def _below(rows: Sequence[Sequence[str]]) -> str:
    """Return the amounts below each other, where they are too long to stand side by side."""
    return "\n".join(
        "\n".join(
            [
                f"{name}  {full}",
                *(f"  {word:5}  {amount}" for word, amount in zip(_AMOUNTS, amounts, strict=True)),
            ]
        )
        for name, full, *amounts in rows
    )


def share(status: BudgetStatus) -> str:
    """Return what an analyst has left, where that is less than everybody has."""
    own = status.own_remaining
    if own is None or own == status.remaining:
        return ""
    left_over = own.shown(rounding=ROUND_FLOOR)
    return f"{status.analyst} has spent {status.own_spent} of {status.id_space}: {left_over} left"


def left(status: BudgetStatus) -> str:
    """Return what is left: never more than there is."""
    return status.remaining.shown(rounding=ROUND_FLOOR)


def bar(status: BudgetStatus) -> str:
    """Return a bar of what is spent; full only when nothing is left.

    Example:
        >>> from discreet import Pure
        >>> bar(BudgetStatus(id_space="p", unit="a person", cap=Pure(2), spent=Pure(1),
        ...                  remaining=Pure(1)))
        '████████████░░░░░░░░░░░░'
    """
    share = min(Fraction(1), status.spent.share_of(status.cap))
    full = int(share * BAR_WIDTH)
    return "█" * full + "░" * (BAR_WIDTH - full)
