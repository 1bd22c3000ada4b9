"""A process that asks one query when told to start. Run as a module by a test."""

import sys
from pathlib import Path

from discreet.core.errors import BudgetExhausted
from discreet.roles.connection import connect


def main(folder: str, number: str) -> None:
    """Wait for the starting shot, ask, and say how it went."""
    with connect(Path(folder), epsilon="1/4") as connection:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        try:
            release = connection.sql(f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}")
            sys.stdout.write(f"answered {release.receipt.ticket.number}\n")
        except BudgetExhausted:
            sys.stdout.write("refused\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
