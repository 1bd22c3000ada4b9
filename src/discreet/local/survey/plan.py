"""What a survey will give: how far its estimates are off for so many people, and what it sends."""

import math
from collections.abc import Sequence
from typing import Any

from attrs import asdict, frozen

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import float_up
from discreet.core.terminal_text import one_line, text_table
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.numbers.number_scheme import NumberScheme
from discreet.local.rappor.decode import decoder
from discreet.local.rappor.rappor import Rappor
from discreet.local.survey.survey import NumberRange, Survey, SurveyQuestion, Text
from discreet.local.words.hashed_words import HashedWords, words_error

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
                f"{one.epsilon:.4g}",
                f"{one.lifetime_epsilon:.4g}",
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
        errors={str(count): _error(question, count) for count in people},
    )


def _error(question: SurveyQuestion, people: int) -> float:
    scheme, answers = question.scheme, question.answers
    if isinstance(scheme, FrequencyScheme):
        return math.sqrt(scheme.variance(people))
    if isinstance(scheme, Rappor) and isinstance(answers, Text):
        return math.sqrt(decoder(scheme, answers.candidates).variance.max() / people)
    if isinstance(scheme, HashedWords):
        return words_error(scheme, people)
    assert isinstance(scheme, NumberScheme)
    assert isinstance(answers, NumberRange)
    return float(answers.step) * math.sqrt(scheme.worst_variance() / people)
