"""What a holdout of a declared table is about, costs and promises, and what goes to the gate."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.adaptive.gated.gated_promise import GatedAnswers
from discreet.adaptive.gated.person_query import choice_plan, count_plan, people_table, sum_plan
from discreet.adaptive.gated.told_so_far import CHOSEN_FROM, HOLDOUT, QUESTION
from discreet.adaptive.question_mix import QuestionMix
from discreet.adaptive.row_values import DeclaredRange
from discreet.core import check
from discreet.core.canonical import digest
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.loss import GaussianDp, Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.protocols import Rng
from discreet.ledger.releases import SMALL, ReleaseSize
from discreet.mechanisms.noise_json import Noise
from discreet.project.charged import charged
from discreet.project.passage import KIND, Leg, Passage, StoredBody
from discreet.project.project import Project
from discreet.project.terms import Terms, terms_that_hold
from discreet.tables.catalog import Table
from discreet.tables.plans.engine import ExactAggregates
from discreet.tables.plans.plan import BOUNDING, BoundedPlan
from discreet.tables.unit_name import UnitName

VERSION = 1

WITH_CHOICES = 2
"""The version of holdouts that also choose; others keep the names that they had."""

OPENED = "holdout of a table"
"""What the ledger calls the number of people, with which a holdout begins."""

ASKED = "question to a holdout"

CHOSEN = "choice of a holdout"


@frozen(kw_only=True)
class HoldoutPlan:
    """What a holdout is about, what it costs, and what it promises. All of it is public."""

    table: Table
    answers: GatedAnswers
    price: Pure | Zcdp
    called: UnitName
    counting: BoundedPlan
    """The plan that counts units."""

    @property
    def name(self) -> str:
        """What the ledger knows it by: the same for the same table, price and promise."""
        said = {
            "holdout": WITH_CHOICES if self.answers.mix.choices else VERSION,
            "counted": self.counting.to_json(),
            **self._mix(),
            "beta": str(self.answers.beta),
            "price": self.price.to_json(),
        }
        return digest(said)

    def opening(self) -> Passage:
        """Return what goes through the gate first: the noisy number of people."""
        said = {
            "table": self.table.name,
            **self._mix(),
            "beta": str(self.answers.beta),
            "price": self.price.to_json(),
        }
        text = f"holdout of {self.table.name} for {self.answers.said()}"
        return self._passage(
            self.name,
            self.counting,
            self.answers.count_noise,
            self.answers.count_event,
            {KIND: OPENED, "sql": text, HOLDOUT: self.name, **said},
        )

    def question(self, project: Project, text: str, within: DeclaredRange) -> Passage:
        """Return what goes through the gate for one question."""
        plan = sum_plan(project, self.table, text, within)
        said = {QUESTION: text, "low": str(within.low), "high": str(within.high)}
        name = digest({"asked": VERSION, "of": self.name, "plan": plan.to_json()})
        return self._passage(
            name,
            plan,
            self.answers.noise,
            self.answers.event,
            {KIND: ASKED, "sql": f"{text} of {self.table.name}", HOLDOUT: self.name, **said},
        )

    def in_order(
        self, project: Project, texts: Sequence[str], within: DeclaredRange
    ) -> tuple[str, ...]:
        """Return candidates in an order that is the same however they are written and asked."""
        meanings: dict[str, str] = {}
        for text in texts:
            plan = sum_plan(project, self.table, text, within)
            other = meanings.setdefault(digest(plan.to_json()), text)
            if other is not text:
                raise InvalidArgument(
                    "Two candidates ask the same",
                    must="have different meanings",
                    got=f"{other} and {text}",
                    next="Nothing was charged. Leave one of them out",
                )
        return tuple(meanings[one] for one in sorted(meanings))

    def choice(
        self, project: Project, texts: Sequence[str], within: DeclaredRange, *, is_largest: bool
    ) -> Passage:
        """Return what goes through the gate for one choice: the place of a candidate comes out."""
        plan, order = choice_plan(project, self.table, texts, within)
        best = "largest" if is_largest else "least"
        of = {"asked": WITH_CHOICES, "of": self.name, "plan": plan.to_json(), "best": best}
        said = {
            KIND: CHOSEN,
            "sql": f"the {best} of {', '.join(texts)} of {self.table.name}",
            HOLDOUT: self.name,
            CHOSEN_FROM: list(texts),
            "best": best,
            "low": str(within.low),
            "high": str(within.high),
        }
        mechanism = self.answers.chooser(is_largest=is_largest)

        def published(exact: ExactAggregates, rng: Rng) -> StoredBody:
            kept = {"version": WITH_CHOICES, "bounding": BOUNDING}
            scale = str(self.answers.choice.scale)
            place = order.index(exact.choose(mechanism, rng))
            return {**said, **kept, "scale": scale, "place": place}

        event = self.answers.choice_event
        size = SMALL + ReleaseSize(len(json.dumps(said)))
        return Passage(
            name=digest(of),
            loss=charged(event, self.answers.cap),
            legs=(Leg(plan=plan, published=published),),
            size=lambda: size,
            description={**said, "event": event.to_json()},
        )

    def _mix(self) -> dict[str, int]:
        mix = self.answers.mix
        if not mix.choices:
            return {"questions": mix.total}
        return {"questions": mix.total, "choices": mix.choices, "candidates": mix.candidates}

    def _passage(
        self, name: str, plan: BoundedPlan, noise: Noise, event: Event, said: dict[str, Any]
    ) -> Passage:
        def published(exact: ExactAggregates, rng: Rng) -> StoredBody:
            (value,) = exact.randomise(0, noise, rng).tolist()
            kept = {"version": VERSION, "bounding": BOUNDING, "noise": noise.to_json()}
            return {**said, **kept, "value": value}

        return Passage(
            name=name,
            loss=charged(event, self.answers.cap),
            legs=(Leg(plan=plan, published=published),),
            size=lambda: SMALL,
            description={**said, "event": event.to_json()},
        )

    def reach(self, units: int) -> Fraction:
        """Return what answers are within if nothing else is told of so many units."""
        return self.answers.reach(units, None)


def holdout_plan(
    project: Project,
    name: str,
    *,
    questions: int | QuestionMix,
    beta: Number,
    terms: Terms,
    default: Terms,
) -> HoldoutPlan:
    """Return what a holdout would be about and cost; nothing private is looked at."""
    table = people_table(project, name)
    holding = terms_that_hold(terms, Terms(), (default,))
    price = _price(holding)
    cap = project.catalog.id_space(table.unit.id_space).cap
    answers = GatedAnswers.with_price(
        questions=questions, beta=check.level(beta), price=price, cap=cap
    )
    require_a_cost(answers)
    return HoldoutPlan(
        table=table,
        answers=answers,
        price=price,
        called=project.catalog.called(table.unit.id_space),
        counting=count_plan(project, table),
    )


def require_a_cost(answers: GatedAnswers) -> None:
    """Refuse, before the first charge, what cannot be charged to the budget later."""
    if answers.mix.choices and isinstance(answers.cap, GaussianDp):
        raise Unsupported(
            "A choice has no loss in the measure of this budget",
            must="be means alone, where a budget is kept in μ",
            got=str(answers.mix),
            next="Nothing was charged",
        )


def _price(terms: Terms) -> Pure | Zcdp:
    if terms.epsilon is not None:
        return Pure(terms.epsilon)
    if terms.rho is not None:
        return Zcdp(terms.rho)
    raise Unsupported(
        "A holdout has a price",
        must="be an ε or a ρ for all questions together",
        next="Nothing was charged. explain_holdout says what a price promises",
    )
