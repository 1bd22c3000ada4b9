"""What a survey's results would look like: made-up people, and real devices' reports."""

from collections.abc import Iterator

import numpy as np

from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.local.report_numbers import Reports
from discreet.local.survey.results import SurveyResults, survey_results
from discreet.local.survey.survey import ListedValues, Survey, SurveyQuestion, Text
from discreet.local.survey.tallies import tally_pages
from discreet.randomness.samplers import uniform_integers

MOST_PEOPLE = 10_000_000
_PAGE = 100_000
_TEXTS = ("red", "green", "blue")
"""What made-up people answer where any text may be answered."""


def rehearse_survey(survey: Survey, people: int, rng: Rng) -> SurveyResults:
    """Return the results for people each of whose answers is as likely as any other."""
    count = whole(people)
    if not 1 <= count <= MOST_PEOPLE:
        raise InvalidArgument(
            "people is out of range", must=f"lie between 1 and {MOST_PEOPLE:,}", got=str(people)
        )
    tally = tally_pages(survey, _pages(survey, count, rng))
    assert tally is not None
    return survey_results(tally)


def _pages(survey: Survey, people: int, rng: Rng) -> Iterator[Reports]:
    for start in range(0, people, _PAGE):
        size = min(_PAGE, people - start)
        yield np.hstack([_reports(question, size, rng) for question in survey.questions])


def _reports(question: SurveyQuestion, people: int, rng: Rng) -> Reports:
    answers = question.answers
    if isinstance(answers, Text):
        texts = answers.candidates or _TEXTS
        chosen = uniform_integers(len(texts), people, rng)
        held = [texts[place][: answers.longest] for place in chosen.tolist()]
        return question.scheme.randomise_many(held, rng)
    choices = len(answers.labels) if isinstance(answers, ListedValues) else answers.most + 1
    return question.scheme.randomise_many(uniform_integers(choices, people, rng), rng)
