"""Results of surveys: every kind of question, against people whose answers are known."""

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DeclarationError
from discreet.local.survey.plan import plan_survey
from discreet.local.survey.question_schemes import SCHEMES
from discreet.local.survey.read_survey import parse_survey
from discreet.local.survey.rehearse_survey import rehearse_survey
from discreet.local.survey.results import survey_results
from discreet.local.survey.survey import ListedValues, NumberRange, Text
from discreet.local.survey.tallies import tally_pages
from tests.support.local.surveys import small_survey

HEAD = 'name = "s"\npurpose = "p"\n[questions.q]\ntext = "Which?"\nepsilon = 6\n'
ANSWERS = {
    ListedValues: 'values = ["a", "b", "c"]\n',
    NumberRange: "min = -10\nmax = 10\nstep = 0.5\n",
    Text: 'longest = 6\ncandidates = ["cat", "dog", "gnu"]\n',
}
PEOPLE = 20_000


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_of_a_survey_estimates(name: str, rng):
    kind = SCHEMES[name].goes_with
    survey = parse_survey(f'{HEAD}{ANSWERS[kind]}scheme = "{name}"\n')
    (question,) = survey.questions
    assert question.scheme_name == name
    held: Any
    if kind is Text:
        held = ["cat"] * (PEOPLE * 3 // 4) + ["dog"] * (PEOPLE // 4)
        truth = {"cat": 0.75, "dog": 0.25}
    elif kind is ListedValues:
        held = np.arange(PEOPLE) % 4 // 2  # half of them "a", half of them "b"
        truth = {"a": 0.5, "b": 0.5, "c": 0.0, "(other)": 0.0}
    else:
        held = np.arange(PEOPLE) % 41
        truth = {"mean": float((held - 20).mean() / 2)}
    tally = tally_pages(survey, [question.scheme.randomise_many(held, rng)])
    assert tally is not None
    rows = {row.of: row for row in survey_results(tally, confidence="0.999999999").rows}
    for of, share in truth.items():
        assert rows[of].low <= share <= rows[of].high
        assert abs(rows[of].estimate - share) < 8 * rows[of].error
    planned = plan_survey(survey, [PEOPLE]).questions[0]
    least = min(row.error for row in rows.values())
    assert planned.errors[str(PEOPLE)] == pytest.approx(least, rel=0.6)


def test_texts_without_candidates_are_found_and_rare_ones_are_not(rng):
    survey = parse_survey(f"{HEAD}longest = 6\nleast_share = 0.1\n")
    (question,) = survey.questions
    assert question.scheme_name == "words"
    held = ["cat"] * 15_000 + ["giraffe"[:6]] * 4_900 + ["owl"] * 100
    tally = tally_pages(survey, [question.scheme.randomise_many(held, rng)])
    assert tally is not None
    assert [row.of for row in survey_results(tally).rows] == ["cat", "giraff"]


def test_rappor_needs_candidates():
    with pytest.raises(DeclarationError, match="candidates"):
        parse_survey(f'{HEAD}longest = 6\nscheme = "rappor"\n')


def test_a_rehearsal_has_rows_for_all_questions(rng):
    found = rehearse_survey(small_survey(), 500, rng)
    assert {row.question for row in found.rows} == {"platform", "minutes", "again"}
    assert found.to_arrow().num_rows == len(found.rows)
    assert "500 reports" in str(found)
