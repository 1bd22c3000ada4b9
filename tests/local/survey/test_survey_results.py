"""Results of surveys: every kind of question, against people whose answers are known."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy.stats import binom

from discreet.core.errors import DeclarationError
from discreet.local.numbers.square_wave import SquareWave
from discreet.local.survey.plan import plan_survey
from discreet.local.survey.question_schemes import SCHEMES
from discreet.local.survey.read_survey import parse_survey
from discreet.local.survey.rehearse_survey import rehearse_survey
from discreet.local.survey.results import survey_results
from discreet.local.survey.survey import ListedValues, NumberRange, Text
from discreet.local.survey.tallies import SurveyTally, tally_pages
from discreet.local.words.hashed_words import HashedWords
from tests.support.local.surveys import small_survey
from tests.support.statistics.exact_tests import alpha

HEAD = 'name = "s"\npurpose = "p"\n[questions.q]\ntext = "Which?"\nepsilon = 6\n'
ANSWERS = {
    ListedValues: 'values = ["a", "b", "c"]\n',
    NumberRange: "min = -10\nmax = 10\nstep = 0.5\n",
    Text: 'longest = 6\ncandidates = ["cat", "dog", "gnu"]\n',
}
PEOPLE = 20_000
PARTS = ("a quarter is at or below", "half is at or below", "three quarters are at or below")


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
        if name == "square_wave":
            inner = np.sort(held)[PEOPLE // 4 - 1 :: PEOPLE // 4]
            truth |= dict(zip(PARTS, ((inner - 20) / 2).tolist(), strict=False))
    tally = tally_pages(survey, [question.scheme.randomise_many(held, rng)])
    assert tally is not None
    rows = {row.of: row for row in survey_results(tally, confidence="0.999999999").rows}
    for of, share in truth.items():
        assert rows[of].low <= share <= rows[of].high
        error = rows[of].error
        assert abs(rows[of].estimate - share) < (1.5 if error is None else 8 * error)
    assert kind is not NumberRange or set(truth) == set(rows)
    planned = plan_survey(survey, [PEOPLE]).questions[0]
    least = min(row.error for row in rows.values() if row.error is not None)
    assert planned.errors[str(PEOPLE)] == pytest.approx(least, rel=0.6)


def test_texts_without_candidates_are_found_and_rare_ones_are_not(rng):
    survey = parse_survey(f"{HEAD}longest = 6\nleast_share = 0.1\n")
    (question,) = survey.questions
    assert question.scheme_name == "words"
    held = ["cat"] * 15_000 + ["giraffe"[:6]] * 4_900 + ["owl"] * 100
    tally = tally_pages(survey, [question.scheme.randomise_many(held, rng)])
    assert tally is not None
    assert [row.of for row in survey_results(tally).rows] == ["cat", "giraff"]


def test_ends_of_texts_hold_as_often_as_is_said_where_many_texts_share_buckets(rng):
    """Over hash functions: others fill every bucket by more than the least share.

    The ends of each survey may be wrong in half of all cases; so many are wrong seldom.
    """
    survey = parse_survey(f"{HEAD}longest = 2\nleast_share = 0.01\n")
    others = [f"{first}{second}" for first in "cdefghij" for second in "cdefghij"]
    held = ["a"] * 20_000 + others * 300
    shares = dict.fromkeys(others, 300 / len(held)) | {"a": 20_000 / len(held)}
    wrong = 0
    for number in range(40):
        scheme = HashedWords.calibrate(
            epsilon=16, longest=2, salt=f"{number}", buckets=16, alphabet="acdefghij"
        )
        question = evolve(survey.questions[0], scheme=scheme)
        tally = scheme.tally(scheme.randomise_many(held, rng))
        counted = SurveyTally(evolve(survey, questions=(question,)), (tally,), len(held))
        rows = survey_results(counted, confidence="1/2").rows
        wrong += any(not row.low <= shares.get(row.of, 0) <= row.high for row in rows)
    assert binom.sf(wrong - 1, 40, 0.5) > alpha("local/texts beside")


def test_few_people_have_results_of_all_other_questions(rng, tmp_path):
    """One report is of one group; no word is found, and nothing else is lost."""
    asked = '[questions.r]\ntext = "Where?"\nlongest = 6\nepsilon = 2\n'
    survey = parse_survey(f'{HEAD}values = ["a", "b"]\n{asked}')
    for people in (1, 2, 5):
        found = rehearse_survey(survey, people, rng)
        assert {row.of for row in found.rows} >= {"a", "b", "(other)"}
    alone = parse_survey(f"{HEAD}longest = 6\n")
    found = rehearse_survey(alone, 1, rng)
    assert found.rows == ()
    assert "stay hidden" in " ".join(str(found).split())
    found.plot(tmp_path / "none.png")
    assert (tmp_path / "none.png").stat().st_size > 0
    assert found.to_arrow().column_names == [
        "question",
        "of",
        "estimate",
        "low",
        "high",
        "error",
    ]


def test_texts_that_nobody_listed_are_no_candidates(rng):
    """Most people skip the question or answer something else; errs as often as coins may."""
    survey = parse_survey(f"{HEAD}{ANSWERS[Text]}")
    (question,) = survey.questions
    held = ["cat"] * 2_000 + [""] * 12_000 + ["zebra"] * 6_000
    tally = tally_pages(survey, [question.scheme.randomise_many(held, rng)])
    assert tally is not None
    rows = {row.of: row for row in survey_results(tally, confidence="0.999999999").rows}
    assert rows["(no answer)"].low <= 0.6 <= rows["(no answer)"].high
    assert abs(rows["(no answer)"].estimate - 0.6) < 0.1
    for of in ("dog", "gnu"):
        assert rows[f"{of} (perhaps nobody)"].low == 0


def test_rappor_needs_candidates():
    with pytest.raises(DeclarationError, match="candidates"):
        parse_survey(f'{HEAD}longest = 6\nscheme = "rappor"\n')


def test_a_rehearsal_has_rows_for_all_questions(rng):
    found = rehearse_survey(small_survey(), 500, rng)
    assert {row.question for row in found.rows} == {"platform", "minutes", "again"}
    assert found.to_arrow().num_rows == len(found.rows)
    assert "500 reports" in str(found)


def wave(epsilon: str, more: str = "max = 10") -> SurveyTally:
    head = HEAD.replace("epsilon = 6", f"epsilon = {epsilon}")
    survey = parse_survey(f'{head}min = 0\n{more}\nscheme = "square_wave"\n')
    scheme = survey.questions[0].scheme
    assert isinstance(scheme, SquareWave)
    tally = np.bincount(np.arange(scheme.outcomes) * 7 % scheme.outcomes, minlength=scheme.outcomes)
    return SurveyTally(survey, (tally * 20,), int(tally.sum()) * 20)


def test_quartiles_are_shown_stored_and_drawn_without_a_usual_error(tmp_path):
    found = survey_results(wave("2"))
    assert [row.of for row in found.rows] == ["mean", *PARTS]
    assert [row.error is None for row in found.rows] == [False, True, True, True]
    assert "None" not in str(found)
    assert "three at once" in " ".join(str(found).split())
    assert json.loads(json.dumps(found.to_json()))["rows"][1]["error"] is None
    assert found.to_arrow().column("error").null_count == 3
    found.plot(tmp_path / "q.svg")


def test_mean_and_quartiles_share_the_doubt_and_know_of_repeats():
    tally = wave("2")
    scheme: Any = tally.survey.questions[0].scheme
    half = Fraction(39, 40)
    rows = survey_results(tally, together=True).rows
    assert rows[0].low == scheme.estimate_tally(tally.tallies[0], confidence=half).low
    below = scheme.cumulative_of_tally(tally.tallies[0], confidence=half)
    assert [row.low for row in rows[1:]] == [below.quantile(f"{n}/4").low for n in (1, 2, 3)]
    twice = scheme.cumulative_of_tally(tally.tallies[0], confidence=half, repeats=2)
    of_half = scheme.cumulative_of_tally(tally.tallies[0] // 2, confidence=half)
    assert np.allclose(twice.low, of_half.low)
    assert (twice.low < below.low)[below.low > 0].any()


@pytest.mark.parametrize("more", ["max = 10\nstep = 0.004", "max = 500"])
def test_no_quartiles_where_the_law_is_not_inverted(more):
    """The grid is too long, or the loss so small that no digits are left."""
    epsilon = "1" if "step" in more else "0.0001"
    assert [row.of for row in survey_results(wave(epsilon, more)).rows] == ["mean"]
