"""Attacks on each model of privacy, and a page about all that was tried: verbs of ``attack``."""

import argparse
from pathlib import Path

from discreet.attacks.models.attack_page import attack_page, read_attack
from discreet.attacks.models.exact_attack import (
    TotalAttack,
    attack_total,
    read_totals,
    solve_rows,
)
from discreet.attacks.models.file_attack import MOST_PAIRS, attack_file
from discreet.attacks.models.nearest_record import judge_by_distance
from discreet.attacks.models.question_attack import QuestionAttack, attack_questions
from discreet.attacks.models.survey_attack import SURVEY_ATTACKS, SurveyAttack
from discreet.attacks.models.synthetic_attack import (
    SyntheticAttack,
    generators,
    infer_membership,
    infer_secrets,
)
from discreet.attacks.records.coded_rows import read_rows
from discreet.cli.attack_verbs.attack_verb import (
    MADE_UP,
    MARK,
    AttackPage,
    AttackVerb,
    Told,
    read_json,
)
from discreet.cli.progress import counted_steps, progress_bar
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import exact
from discreet.randomness.rng import SystemRng


def _add_epsilon(parser: argparse.ArgumentParser, of: str, default: str = "1") -> None:
    parser.add_argument(
        "--epsilon", default=default, metavar="E", help=f"the loss of {of} (default: {default})"
    )


def _configure_questions(parser: argparse.ArgumentParser) -> None:
    _add_epsilon(parser, "all questions together")
    one = parser.add_argument
    one("--times", default="4", metavar="K", help="how many pairs are asked (default: 4)")
    one("--rooms", default="500", metavar="N", help="how many games are played (default: 500)")


def _questions(options: argparse.Namespace) -> Told:
    attack = QuestionAttack(epsilon=options.epsilon, times=options.times, rooms=options.rooms)
    report = attack_questions(attack, SystemRng(), on_step=progress_bar("releases"))
    return str(report), report.to_json()


def _configure_survey(parser: argparse.ArgumentParser) -> None:
    _add_epsilon(parser, "one report")
    one = parser.add_argument
    one("--days", default="30", metavar="N", help="how many days are reported (default: 30)")
    one("--devices", default="300", metavar="N", help="how many devices there are (default: 300)")


def _survey(options: argparse.Namespace) -> Told:
    attack = SurveyAttack(epsilon=options.epsilon, days=options.days, devices=options.devices)
    reports = []
    with counted_steps("attacks", len(SURVEY_ATTACKS)) as steps:
        for run in SURVEY_ATTACKS.values():
            reports.append(run(attack, SystemRng()))
            steps.step()
    return "\n\n".join(map(str, reports)), [one.to_json() for one in reports]


def _configure_exact(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("totals", nargs="?", help="a file of JSON: exact totals of sets of rows, and known rows")
    one("--rows", metavar="N", help="without a file: rows of a total (default: 1000)")
    one("--known", metavar="K", help="how many of them somebody may know (default: 200)")
    one("--epsilon", metavar="E", help="the loss of what is certified (default: 0.25)")
    one("--trials", metavar="N", help="how many games are played (default: 500)")


def _exact(options: argparse.Namespace) -> Told:
    given = _given(options, "rows", "known", "epsilon", "trials")
    if options.totals is not None:
        _refuse(given, "come without a file: it is about made-up rows")
        found = solve_rows(read_totals(read_json(options.totals)))
        return str(found), found.to_json()
    report = attack_total(TotalAttack(**given), SystemRng())
    return str(report), report.to_json()


def _given(options: argparse.Namespace, *names: str) -> dict[str, str]:
    """Return those of these options that were given."""
    found = {name: getattr(options, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _refuse(given: dict[str, str], must: str) -> None:
    """Refuse options that the attack does not look at."""
    if given:
        raise InvalidArgument(f"--{next(iter(given))} says nothing here", must=must)


def _configure_synthetic(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one(
        "files",
        nargs="*",
        metavar="FILE",
        help="the real rows, rows that were held out at random, and the synthetic rows; none: "
        "made-up people are synthesised",
    )
    one("--epsilon", metavar="E", help="the loss of the synthetic rows (made-up people: 1)")
    one("--delta", metavar="D", help="its δ, for files (default: 0)")
    one("--sensitive", metavar="C", help="a column of the files that a model is asked for")
    one("--canaries", metavar="N", help="made-up people: how many (default: 100)")
    one("--shadows", metavar="N", help="made-up people: shadow models (default: 4)")


def _synthetic(options: argparse.Namespace) -> Told:
    made_up = _given(options, "epsilon", "canaries", "shadows")
    if not options.files:
        _refuse(_given(options, "delta", "sensitive"), "come with files")
        attack = SyntheticAttack(**{"epsilon": "1"} | made_up)
        files = len(generators(attack.epsilon)) * (attack.shadows + 2)
        with counted_steps("files", files) as steps:
            reports = [
                infer(attack, SystemRng(), on_file=steps.step)
                for infer in (infer_membership, infer_secrets)
            ]
        distances = judge_by_distance(SystemRng())
        why = "The distance to the nearest record is no evidence:"
        told = "\n\n".join([*map(str, reports), f"{why}\n\n{distances}"])
        return told, [*(one.to_json() for one in reports), {"distances": distances.to_json()}]
    if len(options.files) != 3:
        raise InvalidArgument(
            "The files are not complete",
            must="be three: real rows, rows that were held out, synthetic rows",
            got=str(len(options.files)),
        )
    _refuse(_given(options, "canaries", "shadows"), "come without files: it is of made-up people")
    real, held_out, made = (read_rows(Path(path)) for path in options.files)
    rows = 2 * min(real.rows, held_out.rows, MOST_PAIRS) * (1 + (options.sensitive is not None))
    with counted_steps("rows", rows) as steps:
        report = attack_file(
            real,
            held_out,
            made,
            rng=SystemRng(),
            loss=_loss(options.epsilon, options.delta or "0"),
            sensitive=options.sensitive,
            on_row=steps.step,
        )
    return str(report), report.to_json()


def _loss(epsilon: str | None, delta: str) -> Pure | Approximate | None:
    if epsilon is not None:
        return Approximate(epsilon, delta) if exact(delta) else Pure(epsilon)
    if exact(delta):
        raise InvalidArgument("A δ alone is no loss", must="come with --epsilon")
    return None


def _configure_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="what attacks wrote with -o")
    parser.add_argument(
        "--title", default="Attacks on a release", metavar="T", help="what the page is called"
    )


def _report(options: argparse.Namespace) -> Told:
    if not options.output:
        raise InvalidArgument("The page has no file", must="be written with -o FILE")
    attacks = [read_attack(read_json(path), mark=MARK, made_up=MADE_UP) for path in options.files]
    page = attack_page(attacks, title=options.title, mark=MARK)
    listed = [attack.name for attack in attacks]
    return f"A page about {', '.join(listed)}.", AttackPage(html=page, attacks=listed)


MODEL_ATTACKS: tuple[AttackVerb, ...] = (
    AttackVerb(
        "questions",
        "ask the machine itself: who is in a made-up table, by counts through the gate",
        _configure_questions,
        _questions,
        is_made_up=True,
    ),
    AttackVerb(
        "survey",
        "watch made-up devices for days: average, link, and see when a value moved",
        _configure_survey,
        _survey,
        is_made_up=True,
    ),
    AttackVerb(
        "exact",
        "find rows that follow from exact totals, or guess one from a certified total",
        _configure_exact,
        _exact,
        files="totals",
    ),
    AttackVerb(
        "synthetic",
        "find who was among the real rows, and secrets, from synthetic rows",
        _configure_synthetic,
        _synthetic,
        files="files",
    ),
    AttackVerb(
        "report",
        "write one page of HTML about all attacks that were tried",
        _configure_report,
        _report,
    ),
)
