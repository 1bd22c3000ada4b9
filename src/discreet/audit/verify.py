"""Does a claimed loss hold for two given output laws? Yes, no, or not decided, with the reason."""

from enum import Enum
from fractions import Fraction
from functools import singledispatch

from attrs import frozen

from discreet.audit.discrete_gaussian_law import GaussianLaw, gaussian_coordinates
from discreet.audit.divergence import delta, excess, max_divergence
from discreet.audit.exponential_sum import as_sum, exp
from discreet.audit.interval import INFINITE, Interval
from discreet.audit.judge_zcdp import Judged, Line, judge_line, tanh_line
from discreet.audit.law import BITS, ExactLaw, Law
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp

MOST_REFINEMENTS = 4
"""How often the bounds of a law that is known by name are made narrower to decide a claim."""


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

    def gaussian_loss(self) -> Fraction | None:
        r"""Return the least ρ of discrete Gaussian laws that differ in their centres alone.

        For whole centres their divergence of order :math:`\alpha` is at most
        :math:`\alpha (c - c')^2 / 2\sigma^2` [CKS20, Theorem 4], and exactly that at whole orders:
        there the sum in question is over the integers again, moved by a whole number. Divergences
        of independent coordinates add. So a smaller ρ is crossed at some whole order, whatever ξ.
        """
        first, second = map(gaussian_coordinates, self._laws())
        if not first or len(first) != len(second) or type(self.first) is not type(self.second):
            return None
        pairs = list(zip(first, second, strict=True))
        if any(one.sigma_squared != other.sigma_squared for one, other in pairs):
            return None
        squares = (
            Fraction((one.centre - other.centre) ** 2) / (2 * one.sigma_squared)
            for one, other in pairs
        )
        return sum(squares, Fraction(0))

    def refined(self) -> "LawPair | None":
        """Return the pair with narrower bounds, if one of its laws has any to offer."""
        laws = [law.refined() if isinstance(law, GaussianLaw) else law for law in self._laws()]
        return None if laws == self._laws() else LawPair(first=laws[0], second=laws[1])

    def bits(self) -> int:
        """Return the precision of the laws."""
        return max((law.bits for law in self._laws() if isinstance(law, GaussianLaw)), default=BITS)

    def _laws(self) -> list[Law]:
        return [self.first, self.second]


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
    bits = pair.bits()
    forward, backward = (delta(p, q, epsilon, bits=bits) for p, q in pair.directions())
    return forward.join(backward)


def pure_epsilon(pair: LawPair) -> Interval:
    r"""Enclose the true pure :math:`\varepsilon` of the pair: the larger of both directions."""
    forward, backward = (max_divergence(p, q) for p, q in pair.directions())
    return forward.join(backward)


def verify(pair: LawPair, loss: PrivacyLoss) -> Verdict:
    r"""Decide whether ``loss`` holds for this pair of laws.

    Guarantee:
        ``HOLDS`` and ``BROKEN`` are proved. For two exact laws, pure and approximate claims are
        always decided, also when the claim is met with equality, and zCDP claims unless the
        divergences touch the line :math:`\xi + \rho\alpha` at some order or come very near
        (:func:`~discreet.audit.judge_zcdp.judge_line`). For two discrete Gaussian laws, or vectors
        of them, that differ in their centres, pure and zCDP claims are always decided, by the
        closed form; approximate ones unless δ is met almost exactly: the bounds of single laws are
        narrowed a few times. Other enclosed laws are undecided where a claim lies between their
        bounds: what is not known about them cannot be decided. ``HOLDS`` speaks of *this* pair; a
        mechanism is private if it holds for every pair of neighbours.

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
    rho = pair.gaussian_loss()
    if rho is not None:  # the ratio of two shifted Gaussian laws grows without limit
        answer = Answer.BROKEN if rho else Answer.HOLDS
        truth = INFINITE if rho else Interval.exactly(Fraction(0))
        return Verdict(answer=answer, loss=loss, measured=truth, because="the true ε is")
    measured = pure_epsilon(pair)
    answer = _pure_answer(pair, loss.epsilon, measured)
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
        finer: LawPair | None = pair
        for _ in range(MOST_REFINEMENTS):
            answer = _compared(measured, loss.delta)
            finer = finer.refined() if finer and answer is Answer.UNDECIDED else None
            if finer is None:
                break
            measured = worst_delta(finer, loss.epsilon)
        answer = _compared(measured, loss.delta)
    return Verdict(answer=answer, loss=loss, measured=measured, because="the true δ is")


@_judge.register
def _(loss: Zcdp, pair: LawPair) -> Verdict:
    r"""Decide at every order; :func:`~discreet.audit.judge_zcdp.judge_line` says how.

    Without ρ the claim is that of a pure loss ξ, because the divergences rise to the largest one.
    A largest divergence of at most :math:`\xi + \rho`, or of an :math:`\varepsilon` with
    :math:`\varepsilon\tanh(\varepsilon/2) \le \rho`, proves the claim at once.
    """
    gaussian = pair.gaussian_loss()
    if gaussian is not None:
        answer = Answer.HOLDS if gaussian <= loss.rho else Answer.BROKEN
        measured = Interval.exactly(gaussian)
        because = "the least ρ of these discrete Gaussian laws is"
        return Verdict(answer=answer, loss=loss, measured=measured, because=because)
    largest = pure_epsilon(pair)
    if _pure_answer(pair, loss.xi + loss.rho, largest) is Answer.HOLDS:
        because = "no order is above the pure ε, which is"
        return Verdict(answer=Answer.HOLDS, loss=loss, measured=largest, because=because)
    if not loss.rho:
        answer = _pure_answer(pair, loss.xi, largest)
        return Verdict(answer=answer, loss=loss, measured=largest, because="the true ε is")
    if isinstance(largest.high, Fraction) and tanh_line(largest.high) <= loss.rho:
        because = "ε tanh(ε/2) is at most ρ for the pure ε, which is"
        return Verdict(answer=Answer.HOLDS, loss=loss, measured=largest, because=because)
    judged = [judge_line(p, q, loss) for p, q in pair.directions()]
    for found in judged:
        if found.line is Line.CROSSED:
            return _crossed(loss, found)
    is_below = all(found.line is Line.BELOW for found in judged)
    because = "every order is below the line" if is_below else "no order tried refutes it"
    return Verdict(
        answer=Answer.HOLDS if is_below else Answer.UNDECIDED,
        loss=loss,
        measured=largest,
        because=f"{because}, and the pure ε is",
    )


def _pure_answer(pair: LawPair, epsilon: Fraction, measured: Interval) -> Answer:
    """Decide a pure claim: exactly where both laws are exact, else by what was measured."""
    if not isinstance(pair.first, ExactLaw) or not isinstance(pair.second, ExactLaw):
        return _compared(measured, epsilon)
    factor = exp(epsilon)
    holds = all(
        weight * q.total <= factor * q.weights.get(outcome, as_sum(0)) * p.total
        for p, q in ((pair.first, pair.second), (pair.second, pair.first))
        for outcome, weight in p.weights.items()
    )
    return Answer.HOLDS if holds else Answer.BROKEN


def _crossed(loss: Zcdp, found: Judged) -> Verdict:
    because = f"the Rényi divergence of order {float(found.order):.6g} is"
    return Verdict(answer=Answer.BROKEN, loss=loss, measured=found.divergence, because=because)


def _compared(measured: Interval, limit: Fraction) -> Answer:
    if measured.is_at_most(limit):
        return Answer.HOLDS
    return Answer.BROKEN if measured.is_above(limit) else Answer.UNDECIDED
