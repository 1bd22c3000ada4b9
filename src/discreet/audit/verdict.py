"""Does a claimed loss hold for two given output laws? Yes, no, or not decided, with the reason."""

import math
from collections import deque
from enum import Enum
from fractions import Fraction
from functools import singledispatch

from attrs import define, evolve, field, frozen

from discreet.audit.divergence import (
    INFINITE,
    CertifiedCumulant,
    CertifiedInterval,
    delta,
    excess,
    max_divergence,
)
from discreet.audit.exponential_sum import as_sum, exp
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import (
    EnclosedLaw,
    ExactLaw,
    OutputLaw,
    enclosed,
)
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.core.numbers import exp_bounds
from discreet.core.rounding import Ends

LINE_BITS = 128
"""The precision of a cumulant. What is closer to the line than that is called undecided."""

MOST_ORDERS = 1000
"""How many orders are looked at before a claim is called undecided."""

LEAST_ORDER = Fraction(1, 1 << 60)
"""How near to order 1 the search goes."""

FEWER_BITS = 64
"""The precision for laws that are only known up to unlisted mass."""

_ORDERS = tuple(Fraction(2) ** power for power in (-6, 0, 1, 3, 5))
"""Where those are tried: one less than the order."""


class LineAnswer(Enum):
    """Where the Rényi divergences of a pair lie, relative to the line of a claim."""

    BELOW = "below"
    CROSSED = "crossed"
    UNKNOWN = "unknown"


@frozen
class Judged:
    """What was found, and where the line is crossed, if it is: the order and its divergence."""

    line: LineAnswer
    order: Fraction = Fraction(1)
    divergence: CertifiedInterval = field(default=INFINITE)


def judge_line(p: OutputLaw, q: OutputLaw, loss: Zcdp) -> Judged:
    r"""Tell whether :math:`D_\alpha(P \| Q) \le \xi + \rho\alpha` at every :math:`\alpha > 1`.

    Guarantee:
        ``BELOW`` and ``CROSSED`` are proved. With :math:`t = \alpha - 1` the claim is
        :math:`K(t) \le R(t) = (\xi + \rho) t + \rho t^2` for the cumulant :math:`K` of the loss,
        which is convex.

        - *Large orders.* :math:`K(t) \le t D_\infty`, which is at most :math:`R(t)` from
          :math:`t = (D_\infty - \xi - \rho)/\rho` on.
        - *Orders near 1.* :math:`K(t)/t` does not fall, so :math:`K(b)/b \le \xi + \rho` settles
          all of :math:`0 < t \le b`.
        - *Between* two orders a convex function is below its chord; the least of
          :math:`R - chord` is that of a parabola.

        An interval that none of these settles is halved. If the line is crossed, it is crossed on
        an open set of orders, which halving meets; if :math:`K < R` everywhere and
        :math:`K'(0) < \xi + \rho`, short enough intervals are settled. What is left undecided is a
        curve that *touches* the line, or comes too near for ``LINE_BITS`` and ``MOST_ORDERS``, and
        laws that are only known up to unlisted mass.
    """
    cumulant = CertifiedCumulant.of(p, q, bits=LINE_BITS)
    if cumulant is None:
        return _some_orders(enclosed(p), enclosed(q), loss)
    if not loss.rho:
        return Judged(LineAnswer.UNKNOWN)
    far = (cumulant.largest - loss.xi - loss.rho) / loss.rho
    if far <= 0:
        return Judged(LineAnswer.BELOW)
    return _Search(loss, cumulant).run(Fraction(-(-far.numerator // far.denominator)))


def tanh_line(epsilon: Fraction) -> Fraction:
    r"""Return :math:`\varepsilon \tanh(\varepsilon/2)`, rounded up: the ρ of any pure pair."""
    low, _ = exp_bounds(-epsilon, LINE_BITS)
    return epsilon * (1 - low) / (1 + low)


@define
class _Search:
    loss: Zcdp
    cumulant: CertifiedCumulant
    known: dict[Fraction, Ends] = field(factory=dict)

    def run(self, far: Fraction) -> Judged:
        # The widest come first: beside a crossing, halving one interval alone would never end.
        open_ = deque([(Fraction(0), far)])
        while open_:
            start, stop = open_.popleft()
            if self._is_crossed(stop):
                low, high = self._at(stop)
                return Judged(
                    LineAnswer.CROSSED, 1 + stop, CertifiedInterval(low / stop, high / stop)
                )
            if self._is_settled(start, stop):
                continue
            if len(self.known) >= MOST_ORDERS or stop < LEAST_ORDER:
                return Judged(LineAnswer.UNKNOWN)
            middle = (start + stop) / 2
            open_.extend([(start, middle), (middle, stop)])
        return Judged(LineAnswer.BELOW)

    def _at(self, t: Fraction) -> Ends:
        if t not in self.known:
            self.known[t] = self.cumulant.at(t)
        return self.known[t]

    def _line(self, t: Fraction) -> Fraction:
        return t * (self.loss.xi + self.loss.rho * (1 + t))

    def _is_crossed(self, t: Fraction) -> bool:
        return self._at(t)[0] > self._line(t)

    def _is_settled(self, start: Fraction, stop: Fraction) -> bool:
        """Tell whether the cumulant is certainly below the line between two points."""
        end = self._at(stop)[1]
        if not start:
            return end <= stop * (self.loss.xi + self.loss.rho)
        begin = self._at(start)[1]
        slope = (end - begin) / (stop - start)
        # The line minus the chord is rho t² + linear t + constant.
        linear = self.loss.xi + self.loss.rho - slope
        lowest = min(max(-linear / (2 * self.loss.rho), start), stop)
        return self._line(lowest) >= begin + slope * (lowest - start)


def _some_orders(p: EnclosedLaw, q: EnclosedLaw, loss: Zcdp) -> Judged:
    below = CertifiedCumulant.below(p, q, bits=FEWER_BITS)
    if below is None:
        return Judged(LineAnswer.CROSSED)
    for t in _ORDERS if below.cells else ():
        least = below.at(t)[0]
        if least > t * (loss.xi + loss.rho * (1 + t)):
            return Judged(LineAnswer.CROSSED, 1 + t, CertifiedInterval(least / t, math.inf))
    return Judged(LineAnswer.UNKNOWN)


MOST_REFINEMENTS = 4
"""How often the bounds of a law that is known by name are made narrower to decide a claim."""


class VerdictAnswer(Enum):
    """What the verifier can say."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNDECIDED = "undecided"


@frozen(kw_only=True)
class Verdict:
    """The answer to one claim, and what was measured: ε, δ or a divergence."""

    answer: VerdictAnswer
    loss: PrivacyLoss
    measured: CertifiedInterval
    because: str

    def __str__(self) -> str:
        return f"{self.loss}: {self.answer.value}; {self.because} in {self.measured!r}"


def worst_delta(pair: LawPair, epsilon: Fraction) -> CertifiedInterval:
    r"""Enclose the true :math:`\delta(\varepsilon)` of the pair: the larger of both directions."""
    bits = pair.bits()
    forward, backward = (delta(p, q, epsilon, bits=bits) for p, q in pair.directions())
    return forward.join(backward)


def pure_epsilon(pair: LawPair) -> CertifiedInterval:
    r"""Enclose the true pure :math:`\varepsilon` of the pair: the larger of both directions."""
    forward, backward = (max_divergence(p, q) for p, q in pair.directions())
    return forward.join(backward)


def verify(pair: LawPair, loss: PrivacyLoss) -> Verdict:
    r"""Decide whether ``loss`` holds for this pair of laws.

    Guarantee:
        ``HOLDS`` and ``BROKEN`` are proved. For two exact laws, pure and approximate claims are
        always decided, also when the claim is met with equality, and zCDP claims unless the
        divergences touch the line :math:`\xi + \rho\alpha` at some order or come very near
        (:func:`~discreet.audit.verdict.judge_line`). For two discrete Gaussian laws, or vectors
        of them, pure and zCDP claims are always decided, by the closed form; approximate ones
        unless δ is met almost exactly: the bounds of single laws are narrowed a few times. Of
        products the coordinates are looked at (:meth:`~discreet.audit.law_pair.LawPair.split`). For
        one function of two laws (:meth:`~discreet.audit.law_pair.LawPair.after`,
        :meth:`~discreet.audit.law_pair.LawPair.clamped`) what holds before it holds after it
        [DR14, Proposition 2.1]. Other enclosed laws are undecided where a claim lies between their
        bounds: what is not known about them cannot be decided. ``HOLDS`` speaks of *this* pair; a
        mechanism is private if it holds for every pair of neighbours.

    Example:
        >>> from discreet.audit import discrete_laplace_law
        >>> pair = LawPair(
        ...     first=discrete_laplace_law(2, centre=0, window=(-4, 5)),
        ...     second=discrete_laplace_law(2, centre=1, window=(-4, 5)),
        ... )
        >>> verify(pair, Pure("1/2")).answer, verify(pair, Pure("0.4999999")).answer
        (<VerdictAnswer.HOLDS: 'holds'>, <VerdictAnswer.BROKEN: 'broken'>)
    """
    found = _judge(loss, pair)
    if found.answer is not VerdictAnswer.UNDECIDED or pair.source is None:
        return found
    before = verify(pair.source, loss)
    is_kept = before.answer is VerdictAnswer.HOLDS
    return evolve(before, because=f"before the function, {before.because}") if is_kept else found


@singledispatch
def _judge(loss: PrivacyLoss, pair: LawPair) -> Verdict:
    raise Unsupported(
        "The verifier does not know this measure",
        must="be pure, approximate or zcdp",
        got=loss.measure.value,
    )


@_judge.register
def _(loss: Pure, pair: LawPair) -> Verdict:
    rho, rest = pair.split()
    if rho or rest is None:  # the ratio of two shifted Gaussian laws grows without limit
        answer = VerdictAnswer.BROKEN if rho else VerdictAnswer.HOLDS
        truth = INFINITE if rho else CertifiedInterval.exactly(Fraction(0))
        return Verdict(answer=answer, loss=loss, measured=truth, because="the true ε is")
    pair = rest
    measured = pure_epsilon(pair)
    answer = _pure_answer(pair, loss.epsilon, measured)
    return Verdict(answer=answer, loss=loss, measured=measured, because="the true ε is")


@_judge.register
def _(loss: Approximate, pair: LawPair) -> Verdict:
    gaussian, rest = pair.split()
    if not gaussian and rest is None:  # equal laws
        nothing = CertifiedInterval.exactly(Fraction(0))
        answer = VerdictAnswer.HOLDS
        return Verdict(answer=answer, loss=loss, measured=nothing, because="the true δ is")
    pair = pair if gaussian or rest is None else rest
    measured = worst_delta(pair, loss.epsilon)
    if isinstance(pair.first, ExactLaw) and isinstance(pair.second, ExactLaw):
        quotients = (
            excess(pair.first, pair.second, loss.epsilon),
            excess(pair.second, pair.first, loss.epsilon),
        )
        holds = all(above <= loss.delta * below for above, below in quotients)
        answer = VerdictAnswer.HOLDS if holds else VerdictAnswer.BROKEN
    else:
        finer: LawPair | None = pair
        for _ in range(MOST_REFINEMENTS):
            answer = _compared(measured, loss.delta)
            finer = finer.refined() if finer and answer is VerdictAnswer.UNDECIDED else None
            if finer is None:
                break
            measured = worst_delta(finer, loss.epsilon)
        answer = _compared(measured, loss.delta)
    return Verdict(answer=answer, loss=loss, measured=measured, because="the true δ is")


@_judge.register
def _(loss: Zcdp, pair: LawPair) -> Verdict:
    r"""Decide at every order; :func:`~discreet.audit.verdict.judge_line` says how.

    Without ρ the claim is that of a pure loss ξ, because the divergences rise to the largest one.
    Divergences of independent coordinates add, so what discrete Gaussian ones cost is taken from ρ
    first. A largest divergence of at most :math:`\xi + \rho`, or of an :math:`\varepsilon` with
    :math:`\varepsilon\tanh(\varepsilon/2) \le \rho`, proves the claim at once.
    """
    gaussian, rest = pair.split()
    if rest is None or gaussian > loss.rho:  # the divergences of all else are not below 0
        answer = VerdictAnswer.HOLDS if gaussian <= loss.rho else VerdictAnswer.BROKEN
        measured = CertifiedInterval.exactly(gaussian)
        because = "the least ρ of these discrete Gaussian laws is"
        return Verdict(answer=answer, loss=loss, measured=measured, because=because)
    if isinstance(gaussian, Fraction) and rest is not pair:
        left = verify(rest, Zcdp(rho=loss.rho - gaussian, xi=loss.xi))
        if left.answer is VerdictAnswer.HOLDS or not gaussian:
            beside = f"beside a ρ of {float(gaussian):.6g} of discrete Gaussian laws, "
            because = beside + left.because if gaussian else left.because
            return evolve(left, loss=loss, because=because)
    largest = pure_epsilon(pair)
    if _pure_answer(pair, loss.xi + loss.rho, largest) is VerdictAnswer.HOLDS:
        because = "no order is above the pure ε, which is"
        return Verdict(answer=VerdictAnswer.HOLDS, loss=loss, measured=largest, because=because)
    if not loss.rho:
        answer = _pure_answer(pair, loss.xi, largest)
        return Verdict(answer=answer, loss=loss, measured=largest, because="the true ε is")
    if isinstance(largest.high, Fraction) and tanh_line(largest.high) <= loss.rho:
        because = "ε tanh(ε/2) is at most ρ for the pure ε, which is"
        return Verdict(answer=VerdictAnswer.HOLDS, loss=loss, measured=largest, because=because)
    judged = [judge_line(p, q, loss) for p, q in pair.directions()]
    for found in judged:
        if found.line is LineAnswer.CROSSED:
            return _crossed(loss, found)
    is_below = all(found.line is LineAnswer.BELOW for found in judged)
    because = "every order is below the line" if is_below else "no order tried refutes it"
    return Verdict(
        answer=VerdictAnswer.HOLDS if is_below else VerdictAnswer.UNDECIDED,
        loss=loss,
        measured=largest,
        because=f"{because}, and the pure ε is",
    )


def _pure_answer(pair: LawPair, epsilon: Fraction, measured: CertifiedInterval) -> VerdictAnswer:
    """Decide a pure claim: exactly where both laws are exact, else by what was measured."""
    if not isinstance(pair.first, ExactLaw) or not isinstance(pair.second, ExactLaw):
        return _compared(measured, epsilon)
    factor = exp(epsilon)
    holds = all(
        weight * q.total <= factor * q.weights.get(outcome, as_sum(0)) * p.total
        for p, q in ((pair.first, pair.second), (pair.second, pair.first))
        for outcome, weight in p.weights.items()
    )
    return VerdictAnswer.HOLDS if holds else VerdictAnswer.BROKEN


def _crossed(loss: Zcdp, found: Judged) -> Verdict:
    because = f"the Rényi divergence of order {float(found.order):.6g} is"
    return Verdict(
        answer=VerdictAnswer.BROKEN, loss=loss, measured=found.divergence, because=because
    )


def _compared(measured: CertifiedInterval, limit: Fraction) -> VerdictAnswer:
    if measured.is_at_most(limit):
        return VerdictAnswer.HOLDS
    return VerdictAnswer.BROKEN if measured.is_above(limit) else VerdictAnswer.UNDECIDED
