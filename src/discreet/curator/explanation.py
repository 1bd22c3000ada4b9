"""An explanation: what a query would do and cost, derived step by step. Nothing is spent by it."""

from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.accounting.gates.filters import left
from discreet.core.loss import PrivacyLoss, loss_from_json, short
from discreet.core.rounding import sqrt_up
from discreet.curator.noise import Noise
from discreet.curator.price import PricedPlan
from discreet.curator.publish import label
from discreet.curator.release import CONFIDENCE, plain
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.tables.aggregate import Aggregate
from discreet.tables.catalog import IdSpace


@frozen(kw_only=True)
class Explanation:
    """Everything public about a priced plan, and what would be left of the budget after it."""

    priced: PricedPlan
    id_space: IdSpace
    remaining: PrivacyLoss
    is_stored: bool

    @property
    def cost(self) -> PrivacyLoss:
        """What asking would cost now: nothing, if the answer is stored already."""
        return self.priced.loss * 0 if self.is_stored else self.priced.loss

    def is_affordable(self) -> bool:
        """Tell whether the budget admits the query now."""
        return self.cost <= self.remaining

    def steps(self) -> list[tuple[str, str]]:
        """Return the derivation: a heading and a sentence for each step."""
        plan, limits = self.priced.plan, self.priced.plan.limits
        keys = len(plan.keys.rows)
        names = ", ".join(column.name for column in plan.keys.columns)
        shown = f"{keys} public keys of {names}; empty groups appear too" if names else "one row"
        kept = (
            f"at most {limits.rows_per_group} rows in each of at most {limits.groups_per_unit} "
            "groups of one unit count; a keyed hash chooses"
        )
        return [
            ("Protects", f"{self.id_space.unit} ({plan.table.unit.column} in {plan.table.name})"),
            ("Groups", shown),
            ("Limits", kept),
            *(
                (column["name"], self._column_sentence(column))
                for column in self.to_json()["columns"]
            ),
            ("Costs", self._cost_sentence()),
        ]

    def _column_sentence(self, column: dict[str, Any]) -> str:
        step = Fraction(column["step"])
        moved = short(Fraction(column["contribution"]["l1"]) * step)
        return (
            f"one unit can change all groups together by {moved}, so {column['noise']} noise of "
            f"scale {column['scale']} costs {loss_from_json(column['cost'])}; "
            f"95 % of values are within ± {column['error']} of the limited truth"
        )

    def _cost_sentence(self) -> str:
        if self.is_stored:
            return f"nothing: this was answered before; {_down(self.remaining)} is left"
        now = f"{_down(self.remaining)} is left of {self.id_space.cap}"
        if not self.is_affordable():
            return f"{self.cost}, which is too much: {now}"
        return f"{self.cost}; {now} now, {_down(left(self.remaining, self.cost))} after"

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        plan = self.priced.plan
        parts = zip(plan.aggregates, plan.contributions(), self.priced.mechanisms, strict=True)
        columns = [
            {
                "name": name(aggregate),
                "contribution": {
                    norm: str(d_in.bound(norm)) for norm in ("l0", "linf", "l1", "l2_squared")
                },
                "step": str(aggregate.step()),
                "noise": _name_of(mechanism),
                "scale": _scale_of(mechanism, aggregate.step()),
                "cost": mechanism.loss(d_in).to_json(),
                "error": plain(mechanism.error_quantile(1 - CONFIDENCE) * aggregate.step()),
            }
            for aggregate, d_in, mechanism in parts
        ]
        return {
            "unit": self.id_space.unit,
            "id_space": self.id_space.name,
            "table": plan.table.name,
            "keys": {"columns": [c.name for c in plan.keys.columns], "count": len(plan.keys.rows)},
            "limits": {
                "rows_per_group": plan.limits.rows_per_group,
                "groups_per_unit": plan.limits.groups_per_unit,
            },
            "columns": columns,
            "confidence": float(CONFIDENCE),
            "cost": self.cost.to_json(),
            "remaining": self.remaining.to_json(),
            "affordable": self.is_affordable(),
            "stored": self.is_stored,
        }

    def __str__(self) -> str:
        """Show the steps, one a line."""
        width = max(len(heading) for heading, _ in self.steps())
        return "\n".join(f"{heading.ljust(width)}  {text}" for heading, text in self.steps())


def _name_of(noise: Noise) -> str:
    return "discrete Laplace" if isinstance(noise, DiscreteLaplace) else "discrete Gaussian"


def _scale_of(noise: Noise, step: Fraction) -> str:
    """Return the scale (for a Gaussian, σ) in the units of the answer, as a short decimal."""
    if isinstance(noise, DiscreteLaplace):
        return short(noise.scale * step)
    return short(sqrt_up(noise.sigma_squared) * step)


def _down(loss: PrivacyLoss) -> str:
    """Show what is left: never more than there is."""
    return loss.shown(rounding=ROUND_FLOOR)


def name(aggregate: Aggregate) -> str:
    """Return what an aggregate is called in a sentence."""
    parts = label(aggregate)
    return f"{parts['aggregate'].upper()}({parts.get('column', '*')})"
