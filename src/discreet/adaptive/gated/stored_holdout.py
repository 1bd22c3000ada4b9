"""What a holdout of a table was told, opened again by the ticket that paid for it."""

from collections.abc import Mapping
from typing import Any

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.adaptive.gated.choice_release import ChoiceRelease
from discreet.adaptive.gated.holdout_plan import ASKED, CHOSEN, OPENED, holdout_plan
from discreet.adaptive.gated.population_release import PopulationRelease
from discreet.adaptive.gated.table_holdout import TableHoldout
from discreet.adaptive.gated.told_so_far import HOLDOUT
from discreet.adaptive.question_mix import QuestionMix
from discreet.core.errors import InvalidArgument
from discreet.project.passage import KIND, Passed
from discreet.project.project import Project
from discreet.project.terms import Terms


def is_holdout(description: Mapping[str, Any]) -> bool:
    """Tell whether an order paid for a question to a holdout, or for its number of people."""
    return description.get(KIND) in (OPENED, ASKED, CHOSEN)


def open_holdout_answer(project: Project, ticket: int) -> PopulationRelease | ChoiceRelease:
    """Return the answer that a ticket paid for, with the interval that held then."""
    found = project.ledger.release_of(ticket)
    opened = None
    if found is not None and HOLDOUT in found[0]:
        opened = project.ledger.find_release(found[0][HOLDOUT], found[1].data_version)
    if found is None or opened is None:
        raise InvalidArgument(
            "There is no answer of a holdout of this ticket",
            must="be the number of a ticket that paid for one",
            got=str(ticket),
        )
    body, said = found[0], opened[0]
    plan = holdout_plan(
        project,
        said["table"],
        questions=_mix(said),
        beta=said["beta"],
        terms=Terms.of(loss_from_json(said["price"])),
        default=Terms(),
    )
    if plan.name != body[HOLDOUT]:
        raise InvalidArgument(
            "The table is declared in another way than when its holdout was asked",
            must="have the same unit",
            got=f"ticket {ticket}",
            next="Nothing was charged. To open it here, declare the table as it was",
        )
    first = Passed(bodies=(said,), receipt=opened[1], is_stored=True)
    holdout = TableHoldout(project, plan, first, analyst="")
    if body[KIND] == OPENED:
        return holdout.counted(is_stored=True)
    passed = Passed(bodies=(body,), receipt=found[1], is_stored=True)
    return holdout.selection(passed) if body[KIND] == CHOSEN else holdout.release(passed)


def _mix(said: Mapping[str, Any]) -> QuestionMix:
    """Return the mix that a holdout was opened for; without choices it is as it always was."""
    total, choices = said["questions"], said.get("choices", 0)
    return QuestionMix(means=total - choices, choices=choices, candidates=said.get("candidates", 2))
