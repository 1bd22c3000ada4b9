"""Check the declarations and that every source has its declared columns."""

import argparse

from discreet.cli.shown import Shown, add_project
from discreet.curator.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> Shown:
    """Check, by names only; no row is read."""
    with connect(options.project) as connection:
        connection.check()
        names = [table.name for table in connection.tables()]
    return Shown(f"All is well: {', '.join(names)}", {"ok": True, "tables": names})
