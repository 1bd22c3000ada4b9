"""The one passage through the gate, for one plan or for many.

Here alone is an engine told to read private rows, and whatever model of privacy asks for it, the
order is the same: what was answered before is given again; else sources and plans are looked at as
far as may be known, the whole is charged, and only then does the engine run.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import frozen

from discreet.core.loss import PrivacyLoss
from discreet.core.permit import Permit
from discreet.core.protocols import IntArray, Rng
from discreet.core.recursion import with_room
from discreet.ledger.exact_claims import ExactClaim
from discreet.ledger.gate import pass_gate
from discreet.ledger.order import Charge, Order, Receipt
from discreet.ledger.releases import PaidAnswer, ReleaseSize
from discreet.project.exact_rows import require_exact_rows_in_one_space
from discreet.project.project import Project
from discreet.project.worst_case import void_remarks
from discreet.tables.catalog import IdSpace
from discreet.tables.plans.engine import ExactAggregates
from discreet.tables.plans.plan import BoundedPlan

StoredBody = dict[str, Any]
"""A release as it is stored."""

KIND = "kind"
"""What in a description says which model of privacy it was for; without it, it was a question."""

Bodies = tuple[StoredBody, ...]
"""What is stored for each leg of a passage."""

AnsweredBy = Callable[[PaidAnswer, Bodies], bool]
"""Tells whether a stored answer to the same question will do."""


def _never(_: PaidAnswer, __: Bodies) -> bool:
    return False


@frozen(kw_only=True)
class Leg:
    """One plan, and what makes its exact aggregates public: noise, and the body of a release.

    What became public may also say which leg comes next, of those that were there before.
    """

    plan: BoundedPlan
    published: "Callable[[ExactAggregates, Rng], StoredBody | Leg]"
    following: tuple[BoundedPlan, ...] = ()
    """The plans of legs that may come next."""


@frozen(kw_only=True)
class ExactLeg:
    """One plan whose exact integers become public, by an order that the ledger has marked."""

    plan: BoundedPlan
    certified: Callable[[tuple[IntArray, ...], Rng], StoredBody]
    """What is made of them: what is too small is left out here, or rows are discarded."""
    following: tuple[BoundedPlan, ...] = ()


@frozen(kw_only=True)
class Passage:
    """What goes through the gate together, under one name and for one loss, on one id space."""

    name: str
    """Equal for equal questions at an equal price."""
    earlier: tuple[str, ...] = ()
    """Names that earlier versions gave to it: what is stored under them is given again too."""
    question: str | None = None
    """Equal for equal questions at all prices; without it, no other answer is looked for."""
    is_answered_by: AnsweredBy = _never
    """Whether what was released for another price is at least as exact."""
    loss: PrivacyLoss
    legs: tuple[Leg | ExactLeg, ...]
    size: Callable[[], ReleaseSize]
    """A bound on the size of what is released."""
    description: dict[str, Any]
    """What the ledger shows of it."""
    is_batch: bool = False
    """Whether bodies are stored as those of a batch, even a single one."""
    claim: ExactClaim | None = None
    """What the owner asserts, if exact numbers become public: it is noted before a row is read."""

    @property
    def id_space(self) -> str:
        """The id space that pays."""
        return self.legs[0].plan.owner().unit.id_space


@frozen(kw_only=True)
class Passed:
    """What came out of the gate: a body for each leg."""

    bodies: Bodies
    receipt: Receipt
    is_stored: bool
    """Whether somebody has paid for it before, or pays for it at this moment."""
    is_dearer: bool = False
    """Whether it is stored, and was paid for at a higher price."""


def go_through(project: Project, passage: Passage, *, analyst: str, fresh: bool = False) -> Passed:
    """Return what was released before, or charge the passage, run it and release it.

    Given again is what has this name, or else what has another price and is at least as exact.

    A ``fresh`` one is paid for again, and is the one that is given again from then on.

    Guarantee:
        The charge is durable in the ledger before the engine reads a row, and the release is
        durable before it is returned, so nothing is ever released that was not paid for. If a
        deadline is declared, an answer that is paid for is returned at the deadline, or fails then;
        one that is stored is returned at once, because no row is touched for it.

        Where a leg follows from what another one made public, the loss is still fixed before: it
        is that of the first with that of the dearest of those that may follow. Each of them is
        chosen by what is public by then, so losses add up as for any adaptive choice.
    """
    version = project.data_version(passage.id_space)
    stored = None if fresh else find_stored(project, passage, version.number)
    if stored is not None:
        return stored
    plans = [plan for leg in passage.legs for plan in (leg.plan, *leg.following)]
    for plan in plans:
        for scan in plan.scans():
            project.engine.require_present(scan.table)
        with_room(partial(project.engine.require_runnable, plan))

    def behind_the_gate(permit: Permit) -> StoredBody:
        bodies = []
        with project.engine.reading_once(plans, permit):
            for leg in passage.legs:
                public: StoredBody | Leg | ExactLeg = leg
                while isinstance(public, Leg | ExactLeg):
                    exact = project.engine.execute(public.plan, version.salt, permit)
                    if isinstance(public, ExactLeg):
                        public = public.certified(exact.certified(permit), project.rng)
                    else:
                        public = public.published(exact, project.rng)
                bodies.append(public)
        return {"batch": bodies} if passage.is_batch else bodies[0]

    order = Order(
        plan_digest=passage.name,
        data_version=version.number,
        analyst=analyst,
        charges=(Charge(id_space=passage.id_space, loss=passage.loss),),
        description=passage.description,
        question=passage.question,
        exact=None if passage.claim is None else passage.claim.digest,
    )
    given = pass_gate(
        project.ledger,
        order,
        behind_the_gate,
        size=passage.size,
        interrupt=project.engine.interrupt,
        joins=not fresh,
        claim=passage.claim,
    )
    bodies = _bodies(passage, given.release)
    return Passed(bodies=bodies, receipt=given.receipt, is_stored=given.is_joined)


def find_stored(project: Project, passage: Passage, data_version: int) -> Passed | None:
    """Return what was released before under the name of a passage, or one that it had earlier.

    If there is nothing, return what was released for the same question at a higher price, in the
    same measure, if that is at least as exact: of several, one that no other is dearer than.
    """
    for name in (passage.name, *passage.earlier):
        found = project.ledger.find_release(name, data_version)
        if found is not None:
            return Passed(bodies=_bodies(passage, found[0]), receipt=found[1], is_stored=True)
    for paid in _dearer(project, passage, data_version):
        found = project.ledger.release_of(paid.receipt.ticket.number)
        if found is not None and passage.is_answered_by(paid, _bodies(passage, found[0])):
            bodies = _bodies(passage, found[0])
            return Passed(bodies=bodies, receipt=found[1], is_stored=True, is_dearer=True)
    return None


@frozen(kw_only=True)
class Foreseen:
    """What is known of a passage before it is paid for."""

    id_space: IdSpace
    remaining: PrivacyLoss
    """What the analyst may still spend."""
    stored: Passed | None
    """What would be given for nothing."""
    void: tuple[str, ...] = ()
    """That an exact release has ended the worst-case claim, if one has."""


def foresee(project: Project, passage: Passage, *, analyst: str) -> Foreseen:
    """Return who would pay, out of how much, and what is stored. Nothing is read or spent."""
    require_exact_rows_in_one_space(project.catalog, project.ledger)
    space = project.catalog.id_space(passage.id_space)
    version = project.ledger.known_version(space.name)
    return Foreseen(
        id_space=space,
        remaining=project.ledger.remaining(space.name, analyst),
        stored=None if version is None else find_stored(project, passage, version.number),
        void=void_remarks(project.ledger, space.name),
    )


def _dearer(project: Project, passage: Passage, data_version: int) -> list[PaidAnswer]:
    """Return the answers to the question that cost as much or more, the dearest first."""
    if passage.question is None:
        return []
    paid = project.ledger.answers_to(passage.question, data_version)
    enough = [one for one in paid if _costs_enough(one, passage)]
    return sorted(enough, key=lambda one: sum(_loss(one) <= _loss(other) for other in enough))


def _costs_enough(paid: PaidAnswer, passage: Passage) -> bool:
    spaces = [charge.id_space for charge in paid.receipt.charges]
    if spaces != [passage.id_space] or _loss(paid).measure is not passage.loss.measure:
        return False
    return passage.loss <= _loss(paid)


def _loss(paid: PaidAnswer) -> PrivacyLoss:
    return paid.receipt.charges[0].loss


def _bodies(passage: Passage, body: StoredBody) -> Bodies:
    return tuple(body["batch"]) if passage.is_batch else (body,)
