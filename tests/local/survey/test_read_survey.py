"""Declarations of surveys: what they say, and what is refused, with the key and its line."""

from fractions import Fraction

import pytest

from discreet.core.errors import DeclarationError
from discreet.local.survey.plan import plan_survey
from discreet.local.survey.read_survey import MOST_BYTES, parse_survey, read_survey
from discreet.local.survey.survey import NumberRange
from discreet.server.collector.app import MOST_BODY
from tests.support.local.surveys import TEXT, small_survey


def test_a_survey_says_what_it_costs():
    survey = small_survey()
    one = [question.scheme.event().epsilon for question in survey.questions]
    assert survey.epsilon_of_report() == sum(one)
    # Three fresh reports; two kept ends; three kept answers of which each report shows one.
    assert survey.epsilon_of_person() == 3 * one[0] + 2 * one[1] + 3 * one[2]
    most = (Fraction(2), Fraction(1), Fraction(1, 2))
    assert all(found <= asked for found, asked in zip(one, most, strict=True))
    assert survey.size == 3


def test_numbers_are_put_onto_a_grid():
    answers = small_survey().questions[1].answers
    assert isinstance(answers, NumberRange)
    assert (answers.most, answers.at(480)) == (480, 240.0)


def test_another_form_is_another_version():
    assert small_survey().version == small_survey().version
    assert (
        parse_survey(TEXT.replace("reports = 3", "reports = 2")).version != small_survey().version
    )
    assert (
        parse_survey(TEXT.replace("epsilon = 2", "epsilon = 1")).version != small_survey().version
    )


def test_a_lifetime_that_is_exceeded_is_refused():
    allowed = small_survey().epsilon_of_person()
    parse_survey(f"lifetime_epsilon = {float(allowed) + 0.01}\n{TEXT}")
    with pytest.raises(DeclarationError, match="lifetime_epsilon"):
        parse_survey(f"lifetime_epsilon = {float(allowed) - 0.01}\n{TEXT}")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "app"', "", "name is missing"),
        ('name = "app"', 'name = ""', "name"),
        ("reports = 3", "reports = 0", "reports"),
        ("reports = 3", "reports = true", "reports"),
        ("reports = 3", "reports = 3\nseed = 1", "seed"),
        ("epsilon = 2", "epsilon = 0", "epsilon"),
        ("epsilon = 2", "epsilon = -1", "epsilon"),
        ("epsilon = 2", "epsilon = 1000", "epsilon"),
        ("epsilon = 2", "epsilon = nan", "epsilon"),
        ("epsilon = 2", 'epsilon = "x"', "epsilon"),
        ('"phone", "tablet"', '"phone", "phone"', "values"),
        ('["phone", "tablet", "computer"]', "[]", "values"),
        ('["phone", "tablet", "computer"]', "[1, 2]", "values"),
        ('scheme = "k_ary"', 'scheme = "one_bit_mean"', "scheme"),
        ('keeps = "rounded"', 'keeps = "now and then"', "keeps"),
        ("max = 240", "max = 0", "max"),
        ("max = 240", "max = 0.3", "max"),
        ("max = 240", "max = 1e12", "max"),
        ("step = 0.5", "step = 0", "max"),
        ("step = 0.5", "step = 0.5\nmissing = 0.7", "missing"),
        ("step = 0.5", "step = 1e-400", "max.*steps"),
        ('values = ["yes", "no"]', "", "min and max"),
        ('"phone", "tablet"', '"phone", "(other)"', "values"),
        (
            'step = 0.5\nepsilon = 1\nscheme = "one_bit_mean"\nkeeps = "rounded"',
            'step = 0.05\nepsilon = 1\nkeeps = "permanent"',
            "keeps .*too many answers.*4,801",
        ),
        ('values = ["yes", "no"]', 'longest = 3\ncandidates = ["yes", "never"]', "never"),
        ('values = ["yes", "no"]', 'longest = 30\ncandidates = ["(no answer)"]', "candidates"),
        (
            'values = ["yes", "no"]',
            f"longest = 9\ncandidates = {[str(text) for text in range(1001)]}",
            "candidates .*too long.*1,000",
        ),
        ("[questions.again]", "[questions.again", "TOML"),
    ],
)
def test_bad_declarations_are_refused(old: str, new: str, words: str):
    assert old in TEXT
    with pytest.raises(DeclarationError, match=words):
        parse_survey(TEXT.replace(old, new, 1))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DeclarationError, match="survey init"):
        read_survey(tmp_path)


@pytest.mark.parametrize(
    ("values", "epsilon", "chosen"), [(3, 1, "k_ary"), (5000, 1, "local_hashing"), (40, 4, "k_ary")]
)
def test_the_scheme_that_errs_least_is_taken(values: int, epsilon: int, chosen: str):
    listed = ", ".join(f'"{number}"' for number in range(values))
    text = TEXT.replace('"phone", "tablet", "computer"', listed).replace(
        'epsilon = 2\nscheme = "k_ary"', f"epsilon = {epsilon}"
    )
    assert parse_survey(text).questions[0].scheme_name == chosen


def test_reports_that_no_collector_takes_are_refused_before_anybody_is_asked(monkeypatch):
    monkeypatch.setattr("discreet.local.survey.read_survey.MOST_BYTES", 2)
    with pytest.raises(DeclarationError, match=r"too large.*at most 2 bytes.*got 3 bytes"):
        small_survey()


def test_the_largest_report_fits_a_batch():
    """In base64, with the version, the token and the names of the keys."""
    assert 512 + 4 * (MOST_BYTES // 3 + 1) < MOST_BODY


def test_what_no_loss_bounds_is_said_where_answers_are_kept():
    assert small_survey().kept_note().startswith("Answers to minutes, again are drawn once")
    assert "the likelier, the further it moves" in small_survey().kept_note()
    fresh = TEXT.replace('keeps = "rounded"', "").replace('keeps = "permanent"', "")
    assert parse_survey(fresh).kept_note() == ""


def test_a_plan_rounds_losses_up():
    (row,) = [
        line
        for line in str(
            plan_survey(parse_survey(TEXT.replace("epsilon = 2", "epsilon = 2.00049")))
        ).splitlines()
        if line.startswith("platform")
    ]
    assert float(row.split()[2]) >= 2.00048
