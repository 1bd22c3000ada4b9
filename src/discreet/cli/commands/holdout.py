"""Ask about the population that a table's units come from; questions may depend on answers."""

import argparse

from discreet.adaptive.gated.candidates import Candidates
from discreet.adaptive.gated.choice_release import ChoiceRelease
from discreet.adaptive.gated.first_questions import FirstQuestions
from discreet.adaptive.gated.person_query import require_expression
from discreet.adaptive.gated.population_release import PopulationRelease
from discreet.adaptive.gated.table_holdout import TableHoldout
from discreet.adaptive.question_mix import QuestionMix
from discreet.adaptive.row_values import DeclaredRange
from discreet.cli.command import CommandResult, add_project
from discreet.cli.exit_status import status_of
from discreet.core.counted import counted
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.numbers import float_up
from discreet.roles.connection import connect


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("table", help="a private table whose units are independent of one another")
    parser.add_argument(
        "asked",
        nargs="*",
        metavar="QUESTION",
        help="an SQL expression of each unit, such as 'max(cost) > 100'; without one, say how "
        "many questions are left",
    )
    parser.add_argument(
        "--questions", type=int, required=True, metavar="K", help="how many may be asked in all"
    )
    parser.add_argument(
        "--beta", default="0.05", metavar="B", help="the chance that some interval is wrong"
    )
    parser.add_argument("--low", default="0", metavar="X", help="the lower end of the range")
    parser.add_argument("--high", default="1", metavar="X", help="the upper end of the range")
    parser.add_argument(
        "--choices", type=int, default=0, metavar="C", help="how many of all questions are choices"
    )
    parser.add_argument(
        "--candidates",
        type=int,
        default=2,
        metavar="D",
        help="of how many candidates a choice is at most (2)",
    )
    parser.add_argument(
        "--choose",
        action="store_true",
        help="the questions are candidates of one choice: say which has the least mean, nearly",
    )
    parser.add_argument(
        "--largest", action="store_true", help="with --choose: which has the largest mean"
    )
    parser.add_argument("--epsilon", metavar="E", help="what all questions together may cost")
    parser.add_argument("--rho", metavar="R", help="the same in zCDP, where the budget is in rho")
    parser.add_argument("--analyst", default="local", metavar="NAME", help="who asks")
    parser.add_argument(
        "--explain",
        type=int,
        metavar="UNITS",
        help="say what it would cost, and promise for so many units; nothing is spent",
    )
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Explain a holdout, or ask it."""
    price = {"epsilon": options.epsilon, "rho": options.rho}
    kept = {"questions": _questions(options), "beta": options.beta, **price}
    if options.largest and not options.choose:
        raise InvalidArgument("--largest is about a choice", must="come with --choose")
    with connect(options.project, analyst=options.analyst) as connection:
        if options.explain is not None:
            if options.asked or options.choose:
                raise InvalidArgument("--explain is about a whole holdout", must="have no question")
            found = connection.explain_holdout(options.table, units=options.explain, **kept)
            return CommandResult(str(found), found.to_json())
        first = _first_questions(options)
        holdout = connection.holdout(options.table, first=first, **kept)
        answers, refused = _answers(holdout, options)
        about = {"units": holdout.units, "left": holdout.left, "alpha": float_up(holdout.alpha)}
        said = "\n\n".join(f"{one.question}\n{one}" for one in answers)
        left = counted(holdout.left, "question") + " left"
        left += f"; about {holdout.called.counted(holdout.units)}"
        text = f"{said}\n\n{left}" if said else left
        data = {"answers": [one.to_json() for one in answers], **about}
        if refused is None:
            return CommandResult(text, data)
        is_charged = not all(one.is_stored for one in answers)
        return CommandResult(
            text,
            {**data, **refused.to_json()},
            aside=f"discreet: {options.asked[len(answers)]}: {refused}",
            status=status_of(refused, is_charged=is_charged),
        )


def _questions(options: argparse.Namespace) -> int | QuestionMix:
    total: int = options.questions
    choices: int = options.choices
    if not choices:
        return total
    if not 0 < choices <= total:
        raise InvalidArgument(
            "The number of choices is out of range",
            must=f"be from 0 to {total:,}, the number of all questions",
            got=f"{choices:,}",
        )
    return QuestionMix(means=total - choices, choices=choices, candidates=options.candidates)


def _first_questions(options: argparse.Namespace) -> FirstQuestions:
    """Refuse what the holdout would refuse, before its number of units is charged."""
    within = DeclaredRange(options.low, options.high)
    for one in options.asked:
        require_expression(one)
    if options.choose:
        Candidates.of(options.asked).require_at_most(options.candidates)
    if options.choose and not options.choices:
        raise InvalidArgument(
            "This holdout is made for no choices",
            must="say with --choices how many of all questions are choices",
            next="Nothing was charged",
        )
    if options.asked and not options.choose and options.choices == options.questions:
        raise InvalidArgument(
            "This holdout is made for choices alone",
            must="come with --choose, or with fewer --choices than --questions",
            next="Nothing was charged",
        )
    return FirstQuestions(texts=tuple(options.asked), within=within, is_choice=options.choose)


def _answers(
    holdout: TableHoldout, options: argparse.Namespace
) -> tuple[list[PopulationRelease] | list[ChoiceRelease], DiscreetError | None]:
    """Return answers, and what stands in the way of the next question if some were given."""
    within = {"low": options.low, "high": options.high}
    if options.choose:
        return [holdout.choose(options.asked, **within, largest=options.largest)], None
    found: list[PopulationRelease] = []
    for one in options.asked:
        try:
            found.append(holdout.ask(one, **within))
        except DiscreetError as error:
            if not found:
                raise
            return found, error  # what was paid for is shown
    return found, None
