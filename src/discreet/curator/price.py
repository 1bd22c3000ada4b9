"""Price: choose each aggregate's mechanism, and say what the whole answer costs."""

from attrs import frozen

from discreet.core.canonical import described, digest
from discreet.core.errors import UndeclaredKeys
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss
from discreet.curator.allocate import Shares
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.project.charged import charged
from discreet.project.noise import choose_keys, keys_contribution, mechanism_for, use
from discreet.releases.superseded import NOISE
from discreet.tables.keyset import PrivateKeys
from discreet.tables.plans.plan import BoundedPlan


@frozen(kw_only=True)
class PricedPlan:
    """A bounded plan with its noise and its cost: everything but the data. All of it is public."""

    plan: BoundedPlan
    mechanisms: tuple[AggregateMechanism, ...]
    """One for each aggregate. That of a number of units which chose private keys is their noise."""
    keys_mechanism: ThresholdedKeys | None = None
    event: ComposedEvent
    loss: PrivacyLoss
    """What is charged, in the measure of the budget."""
    most_groups: int | None = None
    """With private keys under a deadline: so many groups are shown at most."""

    def digest(self) -> str:
        """Return the name of this plan: equal for equal questions at an equal price."""
        most = {} if self.most_groups is None else {"most_groups": self.most_groups}
        return digest(
            most
            | {
                "plan": self.plan.to_json(),
                "noise": NOISE,
                "event": self.event.to_json(),
                "mechanisms": [mechanism.to_json() for mechanism in self.mechanisms],
                "keys": described(self.keys_mechanism),
            }
        )


def price(plan: BoundedPlan, shares: Shares, cap: PrivacyLoss) -> PricedPlan:
    r"""Return the plan with noise that spends no more than the shares.

    Guarantee:
        The cost is worked out again from the events, by the accountant of the budget's measure,
        rather than taken over from the shares: what is charged is what the noise costs. The
        mechanisms follow from the limits, the bounds and the shares; the data, and the number of
        private keys in it, have no part in the choice.
    """
    reach = plan.reach()
    keys = None
    if isinstance(plan.keys, PrivateKeys):
        require_delta_budget(plan, cap)
        assert shares.keys is not None
        keys = choose_keys(reach, shares.keys)
    mechanisms: list[AggregateMechanism] = []
    for aggregate, share in zip(plan.aggregates, shares.aggregates, strict=True):
        if share is None:
            assert keys is not None
            mechanisms.append(keys.noise)
        else:
            mechanisms.append(mechanism_for(aggregate, reach, share))
    event = event_of(plan, tuple(mechanisms), keys)
    return PricedPlan(
        plan=plan,
        mechanisms=tuple(mechanisms),
        keys_mechanism=keys,
        event=event,
        loss=charged(event, cap),
    )


def event_of(
    plan: BoundedPlan,
    mechanisms: tuple[AggregateMechanism, ...],
    keys: ThresholdedKeys | None = None,
) -> ComposedEvent:
    """Return all that the accountants must know about what a plan releases.

    The counts that chose private keys are part of the keys' event, so an aggregate that they
    answer adds none.
    """
    reach, free = plan.reach(), plan.counted
    pairs = enumerate(zip(mechanisms, plan.aggregates, strict=True))
    events: list[Event] = [use(asked, noise, reach) for i, (noise, asked) in pairs if i != free]
    if keys is not None:
        events.insert(0, keys.event(keys_contribution(reach)))
    return ComposedEvent.of(events)


def require_delta_budget(plan: BoundedPlan, cap: PrivacyLoss) -> None:
    """Refuse private keys on a budget that has no δ to spend on them."""
    if isinstance(cap, Approximate | ApproximateZcdp):
        return
    fields = plan.relation.fields()
    names = ", ".join(fields[index].name for index in plan.keys.fields)
    raise UndeclaredKeys(
        f"The keys of {names} are not public, and this budget has no δ",
        must="have its keys declared, because the groups that appear would tell who is there",
        got=f"a budget in {cap.measure.value}",
        next="Declare keys = [...] for the column, or have the budget declared with delta, which"
        " shows the groups that enough people share",
    )
