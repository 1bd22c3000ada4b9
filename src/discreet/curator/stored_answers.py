"""Stored answers: what was asked before, by whom and at which price, opened again for nothing.

Releases are public, so every analyst may see every one of them, as SECURITY.md says.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from attrs import evolve, field, frozen

from discreet.accounting.losses.loss_json import loss_from_json
from discreet.core.errors import DiscreetError, InvalidArgument
from discreet.core.loss import PrivacyLoss
from discreet.core.overview import Overview
from discreet.curator.answer import prepare, release_of
from discreet.curator.batch import BATCH_METHOD, SEPARATOR, batch_plans
from discreet.curator.circumstances import circumstances_of
from discreet.curator.dearer_answer import stored_plans
from discreet.curator.price import PricedPlan
from discreet.curator.profile import is_profile
from discreet.ledger.chain import Entry, Kind
from discreet.ledger.releases import PaidAnswer, make_receipt
from discreet.project.passage import Passed
from discreet.project.project import Project
from discreet.project.terms import AUTO, Terms
from discreet.releases.body import Body
from discreet.releases.release import Release
from discreet.releases.stored_releases import read_releases
from discreet.sql.question import Question

MOST_WITH_COLUMNS = 20
"""Of so many answers, the newest ones, an overview says which columns they have."""

LONGEST_SHOWN = 100

_Asked = list[tuple[Question, PricedPlan]]
"""Questions, each with its plan."""


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
    opened: Callable[[], Release] = field(repr=False, eq=False)

    def open(self) -> Release:
        """Return the answer as a release. It costs nothing.

        It is shown as it was asked, if the declarations still give its question the same plan; else
        its columns are the keys and the noisy numbers from which it was made.
        """
        return self.opened()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of its outputs, in order."""
        return self.open().columns

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
                str(one.cost),
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
            next="connection.releases() lists them, and so does `discreet releases`",
        )
    return StoredAnswers(found if last is None else found[max(0, len(found) - last) :])


def _answers(project: Project, reserve: Entry, commit: Entry) -> Iterator[StoredAnswer]:
    """Yield the answers that an order paid for: of a batch, each."""
    order = reserve.payload["order"]
    sql, charge = str(order["description"].get("sql", "")), order["charges"][0]
    if is_profile(sql):
        return
    version = project.ledger.known_version(charge["id_space"])
    bodies = _bodies(project, reserve.sequence) if BATCH_METHOD in order["description"] else 1
    texts = sql.split(SEPARATOR) if bodies > 1 else [sql]
    for place in range(bodies):
        yield StoredAnswer(
            ticket=reserve.sequence,
            place=place + 1,
            sql=texts[place] if len(texts) == bodies else sql,
            analyst=order["analyst"],
            charged_at=datetime.fromisoformat(reserve.payload["reserved_at"]),
            id_space=charge["id_space"],
            cost=loss_from_json(charge["loss"]),
            data_version=order["data_version"],
            is_current=version is not None and version.number == order["data_version"],
            opened=partial(_opened, project, reserve, commit, place),
        )


def _bodies(project: Project, ticket: int) -> int:
    found = project.ledger.release_of(ticket)
    return 1 if found is None else len(found[0]["batch"])


def _opened(project: Project, reserve: Entry, commit: Entry, place: int) -> Release:
    """Return a stored answer as it was asked, or else as the numbers that it was made from."""
    plain = read_releases(project.ledger, reserve.sequence)
    order = reserve.payload["order"]
    paid = PaidAnswer(make_receipt(reserve, commit), order["description"])
    bodies = tuple(release.body for release in plain)
    shown = _as_asked(project, paid, bodies, place) or plain[place]
    version = project.ledger.known_version(order["charges"][0]["id_space"])
    if version is not None and version.number != order["data_version"]:
        remark = f"the data are those of version {order['data_version']}, which were replaced since"
        return evolve(shown, view=evolve(shown.view, remarks=(*shown.view.remarks, remark)))
    return shown


def _as_asked(
    project: Project, paid: PaidAnswer, bodies: tuple[Body, ...], place: int
) -> Release | None:
    """Return the answer with its question, if that has the plan that was paid for."""
    sql = str(paid.description.get("sql", ""))
    is_batch = BATCH_METHOD in paid.description
    found = (
        _of_batch(project, sql, paid, bodies) if is_batch else _alone(project, sql, paid, bodies[0])
    )
    if found is None:
        return None
    question, priced = found[place]
    passed = Passed(bodies=(bodies[place].to_json(),), receipt=paid.receipt, is_stored=True)
    release = release_of(project, sql, question, priced, passed)
    if not is_batch:
        return release
    # What the whole batch cost in other measures does not follow from one of its plans.
    known = circumstances_of(project, sql, priced.plan, paid.receipt, event=None)
    return evolve(release, circumstances=known)


def _alone(project: Project, sql: str, paid: PaidAnswer, body: Body) -> _Asked | None:
    """Return the question and its plan with the stored noise, whatever was said with it."""
    for terms in _possible_terms(body):
        try:
            question, priced, _ = prepare(project, sql, terms)
        except DiscreetError:  # it cannot be asked so, or not any more
            continue
        plans = stored_plans([priced], False, paid, (body.to_json(),))
        if plans is not None:
            return [(question, plans[0])]
        if paid.receipt.plan_digest in (priced.digest(), *priced.earlier):
            return [(question, priced)]
    return None


def _of_batch(
    project: Project, sql: str, paid: PaidAnswer, bodies: tuple[Body, ...]
) -> _Asked | None:
    """Return the questions of a batch and their plans with the stored noise."""
    try:
        asked = batch_plans(project, sql.split(SEPARATOR), bodies)
    except DiscreetError:  # they cannot be told apart, or not be asked any more
        return None
    stored = tuple(body.to_json() for body in bodies)
    plans = stored_plans([priced for _, priced in asked], True, paid, stored)
    if plans is None:
        return None
    return [(question, plan) for (question, _), plan in zip(asked, plans, strict=True)]


def _possible_terms(body: Body) -> Iterator[Terms]:
    """Yield what may have been said with the question: its limits, or that they are chosen."""
    try:
        price = Terms.of(body.cost)
    except DiscreetError:  # charged in a measure that nobody offers: the plan is that of any price
        price = Terms(rho=1)
    yield price
    given = body.limits
    yield evolve(
        price,
        rows_per_group=given.rows_per_group,
        groups_per_unit=given.groups_per_unit,
        rows_per_unit=given.rows_per_unit,
    )
    yield evolve(price, chosen_limits=AUTO)
