"""Say how many people it takes, how exact counts can be, and what nobody can do."""

import argparse
from pathlib import Path

from discreet.accounting.picture import require_kind, save
from discreet.adaptive.guarantee import guarantees
from discreet.adaptive.rows_needed import least_rows
from discreet.cli.command import CommandResult
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import exact, float_up
from discreet.planner.picture import plan_picture
from discreet.planner.plan import plan

ADAPTIVE = "adaptive"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "task",
        choices=("count", "histogram", "marginals", ADAPTIVE),
        help="one count, counts of groups, of properties, or adaptive questions to a holdout",
    )
    parser.add_argument("--people", type=int, metavar="N", help="how many people there are")
    parser.add_argument(
        "--within", metavar="A", help="what all answers shall be within, as a share: 0.01"
    )
    parser.add_argument(
        "--beta", default="0.05", metavar="B", help="the chance that some answer is not; or 'find'"
    )
    parser.add_argument("--epsilon", metavar="E", help="what may be lost about a person")
    parser.add_argument("--delta", metavar="D", help="with ε: the δ that may be spent on noise")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP")
    parser.add_argument(
        "--dimension", type=int, metavar="K", help="how many groups, properties or questions"
    )
    parser.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg or .pdf)")


def run(options: argparse.Namespace) -> CommandResult:
    """Plan, and show what was found."""
    if options.plot:
        require_kind(Path(options.plot))
    if options.task == ADAPTIVE:
        return _adaptive(options)
    found = plan(
        options.task,
        people=options.people,
        within=options.within,
        beta=None if options.beta == "find" else options.beta,
        loss=_loss(options),
        dimension=options.dimension,
    )
    text = str(found)
    if options.plot:
        save(plan_picture(found), Path(options.plot))
        text += f"\n\nDrew {options.plot}"
    return CommandResult(text, found.to_json())


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


def _adaptive(options: argparse.Namespace) -> CommandResult:
    """Say what a holdout promises for a number of people, or how many it needs."""
    if options.dimension is None or (options.people is None) == (options.within is None):
        raise InvalidArgument(
            "Too much or too little is said",
            must="say --dimension (how many questions), and either --people or --within",
        )
    if _loss(options) is not None or options.plot:
        raise InvalidArgument(
            "A holdout has no loss to choose", must="leave out the loss and the picture"
        )
    if options.people is not None:
        found = guarantees(rows=options.people, questions=options.dimension, beta=options.beta)
    else:
        found = (least_rows(alpha=options.within, questions=options.dimension, beta=options.beta),)
    text = "\n".join(str(one) for one in found) or "nothing can be promised for so few people"
    data = [
        {
            "method": one.method,
            "people": one.rows,
            "questions": one.questions,
            "within": float_up(one.alpha),
            "beta": None if one.beta is None else float_up(one.beta),
            "source": one.source,
        }
        for one in found
    ]
    return CommandResult(text, data)
