"""One aggregate, explained: what a unit can move of it, its mechanism, its price and its error."""

from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.counted import counted
from discreet.core.event import ComposedEvent
from discreet.core.loss import PrivacyLoss
from discreet.curator.price.output_error import readable
from discreet.curator.price.price import Counted, PricedPlan
from discreet.mechanisms.noise_json import AggregateMechanism
from discreet.mechanisms.selection.quantile_end import QuantileEnd
from discreet.project.costs import first_cost
from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.releases.cells import plain_up
from discreet.releases.view import ClampSource

_BETA = 1 - CONFIDENCE
_NORMS = ("l0", "linf", "l1", "l2_squared")


@frozen(kw_only=True)
class ColumnExplanation:
    """What is public about one aggregate."""

    name: str
    contribution: Contribution
    derivation: str
    clamp: ClampSource | None
    step: Fraction
    mechanism: AggregateMechanism
    cost: PrivacyLoss
    """By itself, in the first measure that has a theorem: ε before ρ."""
    ends: tuple[QuantileEnd, ...]
    """What chooses the ends of a quantile's interval."""
    units: int | None
    """If the counts that chose the groups are its answer: from how many on the error bar holds."""

    @staticmethod
    def of(priced: PricedPlan, index: int, clamp: ClampSource | None) -> "ColumnExplanation":
        """Explain the aggregate at ``index``; ``clamp`` says where the range of its value is from.

        The counts that chose private groups cost what the choice costs, and nothing more.
        """
        plan, answer = priced.plan, priced.answers[index]
        aggregate, reach = plan.aggregates[index], plan.reach()
        return ColumnExplanation(
            name=aggregate.label(plan.relation.fields())["text"],
            contribution=aggregate.contribution(reach),
            derivation=aggregate.derivation(reach, None if clamp is None else clamp.value),
            clamp=clamp,
            step=aggregate.step,
            mechanism=answer.mechanism,
            ends=priced.ends.get(index, ()),
            cost=first_cost(ComposedEvent.of([answer.event])),
            units=answer.keys.threshold if isinstance(answer, Counted) else None,
        )

    @property
    def scale(self) -> str:
        """The scale of the noise, in the units of the answer."""
        return self.mechanism.scale_in_words(self.step)

    @property
    def error(self) -> int | float:
        """The 95 % error bar, in the units of the answer or in ranks."""
        error = error_of(self.mechanism, _BETA)
        return plain_up(error if self.mechanism.counts_ranks else error * self.step)

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        return {
            "name": self.name,
            "contribution": {norm: str(self.contribution.bound(norm)) for norm in _NORMS},
            "derivation": self.derivation,
            "clamp": None if self.clamp is None else self.clamp.value,
            "step": str(self.step),
            "noise": self.mechanism.words,
            "scale": self.scale,
            "cost": self.cost.to_json(),
            "free": self.units is not None,
            "error": self.error,
            "error_in": "ranks" if self.mechanism.counts_ranks else "values",
            "error_from_units": self.units,
            "interval_from_ranks": plain_up(self.ends[0].distance) if self.ends else None,
        }

    def _ends_sentence(self) -> str:
        if not self.ends:
            return "This costs"
        far = readable(plain_up(self.ends[0].distance))
        return (
            f"So are the two ends of its interval of values, {counted(far, 'row')} below and above,"
            " with a quarter of the price each; together this costs"
        )

    def sentence(self) -> str:
        """Return the explanation for people."""
        error = readable(self.error)
        if self.units is not None:
            return (
                f"{self.derivation}; the noisy counts that chose the groups ({self.mechanism.words}"
                f" noise of scale {self.scale}) are its answer, at no further cost. Of groups of"
                f" {self.units} units or more that are shown, 95 % are within ± {error} of the"
                " answer without noise; a smaller group is shown only if its noise is high, so"
                " there they are too large, and the answer's intervals take account of that"
            )
        if self.mechanism.counts_ranks:
            return (
                f"{self.derivation}; it is chosen at random, a value e times less likely for every"
                f" {counted(self.scale, 'row')} that its rank is off; in 95 % of groups the rank is"
                f" off by at most {counted(error, 'row')}. {self._ends_sentence()} {self.cost}"
            )
        return (
            f"{self.derivation}. So {self.mechanism.words} noise of scale {self.scale} costs"
            f" {self.cost}; 95 % of values are within ± {error} of the answer without noise"
        )
