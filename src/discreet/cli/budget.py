"""Show what is spent and what is left."""

import argparse
from decimal import ROUND_FLOOR
from fractions import Fraction

from discreet.cli.shown import Shown, add_project
from discreet.curator.connection import BudgetStatus, connect
from discreet.curator.text_table import text_table

BAR_WIDTH = 24


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> Shown:
    """Show every id space."""
    with connect(options.project) as connection:
        statuses = connection.budget()
    return Shown(shown(statuses), [status.to_json() for status in statuses])


def shown(statuses: tuple[BudgetStatus, ...]) -> str:
    """Return the budgets as a table with bars."""
    rows = [
        [status.id_space, bar(status), str(status.spent), left(status), str(status.cap)]
        for status in statuses
    ]
    return text_table(["id space", "", "spent", "left", "of"], rows)


def left(status: BudgetStatus) -> str:
    """Return what is left: never more than there is."""
    return status.remaining.shown(rounding=ROUND_FLOOR)


def bar(status: BudgetStatus) -> str:
    """Return a bar of what is spent; full only when nothing is left.

    Example:
        >>> from discreet.core.loss import Pure
        >>> bar(BudgetStatus(id_space="p", unit="a person", cap=Pure(2), spent=Pure(1),
        ...                  remaining=Pure(1)))
        '████████████░░░░░░░░░░░░'
    """
    share = min(Fraction(1), status.spent.share_of(status.cap))
    full = int(share * BAR_WIDTH)
    return "█" * full + "░" * (BAR_WIDTH - full)
