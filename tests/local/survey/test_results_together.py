"""Results of a survey: intervals of all questions hold at once, if that is asked for."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.local.frequency.k_ary import KaryResponse
from discreet.local.numbers.one_bit_mean import OneBitMean
from discreet.local.survey.results import survey_results
from discreet.local.survey.tallies import SurveyTally
from tests.support.local.surveys import small_survey

TALLIES = (np.array([50, 30, 15, 5]), np.array([40, 60]), np.array([60, 30, 10]))


def test_together_divides_the_doubt_among_questions():
    survey = small_survey()
    rows = survey_results(SurveyTally(survey, TALLIES, 100), together=True).rows
    each = 1 - Fraction(1, 20) / 3
    scheme, minutes = survey.questions[0].scheme, survey.questions[1].scheme
    assert isinstance(scheme, KaryResponse)
    assert isinstance(minutes, OneBitMean)
    mean = minutes.estimate_tally(TALLIES[1], confidence=each, repeats=3)
    assert next(row.low for row in rows if row.of == "mean") == mean.low / 2
    shares = scheme.estimate_tally(TALLIES[0], 100, confidence=each, together=True)
    assert [row.high for row in rows[:4]] == shares.high.tolist()


def test_a_confidence_that_is_none_is_refused():
    with pytest.raises(InvalidArgument, match="confidence"):
        survey_results(SurveyTally(small_survey(), TALLIES, 100), confidence=2)
