"""The life of a query, read downwards.

.. code-block:: text

    parse → resolve → bound → allocate → price      public: text, declarations
       gate: engine.execute → randomise             the only two lines that hold private numbers
    publish                                         public again

``explain`` is the same life, stopped at the gate.
"""

from functools import partial
from typing import Any

from attrs import evolve, frozen

from discreet.accounting.losses.gaussian_dp import GaussianDp
from discreet.core.errors import RefusedQuery
from discreet.core.loss import ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.protocols import Rng
from discreet.curator.allocate import Shares, allocate
from discreet.curator.bound import bound
from discreet.curator.explaining.explanation import Explanation
from discreet.curator.largest_release import largest_release, within
from discreet.curator.price import PricedPlan, price, require_delta_budget
from discreet.curator.pricing.fit import fit
from discreet.curator.publish import publish
from discreet.curator.randomise import randomise
from discreet.ledger.charge import Charge
from discreet.ledger.gate import pass_gate
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.ledger.release_size import require_time
from discreet.project.offer import Terms, settle
from discreet.project.wish import Wish
from discreet.releases.release import Release
from discreet.sql.parse import parse
from discreet.sql.question import Question
from discreet.sql.resolve import resolve
from discreet.tables.catalog import Catalog
from discreet.tables.engine import Engine
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.plan import BoundedPlan


@frozen(kw_only=True)
class Curator:
    """Who answers: the declarations, the engine, the ledger, and the source of randomness."""

    catalog: Catalog
    engine: Engine
    ledger: Ledger
    rng: Rng


def answer(
    curator: Curator,
    sql: str,
    *,
    offer: Wish | Terms | PrivacyLoss | None = None,
    analyst: str,
    fresh: bool = False,
) -> Release:
    """Return a private answer to ``sql`` for ``offer``, or an earlier one again for nothing.

    ``offer`` is a loss, :class:`~discreet.project.offer.Terms` or a
    :class:`~discreet.project.wish.Wish`. A ``fresh`` answer is paid for again, and is the
    one that is given again from then on. A stored release costs nobody anything: neither the cap
    nor the analyst's share.

    Guarantee:
        The charge is durable in the ledger before the engine reads a row, and the release is
        durable before it is returned, so nothing is ever released that was not paid for. If a
        deadline is declared, an answer that is paid for is returned at the deadline, or fails then;
        one that is stored is returned at once, because no row is touched for it.
    """
    question, priced, _ = prepare(curator, sql, Wish.of(offer))
    space, name = priced.plan.owner().unit.id_space, priced.digest()
    version = curator.ledger.data_version(space, curator.rng)
    stored = None if fresh else curator.ledger.find_release(name, version.number)
    if stored is not None:
        body, receipt = stored
        return Release(view=question.view, body=body, receipt=receipt, is_stored=True)
    for scan in priced.plan.scans():
        curator.engine.require_present(scan.table)
    curator.engine.require_runnable(priced.plan)

    def behind_the_gate() -> dict[str, Any]:
        exact = curator.engine.execute(priced.plan, version.salt)
        noisy = randomise(exact, priced, curator.rng)
        return publish(noisy, priced)

    order = Order(
        plan_digest=name,
        data_version=version.number,
        analyst=analyst,
        charges=(Charge(id_space=space, loss=priced.loss),),
        description={"sql": sql, "event": priced.event.to_json()},
    )
    size, interrupt = partial(largest_release, priced), curator.engine.interrupt
    given = pass_gate(
        curator.ledger, order, behind_the_gate, size=size, interrupt=interrupt, joins=not fresh
    )
    return Release(
        view=question.view, body=given.release, receipt=given.receipt, is_stored=given.is_joined
    )


def explain(
    curator: Curator,
    sql: str,
    *,
    offer: Wish | Terms | PrivacyLoss | None = None,
    analyst: str,
) -> Explanation:
    """Return what :func:`answer` would do and cost. Nothing is read and nothing is spent."""
    question, priced, terms = prepare(curator, sql, Wish.of(offer))
    curator.engine.require_runnable(priced.plan)
    deadline = curator.catalog.gate.deadline
    if deadline is not None:
        require_time(deadline, largest_release(priced))
    space = priced.plan.owner().unit.id_space
    version = curator.ledger.data_version(space, curator.rng)
    return Explanation(
        question=question,
        priced=priced,
        terms=terms,
        id_space=curator.catalog.id_space(space),
        remaining=curator.ledger.remaining(space, analyst),
        is_stored=curator.ledger.find_release(priced.digest(), version.number) is not None,
    )


def read_question(curator: Curator, sql: str) -> Question:
    """Return the question that ``sql`` asks; one that is nested too deeply to read is refused."""
    try:
        return resolve(parse(sql), curator.catalog, curator.engine.public_rows)
    except RecursionError:
        raise RefusedQuery("The query is nested too deeply", next="Write it more flatly") from None


def prepare(curator: Curator, sql: str, wish: Wish) -> tuple[Question, PricedPlan, Terms]:
    """Return the question, its priced plan and the terms that hold: all before the gate."""
    question = read_question(curator, sql)
    question = evolve(question, limits=evolve(question.limits, **wish.limits()))
    defaults = (wish.default, Terms.of(curator.catalog.default))
    terms = settle(wish.offer, Terms.of(question.offer), defaults)
    plan = bound(question)
    cap = curator.catalog.id_space(plan.owner().unit.id_space).cap
    priced = price(plan, _shares(question, plan, terms, cap), cap)
    gate = curator.catalog.gate
    return question, within(priced, gate.deadline, gate.most_groups), terms


def _shares(question: Question, plan: BoundedPlan, terms: Terms, cap: PrivacyLoss) -> Shares:
    if isinstance(plan.keys, PrivateKeys):
        require_delta_budget(plan, cap)
    if terms.accuracy is None:
        return allocate(plan, question.weights, terms.offer())
    measure = Zcdp if isinstance(cap, Zcdp | ApproximateZcdp | GaussianDp) else Pure
    outputs = [output.estimate for output in question.view.outputs]
    return fit(plan, question.weights, outputs, terms.accuracy, measure=measure, delta=terms.delta)
