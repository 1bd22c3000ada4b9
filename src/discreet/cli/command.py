"""What commands share: their options, and their result in two forms."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from attrs import evolve, frozen

from discreet.cli.exit_status import ANSWERED
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.releases.accuracy import Accuracy, read_accuracy


@frozen
class CommandResult:
    """The result of a command, in both forms."""

    text: str
    data: Any
    output: bytes | None = None
    """What is written in place of either: an answer in a form for other programs."""
    aside: str = ""
    """What a reader must know besides, where the output has no room for it."""
    status: int = ANSWERED


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where ``discreet.toml`` is."""
    parser.add_argument(
        "--project", default=".", metavar="PATH", help="discreet.toml, or its folder (default: .)"
    )


def add_question(parser: argparse.ArgumentParser) -> None:
    """Add what a question needs: the SQL, what it may cost, and who asks."""
    parser.add_argument("sql", nargs="?", help="one SELECT; - reads it from the standard input")
    parser.add_argument("-f", "--file", metavar="FILE", help="read the SELECT from a file instead")
    parser.add_argument("--epsilon", metavar="E", help="what the answer may cost, such as 0.5")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP, where the budget is in rho")
    parser.add_argument("--analyst", default="local", metavar="NAME", help="who asks")
    add_project(parser)


def add_asking(parser: argparse.ArgumentParser) -> None:
    """Add what a question needs, and what may be said about its price and limits."""
    add_question(parser)
    parser.add_argument(
        "--delta",
        metavar="D",
        help="the δ that may be spent: on groups that are not public, or on Gaussian noise",
    )
    parser.add_argument(
        "--accuracy",
        metavar="A",
        help='instead of a price: how close the answer must be, such as "±50 at 95 %%"',
    )
    parser.add_argument(
        "--within", metavar="W", help="the same in parts: how close the answer must be, such as 50"
    )
    parser.add_argument(
        "--confidence", metavar="C", help="how surely it is that close (default: 0.95)"
    )
    parser.add_argument(
        "--group-size", metavar="N", help="your assumption: each group has so many rows (for AVG)"
    )
    parser.add_argument(
        "--rows-per-group", type=int, metavar="N", help="how many rows of one unit count in a group"
    )
    parser.add_argument(
        "--groups-per-unit", type=int, metavar="N", help="how many groups of one unit count"
    )
    parser.add_argument(
        "--rows-per-unit",
        type=int,
        metavar="N",
        help="how many rows of one unit count over all groups",
    )
    parser.add_argument(
        "--limits",
        metavar="auto",
        help="'auto' chooses both: from the profile of the table, or else for a fifth of the price",
    )


STANDARD_INPUT = "-"


def question(options: argparse.Namespace) -> str:
    """Return the SQL: as it is given, from a file, or from the standard input."""
    if (options.sql is None) == (options.file is None):
        raise InvalidArgument(
            "The question is asked once",
            must="be a SELECT in quotes, --file FILE, or - for the standard input",
            got="nothing" if options.sql is None else "two",
        )
    if options.file is not None:
        return _read(options.file, lambda: Path(options.file).read_text(encoding="utf-8"))
    if options.sql != STANDARD_INPUT:
        return str(options.sql)
    return _read("The standard input", sys.stdin.read)


def _read(name: str, read: Callable[[], str]) -> str:
    """Return a text without the mark that some programs begin it with."""
    try:
        return read().removeprefix("\ufeff")
    except OSError as cause:
        got = (cause.strerror or type(cause).__name__).lower()
        raise InvalidArgument(f"{name} cannot be read", got=got) from None
    except UnicodeDecodeError:
        raise InvalidArgument(
            f"{name} cannot be read", must="be UTF-8", got="text in another encoding"
        ) from None


class QueryArguments(TypedDict, total=False):
    """What may be said beside a question: a price, a δ, and limits."""

    epsilon: Number | None
    rho: Number | None
    accuracy: Accuracy | Number | None
    delta: Number | None
    rows_per_group: int | None
    groups_per_unit: int | None
    rows_per_unit: int | None
    limits: str | None


def asked(options: argparse.Namespace) -> QueryArguments:
    """Return the options as the arguments of a connection's questions."""
    return QueryArguments(
        epsilon=options.epsilon,
        rho=options.rho,
        accuracy=_accuracy(options),
        delta=options.delta,
        rows_per_group=options.rows_per_group,
        groups_per_unit=options.groups_per_unit,
        rows_per_unit=options.rows_per_unit,
        limits=options.limits,
    )


def _accuracy(options: argparse.Namespace) -> Accuracy | None:
    if options.accuracy is not None:
        return _whole_accuracy(options)
    named = {"confidence": options.confidence, "group_size": options.group_size}
    given = {name: value for name, value in named.items() if value is not None}
    if options.within is not None:
        return Accuracy(within=options.within, **given)
    if given:
        raise InvalidArgument(
            "An accuracy has no width",
            must="have --within or --accuracy",
            got=", ".join(f"--{name}" for name in sorted(given)).replace("_", "-"),
        )
    return None


def _whole_accuracy(options: argparse.Namespace) -> Accuracy:
    """Return the accuracy that is written in one text, with the group size beside it."""
    if options.within is not None or options.confidence is not None:
        raise InvalidArgument(
            "Two accuracies were given", must="be --accuracy, or --within and --confidence"
        )
    accuracy = read_accuracy(options.accuracy)
    return (
        accuracy if options.group_size is None else evolve(accuracy, group_size=options.group_size)
    )
