"""Adds up the reports of a survey, question by question, a page at a time."""

from collections.abc import Iterable, Iterator

import numpy as np
from attrs import frozen

from discreet.core.protocols import IntArray
from discreet.local.report_numbers import Reports
from discreet.local.survey.survey import Survey, SurveyQuestion


@frozen(eq=False)
class SurveyTally:
    """What estimates need of all reports: a tally for each question, and how many answered."""

    survey: Survey
    tallies: tuple[IntArray, ...]
    people: int


def split_reports(survey: Survey, reports: Reports) -> Iterator[tuple[SurveyQuestion, Reports]]:
    """Yield each question with its part of the reports."""
    start = 0
    for question in survey.questions:
        end = start + question.scheme.size
        yield question, np.ascontiguousarray(reports[:, start:end])
        start = end


def tally_pages(survey: Survey, pages: Iterable[Reports]) -> SurveyTally | None:
    """Return the tally of all pages, or None if there is no report."""
    tallies: list[IntArray] | None = None
    people = 0
    for page in pages:
        found = [question.scheme.tally(part) for question, part in split_reports(survey, page)]
        if tallies is None:
            tallies = found
        else:
            for sum_so_far, one in zip(tallies, found, strict=True):
                sum_so_far += one
        people += len(page)
    return None if tallies is None else SurveyTally(survey, tuple(tallies), people)
