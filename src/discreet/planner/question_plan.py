"""A plan for a question about declared tables: what it takes of what an analyst has left."""

import re
from collections.abc import Iterator
from decimal import ROUND_FLOOR
from fractions import Fraction
from math import floor
from typing import Any

from attrs import evolve, frozen

from discreet.core import check
from discreet.core.errors import DiscreetError, InvalidArgument, MissingLoss, UnknownTable
from discreet.core.loss import (
    Approximate,
    ApproximateZcdp,
    GaussianDp,
    PrivacyLoss,
    Pure,
    Zcdp,
    short,
)
from discreet.core.numbers import Number, exact, float_up
from discreet.core.rounding import log_down, short_down
from discreet.curator.explanation.explanation import Explanation
from discreet.curator.free_answer import FreeExplanation
from discreet.planner.bounds.packing import Packing
from discreet.planner.bounds.wanted import Wanted
from discreet.planner.verdict import Feasibility, ruling_of
from discreet.releases.accuracy import Accuracy, read_accuracy
from discreet.releases.estimates.estimate import MeanOf, TotalOf
from discreet.roles.connection import Connection
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import CountRows, CountUnits
from discreet.tables.relations.scan import Scan

SHARES = (Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100))
"""Which parts of what is left are shown with what they buy."""

_COUNTS = (CountRows, CountUnits)

_MANY = 10**12
"""So many people, if nobody says how many there are: a bound is about some data."""


@frozen(kw_only=True)
class Spending:
    """A part of what is left, and how close its answers are.

    Attributes:
        share: The part.
        loss: What it is.
        errors: The error bar of each aggregate, at 95 %, by its name; in ranks or in its own unit.
    """

    share: Fraction
    loss: PrivacyLoss
    errors: dict[str, float]


@frozen(kw_only=True)
class QuestionPlan:
    """What a question takes of an analyst's own share, and what that share can buy.

    Attributes:
        query: The question.
        declared: What is declared of it: whose privacy, and limits.
        left: What this analyst has left.
        accuracy: What is wanted, if anything is.
        cost: What that costs; None if nothing is wanted, or no price reaches it.
        verdict: Whether it can be had for what is left; None if nothing is wanted.
        because: Why not.
        times: How many such answers are left.
        spendings: What parts of what is left buy.
        people: How many people were said to be there.
        counts: The names of aggregates that are counts; of others a share of the people is nothing.
        in_ranks: The names of those whose errors are ranks.
        void: That the worst-case claim has ended, if it has.
    """

    query: str
    declared: tuple[str, ...]
    left: PrivacyLoss
    accuracy: Accuracy | None
    cost: PrivacyLoss | None
    verdict: Feasibility | None
    because: str
    times: int | None
    spendings: tuple[Spending, ...]
    people: int | None
    counts: frozenset[str]
    in_ranks: frozenset[str]
    void: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [*self.declared, f"Left: {self.left.shown(rounding=ROUND_FLOOR)}, of your own"]
        if self.verdict is not None:
            lines.append(f"Wanted: {self.accuracy}: {self.verdict.value}{self._why()}")
        lines += [self._spending(one) for one in self.spendings]
        lines += [f"Worst case: {text}" for text in self.void]
        return "\n".join(lines)

    def _why(self) -> str:
        if self.cost is None or self.times is None:
            return f" ({self.because})" if self.because else ""
        if not self.times:
            more = f": it costs {self.cost}, which is more than is left"
            return more + (f" ({self.because})" if self.because else "")
        rest = "once" if self.times == 1 else f"{self.times:,} times"
        return f": it costs {self.cost}, which you can spend {rest}"

    def _spending(self, one: Spending) -> str:
        errors = ", ".join(
            f"{name} ± {error:,.6g}{' ranks' if name in self.in_ranks else ''}"
            for name, error in one.errors.items()
        )
        if self.people is not None and len(one.errors) == 1 and self.counts >= one.errors.keys():
            (error,) = one.errors.values()
            errors += f" ({short(100 * exact(error) / self.people)}% of {self.people:,})"
        return f"  {float(100 * one.share):g}% of it, {one.loss}: {errors}"

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return {
            "query": self.query,
            "left": self.left.to_json(),
            "accuracy": None if self.accuracy is None else str(self.accuracy),
            "cost": None if self.cost is None else self.cost.to_json(),
            "verdict": None if self.verdict is None else self.verdict.value,
            "because": self.because,
            "times": self.times,
            "people": self.people,
            "in_ranks": sorted(self.in_ranks),
            "spendings": [
                {
                    "share": float_up(one.share),
                    "loss": one.loss.to_json(),
                    "errors": one.errors,
                }
                for one in self.spendings
            ],
            **({"worst_case": list(self.void)} if self.void else {}),
        }


def plan_question(
    connection: Connection,
    query: str,
    *,
    accuracy: Accuracy | Number | None = None,
    people: int | None = None,
    table: str | None = None,
) -> QuestionPlan:
    """Say what a question would take of what the analyst has left, and how to spend that.

    Nothing is read but declarations and the analyst's own account, and nothing is spent. How many
    people there are is what somebody says, or a count that was published; it is never counted.

    Guarantee:
        *Impossible* is said where a lower bound refutes the accuracy for all that is left, for
        every mechanism that promises it for any data that keeps the limits.

    Args:
        connection: Who asks, and about what.
        query: The SELECT.
        accuracy: What is wanted, such as ``"±50 at 95 %"``. With ``people`` a number below 1 and
            without a ± is a share of them, for counts; an average has a price with them.
        people: How many people there are.
        table: A table that the question must be about.
    """
    count = None if people is None else check.at_least_one(people, "people")
    first = _explained(connection, query, Fraction(1))
    wanted = _wanted(accuracy, count, first)
    left = _own(connection, first.id_space.name)
    if table is not None and table not in {scan.table.name for scan in first.priced.plan.scans()}:
        raise UnknownTable(f"The question is not about '{table}'", must="read that table")
    cost, why_not = (None, "") if wanted is None else _cost(connection, query, wanted, left)
    times = None if cost is None else _times(left, cost)
    refuted = wanted is not None and not times and _is_refuted(first, wanted, left, count)
    plan = first.priced.plan
    names = (one.label(plan.relation.fields())["text"] for one in plan.aggregates)
    named = list(zip(names, plan.aggregates, strict=True))
    return QuestionPlan(
        query=query,
        declared=tuple(f"{name}: {text}" for name, text in first.steps()[:4]),
        left=left,
        accuracy=wanted,
        cost=cost,
        verdict=None if wanted is None else _verdict(times, is_refuted=refuted),
        because=_REFUTED if refuted else why_not,
        times=times,
        spendings=tuple(_spendings(connection, query, left)),
        people=count,
        counts=frozenset(name for name, one in named if isinstance(one, _COUNTS)),
        in_ranks=frozenset(one.name for one in first.columns() if one.mechanism.counts_ranks),
        void=first.void,
    )


def _wanted(
    accuracy: Accuracy | Number | None, people: int | None, found: Explanation
) -> Accuracy | None:
    """Return what is wanted: a number below 1 is a share, unless it is written with a sign.

    An average is priced for as many rows as there are people, where all of them are one group.
    """
    if accuracy is None:
        return None
    said = read_accuracy(accuracy)
    if people is None or isinstance(accuracy, Accuracy):
        return said
    aggregates, keys = found.priced.plan.aggregates, found.priced.plan.keys
    if said.within < 1 and not _SIGNED.match(str(accuracy)):
        if not all(isinstance(one, _COUNTS) for one in aggregates):
            raise InvalidArgument(
                "A share of the people is for counts",
                must=f"be a number of what is asked for, such as '±{accuracy}'",
                got=str(accuracy),
            )
        said = evolve(said, within=said.within * people)
    averages = any(isinstance(one.estimate, MeanOf) for one in found.question.view.outputs)
    if averages and isinstance(keys, PublicKeys) and not keys.fields:
        return evolve(said, group_size=people)
    return said


_SIGNED = re.compile(r"\s*(±|\+|within)", re.IGNORECASE)


def _own(connection: Connection, id_space: str) -> PrivacyLoss:
    """Return what this analyst has left in an id space: nobody else's account."""
    own = [one.own_remaining for one in connection.budget() if one.id_space == id_space]
    assert own[0] is not None
    return own[0]


def _explained(connection: Connection, query: str, share: Fraction) -> Explanation:
    """Explain the question at some price that is allowed; only what is declared is looked at."""
    spaces = connection.catalog().id_spaces
    last: DiscreetError | None = None
    for space in spaces:
        try:
            found = _explain_for(connection, query, space.cap * share)
        except DiscreetError as error:
            last = error
            continue
        if not isinstance(found, Explanation):
            raise InvalidArgument(_FREE, must="need private rows to be planned")
        return found
    assert last is not None
    raise last


def _explain_for(
    connection: Connection, query: str, loss: PrivacyLoss
) -> Explanation | FreeExplanation:
    """Explain a question at a price that costs no more than a loss.

    In μ no price is asked for; one in ρ costs about twice as much in μ², and more for noise that is
    not Gaussian. So ρ is lowered until what it costs is no more.
    """
    if not isinstance(loss, GaussianDp):
        return connection.explain(query, **_price(loss))
    rho = loss.mu_squared / 2
    for _ in range(_TRIES):
        found = connection.explain(query, rho=rho)
        if not isinstance(found, Explanation) or found.priced.loss <= loss:
            return found
        assert isinstance(found.priced.loss, GaussianDp)
        rho = short_down(rho * loss.mu_squared / found.priced.loss.mu_squared * _A_LITTLE_LESS)
    raise InvalidArgument("This budget cannot be planned with", got=str(loss))


_TRIES = 8
_A_LITTLE_LESS = Fraction(999, 1000)


def _price(loss: PrivacyLoss) -> dict[str, Any]:
    """Return a loss as what :meth:`Connection.explain` takes; a δ is for Gaussian noise."""
    if isinstance(loss, Pure):
        return {"epsilon": loss.epsilon}
    if isinstance(loss, Approximate):
        return {"epsilon": loss.epsilon, "delta": loss.delta}
    if isinstance(loss, Zcdp):
        return {"rho": loss.rho}
    if isinstance(loss, ApproximateZcdp):
        return {"rho": loss.rho, "delta": loss.delta}
    raise InvalidArgument("This budget cannot be planned with", got=str(loss))


def _cost(
    connection: Connection, query: str, wanted: Accuracy, left: PrivacyLoss
) -> tuple[PrivacyLoss | None, str]:
    """Return what an accuracy costs, whether that is left or not; or why it has no price.

    Groups without public keys take a δ: the part of what is left that leaves most answers.
    """
    try:
        return _price_of(connection, query, wanted), ""
    except MissingLoss as error:
        why_not = error.what
    except DiscreetError as error:
        return None, error.what
    delta = left.delta if isinstance(left, Approximate | ApproximateZcdp) else Fraction(0)
    try:
        found = [_price_of(connection, query, wanted, delta * one) for one in SHARES if delta]
    except DiscreetError as error:
        return None, error.what
    best = max(found, key=lambda one: _times(left, one), default=None)
    return best, why_not if best is None else ""


def _price_of(
    connection: Connection, query: str, wanted: Accuracy, delta: Fraction | None = None
) -> PrivacyLoss:
    found = connection.explain(query, accuracy=wanted, delta=delta)
    if not isinstance(found, Explanation):
        raise InvalidArgument(_FREE, must="need private rows to be planned")
    return found.priced.loss


_FREE = "The question is free"
_REFUTED = f"packing refutes it for all that is left: {Packing.source}"


def _times(left: PrivacyLoss, cost: PrivacyLoss) -> int:
    """Return how often a cost fits into what is left."""
    share = cost.share_of(left)
    return floor(1 / share) if share and cost <= left else 0


def _verdict(times: int | None, *, is_refuted: bool) -> Feasibility:
    if times:
        return Feasibility.ACHIEVABLE
    return Feasibility.IMPOSSIBLE if is_refuted else Feasibility.OPEN


def _is_refuted(
    found: Explanation, wanted: Accuracy, left: PrivacyLoss, people: int | None
) -> bool:
    r"""Tell whether packing refutes an accuracy of counts for all that is left.

    A unit moves a count by at most :math:`m`, and :math:`k` units who all do that in one of
    :math:`T` public groups move it by :math:`km`; so in units the error is the :math:`m`-th part.
    A count that shall be right for its own group alone, but for :math:`\beta`, is one of one group.
    Only plain counts of a table that are shown as they are and for sure are judged: with conditions
    there may be nobody whom they let in, and the count in an average is nobody's output.
    """
    plan, view = found.priced.plan, found.question.view
    if (view.having, view.qualify, view.limit, view.offset) != (None, None, None, 0):
        return False
    shown = [one.estimate for one in view.outputs if isinstance(one.estimate, TotalOf)]
    outputs = [plan.aggregates[one.index] for one in shown]
    counts = [one for one in outputs if isinstance(one, _COUNTS)]
    if not counts or not isinstance(plan.keys, PublicKeys) or not isinstance(plan.relation, Scan):
        return False
    moved = max(one.contribution(plan.reach()).bound("linf") for one in counts)
    bound = Packing(log_down(Fraction(1)))
    error = exact(wanted.within) / moved
    return ruling_of(bound, Wanted(people or _MANY, error, wanted.beta, left)).refutes


def _spendings(connection: Connection, query: str, left: PrivacyLoss) -> Iterator[Spending]:
    """Yield what parts of what is left buy; parts that buy nothing are left out."""
    for share in SHARES:
        try:
            found = _explain_for(connection, query, left * share)
        except DiscreetError:
            continue
        if isinstance(found, Explanation):
            errors = {column.name: float(column.error) for column in found.columns()}
            yield Spending(share=share, loss=left * share, errors=errors)
