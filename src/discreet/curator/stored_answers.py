"""Stored answers: what was asked before is given its question again, and opened for nothing."""

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from discreet.core.errors import DiscreetError
from discreet.curator.answer import prepare, release_of
from discreet.curator.batch import BATCH_METHOD, SEPARATOR, batch_plans
from discreet.curator.dearer_answer import stored_plans
from discreet.curator.price.price import PricedPlan
from discreet.curator.profile.profile import is_profile
from discreet.ledger.chain import Entry
from discreet.ledger.releases import PaidAnswer, make_receipt
from discreet.project.circumstances import circumstances_of
from discreet.project.passage import KIND, Passed
from discreet.project.project import Project
from discreet.project.terms import AUTO, Terms
from discreet.project.worst_case import receipt_remarks
from discreet.releases.answered_plan import AnsweredPlan
from discreet.releases.body import Body
from discreet.releases.release import Release
from discreet.releases.stored_releases import read_releases
from discreet.releases.view import with_remarks
from discreet.sql.question import Question
from discreet.tables.unit_name import UNIT

_Asked = list[tuple[Question, PricedPlan]]
"""Questions, each with its plan."""


def asked_by(project: Project, reserve: Entry) -> list[str]:
    """Return the questions that an order paid for: of a batch, each; none if it was no question."""
    description: dict[str, Any] = reserve.payload["order"]["description"]
    sql = str(description.get("sql", ""))
    if is_profile(sql) or KIND in description:
        return []
    bodies = _bodies(project, reserve.sequence) if BATCH_METHOD in description else 1
    texts = sql.split(SEPARATOR) if bodies > 1 else [sql]
    return texts if len(texts) == bodies else [sql] * bodies


def with_plans(
    project: Project, reserve: Entry, commit: Entry, table: str
) -> Iterator[AnsweredPlan]:
    """Yield the answers that an order paid for, if they count something in a table."""
    texts = asked_by(project, reserve)
    if not any(table.lower() in sql.lower() and "count" in sql.lower() for sql in texts):
        return
    try:
        bodies = tuple(one.body for one in read_releases(project.ledger, reserve.sequence))
    except DiscreetError:  # of a layout that is not known here
        return
    description = reserve.payload["order"]["description"]
    paid = PaidAnswer(make_receipt(reserve, commit), description)
    for place, (sql, (_, priced)) in enumerate(
        zip(texts, _asked(project, paid, bodies) or (), strict=False)
    ):
        body, plan = bodies[place], priced.plan
        if body.limits.chosen is not None:
            plan = evolve(plan, limits=body.limits.limits())
        yield AnsweredPlan(ticket=reserve.sequence, place=place + 1, sql=sql, plan=plan, body=body)


def _bodies(project: Project, ticket: int) -> int:
    found = project.ledger.release_of(ticket)
    return 1 if found is None else len(found[0]["batch"])


def open_answer(project: Project, reserve: Entry, commit: Entry, place: int) -> Release:
    """Return a stored answer as it was asked, or else as the numbers that it was made from."""
    plain = read_releases(project.ledger, reserve.sequence)
    order = reserve.payload["order"]
    paid = PaidAnswer(make_receipt(reserve, commit), order["description"])
    bodies = tuple(release.body for release in plain)
    id_space = order["charges"][0]["id_space"]
    names = {one.name: project.catalog.called(one.name) for one in project.catalog.id_spaces}
    void = with_remarks(plain[place].view, receipt_remarks(project.ledger, paid.receipt))
    named = evolve(plain[place], view=void, called=names.get(id_space, UNIT))
    shown = _as_asked(project, paid, bodies, place) or named
    version = project.ledger.known_version(id_space)
    if version is not None and version.number != order["data_version"]:
        remark = f"the data are those of version {order['data_version']}, which were replaced since"
        return evolve(shown, view=with_remarks(shown.view, [remark]))
    return shown


def _as_asked(
    project: Project, paid: PaidAnswer, bodies: tuple[Body, ...], place: int
) -> Release | None:
    """Return the answer with its question, if that has the plan that was paid for."""
    sql = str(paid.description.get("sql", ""))
    is_batch = BATCH_METHOD in paid.description
    found = _asked(project, paid, bodies)
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


def _asked(project: Project, paid: PaidAnswer, bodies: tuple[Body, ...]) -> _Asked | None:
    """Return the questions that were paid for together and their plans, if these are still so."""
    sql = str(paid.description.get("sql", ""))
    if BATCH_METHOD in paid.description:
        return _of_batch(project, sql, paid, bodies)
    return _alone(project, sql, paid, bodies[0])


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
