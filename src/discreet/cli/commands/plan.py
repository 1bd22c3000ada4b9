"""Say how many people it takes, how exact answers can be, and what nobody can do."""

import argparse
from pathlib import Path

from discreet.accounting.picture import require_kind, save
from discreet.cli.command import CommandResult, add_project
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import exact
from discreet.planner.picture import cost_picture, map_picture, plan_picture
from discreet.planner.plan import plan
from discreet.planner.question_plan import plan_question
from discreet.planner.task_names import TASKS
from discreet.roles.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "task", help=f"one of {', '.join(TASKS)}; with --table, one SELECT about that table"
    )
    parser.add_argument("--people", type=int, metavar="N", help="how many people there are")
    parser.add_argument(
        "--within",
        "--accuracy",
        metavar="A",
        help='what all answers shall be within, as a share: 0.01; with --table also "±50 at 95 %%"',
    )
    parser.add_argument("--beta", metavar="B", help="the chance that some answer is not; or 'find'")
    parser.add_argument("--confidence", metavar="C", help="the chance that all are (default: 0.95)")
    parser.add_argument("--epsilon", metavar="E", help="what may be lost about a person")
    parser.add_argument("--delta", metavar="D", help="with ε: the δ that may be spent on noise")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP")
    parser.add_argument(
        "--dimension",
        type=int,
        metavar="K",
        help="how many groups, properties, values or questions",
    )
    parser.add_argument(
        "--order",
        type=int,
        metavar="K",
        help="how many columns a table has, or quantiles there are",
    )
    parser.add_argument(
        "--bounds", action="store_true", help="show each lower bound, or why it does not apply"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw error against people")
    parser.add_argument(
        "--map", metavar="FILE", help="draw what is possible, by people and dimension"
    )
    parser.add_argument("--costs", metavar="FILE", help="draw the cost of one more answer")
    parser.add_argument("--table", metavar="NAME", help="plan a SELECT about a declared table")
    parser.add_argument("--analyst", default="local", metavar="NAME", help="who asks")
    add_project(parser)


_PICTURES = {"plot": plan_picture, "map": map_picture, "costs": cost_picture}


def run(options: argparse.Namespace) -> CommandResult:
    """Plan, and show what was found."""
    wanted = {name: Path(getattr(options, name)) for name in _PICTURES if getattr(options, name)}
    for path in wanted.values():
        require_kind(path)
    if options.table is not None:
        return _question(options, has_pictures=bool(wanted))
    given = {} if options.beta is None else {"beta": options.beta}
    if options.beta == "find":
        given = {"beta": None}
    found = plan(
        options.task,
        people=options.people,
        within=options.within,
        confidence=options.confidence,
        loss=_loss(options),
        dimension=options.dimension,
        order=options.order,
        **given,
    )
    text = str(found)
    if options.bounds:
        text += f"\n\nLower bounds\n{found.bounds_text()}"
    for name, path in wanted.items():
        save(_PICTURES[name](found), path)
        text += f"\n\nDrew {path}"
    return CommandResult(text, found.to_json())


def _question(options: argparse.Namespace, *, has_pictures: bool) -> CommandResult:
    """Plan a question about a declared table; only declarations and one account are read."""
    others = ("epsilon", "delta", "rho", "dimension", "order", "beta")
    said = [f"--{name}" for name in others if getattr(options, name) is not None]
    if said or has_pictures:
        raise InvalidArgument(
            "With --table the price is what is left",
            must="have --accuracy, --confidence and --people alone",
            got=", ".join(said) or "a picture",
        )
    accuracy = options.within
    if accuracy is None and options.confidence is not None:
        raise InvalidArgument("A --confidence is that of an accuracy", must="have --accuracy too")
    if accuracy is not None and options.confidence is not None:
        accuracy = f"{accuracy} at {options.confidence}"
    with connect(options.project, analyst=options.analyst) as connection:
        found = plan_question(
            connection,
            options.task,
            accuracy=accuracy,
            people=options.people,
            table=options.table,
        )
    return CommandResult(str(found), found.to_json())


def _loss(options: argparse.Namespace) -> PrivacyLoss | None:
    if options.rho is not None:
        if options.epsilon is not None or options.delta is not None:
            raise InvalidArgument("A loss is said twice", must="be --rho, or --epsilon and --delta")
        return Zcdp(exact(options.rho))
    if options.epsilon is None:
        if options.delta is not None:
            raise InvalidArgument("A δ needs an ε", must="say --epsilon too")
        return None
    if options.delta is None:
        return Pure(exact(options.epsilon))
    return Approximate(exact(options.epsilon), exact(options.delta))
