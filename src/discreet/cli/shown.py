"""What a command shows: text for people, plain values for programs."""

import argparse
from typing import Any

from attrs import frozen


@frozen
class Shown:
    """The result of a command, in both forms."""

    text: str
    data: Any


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where ``discreet.toml`` is."""
    parser.add_argument(
        "--project", default=".", metavar="PATH", help="discreet.toml, or its folder (default: .)"
    )


def add_question(parser: argparse.ArgumentParser) -> None:
    """Add what a question needs: the SQL, what it may cost, and who asks."""
    parser.add_argument("sql", nargs="?", help="one SELECT; - reads it from the standard input")
    parser.add_argument("--file", metavar="FILE", help="read the SELECT from a file instead")
    parser.add_argument("--epsilon", metavar="E", help="what the answer may cost, such as 0.5")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP, where the budget is in rho")
    parser.add_argument("--analyst", default="local", metavar="NAME", help="who asks")
    add_project(parser)
