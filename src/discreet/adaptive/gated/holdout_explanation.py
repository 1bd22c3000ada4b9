"""What a holdout of a table would cost and promise, before anything is spent."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.adaptive.gated.gated_promise import GatedAnswers
from discreet.adaptive.gated.holdout_plan import HoldoutPlan
from discreet.adaptive.gated.told_so_far import told_so_far
from discreet.adaptive.rows_needed import fewest_rows
from discreet.core import check
from discreet.core.loss import PrivacyLoss, Pure, Zcdp, short
from discreet.core.numbers import float_up, written
from discreet.project.charged import charged
from discreet.project.project import Project
from discreet.project.worst_case import void_remarks

HALF = Fraction(1, 2)

_PRICES = tuple(Fraction(2) ** place for place in range(-6, 7))


@frozen(kw_only=True)
class HoldoutExplanation:
    """What a holdout would cost and promise, for a number of people that somebody assumes.

    Attributes:
        plan: What it is about.
        units: How many are assumed. Nobody looked.
        besides: What was told of them already.
        alpha: What each answer would be within, as a share of its range; 1 if nothing.
        better: The price that promises most for so many people, of those near, with its promise.
        least: How many would have a promise of half the range; None if no number has.
        void: That exact numbers of them are public, if they are: then no holdout is opened.
    """

    plan: HoldoutPlan
    units: int
    besides: PrivacyLoss | None
    alpha: Fraction
    better: tuple[Pure | Zcdp, Fraction]
    least: int | None
    void: tuple[str, ...] = ()

    @property
    def alphas(self) -> dict[str, Fraction]:
        """What answers of each kind would be within, as a share of their range."""
        answers = self.plan.answers
        if self.void:
            return dict.fromkeys(answers.mix.by_kind, Fraction(1))
        return {
            kind: min(Fraction(1), answers.reach(self.units, self.besides, kind))
            for kind in answers.mix.by_kind
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "table": self.plan.table.name,
            "questions": self.plan.answers.questions,
            **self._choices(),
            "units": self.units,
            "cost": self.plan.answers.whole.to_json(),
            "each": charged(self.plan.answers.event, self.plan.answers.cap).to_json(),
            "alpha": float_up(self.alpha),
            "best_price": self.better[0].to_json(),
            "best_alpha": float_up(self.better[1]),
            "least_units": self.least,
            **({"worst_case": list(self.void)} if self.void else {}),
        }

    def __str__(self) -> str:
        answers = self.plan.answers
        return "\n".join(self._lines(answers))

    def _lines(self, answers: GatedAnswers) -> Iterator[str]:
        beta = written(answers.beta)
        yield f"A holdout of {self.plan.table.name} for {answers.said()} costs {answers.whole}"
        called, verb = self.plan.called, "is" if self.units == 1 else "are"
        first = charged(answers.count_event, answers.cap)
        yield f"The number of {called.plural} costs {first} at once,"
        yield from self._prices(answers)
        if self.void:
            yield "It would be refused, for nothing can be promised:"
            yield from self.void
            return
        if self.alpha >= 1:
            yield f"If there {verb} {called.counted(self.units)}, it promises nothing"
            if self.least is None:
                yield "nor with any other number: too much is told, at this price or besides"
            else:
                many = called.counted(self.least)
                yield f"With {many} all answers would be within {written(HALF)}"
        else:
            yield f"If there {verb} {called.counted(self.units)}, all answers are within"
            yield f"{short(self.alpha)} of the population, but for a chance of {beta}"
            if answers.mix.choices:
                kinds = (f"{kind} {short(alpha)}" for kind, alpha in self.alphas.items())
                yield f"By kind: {', '.join(kinds)} of the range"
        if self.besides is not None:
            yield f"Told besides: {self.besides}, which is counted in"
        price, alpha = self.better
        if alpha < self.alpha * Fraction(19, 20):
            yield f"With {price} it would be {short(alpha)}"

    def _prices(self, answers: GatedAnswers) -> Iterator[str]:
        if answers.mix.means:
            each = charged(answers.event, answers.cap)
            word = "mean" if answers.mix.choices else "question"
            yield f"and each {word} {each} when it is asked"
        if answers.mix.choices:
            yield f"and each choice {charged(answers.choice_event, answers.cap)} when it is asked"

    def _choices(self) -> dict[str, Any]:
        answers = self.plan.answers
        if not answers.mix.choices:
            return {}
        return {
            "choices": answers.mix.choices,
            "candidates": answers.mix.candidates,
            "each_choice": charged(answers.choice_event, answers.cap).to_json(),
            "alphas": {kind: float_up(alpha) for kind, alpha in self.alphas.items()},
        }


def explain_holdout(project: Project, plan: HoldoutPlan, *, units: int) -> HoldoutExplanation:
    """Return what a holdout would cost and promise. Nothing is read and nothing is spent."""
    assumed, id_space = check.at_least_one(units, "units"), plan.table.unit.id_space
    version = project.ledger.known_version(id_space)
    besides = told_so_far(
        project.ledger,
        id_space=id_space,
        holdout=plan.name,
        data_version=0 if version is None else version.number,
        most=plan.answers.mix.by_kind,
    ).besides
    void = void_remarks(project.ledger, id_space)

    def promised(price: Pure | Zcdp) -> Fraction:
        if void:
            return Fraction(1)
        answers = plan.answers
        other = GatedAnswers.with_price(
            questions=answers.mix, beta=answers.beta, price=price, cap=answers.cap
        )
        return min(Fraction(1), other.reach(assumed, besides))

    prices = [plan.price * factor for factor in _PRICES]
    best = min(prices, key=promised)
    return HoldoutExplanation(
        plan=plan,
        units=assumed,
        besides=besides,
        alpha=promised(plan.price),
        better=(best, promised(best)),
        least=None if void else fewest_rows(lambda size: plan.answers.reach(size, besides), HALF),
        void=void,
    )
