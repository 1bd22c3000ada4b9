"""Answers with their plans: what was published before about the rows that somebody counts now.

The questions of a project without any are not read, and nothing is loaded that could read them.
"""

from collections.abc import Iterator

from discreet.curator import stored_answers
from discreet.ledger.chain import Entry, Kind
from discreet.project.project import Project
from discreet.releases.answered_plan import AnsweredPlan

MOST_ENTRIES = 10_000
"""In so many entries of the ledger, the newest ones, answers with their plans are looked for."""


def answered_plans(project: Project, id_space: str, table: str) -> Iterator[AnsweredPlan]:
    """Yield the answers about the data as they are now that count something in a table.

    Only those whose question still has the plan that was paid for; the oldest first.
    """
    version = project.ledger.known_version(id_space)
    reserves: dict[int, Entry] = {}
    for entry in project.ledger.entries(last=MOST_ENTRIES):
        if entry.kind is Kind.RESERVE:
            reserves[entry.sequence] = entry
        elif entry.kind is Kind.COMMIT and entry.payload["ticket"] in reserves:
            reserve = reserves.pop(entry.payload["ticket"])
            order = reserve.payload["order"]
            is_current = version is not None and order["data_version"] == version.number
            if is_current and order["charges"][0]["id_space"] == id_space:
                yield from stored_answers.with_plans(project, reserve, entry, table)
