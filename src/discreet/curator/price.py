"""Price: choose each aggregate's noise, and say what the whole answer costs."""

from attrs import frozen

from discreet.core.canonical import digest
from discreet.core.event import ComposedEvent
from discreet.core.loss import PrivacyLoss
from discreet.curator.noise import Noise, choose_noise
from discreet.curator.offer import Offer, charged
from discreet.tables.plan import BoundedPlan


@frozen(kw_only=True)
class PricedPlan:
    """A bounded plan with its noise and its cost: everything but the data. All of it is public."""

    plan: BoundedPlan
    mechanisms: tuple[Noise, ...]
    event: ComposedEvent
    loss: PrivacyLoss
    """What is charged, in the measure of the budget."""

    def digest(self) -> str:
        """Return the name of this plan: equal for equal questions at an equal price."""
        return digest({"plan": self.plan.to_json(), "event": self.event.to_json()})


def price(plan: BoundedPlan, shares: tuple[Offer, ...], cap: PrivacyLoss) -> PricedPlan:
    """Return the plan with noise that spends no more than the shares.

    The cost is worked out again from the events, by the accountant of the budget's measure, rather
    than taken over from the shares: what is charged is what the noise costs.
    """
    mechanisms = tuple(
        choose_noise(d_in, share) for d_in, share in zip(plan.contributions(), shares, strict=True)
    )
    event = event_of(plan, mechanisms)
    return PricedPlan(plan=plan, mechanisms=mechanisms, event=event, loss=charged(event, cap))


def event_of(plan: BoundedPlan, mechanisms: tuple[Noise, ...]) -> ComposedEvent:
    """Return all that the accountants must know about the noise of a plan."""
    pairs = zip(mechanisms, plan.contributions(), strict=True)
    return ComposedEvent.of([mechanism.event(d_in) for mechanism, d_in in pairs])
