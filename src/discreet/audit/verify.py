"""Does a claimed loss hold for two given output laws? Yes, no, or not decided, with the reason."""

from enum import Enum
from fractions import Fraction
from functools import singledispatch

from attrs import frozen

from discreet.audit.divergence import delta, excess, max_divergence, renyi_divergence
from discreet.audit.exponential_sum import as_sum, exp
from discreet.audit.interval import Interval
from discreet.audit.law import ExactLaw, Law
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp

RENYI_ORDERS = (2, 3, 4, 6, 8, 16, 32)
"""The orders at which a zCDP claim is tried."""


class Answer(Enum):
    """What the verifier can say."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNDECIDED = "undecided"


@frozen(kw_only=True)
class LawPair:
    """The output laws of one mechanism on two neighbouring data sets."""

    first: Law
    second: Law

    def directions(self) -> tuple[tuple[Law, Law], tuple[Law, Law]]:
        """Return the pair in both orders: privacy must hold both ways."""
        return (self.first, self.second), (self.second, self.first)


@frozen(kw_only=True)
class Verdict:
    """The answer to one claim, and what was measured: ε, δ or a divergence."""

    answer: Answer
    loss: PrivacyLoss
    measured: Interval
    because: str

    def __str__(self) -> str:
        return f"{self.loss}: {self.answer.value}; {self.because} in {self.measured!r}"


def worst_delta(pair: LawPair, epsilon: Fraction) -> Interval:
    r"""Enclose the true :math:`\delta(\varepsilon)` of the pair: the larger of both directions."""
    forward, backward = (delta(p, q, epsilon) for p, q in pair.directions())
    return forward.join(backward)


def pure_epsilon(pair: LawPair) -> Interval:
    r"""Enclose the true pure :math:`\varepsilon` of the pair: the larger of both directions."""
    forward, backward = (max_divergence(p, q) for p, q in pair.directions())
    return forward.join(backward)


def verify(pair: LawPair, loss: PrivacyLoss) -> Verdict:
    r"""Decide whether ``loss`` holds for this pair of laws.

    Guarantee:
        ``HOLDS`` and ``BROKEN`` are proved. For two exact laws, pure and approximate claims are
        always decided, also when the claim is met with equality. ``HOLDS`` speaks of *this* pair;
        a mechanism is private if it holds for every pair of neighbours.

    Example:
        >>> from discreet.audit.discrete_laplace_law import discrete_laplace_law
        >>> pair = LawPair(
        ...     first=discrete_laplace_law(2, centre=0, window=(-4, 5)),
        ...     second=discrete_laplace_law(2, centre=1, window=(-4, 5)),
        ... )
        >>> verify(pair, Pure("1/2")).answer, verify(pair, Pure("0.4999999")).answer
        (<Answer.HOLDS: 'holds'>, <Answer.BROKEN: 'broken'>)
    """
    return _judge(loss, pair)


@singledispatch
def _judge(loss: PrivacyLoss, pair: LawPair) -> Verdict:
    raise Unsupported(
        "The verifier does not know this measure",
        must="be pure, approximate or zcdp",
        got=loss.measure.value,
    )


@_judge.register
def _(loss: Pure, pair: LawPair) -> Verdict:
    measured = pure_epsilon(pair)
    if isinstance(pair.first, ExactLaw) and isinstance(pair.second, ExactLaw):
        factor = exp(loss.epsilon)
        holds = all(
            weight * q.total <= factor * q.weights.get(outcome, as_sum(0)) * p.total
            for p, q in ((pair.first, pair.second), (pair.second, pair.first))
            for outcome, weight in p.weights.items()
        )
        answer = Answer.HOLDS if holds else Answer.BROKEN
    else:
        answer = _compared(measured, loss.epsilon)
    return Verdict(answer=answer, loss=loss, measured=measured, because="the true ε is")


@_judge.register
def _(loss: Approximate, pair: LawPair) -> Verdict:
    measured = worst_delta(pair, loss.epsilon)
    if isinstance(pair.first, ExactLaw) and isinstance(pair.second, ExactLaw):
        quotients = (
            excess(pair.first, pair.second, loss.epsilon),
            excess(pair.second, pair.first, loss.epsilon),
        )
        holds = all(above <= loss.delta * below for above, below in quotients)
        answer = Answer.HOLDS if holds else Answer.BROKEN
    else:
        answer = _compared(measured, loss.delta)
    return Verdict(answer=answer, loss=loss, measured=measured, because="the true δ is")


@_judge.register
def _(loss: Zcdp, pair: LawPair) -> Verdict:
    r"""Refute at some order, or conclude from the pure :math:`\varepsilon`.

    A divergence of order :math:`\alpha` above :math:`\xi + \rho\alpha` refutes. Every order is at
    most the largest divergence :math:`\varepsilon`, and at most :math:`\alpha\varepsilon^2/2`
    [BS16, Proposition 1.4], so either bound below the claim proves it.
    """
    for order in RENYI_ORDERS:
        forward, backward = (renyi_divergence(p, q, order) for p, q in pair.directions())
        measured = forward.join(backward)
        if measured.is_above(loss.xi + loss.rho * order):
            because = f"the Rényi divergence of order {order} is"
            return Verdict(answer=Answer.BROKEN, loss=loss, measured=measured, because=because)
    measured = pure_epsilon(pair)
    high = measured.high
    holds = isinstance(high, Fraction) and (
        high <= loss.xi + loss.rho or Zcdp(rho=high * high / 2) <= loss
    )
    answer = Answer.HOLDS if holds else Answer.UNDECIDED
    because = "no order tried refutes it, and the pure ε is"
    return Verdict(answer=answer, loss=loss, measured=measured, because=because)


def _compared(measured: Interval, limit: Fraction) -> Answer:
    if measured.is_at_most(limit):
        return Answer.HOLDS
    return Answer.BROKEN if measured.is_above(limit) else Answer.UNDECIDED
