"""Price: choose each aggregate's mechanism, and say what the whole answer costs."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

from attrs import frozen

from discreet.core.canonical import described, digest
from discreet.core.errors import InvalidArgument, UndeclaredKeys
from discreet.core.event import ComposedEvent, Event
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp
from discreet.core.unit_words import UNITS
from discreet.curator.price.allocate import Shares
from discreet.curator.price.fewest_cut import FewestCut
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.mechanisms.selection.quantile_end import QuantileEnd
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.project.charged import charged
from discreet.project.noise import (
    END_PART,
    POINT_PART,
    choose_keys,
    ends_event,
    ends_for,
    keys_contribution,
    mechanism_for,
    use,
)
from discreet.releases.body import NOISE
from discreet.tables.catalog import Limits
from discreet.tables.keyset import PublicKeys
from discreet.tables.plans.aggregate import Aggregate
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.relation import Computed


@frozen
class Drawn:
    """An aggregate that is answered with noise, or by a choice, of its own."""

    mechanism: AggregateMechanism
    event: Event
    """Of all that is drawn, the ends included."""
    ends: tuple[QuantileEnd, ...] = ()
    """What chooses the two ends of a quantile's interval; nothing else has any."""


@frozen
class Counted:
    """The number of units of private groups: the noisy counts that chose them are its answer.

    They are part of the event of the choice, which is paid for already.
    """

    keys: ThresholdedKeys
    event: Event

    @property
    def mechanism(self) -> AggregateMechanism:
        """The noise of the counts."""
        return self.keys.noise


Answer = Drawn | Counted


@frozen(kw_only=True)
class ChosenGroups:
    """The choice of private groups."""

    mechanism: ThresholdedKeys
    event: Event
    most_groups: int | None = None
    """Under a deadline: so many groups are shown at most."""


@frozen(kw_only=True)
class PricedPlan:
    """A bounded plan with its noise and its cost: everything but the data. All of it is public."""

    plan: BoundedPlan
    groups: PublicKeys | ChosenGroups
    """Which groups are shown: all public ones, or those that are chosen."""
    answers: tuple[Answer, ...]
    """One for each aggregate."""
    loss: PrivacyLoss
    """What is charged, in the measure of the budget."""
    earlier: tuple[str, ...] = ()
    """Names under which earlier versions stored the answer to the same question at this price."""
    choice: "LimitsChoice | None" = None
    """How limits are chosen behind the gate, if they are; the plan is then one of the candidates,
    and none of the others costs more."""

    @property
    def mechanisms(self) -> tuple[AggregateMechanism, ...]:
        """Whose noise, or choice, is in the answer to each aggregate."""
        return tuple(answer.mechanism for answer in self.answers)

    @property
    def ends(self) -> dict[int, tuple[QuantileEnd, ...]]:
        """What chooses the ends of intervals, by the aggregate that they are about."""
        drawn = enumerate(self.answers)
        return {i: one.ends for i, one in drawn if isinstance(one, Drawn) and one.ends}

    @property
    def event(self) -> ComposedEvent:
        """All that the accountants must know about what the plan releases."""
        own = event_of(self.groups, self.answers)
        return own if self.choice is None else ComposedEvent.of([self.choice.event, own])

    @cached_property
    def question(self) -> str:
        """The name of the question: equal for equal plans, whatever they cost."""
        limits = {} if self.choice is None else {"limits": "auto"}
        return digest({"question": self._plan_json | limits, "noise": NOISE})

    @cached_property
    def _plan_json(self) -> dict[str, Any]:
        return self.plan.to_json()

    def digest(self) -> str:
        """Return the name of this plan: equal for equal questions at an equal price.

        Where limits are to be chosen, it is that of all candidates together.
        """
        plan = self._plan_json
        if self.choice is None:
            return digest({"plan": plan, "noise": NOISE} | self.drawn_json())
        return digest({"plan": plan | {"limits": self.choice.to_json()}, "noise": NOISE})

    def drawn_json(self) -> dict[str, Any]:
        """Return what is drawn for the plan, canonically."""
        chosen = self.groups if isinstance(self.groups, ChosenGroups) else None
        most = None if chosen is None else chosen.most_groups
        parts = {
            "event": self.event.to_json(),
            "mechanisms": [mechanism.to_json() for mechanism in self.mechanisms],
            "keys": None if chosen is None else described(chosen.mechanism),
        }
        if most is not None:
            parts |= {"most_groups": most}
        if self.ends:
            named = {str(i): [end.to_json() for end in ends] for i, ends in self.ends.items()}
            parts |= {"ends": named}
        return parts


@frozen(kw_only=True)
class LimitsChoice:
    """Limits that are chosen behind the gate, privately, for a part of the price."""

    plan: BoundedPlan
    """Counts the units by how much of them there is."""
    mechanism: FewestCut
    event: Event
    candidates: tuple[PricedPlan, ...]
    share: Fraction
    """Which part of the price it costs."""

    def to_json(self) -> dict[str, Any]:
        """Return what the choice means, canonically, for the name of the plan."""
        return {
            "auto": str(self.share),
            "units": self.plan.to_json(),
            "mechanism": self.mechanism.to_json(),
            "candidates": [
                {"limits": described(one.plan.limits)} | one.drawn_json() for one in self.candidates
            ],
        }


def price(
    plan: BoundedPlan, shares: Shares, cap: PrivacyLoss, *, has_ends: bool = True
) -> PricedPlan:
    r"""Return the plan with noise that spends no more than the shares.

    Half of what a quantile may spend buys its value, and a quarter each end of its interval. An
    earlier version had no ends, and all of it bought the value.

    Guarantee:
        The cost is worked out again from the events, by the accountant of the budget's measure,
        rather than taken over from the shares: what is charged is what the noise costs. The
        mechanisms follow from the limits, the bounds and the shares; the data, and the number of
        private keys in it, have no part in the choice.
    """
    reach = plan.reach()
    answers: dict[int, Answer] = {}
    groups: PublicKeys | ChosenGroups
    if isinstance(plan.keys, PublicKeys):
        groups = plan.keys
    else:
        require_delta_budget(plan, cap)
        groups = _chosen(reach, shares)
        if plan.counted is not None:
            answers[plan.counted] = Counted(groups.mechanism, groups.event)
    for index, share in shares.aggregates.items():
        answers[index] = _drawn(plan.aggregates[index], reach, share, has_ends)
    in_order = tuple(answers[index] for index in range(len(plan.aggregates)))
    loss = charged(event_of(groups, in_order), cap)
    return PricedPlan(plan=plan, groups=groups, answers=in_order, loss=loss)


def _drawn(aggregate: Aggregate, reach: Limits, share: Pure | Zcdp, has_ends: bool) -> Drawn:
    ends = ends_for(aggregate, reach, share * END_PART) if has_ends else ()
    mechanism = mechanism_for(aggregate, reach, share * POINT_PART if ends else share)
    return drawn_by(aggregate, mechanism, ends, reach)


def drawn_by(
    aggregate: Aggregate,
    mechanism: AggregateMechanism,
    ends: tuple[QuantileEnd, ...],
    reach: Limits,
) -> Drawn:
    """Return what is drawn by a mechanism, and by those of the ends if there are any."""
    event = use(aggregate, mechanism, reach)
    if not ends:
        return Drawn(mechanism, event)
    return Drawn(mechanism, ComposedEvent.of([event, ends_event(ends, reach)]), ends)


def _chosen(reach: Limits, shares: Shares) -> ChosenGroups:
    if shares.keys is None:
        raise InvalidArgument("The shares do not fit the plan", must="have one for private keys")
    keys = choose_keys(reach, shares.keys)
    return ChosenGroups(mechanism=keys, event=keys.event(keys_contribution(reach)))


def event_of(groups: PublicKeys | ChosenGroups, answers: Iterable[Answer]) -> ComposedEvent:
    """Return the events of the choice of groups, if there is one, and of all that is drawn."""
    chosen = [groups.event] if isinstance(groups, ChosenGroups) else []
    own = [answer.event for answer in answers if isinstance(answer, Drawn)]
    return ComposedEvent.of([*chosen, *own])


_WORKED_OUT = "worked out from declared ones, or declared"


def require_delta_budget(plan: BoundedPlan, cap: PrivacyLoss) -> None:
    """Refuse private keys on a budget that has no δ to spend on them."""
    if isinstance(cap, Approximate | ApproximateZcdp):
        return
    fields = plan.relation.fields()
    grouped = [fields[index] for index in plan.keys.fields]
    names = ", ".join(one.name for one in grouped)
    is_made = any(isinstance(one.made, Computed) for one in grouped)
    raise UndeclaredKeys(
        f"The keys of {names} are not public, and this budget has no δ",
        must=f"have its keys {_WORKED_OUT if is_made else 'declared'},"
        " because the groups that appear would tell who is there",
        got=f"a budget in {cap.measure.value}",
        next="Declare keys for the column (a list, a column of a public table, or a range of whole"
        " numbers). Or have the budget declared with delta, before anything is spent of it: then"
        f" the groups appear that enough {UNITS} share",
    )
