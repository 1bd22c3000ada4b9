"""A holdout of a declared table: questions in SQL, and one passage through the gate for each."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.adaptive.gated.candidates import Candidates
from discreet.adaptive.gated.choice_release import ChoiceRelease
from discreet.adaptive.gated.holdout_plan import HoldoutPlan
from discreet.adaptive.gated.population_release import PopulationRelease
from discreet.adaptive.gated.told_so_far import CHOSEN_FROM, ToldSoFar, told_so_far
from discreet.adaptive.guarantee import STEPS
from discreet.adaptive.row_values import DeclaredRange
from discreet.core.counted import counted
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import short
from discreet.core.numbers import Number
from discreet.core.unit_words import UNITS
from discreet.ledger.order import Receipt
from discreet.ledger.under_way import telling
from discreet.project.passage import Passage, Passed, find_stored, go_through
from discreet.project.project import Project
from discreet.project.worst_case import void_remarks
from discreet.tables.naming_units import naming_units
from discreet.tables.unit_name import UnitName


class TableHoldout:
    """A holdout of a declared table, which is asked in SQL and lives in the ledger.

    Each question is one passage through the gate: charged, stored, and given again for nothing.
    Whoever opens the same holdout, in whichever process, goes on with it: questions are counted in
    the ledger, for all analysts together. No function of an analyst ever sees a row.

    Guarantee:
        That of :class:`~discreet.adaptive.gated.gated_promise.GatedAnswers`: the intervals of all
        answers hold for the population together, but for a chance of ``beta``. And the privacy of
        every answer, by the ledger.
    """

    def __init__(
        self, project: Project, plan: HoldoutPlan, opened: Passed, *, analyst: str
    ) -> None:
        self._project = project
        self._plan = plan
        self._receipt = opened.receipt
        self._analyst = analyst
        self.units: int = opened.bodies[0]["value"]
        """The noisy number of units."""

    @property
    def called(self) -> UnitName:
        """What units are called."""
        return self._plan.called

    @property
    def receipt(self) -> Receipt:
        """The receipt for the number of people."""
        return self._receipt

    @property
    def left(self) -> int:
        """How many questions may still be asked, by anybody."""
        return sum(self.left_by_kind.values())

    @property
    def left_by_kind(self) -> dict[str, int]:
        """How many questions of each kind may still be asked."""
        told = self._told()
        return {kind: max(0, most - told.asked[kind]) for kind, most in self._most.items()}

    @property
    def alpha(self) -> Fraction:
        """What the next answer is within, as a share of its range; 1 if nothing is promised.

        It grows as others are told of the same people. With choices, it is that of the kind for
        which it is most.
        """
        return max(self.alphas.values())

    @property
    def alphas(self) -> dict[str, Fraction]:
        """What the next answer of each kind is within."""
        told = self._told()
        return {kind: self._reach(told, kind) for kind in self._most}

    @telling
    def ask(self, question: str, *, low: Number = 0, high: Number = 1) -> PopulationRelease:
        """Return the mean of a value of each person, with an interval for the population.

        Args:
            question: An SQL expression of a person's row, such as ``age > 40``; if a person has
                several rows, an aggregate of them, such as ``max(cost) > 100``.
            low: The lower end of its declared range. Values outside are cut to it.
            high: The upper end.
        """
        within = DeclaredRange(low, high)
        with naming_units(self._project.catalog, self._plan.table.name):
            self._require_declared("means")
            passage = self._plan.question(self._project, question, within)
            return self.release(self._given(passage, "means"))

    @telling
    def choose(
        self,
        candidates: Sequence[str] | Mapping[str, str],
        *,
        low: Number = 0,
        high: Number = 1,
        largest: bool = False,
    ) -> ChoiceRelease:
        """Return which of some values of each person has nearly the least mean in the population.

        Only the choice becomes public, and no mean. The same candidates in another order, or by
        other names, are the same question.

        Args:
            candidates: An SQL expression of a person's row for each candidate, as for :meth:`ask`;
                or a name for each, with its expression.
            low: The lower end of the range of all of them.
            high: The upper end.
            largest: Whether to choose the largest mean, and not the least.
        """
        within, among = DeclaredRange(low, high), Candidates.of(candidates)
        with naming_units(self._project.catalog, self._plan.table.name):
            self._require_declared("choices")
            among.require_at_most(self._plan.answers.mix.candidates)
            order = self._plan.in_order(self._project, among.texts, within)
            passage = self._plan.choice(self._project, order, within, is_largest=bool(largest))
            return self.selection(self._given(passage, "choices"), among, order)

    def _given(self, passage: Passage, kind: str) -> Passed:
        """Return what is stored; else charge and run it, if something is promised of it."""
        self._require_same_data()
        stored = find_stored(self._project, passage, self._receipt.data_version)
        if stored is not None:
            return stored
        self._require_a_promise(kind)
        return go_through(self._project, passage, analyst=self._analyst)

    def selection(
        self,
        passed: Passed,
        among: Candidates | None = None,
        order: tuple[str, ...] | None = None,
    ) -> ChoiceRelease:
        """Return a choice with what held when it was charged.

        It is shown of the candidates as they are asked ``among``, which have an ``order`` in what
        is stored; without them, as they were stored.
        """
        (body,) = passed.bodies
        found = Candidates.of(body[CHOSEN_FROM]) if among is None else among
        within = DeclaredRange(body["low"], body["high"])
        told = self._told(before=passed.receipt.ticket.number)
        return ChoiceRelease(
            called=self._plan.called,
            candidates=found.texts,
            names=found.names,
            place=found.texts.index((order or found.texts)[body["place"]]),
            excess=self._reach_of(passed, told, "choices") * within.width,
            is_largest=body["best"] == "largest",
            number=told.asked["choices"] + 1,
            questions=self._most["choices"],
            beta=self._plan.answers.beta,
            receipt=passed.receipt,
            is_stored=passed.is_stored,
            remarks=void_remarks(self._project.ledger, self._id_space),
        )

    def release(self, passed: Passed) -> PopulationRelease:
        """Return an answer with the interval that held when it was charged."""
        (body,) = passed.bodies
        told = self._told(before=passed.receipt.ticket.number)
        within = DeclaredRange(body["low"], body["high"])
        share = Fraction(body["value"], STEPS * max(1, self.units))
        share = min(Fraction(1), max(Fraction(0), share))
        reach = self._reach_of(passed, told, "means")
        return PopulationRelease(
            called=self._plan.called,
            question=body["question"],
            value=within.at(share),
            low=within.at(max(Fraction(0), share - reach)),
            high=within.at(min(Fraction(1), share + reach)),
            number=told.asked["means"] + 1,
            questions=self._most["means"],
            beta=self._plan.answers.beta,
            receipt=passed.receipt,
            is_stored=passed.is_stored,
            remarks=void_remarks(self._project.ledger, self._id_space),
        )

    def counted(self, *, is_stored: bool) -> PopulationRelease:
        """Return the number of people, with its interval."""
        error = self._plan.answers.count_error()
        return PopulationRelease(
            called=self._plan.called,
            question=f"how many {self._plan.called.plural} there are",
            value=Fraction(self.units),
            low=max(Fraction(0), self.units - error),
            high=self.units + error,
            number=0,
            questions=self._plan.answers.questions,
            beta=self._plan.answers.beta,
            receipt=self._receipt,
            is_stored=is_stored,
            remarks=void_remarks(self._project.ledger, self._id_space),
        )

    @property
    def _id_space(self) -> str:
        return self._plan.table.unit.id_space

    @property
    def _most(self) -> dict[str, int]:
        return self._plan.answers.mix.by_kind

    def _told(self, before: int | None = None) -> ToldSoFar:
        return told_so_far(
            self._project.ledger,
            id_space=self._id_space,
            holdout=self._plan.name,
            data_version=self._receipt.data_version,
            most=self._most,
            before=before,
        )

    def _reach(self, told: ToldSoFar, kind: str) -> Fraction:
        if told.asked[kind] >= self._most[kind] or self._project.ledger.is_void(self._id_space):
            return Fraction(1)
        return min(Fraction(1), self._plan.answers.reach(self.units, told.besides, kind))

    def _reach_of(self, passed: Passed, told: ToldSoFar, kind: str) -> Fraction:
        is_same = passed.receipt.data_version == self._receipt.data_version
        return self._reach(told, kind) if is_same else Fraction(1)

    def _require_declared(self, kind: str) -> None:
        if kind not in self._most:
            raise InvalidArgument(
                f"This holdout was made for no {kind}",
                must="know beforehand how many means and choices are asked",
                got=str(self._plan.answers.mix),
                next="Nothing was charged. Open one with questions=QuestionMix(means=...,"
                " choices=..., candidates=...), or with --choices",
            )

    def _require_same_data(self) -> None:
        if self._project.data_version(self._id_space).number != self._receipt.data_version:
            raise InvalidArgument(
                "The data were replaced since this holdout was opened",
                must="be about the newest",
                next="Nothing was charged. Open it again",
            )

    def _require_a_promise(self, kind: str) -> None:
        """Refuse a question, before it is charged, of whose answer nothing could be promised."""
        told, most = self._told(), self._most
        if told.asked[kind] >= most[kind]:
            what = "questions" if len(most) == 1 else kind
            raise InvalidArgument(
                f"All {what} were asked",
                must=f"be at most {most[kind]:,}",
                next=f"Nothing was charged. Fresh {UNITS} make a new holdout",
            )
        if self._reach(told, kind) >= 1:
            raise Unsupported(
                "Nothing can be promised of an answer any more",
                must=f"have enough {UNITS}, of which little was told besides, and nothing exactly",
                next="Nothing was charged. Ask with sql(), which promises nothing of a population",
            )

    def __repr__(self) -> str:
        return (
            f"<TableHoldout of {self._plan.table.name}, {self._plan.called.counted(self.units)},"
            f" {counted(self.left, 'question')}"
            f" left, each within {short(self.alpha)} of the population>"
        )


def open_holdout(project: Project, plan: HoldoutPlan, *, analyst: str) -> TableHoldout:
    """Charge the number of people, and return the holdout; the same one goes on for nothing."""
    id_space = plan.table.unit.id_space
    if project.ledger.is_void(id_space):
        raise Unsupported(
            f"Exact numbers of these {UNITS} are public, so nothing can be promised of answers",
            must="have been told of with noise alone",
            next="Nothing was charged",
        )
    _require_any_promise(project, plan)
    return TableHoldout(
        project, plan, go_through(project, plan.opening(), analyst=analyst), analyst=analyst
    )


def _require_any_promise(project: Project, plan: HoldoutPlan) -> None:
    """Refuse a new holdout that no number of units could let promise anything."""
    id_space = plan.table.unit.id_space
    version = project.ledger.known_version(id_space)
    number = 0 if version is None else version.number
    if find_stored(project, plan.opening(), number) is not None:
        return
    told = told_so_far(
        project.ledger,
        id_space=id_space,
        holdout=plan.name,
        data_version=number,
        most=plan.answers.mix.by_kind,
    )
    kinds = plan.answers.mix.by_kind
    if all(plan.answers.reach(_VERY_MANY, told.besides, kind) >= 1 for kind in kinds):
        raise Unsupported(
            f"With no number of {UNITS} could anything be promised of an answer",
            must=f"have a small price, for {UNITS} of whom little was told besides",
            got=f"{plan.answers.whole} for all questions, and {told.besides or 'nothing'} besides",
            next="Nothing was charged. Ask with sql(), which promises nothing of a population",
        )


_VERY_MANY = 10**12
