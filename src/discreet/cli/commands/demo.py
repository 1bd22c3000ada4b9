"""Show a private answer from beginning to end, on a made-up clinic."""

import argparse
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from attrs import frozen

from discreet.cli.answer_file import Answer
from discreet.cli.clinic import DECLARATION, PATIENTS, VISITS, make_clinic
from discreet.cli.command import CommandResult, QueryArguments
from discreet.core.errors import BudgetExhausted, DeclarationError, QueryError
from discreet.curator.budget.budget_status import bar, left_words
from discreet.releases.profile import Profile
from discreet.roles.connection import Connection, connect
from discreet.roles.owner import own

WIDTH = 100

PROFILE_PRICE = "0.1"
PROFILE_TITLE = "How often do patients come? (a profile, for the owner, once)"
PROFILE_COMMAND = f"discreet profile visits --epsilon {PROFILE_PRICE} --key clinic"
PROFILE_LESSON = (
    "Now everybody can see for nothing what limits leave out, and limits can choose themselves."
)


@frozen(kw_only=True)
class DemoStep:
    """One question of the tour: what is asked, for what, and what to see in the answer."""

    title: str
    sql: str
    asked: QueryArguments
    lesson: str


GROUPS = DemoStep(
    title="1. How many visits did each clinic have?",
    sql="""\
SELECT clinic, COUNT(*) AS visits
FROM visits
GROUP BY clinic""",
    asked={"epsilon": "0.5", "limits": "auto"},
    lesson="Keys are public: the harbour has a row though its clinic is not open yet.",
)
JOIN = DemoStep(
    title="2. Is asthma more frequent among smokers? (a join of two private tables)",
    sql="""\
SELECT smoker, 100.0 * COUNT(*) FILTER (WHERE asthma) / COUNT(*) AS percent
FROM (SELECT patient_id, diagnosis = 'asthma' AS asthma FROM visits) AS v
JOIN patients USING (patient_id)
GROUP BY smoker""",
    asked={"epsilon": "0.5", "rows_per_group": 20, "groups_per_unit": 2},
    lesson="The join is on the patient, so every row still belongs to one of them.",
)
PRIVATE_KEYS = DemoStep(
    title="3. Which diagnoses are there? (nobody declared them: private keys)",
    sql="""\
SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients
FROM visits
GROUP BY diagnosis
ORDER BY patients DESC""",
    asked={"epsilon": "0.5", "delta": "1e-7", "groups_per_unit": 6},
    lesson="A diagnosis that few people have stays hidden; so do the rare diseases here.",
)
QUANTILE = DemoStep(
    title="4. How long does the middle patient wait, and the unlucky tenth? (quantiles)",
    sql="""\
SELECT MEDIAN(waited) AS middle, QUANTILE(waited, 0.9) AS unlucky
FROM visits
WHERE clinic = 'west'""",
    asked={"epsilon": "0.5", "limits": "auto"},
    lesson="A quantile errs in rank, not by a number of minutes that could be told beforehand.",
)
REWRITTEN = DemoStep(
    title="5. How often does a patient come? (refused, then rewritten)",
    sql="""\
SELECT AVG(CLAMP(n, 1, 20)) AS visits
FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)""",
    asked={"epsilon": "0.25"},
    lesson="First one number for each patient, clamped; then the average over patients.",
)
REFUSED = REWRITTEN.sql.replace("CLAMP(n, 1, 20)", "n")
TOO_MUCH = DemoStep(
    title="6. What did all visits cost? (the budget runs out)",
    sql="SELECT SUM(cost) AS cost FROM visits",
    asked={"epsilon": "1"},
    lesson="",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--keep", metavar="FOLDER", help="only make the clinic's project, in a new folder"
    )


def run(options: argparse.Namespace) -> CommandResult:
    """Run the demo in a fresh temporary project, or leave one behind to play with."""
    if options.keep:
        return _keep(Path(options.keep))
    with tempfile.TemporaryDirectory(prefix="discreet-demo-") as name:
        make_clinic(Path(name))
        with own(name) as owner:
            profile = owner.profile("visits", epsilon=PROFILE_PRICE, keys=["clinic"])
        with connect(name) as connection:
            return _tour(connection, profile)


def _keep(folder: Path) -> CommandResult:
    if any(place.exists() and not place.is_dir() for place in (folder, *folder.parents)):
        raise DeclarationError(f"{folder} is not a folder", must="be a new or an empty folder")
    if folder.exists() and any(folder.iterdir()):
        raise DeclarationError(f"The folder {folder} is not empty", must="be new or empty")
    make_clinic(folder)
    text = f"Made a clinic in {folder}. Try: discreet tables --project {folder}"
    return CommandResult(text, {"folder": str(folder)})


def _tour(connection: Connection, profile: Profile) -> CommandResult:
    """Ask six questions. One is refused until it is rewritten; the last is one too many."""
    parts = [
        _part(f"A clinic: {VISITS:,} visits of {PATIENTS:,} patients who do not exist"),
        _part("What the owner declared (a part of discreet.toml)", _declared()),
        _part(PROFILE_TITLE, f"{PROFILE_COMMAND}\n\n{profile}\n→ {PROFILE_LESSON}"),
    ]
    refused = _refused(connection)
    between = {
        GROUPS.title: f"What explain says (free):\n{_explained(connection, GROUPS)}\n",
        REWRITTEN.title: f"Without CLAMP: {refused}\n",
    }
    answers = []
    for step in (GROUPS, JOIN, PRIVATE_KEYS, QUANTILE, REWRITTEN):
        answers.append(connection.sql(step.sql, **step.asked))
        parts.append(_answered(step, answers[-1], between=between.get(step.title, "")))
    exhausted = _exhausted(connection)
    parts += [
        _part("The budget now", _budget(connection)),
        _part(TOO_MUCH.title, f"{_question(TOO_MUCH)}\n\nOne question too many: {exhausted}"),
        _part("The first question again: the same release, for nothing", _again(connection)),
    ]
    connection.verify()
    parts.append(_part("The ledger verifies: every release was paid for before it was made"))
    data = {
        "profile": profile.to_json(),
        "answers": [release.to_json() for release in answers],
        "refused": refused.to_json(),
        "refusal": exhausted.to_json(),
    }
    return CommandResult("\n\n".join(parts), data)


def _declared() -> str:
    """Return the declaration of the budget and of one table, which is enough to see the idea."""
    sections = DECLARATION.split("\n\n")
    wanted = ("[id_spaces.", "[tables.visits")
    return "\n\n".join(part for part in sections if any(name in part for name in wanted))


def _explained(connection: Connection, step: DemoStep) -> str:
    return str(connection.explain(step.sql, **step.asked))


def _budget(connection: Connection) -> str:
    (status,) = connection.budget()
    return f"{bar(status)}  spent {status.spent}\n{left_words(status)} is left of {status.cap}"


def _again(connection: Connection) -> str:
    release = connection.sql(GROUPS.sql, **GROUPS.asked)
    return next(line for line in str(release).splitlines() if "stored" in line)


def _refused(connection: Connection) -> QueryError:
    try:
        connection.sql(REFUSED, **REWRITTEN.asked)
    except QueryError as error:
        return error
    raise AssertionError("a question that must be refused was answered")


def _exhausted(connection: Connection) -> BudgetExhausted:
    try:
        connection.sql(TOO_MUCH.sql, **TOO_MUCH.asked)
    except BudgetExhausted as error:
        return error
    raise AssertionError("a question was answered without a budget for it")


def _answered(step: DemoStep, release: Answer, *, between: str) -> str:
    parts = [f"{_question(step)}\n", between, "The private answer:", str(release)]
    return _part(step.title, "\n".join([*filter(None, parts), f"→ {step.lesson}"]))


def _question(step: DemoStep) -> str:
    asked: dict[str, Any] = dict(step.asked)
    options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in asked.items())
    return f"{step.sql}\n{options}"


def _part(title: str, body: str = "") -> str:
    return "\n".join([f"── {title}", *(_fitted(line) for line in body.splitlines())]).rstrip()


def _fitted(line: str) -> str:
    """Return a line in as many as it takes to fit; what fits is left as it is."""
    if len(line) <= WIDTH:
        return line
    return textwrap.fill(
        line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
