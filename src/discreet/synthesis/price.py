"""The price of a synthesis: what noise and which keys are drawn for it, and what is charged."""

from collections.abc import Sequence
from fractions import Fraction

from attrs import evolve, frozen

from discreet.accounting.calibration import calibrate
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.stated_event import PureEvent, ZcdpEvent
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.project.charged import charged
from discreet.project.noise import choose_keys, keys_contribution
from discreet.project.terms import Terms
from discreet.synthesis.private_bins import BINS
from discreet.tables.catalog import Limits

KEYS = Fraction(1, 10)
"""The part of the price that finds the values of columns which have no declared ones."""


@frozen(kw_only=True)
class SynthesisPrice:
    """A price for noise, which can be divided; how values are found; and what is charged."""

    of_noise: Pure | Zcdp
    keys: tuple[ThresholdedKeys, ...]
    """How the values of each column without declared ones are found."""
    event: Event
    charged: PrivacyLoss
    of_bins: Pure | Zcdp | None = None
    """What finds the bins of one column, if there are any to be found."""


def synthesis_price(
    terms: Terms, cap: PrivacyLoss, opened: Sequence[Limits], *, bins: int = 0
) -> SynthesisPrice:
    """Return the price that terms offer to a budget, with the limits of each column without keys.

    An ε buys Laplace noise, a ρ whichever noise errs less. An ε with a δ buys the largest ρ that is
    certified to be within both; a budget in (ε, δ) is charged these, and one in ρ the ρ. Values are
    found for a δ, of which they take half where the noise needs some as well. What is for noise is
    shared with the bins of so many columns.

    Guarantee:
        What finds values and what adds noise are composed: their losses are parts of the price, and
        add up to what is charged (basic composition for ε and δ; ρ and δ by [BS16, Lemma 8.2]).
    """
    found = _price(terms, cap, opened)
    if not bins:
        return found
    each = found.of_noise * (BINS / bins)
    return evolve(found, of_noise=found.of_noise * (1 - BINS), of_bins=each)


def _price(terms: Terms, cap: PrivacyLoss, opened: Sequence[Limits]) -> SynthesisPrice:
    if not terms.has_price() or terms.accuracy is not None:
        raise InvalidArgument(
            "A synthesis has a price",
            must="be an ε or a ρ, perhaps with a δ",
            next="Such as rho=0.1, or epsilon=1 with delta=1e-9",
        )
    price = terms.price()
    if not opened:
        return _without_keys(price, cap)
    if not isinstance(price, Approximate | ApproximateZcdp):
        raise Unsupported(
            "Values that are not declared are found for a δ, and none is offered",
            next="Give delta=, such as 1e-9; or declare the keys, or leave the columns out",
        )
    return _with_keys(price, cap, opened)


def _without_keys(price: PrivacyLoss, cap: PrivacyLoss) -> SynthesisPrice:
    if isinstance(price, Approximate):
        found = calibrate(_event, target=price)
        rho = Zcdp(_rho(found.scale))
        event: Event = ZcdpEvent(rho=rho.rho)
        whole = found.result.loss if isinstance(cap, Approximate) else charged(event, cap)
        return SynthesisPrice(of_noise=rho, keys=(), event=event, charged=whole)
    noise = Zcdp(price.rho) if isinstance(price, ApproximateZcdp) else price
    assert isinstance(noise, Pure | Zcdp)
    event = _stated(noise)
    return SynthesisPrice(of_noise=noise, keys=(), event=event, charged=charged(event, cap))


def _with_keys(
    price: Approximate | ApproximateZcdp, cap: PrivacyLoss, opened: Sequence[Limits]
) -> SynthesisPrice:
    share: Approximate | ApproximateZcdp
    count = len(opened)
    if isinstance(price, Approximate):
        share = Approximate(price.epsilon * KEYS / count, price.delta / 2 / count)
        rest = _without_keys(Approximate(price.epsilon * (1 - KEYS), price.delta / 2), cap)
    else:
        share = ApproximateZcdp(price.rho * KEYS / count, price.delta / count)
        rest = _without_keys(Zcdp(price.rho * (1 - KEYS)), cap)
    found = {limits: choose_keys(limits, share) for limits in opened}
    keys_event = ComposedEvent.of(
        [found[limits].event(keys_contribution(limits)) for limits in opened]
    )
    return SynthesisPrice(
        of_noise=rest.of_noise,
        keys=tuple(found[limits] for limits in opened),
        event=ComposedEvent.of([keys_event, rest.event]),
        charged=charged(keys_event, cap) + rest.charged,
    )


def _stated(noise: Pure | Zcdp) -> Event:
    return PureEvent(noise.epsilon) if isinstance(noise, Pure) else ZcdpEvent(rho=noise.rho)


def _event(scale: Fraction) -> Event:
    return ZcdpEvent(rho=_rho(scale))


def _rho(scale: Fraction) -> Fraction:
    return 1 / (2 * scale**2)
