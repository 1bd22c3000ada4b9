"""What a connection holds out: a table whose people are asked about a population."""

from fractions import Fraction

import discreet.adaptive.question_mix as question_mix
from discreet.adaptive.gated import first_questions, holdout_explanation, table_holdout
from discreet.adaptive.gated import holdout_plan as holdout_plans
from discreet.core.numbers import Number
from discreet.ledger.under_way import telling
from discreet.project.project import Project
from discreet.project.terms import Terms
from discreet.tables.naming_units import naming_units


class HoldingOut:
    """The part of a connection that asks about a population."""

    _default: Terms
    _analyst: str

    def _opened(self) -> Project:
        raise NotImplementedError

    @telling
    def holdout(
        self,
        table: str,
        *,
        questions: "int | question_mix.QuestionMix",
        beta: Number = Fraction(1, 20),
        epsilon: Number | None = None,
        rho: Number | None = None,
        first: "first_questions.FirstQuestions | None" = None,
    ) -> "table_holdout.TableHoldout":
        """Return a holdout of a table, which answers adaptive questions about its population.

        The price is for all questions together. The noisy number of people is charged at once, as
        one question, and each of the others when it is asked. The same call goes on with the same
        holdout, in any process and for every analyst: its questions are counted in the ledger.

        Args:
            table: A private table whose unit is a person.
            questions: How many may be asked; or a ``QuestionMix`` of means and choices, which
                says of how many candidates a choice is at most.
            beta: The chance that some interval does not hold for the population.
            epsilon: What all of it may cost; or else ``rho``, where the budget knows it.
            rho: The same in zCDP.
            first: What is going to be asked first, if that is known: what the holdout would refuse
                of it is refused here, before anything is charged.
        """
        with naming_units(self._opened().catalog, table):
            plan = self._holdout_plan(table, questions, beta, epsilon, rho)
            if first is not None:
                first.require_possible(self._opened(), plan)
            return table_holdout.open_holdout(self._opened(), plan, analyst=self._analyst)

    def explain_holdout(
        self,
        table: str,
        *,
        units: int,
        questions: "int | question_mix.QuestionMix",
        beta: Number = Fraction(1, 20),
        epsilon: Number | None = None,
        rho: Number | None = None,
    ) -> "holdout_explanation.HoldoutExplanation":
        """Return what :meth:`holdout` would cost, and promise if there are so many ``units``.

        Nothing is read or spent: how many there are is yours to say.
        """
        with naming_units(self._opened().catalog, table):
            plan = self._holdout_plan(table, questions, beta, epsilon, rho)
            return holdout_explanation.explain_holdout(self._opened(), plan, units=units)

    def _holdout_plan(
        self,
        table: str,
        questions: "int | question_mix.QuestionMix",
        beta: Number,
        epsilon: Number | None,
        rho: Number | None,
    ) -> "holdout_plans.HoldoutPlan":
        return holdout_plans.holdout_plan(
            self._opened(),
            table,
            questions=questions,
            beta=beta,
            terms=Terms(epsilon=epsilon, rho=rho),
            default=self._default,
        )
