"""What an offered δ buys where the keys are public: Gaussian noise, if it errs less than Laplace.

Laplace noise grows with the number of groups that a unit can be in, and with the number of
aggregates; Gaussian noise with the roots of them. So a δ helps many groups, and a single count not.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from attrs import evolve, frozen

from discreet.accounting.calibration import Calibration, calibrate
from discreet.accounting.filters.filter import largest_mu_squared
from discreet.core.errors import RefusedQuery, Unsupported
from discreet.core.event import ComposedEvent
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.curator.price.price import Answer, Drawn, PricedPlan, event_of
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.project.charged import charged
from discreet.project.noise import require_samplable, use
from discreet.project.terms import Terms
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import Tally

_BETA = 1 - CONFIDENCE
_DEVIATIONS = Fraction(196, 100)
_MARGIN = Fraction(9, 10)
"""The estimate of Gaussian noise may be too large by so much: only what is clearly worse is not
worked out."""

Weights = tuple[Fraction, ...]


def best_for(priced: PricedPlan, weights: Weights, terms: Terms, cap: PrivacyLoss) -> PricedPlan:
    r"""Return the plan with Laplace noise as it is, or with Gaussian noise that spends (ε, δ).

    Guarantee:
        Each count and sum gets discrete Gaussian noise with
        :math:`\sigma^2 = m^2 \ell_2^2 / w`, ``w`` its part of the weights and :math:`m` one
        multiplier for all; choices (quantiles) keep their part of ε. The loss of *all* events
        together is certified by the accountant to be within the (ε, δ) that was offered
        (:func:`~discreet.accounting.calibration.calibrate`). A budget in (ε, δ) is charged what is
        certified; one in ρ is charged the ρ of the events. Where Laplace noise stays, it is charged
        its ε and no δ.

        Which noise is taken follows from limits, bounds and the price alone. With :math:`r` the 95
        % error of Gaussian noise over that of Laplace noise, Gaussian noise is taken if the largest
        :math:`r` of all aggregates is below the largest :math:`1/r`.
    """
    offered = _offer(terms)
    if offered is None or not takes_delta(priced, cap):
        return priced
    try:
        if not _is_hopeful(priced, weights, offered):
            return priced
        gaussian = _with_gaussian(priced, weights, offered, cap)
    except (RefusedQuery, Unsupported):
        return priced
    return gaussian if _is_better(_ratios(gaussian, priced)) else priced


@frozen(kw_only=True)
class BoughtByDelta:
    """What a δ that nobody offered would buy."""

    delta: Fraction
    priced: PricedPlan


def propose_delta(
    priced: PricedPlan, weights: Weights, terms: Terms, cap: PrivacyLoss, remaining: PrivacyLoss
) -> BoughtByDelta | None:
    """Return what a δ would buy that the budget still has, if none was offered and it would help.

    It is the largest power of ten that is at most a tenth of the δ of the whole budget.
    """
    if terms.delta is not None or terms.epsilon is None or not takes_delta(priced, cap):
        return None
    delta = _tenth(cap)
    if getattr(remaining, "delta", 0) < delta:
        return None
    found = best_for(priced, weights, Terms(epsilon=terms.epsilon, delta=delta), cap)
    if found is priced:
        return None
    # The names that the plan had before are those at its own price.
    return BoughtByDelta(delta=delta, priced=evolve(found, earlier=()))


def _offer(terms: Terms) -> Approximate | None:
    if terms.accuracy is not None:
        return None
    price = terms.price()
    return price if isinstance(price, Approximate) else None


def takes_delta(priced: PricedPlan, cap: PrivacyLoss) -> bool:
    """Tell whether the budget has a δ, and the plan public keys and something to add noise to."""
    has_delta = isinstance(cap, Approximate | ApproximateZcdp) and cap.delta > 0
    return has_delta and isinstance(priced.groups, PublicKeys) and any(_tallies(priced))


def _tallies(priced: PricedPlan) -> Iterator[tuple[int, Tally]]:
    for index, aggregate in enumerate(priced.plan.aggregates):
        if isinstance(aggregate, Tally):
            yield index, aggregate


def _tenth(cap: PrivacyLoss) -> Fraction:
    delta = getattr(cap, "delta", Fraction(0))
    power = 1
    while 10 * Fraction(1, 10**power) > delta:
        power += 1
    return Fraction(1, 10**power)


def _with_gaussian(
    priced: PricedPlan, weights: Weights, offered: Approximate, cap: PrivacyLoss
) -> PricedPlan:
    unit = event_of(priced.groups, _answers(priced, weights, Fraction(1)))
    found = _calibrated(unit, offered)
    answers = _answers(priced, weights, found.scale)
    for answer in answers:
        require_samplable(answer.mechanism.spread)
    assert isinstance(found.result.loss, Approximate)
    loss: PrivacyLoss = found.result.loss
    if not isinstance(cap, Approximate):
        loss = charged(event_of(priced.groups, answers), cap)
    return evolve(priced, answers=answers, loss=loss)


@lru_cache(maxsize=64)
def _calibrated(unit: ComposedEvent, target: Approximate) -> Calibration:
    """Return the multiplier for events that have noise of a multiplier of 1; remember it.

    A question is usually explained before it is asked. All that is remembered is public.
    """
    return calibrate(lambda multiplier: _widened(unit, multiplier), target=target)


def _widened(unit: ComposedEvent, multiplier: Fraction) -> ComposedEvent:
    return ComposedEvent.of(
        [
            evolve(part, sigma_squared=multiplier**2 * part.sigma_squared) * count
            if isinstance(part, DiscreteGaussianEvent)
            else part * count
            for part, count in unit.parts
        ]
    )


def _answers(priced: PricedPlan, weights: Weights, multiplier: Fraction) -> tuple[Answer, ...]:
    """Return Gaussian noise of a multiplier for what gets noise, and the choices as they are."""
    answers, reach = list(priced.answers), priced.plan.reach()
    for index, aggregate in _tallies(priced):
        variance = multiplier**2 * _unit_variance(priced, weights, index)
        noise = DiscreteGaussian(sigma_squared=variance)
        answers[index] = Drawn(noise, use(aggregate, noise, reach))
    return tuple(answers)


def _unit_variance(priced: PricedPlan, weights: Weights, index: int) -> Fraction:
    """Return the variance of an aggregate's noise for a multiplier of 1."""
    whole = sum((weights[i] for i, _ in _tallies(priced)), Fraction(0))
    moved = priced.plan.aggregates[index].contribution(priced.plan.reach())
    return moved.bound("l2_squared") * whole / weights[index]


def _ratios(gaussian: PricedPlan, laplace: PricedPlan) -> list[Fraction]:
    """Return how many times larger the errors are with Gaussian noise."""
    pairs = [(gaussian.mechanisms[i], laplace.mechanisms[i]) for i, _ in _tallies(laplace)]
    return [_error(one) / _error(other) for one, other in pairs]


def _is_hopeful(priced: PricedPlan, weights: Weights, offered: Approximate) -> bool:
    """Tell whether Gaussian noise may be better, by the scale that continuous noise would have.

    Choices are left out of the estimate, so that it is too small for them rather than too large.
    """
    squared = largest_mu_squared(offered.epsilon, offered.delta)
    bars = {
        index: (_MARGIN * _DEVIATIONS) ** 2 * _unit_variance(priced, weights, index) / squared
        for index, _ in _tallies(priced)
    }
    # Squares compare as their roots do.
    return _is_better([bars[i] / _error(priced.mechanisms[i]) ** 2 for i in bars])


def _error(mechanism: AggregateMechanism) -> Fraction:
    """Return the 95 % error in steps; less than half a step is taken for half of one."""
    return max(Fraction(1, 2), error_of(mechanism, _BETA))


def _is_better(ratios: list[Fraction]) -> bool:
    return max(ratios) * min(ratios) < 1
