"""Say what a loss means for one person."""

import argparse
from pathlib import Path

from discreet.accounting.meaning import DEPLOYMENTS, FALSE_ALARMS, GROUPS, PRIORS, Meaning
from discreet.accounting.picture import meaning_picture, save
from discreet.cli.command import CommandResult
from discreet.core.errors import DiscreetError
from discreet.core.loss import Approximate, short
from discreet.core.terminal_text import lines, text_table
from discreet.project.open_ledger import find_ledger
from discreet.project.worst_case import void_remarks
from discreet.tables.declarations.declaration import FILE_NAME, read_catalog


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--epsilon", required=True, metavar="E")
    parser.add_argument("--delta", default="0", metavar="D")
    parser.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg or .pdf)")
    parser.add_argument(
        "--project",
        metavar="PATH",
        help="say where in a project this does not hold, because of exact releases "
        "(default: one that is here)",
    )


def run(options: argparse.Namespace) -> CommandResult:
    """Show the sentence, the numbers, and what others have published."""
    meaning = Meaning.of(Approximate(options.epsilon, options.delta))
    void = _void(options.project)
    said = [lines(f"In this project: {one}") for one in void]
    text = "\n\n".join([meaning.sentence(), *said, _numbers(meaning), _deployments()])
    if options.plot:
        save(meaning_picture(meaning), Path(options.plot))
        text += f"\n\nDrew {options.plot}"
    others = [{"name": d.name, "loss": d.loss, "unit": d.unit} for d in DEPLOYMENTS]
    told = {"worst_case": list(void)} if void else {}
    return CommandResult(text, meaning.to_json() | {"deployments": others} | told)


def _void(project: str | None) -> tuple[str, ...]:
    """Return which worst-case claims of a project have ended: of one that is named, or is here."""
    if project is not None:
        return _void_at(Path(project))
    if not Path(FILE_NAME).is_file():
        return ()
    try:
        return _void_at(Path())
    except DiscreetError as error:  # the numbers are those of a loss, whatever is here
        return (f"the project here cannot be looked at ({error.what})",)


def _void_at(place: Path) -> tuple[str, ...]:
    catalog = read_catalog(place)
    if not catalog.ledger.exists():
        return ()
    ledger = find_ledger(catalog)
    return void_remarks(ledger, *(space.name for space in catalog.id_spaces))


def _numbers(meaning: Meaning) -> str:
    rows = [
        *(
            (f"belief of {short(p)} that a person is in it", f"at most {short(after)}")
            for p, after in ((p, meaning.membership(p)) for p in PRIORS)
        ),
        *(
            (f"belief of {short(p)} in a fact about a person", f"at most {short(after)}")
            for p, after in ((p, meaning.fact(p)) for p in PRIORS)
        ),
        *(
            (f"test with false alarms {short(a)}", f"finds at most {short(meaning.detection(a))}")
            for a in FALSE_ALARMS
        ),
        *((f"group of {size}", _group(meaning, size)) for size in GROUPS),
    ]
    return text_table(["before", "after everything was released"], [list(row) for row in rows])


def _group(meaning: Meaning, size: int) -> str:
    loss = meaning.group(size)
    return "nothing is promised" if loss is None else str(loss)


def _deployments() -> str:
    rows = [[d.name, d.loss, d.unit] for d in DEPLOYMENTS]
    return "Published by others (not a recommendation; units differ):\n" + text_table(
        ["deployment", "loss", "unit"], rows
    )
