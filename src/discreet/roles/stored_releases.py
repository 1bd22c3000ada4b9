"""Stored releases: what was paid for before, by whom and at which price, opened for nothing.

Releases are public, so every analyst may see every one of them, as SECURITY.md says.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from attrs import field, frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.adaptive.gated.choice_release import ChoiceRelease
from discreet.adaptive.gated.population_release import PopulationRelease
from discreet.adaptive.gated.stored_holdout import is_holdout, open_holdout_answer
from discreet.core.errors import InvalidArgument
from discreet.core.loss import PrivacyLoss
from discreet.core.overview import Overview
from discreet.curator.profile.profile import is_profile
from discreet.curator.profile.stored_profile import open_profile
from discreet.curator.stored_answers import asked_by, open_answer
from discreet.ledger.chain import Entry, Kind
from discreet.noiseless.exact.exact_release import ExactRelease
from discreet.noiseless.exact.stored_exact import is_exact, open_exact
from discreet.project.project import Project
from discreet.releases.profile import Profile
from discreet.releases.release import Release
from discreet.synthesis.published.published_counts import PublishedCounts
from discreet.synthesis.published.stored_counts import is_published, open_counts
from discreet.synthesis.related.judge_related import open_related_judgement
from discreet.synthesis.related.related_release import RelatedRelease
from discreet.synthesis.related.stored_related import (
    is_related,
    is_related_judgement,
    open_related,
)
from discreet.synthesis.stored_synthesis import (
    is_judgement,
    is_synthesis,
    open_judgement,
    open_synthesis,
)
from discreet.synthesis.synthetic_release import SyntheticRelease

MOST_WITH_COLUMNS = 20
"""Of so many answers, the newest ones, an overview says which columns they have."""

LONGEST_SHOWN = 100

PublicRelease = (
    Release
    | Profile
    | SyntheticRelease
    | PublishedCounts
    | RelatedRelease
    | ExactRelease
    | PopulationRelease
    | ChoiceRelease
)
"""What can be opened again: an answer, a profile, synthetic rows, counts, exact numbers, or what a
holdout said of a population."""


@frozen(kw_only=True)
class StoredAnswer:
    """An answer that is stored, and what the ledger says about it."""

    ticket: int
    """Which entry of the ledger paid for it."""
    place: int = 1
    """Which of a batch it is, counted from 1."""
    sql: str
    analyst: str
    charged_at: datetime
    id_space: str
    cost: PrivacyLoss
    """What it cost then; of a batch, what all of it did."""
    data_version: int
    is_current: bool
    """Whether it is about the data as they are now."""
    opened: Callable[[], PublicRelease] = field(repr=False, eq=False)
    is_exact: bool = False
    """Whether it was published without noise, and cost nothing of the budget."""
    named: tuple[str, ...] | None = field(default=None, repr=False)
    """The names of its columns, if they are known without opening it."""

    def open(self) -> PublicRelease:
        """Return the answer, the counts or the synthetic rows as a release. It costs nothing.

        An answer is shown as it was asked, if the declarations still give its question the same
        plan; else its columns are the keys and the noisy numbers from which it was made. Published
        counts are refused then. A judgement is opened as the rows that were judged, with it.
        """
        return self.opened()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of its outputs, in order; of two tables as TABLE.COLUMN."""
        if self.named is not None:
            return self.named
        found = self.open()
        return found.columns if isinstance(found, Release) else ()

    @property
    def number(self) -> str:
        """The ticket, and for a batch the place in it."""
        return str(self.ticket) if self.place == 1 else f"{self.ticket}.{self.place}"

    def to_json(self) -> dict[str, Any]:
        """Return what is known of it as plain values, without the answer itself."""
        return {
            "ticket": self.ticket,
            "place": self.place,
            "sql": self.sql,
            "analyst": self.analyst,
            "charged_at": self.charged_at.isoformat(),
            "id_space": self.id_space,
            "cost": self.cost.to_json(),
            "data_version": self.data_version,
            "current": self.is_current,
            **({"exact": True} if self.is_exact else {}),
            "columns": list(self.columns),
        }

    def _repr_html_(self) -> str:
        return StoredAnswers([self])._repr_html_()


class StoredAnswers(Overview[StoredAnswer]):
    """Answers that are stored, oldest first."""

    __slots__ = ()

    def headings(self) -> tuple[str, ...]:
        """Return what is shown of an answer."""
        return ("ticket", "time", "who", "cost", "data", "columns", "question")

    def cells(self) -> list[list[str]]:
        """Return each answer as texts."""
        unnamed = len(self) - MOST_WITH_COLUMNS
        return [
            [
                one.number,
                one.charged_at.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ"),
                one.analyst,
                "exact" if one.is_exact else str(one.cost),
                "now" if one.is_current else f"version {one.data_version}, replaced since",
                ", ".join(one.columns) if place >= unnamed else "...",
                _shortened(one.sql),
            ]
            for place, one in enumerate(self)
        ]


def _shortened(sql: str) -> str:
    line = " ".join(sql.split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 3]}..."


def stored_answers(
    project: Project, ticket: int | None = None, last: int | None = None
) -> StoredAnswers:
    """Return the answers that a project keeps; those of a ``ticket``, or the ``last`` so many."""
    reserves: dict[int, Entry] = {}
    found: list[StoredAnswer] = []
    for entry in project.ledger.entries():
        if entry.kind is Kind.RESERVE:
            reserves[entry.sequence] = entry
        elif entry.kind is Kind.COMMIT and ticket in (None, entry.payload["ticket"]):
            found += _answers(project, reserves[entry.payload["ticket"]], entry)
    if ticket is not None and not found:
        raise InvalidArgument(
            "There is no answer of this ticket",
            must="be the number of a ticket that was answered",
            got=str(ticket),
            next="connection.releases() lists them, and so does 'discreet releases'",
        )
    return StoredAnswers(found if last is None else found[max(0, len(found) - last) :])


def _answers(project: Project, reserve: Entry, commit: Entry) -> Iterator[StoredAnswer]:
    """Yield what an order paid for: of a batch, each answer."""
    order = reserve.payload["order"]
    charge = order["charges"][0]
    version = project.ledger.known_version(charge["id_space"])
    named = _named(order["description"])
    for place, (sql, opened) in enumerate(_opening(project, reserve, commit)):
        yield StoredAnswer(
            ticket=reserve.sequence,
            place=place + 1,
            sql=sql,
            analyst=order["analyst"],
            charged_at=datetime.fromisoformat(reserve.payload["reserved_at"]),
            id_space=charge["id_space"],
            cost=loss_from_json(charge["loss"]),
            data_version=order["data_version"],
            is_current=version is not None and version.number == order["data_version"],
            opened=opened,
            named=named,
            is_exact="exact" in order,
        )


def _opening(
    project: Project, reserve: Entry, commit: Entry
) -> list[tuple[str, Callable[[], PublicRelease]]]:
    """Return for each release of an order what was asked, and what opens it, whatever its model."""
    description = reserve.payload["order"]["description"]
    for is_one, opened in _OPENED:
        if is_one(description):
            return [(description["sql"], partial(opened, project, reserve.sequence))]
    return [
        (sql, partial(open_answer, project, reserve, commit, place))
        for place, sql in enumerate(asked_by(project, reserve))
    ]


def _is_profile(description: dict[str, Any]) -> bool:
    return is_profile(str(description.get("sql", "")))


_OPENED: tuple[
    tuple[Callable[[dict[str, Any]], bool], Callable[[Project, int], PublicRelease]], ...
] = (
    (_is_profile, open_profile),
    (is_synthesis, open_synthesis),
    (is_judgement, open_judgement),
    (is_published, open_counts),
    (is_related, open_related),
    (is_related_judgement, open_related_judgement),
    (is_exact, open_exact),
    (is_holdout, open_holdout_answer),
)
"""Which orders are no questions, and what opens what they paid for."""


def _named(description: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the columns of what was no question; of a judgement and a profile there are none."""
    if not any(is_one(description) for is_one, _ in _OPENED):
        return None
    columns = description.get("columns", ())
    if isinstance(columns, dict):
        return tuple(f"{table}.{name}" for table, names in columns.items() for name in names)
    return tuple(columns)
