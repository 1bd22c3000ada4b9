"""The life of a query, read downwards.

.. code-block:: text

    parse → resolve → bound → allocate → price      public: text, declarations
       gate: engine.execute → randomise             the only two lines that hold private numbers
    publish                                         public again

``explain`` is the same life, stopped at the gate.
"""

from typing import Any

from attrs import frozen

from discreet.core.errors import RefusedQuery
from discreet.core.protocols import Rng
from discreet.curator.allocate import allocate
from discreet.curator.bound import bound
from discreet.curator.explanation import Explanation
from discreet.curator.offer import Offer
from discreet.curator.parse import parse
from discreet.curator.price import PricedPlan, price
from discreet.curator.publish import publish
from discreet.curator.question import Question
from discreet.curator.randomise import randomise
from discreet.curator.release import Release
from discreet.curator.resolve import resolve
from discreet.ledger.charge import Charge
from discreet.ledger.gate import pass_gate
from discreet.ledger.ledger import Ledger
from discreet.ledger.order import Order
from discreet.tables.catalog import Catalog
from discreet.tables.engine import Engine


@frozen(kw_only=True)
class Curator:
    """Who answers: the declarations, the engine, the ledger, and the source of randomness."""

    catalog: Catalog
    engine: Engine
    ledger: Ledger
    rng: Rng


def answer(curator: Curator, sql: str, *, offer: Offer, analyst: str) -> Release:
    """Return a private answer to ``sql`` for ``offer``, or an earlier one again for nothing.

    Guarantee:
        The charge is durable in the ledger before the engine reads a row, and the release is
        durable before it is returned, so nothing is ever released that was not paid for.
    """
    question, priced = _prepare(curator, sql, offer)
    space, name = priced.plan.table.unit.id_space, priced.digest()
    version = curator.ledger.data_version(space, curator.rng)
    stored = curator.ledger.find_release(name, version.number)
    if stored is not None:
        body, receipt = stored
        return Release(outputs=question.outputs, body=body, receipt=receipt, is_stored=True)
    curator.engine.require_source(priced.plan.table)

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
    body, receipt = pass_gate(curator.ledger, order, behind_the_gate)
    return Release(outputs=question.outputs, body=body, receipt=receipt)


def explain(curator: Curator, sql: str, *, offer: Offer, analyst: str) -> Explanation:
    """Return what :func:`answer` would do and cost. Nothing is read and nothing is spent."""
    _, priced = _prepare(curator, sql, offer)
    space = priced.plan.table.unit.id_space
    version = curator.ledger.data_version(space, curator.rng)
    return Explanation(
        priced=priced,
        id_space=curator.catalog.id_space(space),
        remaining=curator.ledger.remaining(space, analyst),
        is_stored=curator.ledger.find_release(priced.digest(), version.number) is not None,
    )


def read_question(catalog: Catalog, sql: str) -> Question:
    """Return the question that ``sql`` asks; one that is nested too deeply to read is refused."""
    try:
        return resolve(parse(sql), catalog)
    except RecursionError:
        raise RefusedQuery("The query is nested too deeply", next="Write it more flatly") from None


def _prepare(curator: Curator, sql: str, offer: Offer) -> tuple[Question, PricedPlan]:
    question = read_question(curator.catalog, sql)
    plan = bound(question)
    cap = curator.catalog.id_space(plan.table.unit.id_space).cap
    return question, price(plan, allocate(plan, offer), cap)
