"""What a survey will give: how far its estimates are off for so many people, and what it sends."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import asdict, frozen

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.loss import short
from discreet.core.numbers import float_up
from discreet.core.terminal_text import one_line, text_table
from discreet.local.survey.scheme_error import scheme_error
from discreet.local.survey.survey import Survey, SurveyQuestion

PEOPLE = (100, 1_000, 10_000, 100_000, 1_000_000)


@frozen(kw_only=True)
class PlannedQuestion:
    """A question's scheme, its cost, and its standard error for some numbers of people."""

    question: str
    scheme: str
    epsilon: float
    lifetime_epsilon: float
    bytes: int
    errors: dict[str, float]


@frozen(kw_only=True)
class SurveyPlan:
    """What a survey will give, before anybody is asked."""

    name: str
    people: tuple[int, ...]
    questions: tuple[PlannedQuestion, ...]

    def __str__(self) -> str:
        """Return a row for each question."""
        head = ["question", "scheme", "ε", "ε of a lifetime", "bytes"]
        columns = [*head, *(f"± at {people:,}" for people in self.people)]
        rows = [
            [
                one_line(one.question),
                one.scheme,
                short(Fraction(one.epsilon)),
                short(Fraction(one.lifetime_epsilon)),
                str(one.bytes),
                *(f"{one.errors[str(people)]:.3g}" for people in self.people),
            ]
            for one in self.questions
        ]
        note = (
            "± is one standard error: of a rare value's share, and of a mean in its own unit, "
            "whatever people answer"
        )
        return f"{text_table(columns, rows)}\n{note}"

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return asdict(self)


def plan_survey(survey: Survey, people: Sequence[int] = PEOPLE) -> SurveyPlan:
    """Return the standard errors of all questions for these numbers of people."""
    counts = tuple(whole(count) for count in people)
    if not counts or min(counts) < 1:
        raise InvalidArgument("people is out of range", must="be above 0", got=str(list(people)))
    return SurveyPlan(
        name=survey.name,
        people=counts,
        questions=tuple(_planned(survey, question, counts) for question in survey.questions),
    )


def _planned(survey: Survey, question: SurveyQuestion, people: Sequence[int]) -> PlannedQuestion:
    return PlannedQuestion(
        question=question.name,
        scheme=question.scheme_name,
        epsilon=float_up(question.scheme.event().epsilon),
        lifetime_epsilon=float_up(question.epsilon_of_lifetime(survey.reports)),
        bytes=question.scheme.size,
        errors={
            str(count): scheme_error(question.scheme, question.answers, count) for count in people
        },
    )
