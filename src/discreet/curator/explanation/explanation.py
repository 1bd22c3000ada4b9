"""An explanation: what a query would do and cost, derived step by step. Nothing is spent by it."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.accounting.filters.rules import left
from discreet.core.html_text import html_page, html_steps
from discreet.core.loss import Approximate, PrivacyLoss, Pure, short
from discreet.core.terminal_text import text_steps
from discreet.curator.cut.share_of_table import reckoned_with
from discreet.curator.explanation.choice_explanation import choice_json
from discreet.curator.explanation.column_explanation import ColumnExplanation
from discreet.curator.explanation.groups_explanation import keys_json, keys_sentence
from discreet.curator.explanation.kept_explanation import (
    clamped_sentences,
    left_out_sentences,
    limits_sentence,
)
from discreet.curator.limits.choose_bounds import BoundsProposal
from discreet.curator.limits.limits_error import Proposal, counts_units
from discreet.curator.limits.other_limits import OtherLimits, other_limits_sentence
from discreet.curator.limits.whole_sums import SumComparison
from discreet.curator.price.fit import described_premise
from discreet.curator.price.offered_delta import BoughtByDelta, takes_delta
from discreet.curator.price.output_error import (
    error_sentences,
    errors_by_size,
    output_errors,
    readable,
)
from discreet.curator.price.price import PricedPlan
from discreet.ledger.gate_rules import is_enough, least_price, shown_price
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.project.costs import Cost, costs, decimals_of, group_losses
from discreet.project.terms import Terms
from discreet.releases.accuracy import CONFIDENCE
from discreet.releases.estimates.estimate import indices
from discreet.releases.left_out import LeftOut
from discreet.sql.question import Question
from discreet.tables.catalog import IdSpace
from discreet.tables.plans.contain import row_limits
from discreet.tables.plans.text import show
from discreet.tables.relations.join import Join
from discreet.tables.relations.relation import Relation, RowLimit
from discreet.tables.relations.scan import Scan
from discreet.tables.unit_name import UnitName, reworded


@frozen(kw_only=True)
class Explanation:
    """Everything public about a priced plan, and what would be left of the budget after it."""

    question: Question
    priced: PricedPlan
    terms: Terms
    id_space: IdSpace
    remaining: PrivacyLoss
    is_stored: bool
    stored_at: PrivacyLoss | None = None
    """What a stored answer cost, if it is one at a higher price, and nothing in it is noisier."""
    left_out: LeftOut | None = None
    """What the limits leave out, as far as it is known; None if they cannot leave out anything."""
    proposal: Proposal | None = None
    """The limits with the least expected error, if the table has a profile."""
    bounds: tuple[BoundsProposal, ...] = ()
    """The bounds with the least expected error, of columns whose values have a profile."""
    other_limits: tuple[OtherLimits, ...] = ()
    """The limits of the question and others near them, with their noise and what they cut."""
    sums: tuple[SumComparison, ...] = ()
    """Sums with rows left out and with totals clamped as a whole, by the profile of values."""
    with_delta: BoughtByDelta | None = None
    """What a δ would buy that nobody offered."""
    void: tuple[str, ...] = ()
    """That an exact release has ended the worst-case claim, if one has."""

    @property
    def cost(self) -> PrivacyLoss:
        """What asking would cost now: nothing, if the answer is stored already."""
        return self.priced.loss * 0 if self.is_stored else self.priced.loss

    @property
    def plan(self) -> str:
        """The bounded plan as text: unit, limits, keys, aggregates, and every operator below."""
        return show(self.priced.plan)

    @property
    def least_price(self) -> Fraction:
        """The least ε or ρ that a question about these people costs, unless it is stored."""
        return least_price(self.id_space.cap, self.id_space.least_price)

    def is_affordable(self) -> bool:
        """Tell whether the budget admits the query now."""
        return self.cost <= self.remaining and not self._is_too_cheap()

    def steps(self) -> list[tuple[str, str]]:
        """Return the derivation: a heading and a sentence for each step."""
        called = self._called
        found = [
            ("Protects", self._unit_sentence()),
            ("Reads", self._tables_sentence()),
            ("Groups", keys_sentence(self.priced, self.question.view)),
            ("Limits", self._said(limits_sentence(self.priced))),
        ]
        found += [
            ("Left out", text)
            for text in left_out_sentences(self.priced, self.left_out, self.proposal, called)
        ]
        counted = called.plural if counts_units(self.priced.plan) else "rows"
        if others := other_limits_sentence(self.other_limits, counted):
            aside = reckoned_with(self.priced.plan.relation) if _has_cut(self.other_limits) else ""
            found.append(("Other limits", f"{others}{aside}"))
        clamped = clamped_sentences(self.left_out, self.bounds, called)
        found += [("Clamped", text) for text in clamped]
        found += [("Sums", str(comparison)) for comparison in self.sums]
        if has_join(self.priced.plan.relation):
            found.append(("Joins", self._said(_JOINS)))
        if limits := row_limits(self.priced.plan.relation):
            found.append(("Looks at", self._said(_looked_at(limits))))
        found += [(column.name, self._said(column.sentence())) for column in self.columns()]
        if noise := self._noise_sentence():
            found.append(("Noise", noise))
        found += [("Error", text) for text in error_sentences(self.question.view, self.priced)]
        if self.terms.accuracy is not None:
            found.append(("Accuracy", described_premise(self.terms.accuracy)))
        found.append(("Costs", self._cost_sentence()))
        found += [("", text) for text in self._measures()]
        found.append(("Left", self._left_sentence()))
        found += [("Worst case", text) for text in self.void]
        return [(name, called.said(text)) for name, text in found]

    def _said(self, sentence: str) -> str:
        """Return a sentence about limits in the owner's word for a unit; no name is in it."""
        return reworded(sentence, self._called)

    @property
    def _called(self) -> UnitName:
        period = self.priced.plan.owner().unit.period
        return self.id_space.called.within(None if period is None else period.length.value)

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        plan, choice = self.priced.plan, self.priced.choice
        owner = plan.owner().unit
        limits = row_limits(plan.relation)
        return {
            "unit": self.id_space.unit,
            "id_space": self.id_space.name,
            "owner": {
                "column": owner.column,
                "period": None if owner.period is None else owner.period.length.value,
            },
            "tables": [
                {"name": scan.table.name, "private": isinstance(scan, Scan)}
                for scan in plan.scans()
            ],
            "keys": keys_json(self.priced),
            "limits": {
                **plan.limits.given(),
                "groups_reached": plan.reach().groups_per_unit,
                "rows_looked_at": min((limit.rows for limit in limits), default=None),
                "chosen": None if choice is None else choice_json(choice),
            },
            "left_out": None if self.left_out is None else self.left_out.to_json(),
            "proposal": None if self.proposal is None else self.proposal.to_json(),
            "other_limits": [one.to_json() for one in self.other_limits],
            "bounds": [proposal.to_json() for proposal in self.bounds],
            "sums": [comparison.to_json() for comparison in self.sums],
            "with_delta": self._with_delta_json(),
            "columns": [column.to_json() for column in self.columns()],
            "errors": output_errors(self.question.view, self.priced),
            "errors_by_group_size": errors_by_size(self.question.view, self.priced),
            "confidence": float(CONFIDENCE),
            "accuracy": None if self.terms.accuracy is None else str(self.terms.accuracy),
            "cost": self.cost.to_json(),
            "costs": [item.to_json() for item in self._costs()],
            "periods": [
                {
                    "count": size,
                    "length": length,
                    "loss": None if loss is None else loss.to_json(),
                }
                for size, length, loss in self._periods()
            ],
            "least_price": str(self.least_price),
            "remaining": self.remaining.to_json(),
            "left_after": left(self.remaining, self.cost).to_json()
            if self.is_affordable()
            else None,
            "decimals": decimals_of(self.cost, self.remaining, self.is_affordable()),
            "affordable": self.is_affordable(),
            "stored": self.is_stored,
            "stored_at": None if self.stored_at is None else self.stored_at.to_json(),
            **({"worst_case": list(self.void)} if self.void else {}),
        }

    def _with_delta_json(self) -> dict[str, Any] | None:
        if self.with_delta is None:
            return None
        errors = {column.name: column.error for column in self._columns(self.with_delta.priced)}
        return {"delta": str(self.with_delta.delta), "errors": errors}

    def __str__(self) -> str:
        """Show the steps, one below the other."""
        return text_steps(self.steps())

    def _repr_html_(self) -> str:
        return html_page(html_steps(self.steps()))

    def columns(self) -> list[ColumnExplanation]:
        """Explain each of the aggregates, in the order in which the outputs use them."""
        return self._columns(self.priced)

    def _columns(self, priced: PricedPlan) -> list[ColumnExplanation]:
        view = self.question.view
        used = [index for output in view.outputs for index in indices(output.estimate)]
        order = dict.fromkeys([*used, *range(len(priced.plan.aggregates))])
        clamps = dict(enumerate(view.clamps))
        return [ColumnExplanation.of(priced, index, clamps.get(index)) for index in order]

    def _unit_sentence(self) -> str:
        unit = self.priced.plan.owner().unit
        if unit.column is None:
            return (
                f"{self.id_space.unit}: each row by itself. Somebody with several rows is protected"
                " for each of them, not for all of them together"
            )
        if unit.period is None:
            return f"{self.id_space.unit}: all rows with the same {unit.owner_text()}"
        length = unit.period.length.value
        return (
            f"{self.id_space.unit}: each {length} of the same {unit.owner_text()} by itself (the"
            f" {length} of {unit.period.column}), not all of them together"
        )

    def _tables_sentence(self) -> str:
        shown = {
            f"{scan.table.name} ({'private' if isinstance(scan, Scan) else 'public'})": None
            for scan in self.priced.plan.scans()
        }
        return ", ".join(shown)

    def _noise_sentence(self) -> str:
        """Say what a δ was good for, or would be, where it is not for private keys."""
        if self.with_delta is not None:
            pairs = zip(self._columns(self.with_delta.priced), self.columns(), strict=True)
            errors = [
                f"{new.name} would be within ± {readable(new.error)} instead of"
                f" ± {readable(old.error)}"
                for new, old in pairs
                if new.mechanism != old.mechanism
            ]
            return f"with delta = {short(self.with_delta.delta)}, {', '.join(errors)}"
        is_offered = self.terms.epsilon is not None and bool(self.terms.delta)
        if not is_offered or not takes_delta(self.priced, self.id_space.cap):
            return ""
        if any(isinstance(one, DiscreteGaussian) for one in self.priced.mechanisms):
            return "it is Gaussian, which errs less here than Laplace noise of the same ε"
        return "it is Laplace, which errs less here than Gaussian noise; δ is not spent"

    def _cost_sentence(self) -> str:
        if self.stored_at is not None:
            return f"nothing: this was answered before, more exactly, at {self.stored_at}"
        if self.is_stored:
            return "nothing: this was answered before"
        if self._is_too_cheap():
            least = shown_price(self.cost, self.least_price)
            return f"{self.cost}, which is too little: a question costs at least {least}"
        return str(self.cost) if self.is_affordable() else f"{self.cost}, which is too much"

    def _is_too_cheap(self) -> bool:
        own = self.priced.loss
        return not self.is_stored and not is_enough(own, self.least_price, self.remaining)

    def _left_sentence(self) -> str:
        now = f"{_down(self.remaining)} now, of {self.id_space.cap}"
        if self.is_stored or not self.is_affordable():
            return now
        return f"{now}; {_down(left(self.remaining, self.cost))} after"

    def _measures(self) -> list[str]:
        """Return the same cost in the other measures, and over several periods."""
        if self.is_stored:
            return []
        own = self.priced.loss
        others = [item.loss for item in self._costs() if _is_news(item.loss, own)]
        listed = "; or ".join(dict.fromkeys(map(str, others)))
        found = [f"in other measures: {listed}"] if others else []
        named = self.priced.plan.owner().unit.owner_text()
        for size, length, loss in self._periods():
            shown = "nothing can be promised" if loss is None else str(loss)
            found.append(f"over any {size} {length}s of the same {named}: {shown}")
        return found

    def _costs(self) -> tuple[Cost, ...]:
        """Return the cost in every measure; of noise that is not chosen yet, as it is charged."""
        if self.priced.choice is not None:
            return (Cost(self.priced.loss, "DR14, Theorem 3.16"),)
        return costs(self.priced.event)

    def _periods(self) -> list[tuple[int, str, PrivacyLoss | None]]:
        """Return how many periods of one person are looked at together, and their loss."""
        period = self.priced.plan.owner().unit.period
        if period is None:
            return []
        known = group_losses([item.loss for item in self._costs()], period.length)
        return [(size, period.length.value, loss) for size, loss in known]


def _has_cut(found: Sequence[OtherLimits]) -> bool:
    return any(one.cut is not None for one in found)


def has_join(relation: Relation) -> bool:
    """Tell whether rows are paired anywhere below the aggregates."""
    return isinstance(relation, Join) or any(has_join(source) for source in relation.inputs())


_JOINS = (
    "a row may make several pairs, and each pair counts as a row; the limits hold after the join,"
    " so the number of partners changes nothing in what is told about one unit"
)


def _looked_at(limits: Sequence[RowLimit]) -> str:
    """Say how many rows of one unit are looked at, where pairs or dear expressions need a limit."""
    rows = f"{min(limit.rows for limit in limits):,} rows of one unit at most"
    texts = [limit.characters for limit in limits if limit.texts]
    more = f" (with {min(texts):,} characters of long texts in all)" if texts else ""
    return f"{rows}{more}, so that nobody's rows can be much work; which ones, a keyed hash decides"


def _is_news(loss: PrivacyLoss, own: PrivacyLoss) -> bool:
    """Tell whether a loss says more than the one charged: a smaller ε, or another measure."""
    if isinstance(loss, Pure | Approximate) and isinstance(own, Pure | Approximate):
        return 100 * loss.epsilon < 99 * own.epsilon
    return loss != own


def _down(loss: PrivacyLoss) -> str:
    """Show what is left: never more than there is."""
    return loss.shown(rounding=ROUND_FLOOR)
