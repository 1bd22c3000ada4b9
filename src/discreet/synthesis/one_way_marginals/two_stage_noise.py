"""Gaussian noise on many sums, of which the largest errors are found and drawn again."""

import math
from fractions import Fraction
from typing import Self

import numpy as np
from attrs import field, frozen

from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.accounting.tails.gaussian_tail import gaussian_tail_bounds
from discreet.audit.binomial import upper_tail_bound
from discreet.core import check
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event import ComposedEvent
from discreet.core.loss import Zcdp
from discreet.core.mechanism_event import DiscreteGaussianEvent, ExponentialSelectionEvent
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray, Rng
from discreet.core.rounding import exp_up, log_down, short_up
from discreet.core.search import smallest
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.integers import LARGEST_VALUE, integers
from discreet.mechanisms.selection.scores import bounded_range_scale
from discreet.randomness.argmax import weighted_argmax
from discreet.randomness.samplers import discrete_gaussian, uniform_integers
from discreet.synthesis.one_way_marginals.two_stage_shares import (
    MIDDLES,
    RoughStages,
    best_shares,
    missed_weight,
)

LEAST_PAPER_DIMENSION = 16
"""Below it the logarithm of the logarithm, by which the thesis divides, is about 1 or less."""

_BITS = 96
_NEVER = Fraction(1, 10**18)
_MOST_EXACT_ROUNDS = 20_000
_FAR = Fraction(10_000)


@frozen(kw_only=True)
class TwoStageNoise:
    r"""Add Gaussian noise to each of many numbers; then, ``rounds`` times, mend a bad one.

    A number is chosen with a weight of :math:`e^{|error|/temperature}`, and its noise is drawn
    again, with the variance ``second_variance``, which is smaller [Ste16, Figure 4.1].

    Guarantee:
        If neighbouring vectors are at most ``d_in.l2_squared`` and ``d_in.linf`` apart (``v`` and
        ``Δ``), the output is ρ-zCDP with

        .. math:: \rho = \frac{v}{2\sigma_0^2}
            + T\left(\frac{\Delta^2}{2\sigma_1^2} + \frac{(2\Delta/temperature)^2}{8}\right).

        *Proof.* Given the noisy numbers so far, the score :math:`|a_k - x_k|` moves by at most
        ``Δ`` when ``x`` moves to its neighbour, up for some ``k`` and down for others; so the
        choice is an exponential mechanism of spread ``2Δ``, whose loss stays in an interval of
        width :math:`2\Delta/temperature` [CR21]. A new number is discrete Gaussian noise on a
        number that moves by at most ``Δ`` [CKS20, Theorem 4]. Adaptive composition adds them up
        [BS16, Lemma 2.3], and only the last vector is shown. The thesis charges
        :math:`(2\Delta/temperature)^2/2` for a choice, four times as much.

        The error ``a - x`` never looks at ``x``: choices are by errors, and new errors are fresh.
        So it is drawn first, without any data, and added at the end.

    Assumes:
        The caller proved both bounds. All numbers are there from the start: questions that depend
        on earlier answers are *not* covered, although [Ste16, Corollary 3.6.1] uses it for them.

    Utility:
        ``failure(t)`` bounds the chance that some error exceeds ``t``. The bound that is printed,
        :math:`e^{-2d/\ln^8 d} + \dots`, says nothing below :math:`10^{11}` numbers; this one has
        the exact binomial tail. With the constants of the thesis (``paper``) plain Gaussian noise
        is better until about :math:`10^{36}` numbers; with the best ones (``optimised``) the two
        stages win from about a thousand numbers on (by a sixth at a million).

    Example:
        >>> noise = TwoStageNoise(
        ...     dimension=4, first_variance=9, second_variance=4, rounds=2, temperature=2
        ... )
        >>> noise.loss(Contribution(linf=1, l2_squared=4))
        Zcdp(ρ ≤ 0.7223)
    """

    dimension: int = field(converter=check.whole, validator=check.positive)
    first_variance: Fraction = field(converter=exact, validator=check.positive)
    second_variance: Fraction = field(converter=exact, validator=check.positive)
    rounds: int = field(converter=check.whole, validator=check.non_negative)
    temperature: Fraction = field(converter=exact, validator=check.positive)

    @classmethod
    def paper(cls, *, dimension: int, accuracy: Number) -> Self:
        r"""Return the noise with the constants of the thesis, for errors of at most ``accuracy``.

        With ``d`` for the dimension and ``t`` for the accuracy, :math:`T = \lfloor 2d/\ln^4 d
        \rfloor`, :math:`\sigma_0^2 = t^2/(32 \ln\ln d)`, :math:`\sigma_1^2 = t^2/(8 \ln^2 d)` and
        :math:`1/temperature = (2/t)\ln^2 d`. (In print ``t`` is α, for means of ±1; here it is in
        rows, :math:`\alpha n` of a sum of ±1.)
        """
        count, reach = check.whole(dimension), exact(accuracy)
        if count < LEAST_PAPER_DIMENSION or reach <= 0:
            raise InvalidArgument(
                "The thesis has no constants for this",
                must=f"have dimension >= {LEAST_PAPER_DIMENSION} and an accuracy above 0",
                got=f"dimension = {count} and accuracy = {reach}",
                next="Use TwoStageNoise.optimised",
            )
        log = Fraction(math.log(count))
        return cls(
            dimension=count,
            first_variance=short_up(reach**2 / (32 * Fraction(math.log(log)))),
            second_variance=short_up(reach**2 / (8 * log**2)),
            rounds=math.floor(2 * count / log**4),
            temperature=short_up(reach / (2 * log**2)),
        )

    @classmethod
    def optimised(
        cls, *, dimension: int, d_in: Contribution, loss: Zcdp, beta: Number = "0.05"
    ) -> Self:
        """Return the noise that spends ``loss`` with about the smallest ``error_quantile(beta)``.

        Floating point looks for the number of rounds and the shares of the price; what is found is
        then made to cost ``loss``, in exact numbers, or very little less. If no rounds at all are
        best, it is plain Gaussian noise.
        """
        count, limit = check.whole(dimension), check.level(beta)
        if not isinstance(loss, Zcdp) or loss.xi or loss.rho <= 0:
            raise InvalidArgument("No noise fits", must="have a ρ above 0, and ξ = 0")
        length, step = d_in.bound("l2_squared"), d_in.bound("linf")
        if length <= 0:
            raise InvalidArgument("No noise fits", must="have a contribution above 0")
        found = best_shares(count, float(step**2 / length), float(limit))
        first, choices, again = found.shares
        if not found.rounds:
            whole = length / (2 * loss.rho)
            return cls(
                dimension=count,
                first_variance=whole,
                second_variance=whole,
                rounds=0,
                temperature=1,
            )
        spreads = [2 * step] * found.rounds
        return cls(
            dimension=count,
            first_variance=length / (2 * loss.rho * first),
            second_variance=found.rounds * step**2 / (2 * loss.rho * again),
            rounds=found.rounds,
            temperature=bounded_range_scale(spreads, Zcdp(rho=loss.rho * choices)),
        )

    def event(self, d_in: Contribution) -> ComposedEvent:
        """Describe one use for the accountants."""
        first = DiscreteGaussian(sigma_squared=self.first_variance).event(d_in)
        if not self.rounds:
            return first * 1
        step = d_in.bound("linf")
        choice = ExponentialSelectionEvent(
            scale=self.temperature, spread=2 * step, metric=d_in.metric
        )
        again = DiscreteGaussianEvent(
            sigma_squared=self.second_variance,
            distance_squared=step**2,
            entries=1,
            largest=step,
            metric=d_in.metric,
        )
        return ComposedEvent.of([first, choice * self.rounds, again * self.rounds])

    def loss(self, d_in: Contribution) -> Zcdp:
        """Return the loss of one use."""
        return zcdp_loss([self.event(d_in)])

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the values plus noise, same shape and type. The gate already holds the loss."""
        values = integers(exact_values)
        if values.size == 0:
            return values.copy()
        if values.size != self.dimension:
            raise InvalidArgument(
                "The vector has another dimension", must=f"have {self.dimension} entries"
            )
        return values + self.errors(rng).reshape(values.shape)

    def errors(self, rng: Rng) -> IntArray:
        """Return the errors of all numbers: drawn without any data, exactly.

        Numbers with equal errors are alike, so the size of the error is chosen first, weighted by
        how many have it, and then one of them uniformly.
        """
        errors = discrete_gaussian(self.first_variance, self.dimension, rng)
        errors = np.clip(errors, -LARGEST_VALUE, LARGEST_VALUE)
        sizes, counts = np.unique(np.abs(errors), return_counts=True)
        order = np.argsort(np.abs(errors), kind="stable")
        left = list(np.split(order, np.cumsum(counts)[:-1]))
        mended: list[int] = []
        for _ in range(self.rounds):
            scores = np.concatenate([sizes, np.abs(errors[mended])])
            weights = np.concatenate([counts, np.ones(len(mended), dtype=np.int64)])
            chosen = weighted_argmax(scores, weights, self.temperature, rng)
            if chosen < len(sizes):
                place = int(uniform_integers(int(counts[chosen]), 1, rng)[0])
                entry = int(left[chosen][place])
                left[chosen] = np.delete(left[chosen], place)
                counts[chosen] -= 1
                mended.append(entry)
            else:
                entry = mended[chosen - len(sizes)]
            errors[entry] = discrete_gaussian(self.second_variance, 1, rng)[0]
        return errors

    def failure(self, reach: int) -> Fraction:
        r"""Return a bound for the chance that the largest error exceeds ``reach`` (``t``).

        *Proof.* Take any :math:`s \le t`, and call an error above ``s`` *bad*. Three things are
        unlikely: (i) more than ``T`` errors are bad at first, a binomial tail; (ii) a new error is
        bad; (iii) while some error is above ``t``, one that is not bad is chosen. If none of them
        happens, each round in which an error is above ``t`` leaves one bad error less, and no new
        one comes: so after ``T`` rounds none is above ``t``. In (iii) a good error is chosen with
        probability at most :math:`W e^{-(t + 1)/temperature}`, where ``W`` is the sum of
        :math:`e^{|error|/temperature}` over the good ones, whose mean is at most that over all
        first and all new errors. The thesis takes :math:`s = t/2` and the largest ``W``.
        """
        t = check.whole(reach)
        if t < 0:
            return Fraction(1)
        if not self.rounds:
            return min(Fraction(1), self._too_many(t))
        likely = self._rough().failure(float(t), MIDDLES * t)
        s = math.ceil(MIDDLES[int(np.argmin(likely))] * t)
        return min(Fraction(1), self._too_many(s) + self._mended(t, s))

    def error_quantile(self, beta: Number) -> Fraction:
        """Return a whole ``t`` that the *largest* of all errors exceeds with at most ``beta``."""
        limit = check.level(beta)
        near = smallest(lambda t: self.rough_failure(t) <= limit)
        return Fraction(smallest(lambda t: self.failure(t) <= limit, near=near))

    def _rough(self) -> RoughStages:
        return RoughStages(
            self.dimension,
            float(self.rounds),
            math.sqrt(self.first_variance),
            math.sqrt(self.second_variance),
            float(1 / self.temperature),
        )

    def rough_failure(self, t: float) -> float:
        """Return about ``failure(t)``, in floating point: for searches and pictures."""
        middles = MIDDLES if self.rounds else np.ones(1)
        return float(self._rough().failure(float(t), middles * t).min())

    def _too_many(self, s: int) -> Fraction:
        """Bound the chance of more bad errors than rounds: exactly, or by Chernoff if tiny."""
        bad = short_up(_above(self.first_variance, s), 64)
        rough = _chernoff(self.rounds + 1, self.dimension, bad)
        if rough <= _NEVER or self.rounds > _MOST_EXACT_ROUNDS:
            return rough
        return upper_tail_bound(self.rounds + 1, self.dimension, bad)

    def _mended(self, t: int, s: int) -> Fraction:
        rate = float(1 / self.temperature)
        weight = self.dimension * missed_weight(float(self.first_variance), rate, s, t)
        weight += self.rounds * missed_weight(float(self.second_variance), rate, s, t)
        return self.rounds * (Fraction(weight) + _above(self.second_variance, s))


def _chernoff(successes: int, trials: int, probability: Fraction) -> Fraction:
    r"""Return :math:`e^{-n\,KL(k/n \| p)}`, rounded up: it bounds :math:`P[Bin(n, p) \ge k]`."""
    share = Fraction(successes, trials)
    if share <= probability:
        return Fraction(1)
    if share > 1 or not probability:
        return Fraction(0)
    divergence = share * log_down(share / probability)
    if share < 1:
        divergence += (1 - share) * log_down((1 - share) / (1 - probability))
    return exp_up(-min(trials * divergence, _FAR))


def _above(variance: Fraction, reach: int) -> Fraction:
    """Return the chance of an error above ``reach``, rounded up."""
    return min(Fraction(1), 2 * gaussian_tail_bounds(variance, reach + 1, _BITS)[1])
