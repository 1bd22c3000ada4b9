"""Price: choose each aggregate's noise, and say what the whole answer costs."""

from fractions import Fraction

from attrs import frozen

from discreet.accounting.pure import pure_loss
from discreet.core.canonical import digest
from discreet.core.errors import RefusedQuery
from discreet.core.event import ComposedEvent
from discreet.core.loss import Pure
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.randomness.scale import LARGEST, SMALLEST
from discreet.tables.plan import BoundedPlan


@frozen(kw_only=True)
class PricedPlan:
    """A bounded plan with its noise and its cost: everything but the data. All of it is public."""

    plan: BoundedPlan
    mechanisms: tuple[DiscreteLaplace, ...]
    event: ComposedEvent
    loss: Pure

    def digest(self) -> str:
        """Return the name of this plan: equal for equal questions at an equal price."""
        return digest({"plan": self.plan.to_json(), "event": self.event.to_json()})


def price(plan: BoundedPlan, shares: tuple[Pure, ...]) -> PricedPlan:
    """Return the plan with noise that spends each share exactly.

    The cost is worked out again from the events, by the accountant, rather than taken over from
    the shares: what is charged is what the noise costs.
    """
    contributions = plan.contributions()
    mechanisms = tuple(
        DiscreteLaplace.calibrate(d_in=d_in, loss=share)
        for d_in, share in zip(contributions, shares, strict=True)
    )
    for mechanism in mechanisms:
        _require_samplable(mechanism.scale)
    pairs = zip(mechanisms, contributions, strict=True)
    event = ComposedEvent.of([mechanism.event(d_in) for mechanism, d_in in pairs])
    return PricedPlan(plan=plan, mechanisms=mechanisms, event=event, loss=pure_loss([event]))


def _require_samplable(scale: Fraction) -> None:
    if not SMALLEST <= scale <= LARGEST:
        raise RefusedQuery(
            "This ε asks for noise outside the range that we can draw exactly",
            must=f"need a noise scale from {SMALLEST} to {LARGEST} steps",
            got=f"about {float(scale):.3g}",
            next="Choose another ε, or declare another step",
        )
