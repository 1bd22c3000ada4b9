"""A device in a survey: every answer has a report, of one size, in both languages alike."""

import base64
import json
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.local import Rappor, RapporCoins
from discreet.local.device.draws import Draws, SecureDraws
from discreet.local.device.survey_device import SurveyDevice, value_of
from discreet.local.survey.read_survey import parse_survey
from discreet.local.survey.survey import SurveyQuestion, Text
from tests.support.local.device_law import law_of, run_node
from tests.support.local.surveys import TEXT, small_survey

ANSWERS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=2),
    st.sampled_from(
        ["phone", "tablet", "yes", "no", 0, 1.25, 239.75, 1e300, 5e-324, 10**400, -(10**400)]
    ),
)


def device(memory=None, draws=None) -> SurveyDevice:
    survey = small_survey()
    return SurveyDevice(survey.published(), {} if memory is None else memory, draws)


@given(st.dictionaries(st.sampled_from(["platform", "minutes", "again", "other"]), ANSWERS))
def test_whatever_is_answered_has_a_report_of_one_size(answers):
    report = device().report(answers)
    assert report is not None
    assert len(report) == small_survey().size


@given(ANSWERS)
def test_values_are_on_the_grid(answer):
    minutes = small_survey().questions[1].form()
    found = value_of(minutes, {"minutes": answer})
    assert 0 <= found <= 480
    if isinstance(answer, float) and math.isfinite(answer) and 0 <= answer <= 240:
        assert abs(found - 2 * Fraction(answer)) <= Fraction(1, 2)


def test_a_device_stops_after_its_reports_over_all_versions():
    memory: dict[str, str] = {}
    assert [device(memory).report({}) is None for _ in range(4)] == [False, False, False, True]
    newer = {**small_survey().form(), "purpose": "another version"}
    assert SurveyDevice({"form": newer, "version": "another"}, memory).report({}) is None


def test_a_memory_that_cannot_be_read_reports_nothing():
    with pytest.raises(ValueError, match="nothing is reported"):
        device({"reports app": "many"}).report({})


SPOILT = [
    "",
    "null",
    "[]",
    '["00"]',
    '["00", "01"]',
    '["00", "01", "0"]',
    '["00", "01", 1]',
    '["00", "01", "0102"]',
    '{"offset": 0, "answers": ["00"]}',
    '{"offset": -1, "answers": ["00", "01"]}',
    '{"answers": ["00", "01"]}',
    "[" * 100_000,
]
UNREADABLE = "the memory of this device cannot be read; nothing is reported"
EVERY_ANSWER: list[dict[str, Any]] = [
    {"again": "yes", "minutes": 0},
    {"again": "no", "minutes": 240},
    {"minutes": 9},
]


class SpoiltMemory(dict[str, str]):
    def __init__(self, text: str) -> None:
        self._text = text

    def get(self, name: str, default: Any = None, /) -> Any:
        return None if name == "reports app" else self._text


def kept_alone(keeps: str) -> dict[str, Any]:
    survey = small_survey()
    kept = [one.form() for one in survey.questions if one.keeps == keeps]
    return {"version": "v", "form": {**survey.form(), "questions": kept}}


@pytest.mark.parametrize("keeps", ["permanent", "rounded"])
def test_whether_a_spoilt_memory_is_noticed_does_not_depend_on_the_answer(keeps):
    survey = kept_alone(keeps)
    for text in SPOILT:
        for answers in EVERY_ANSWER:
            with pytest.raises(ValueError, match=UNREADABLE):
                SurveyDevice(survey, SpoiltMemory(text)).report(answers)
    found = run_node("spoilt", {"survey": survey, "answers": EVERY_ANSWER, "texts": SPOILT})
    assert found == [[UNREADABLE] * len(EVERY_ANSWER)] * len(SPOILT)


def test_answers_are_kept_for_one_question_with_its_values_alone():
    """If two shared them, their reports would tell for certain whether the values are the same."""
    memory: dict[str, str] = {}
    again = {**small_survey().questions[2].form(), "name": "b c"}
    asked = [
        ("a", again),
        ("a b", {**again, "name": "c"}),
        ("a", {**again, "values": ["no", "yes"]}),
    ]
    for name, question in asked:
        form = {"name": name, "reports": 9, "questions": [question]}
        SurveyDevice({"version": "v", "form": form}, memory).report({})
    assert sum(name.startswith("permanent") for name in memory) == 3


def test_javascript_sends_large_reports():
    wide = {"kind": "unary", "categories": 2**20, "held": 2**51, "other": 0}
    question = {"name": "q", "values": [], "recipe": wide, "keeps": "no"}
    form = {"name": "wide", "reports": 1, "questions": [question]}
    sent = run_node("batch", {"survey": {"version": "v", "form": form}})
    assert len(base64.b64decode(sent["reports"][0])) == 2**17


def test_kept_answers_stay():
    memory: dict[str, str] = {}
    answers = {"again": "yes", "minutes": 30}
    reports = [device(memory).report(answers) for _ in range(3)]
    assert len({report[1:] for report in reports if report is not None}) == 1


def test_tokens_are_fresh():
    batches = [json.loads(device().batch({}) or "") for _ in range(3)]
    assert len({batch["token"] for batch in batches}) == 3
    assert all(len(base64.b64decode(batch["reports"][0])) == 3 for batch in batches)


def test_the_law_of_a_report_is_within_the_loss_of_a_report():
    """All questions at once, of a device that has never reported: the odds multiply, exactly."""
    survey = small_survey()
    form = {**survey.form(), "questions": [survey.questions[0].form(), survey.questions[2].form()]}

    def law(answers):
        published = {"form": form, "version": "v"}
        return law_of(lambda draws: SurveyDevice(published, {}, draws).report(answers) or b"")

    one, two = law({"platform": "phone", "again": "yes"}), law({"platform": "tablet"})
    odds = [survey.questions[place].scheme.odds() for place in (0, 2)]
    assert max(one[report] / two[report] for report in one) == odds[0] * odds[1]


def test_javascript_makes_the_same_reports(rng):
    given_answers: list[dict[str, Any]] = [
        {},
        {"platform": "tablet", "minutes": 12.3, "again": "no"},
        {"platform": 3, "minutes": "x", "again": None},
        {"platform": "__proto__", "minutes": -1e300, "again": "yes"},
        {"platform": "computer", "minutes": 239.75, "again": "maybe"},
        {"minutes": 0.25},
        {"minutes": 5e-324},
        {"minutes": 1e300},
    ]
    survey = small_survey()
    stream = rng.words(100_000).astype("<u8").tobytes()
    place = 0

    def take(size: int) -> bytes:
        nonlocal place
        place += size
        return stream[place - size : place]

    draws = SecureDraws(take)
    ours = [
        (SurveyDevice(survey.published(), {}, draws).report(answers) or b"").hex()
        for answers in given_answers
    ]
    task = {
        "stream": stream[:place].hex(),
        "survey": survey.published(),
        "answers": given_answers,
    }
    assert run_node("survey", task) == ours


def test_integers_beyond_all_floats_are_answered_too():
    minutes = small_survey().questions[1].form()
    assert [value_of(minutes, {"minutes": x}) for x in (10**400, -(10**400))] == [480, 0]


@pytest.mark.parametrize(
    "answer",
    [Decimal("12.25"), Fraction(49, 4), np.float64(12.25), np.float32(12.25), 12.25],
    ids=lambda answer: type(answer).__name__,
)
def test_numbers_of_every_kind_are_on_the_grid(answer):
    """A number of an array that counted as missing would make estimates wrong without a word."""
    minutes = small_survey().questions[1].form()
    assert value_of(minutes, {"minutes": answer}) == 25
    assert value_of(minutes, {"minutes": np.int64(7)}) == 14
    assert value_of(minutes, {"minutes": np.uint8(255)}) == 480
    odd = (np.bool_(True), Decimal("sNaN"), Decimal("NaN"), 1j, np.float32("nan"))
    assert [value_of(minutes, {"minutes": one}) for one in odd] == [0] * 5
    assert value_of(minutes, {"minutes": Decimal("1e999999")}) == 480
    assert value_of(minutes, {"minutes": Fraction(10**400, 3)}) == 480


class Unreadable(dict[str, Any]):
    """Answers of an application that fails: its own error must not keep the report back."""

    def get(self, name: str, default: Any = None, /) -> Any:
        raise RuntimeError(name)


class UnreadableNumber(Decimal):
    def __float__(self) -> float:
        raise RuntimeError


@pytest.mark.parametrize(
    "answers", [None, 5, [], "phone", Unreadable(), {"minutes": UnreadableNumber(9)}], ids=repr
)
def test_answers_that_cannot_be_read_are_reported_as_missing(answers, rng):
    stream = rng.words(1_000).astype("<u8").tobytes()

    def told(given: Any) -> bytes | None:
        left = iter(range(0, len(stream), 8))

        def take(size: int) -> bytes:
            start = next(left)
            return stream[start : start + size]

        return device(draws=SecureDraws(take)).report(given)

    assert told(answers) == told({})


def test_answers_that_cannot_be_read_are_reported_as_missing_in_javascript_too():
    survey = small_survey()
    found = run_node("odd", {"survey": survey.published()})
    places = [[3, 0, 2]] * 5
    assert found == {"places": [*places, [3, 24, 2]], "size": survey.size}


def test_a_counter_of_another_kind_reports_nothing():
    with pytest.raises(ValueError, match="nothing is reported"):
        device({"reports app": 1}).report({})


def test_two_questions_never_keep_their_answers_under_one_name():
    """Else equal reports would tell that two questions were answered alike."""
    form = small_survey().form()
    memory: dict[str, str] = {}
    for name, question in (("a b", "c"), ("a", "b c")):
        asked = {**form["questions"][2], "name": question}
        published = {"version": "v", "form": {**form, "name": name, "questions": [asked]}}
        assert SurveyDevice(published, memory).report({}) is not None
    assert len([name for name in memory if name.startswith("permanent")]) == 2


TEXTS = ["", "cat", "a longer text than counts", "\U0001f600 smile", "\ud800 alone", "é", 7, None]


def test_texts_are_reported_alike_in_both_languages(rng):
    survey = parse_survey(
        'name = "t"\npurpose = "p"\nreports = 1\n'
        '[questions.a]\ntext = "Which?"\nepsilon = 2\nlongest = 6\n'
        '[questions.b]\ntext = "Which?"\nepsilon = 2\nlongest = 5\ncandidates = ["cat", "é"]\n'
    )
    stream = rng.words(100_000).astype("<u8").tobytes()
    place = 0

    def take(size: int) -> bytes:
        nonlocal place
        place += size
        return stream[place - size : place]

    draws = SecureDraws(take)
    answers = [{"a": text, "b": text} for text in TEXTS]
    ours = [
        (SurveyDevice(survey.published(), {}, draws).report(one) or b"").hex() for one in answers
    ]
    task = {"stream": stream[:place].hex(), "survey": survey.published(), "answers": answers}
    assert run_node("survey", task) == ours
    assert {len(report) for report in ours} == {2 * survey.size}


def test_a_pinned_version_is_the_only_one_that_is_obeyed():
    """A form that asks more is refused in both languages, under either version, before any draw."""
    survey = parse_survey(TEXT.replace("Where do", "Wo, \U0001f34f\\\\ \\u0001\u2028ä, do"))
    published = survey.published()
    louder = parse_survey(TEXT.replace("epsilon = 2", "epsilon = 20"))
    forged = {"version": survey.version, "form": louder.form()}
    surveys = [published, louder.published(), forged, {**published, "version": "v"}]
    refused = "the survey is not the version that is pinned; nothing is reported"
    found = run_node("pinned", {"surveys": surveys, "pinned": survey.version})
    assert found == [survey.size, refused, refused, refused]
    assert SurveyDevice(published, {}, pinned=survey.version).report({}) is not None
    for other in surveys[1:]:
        memory: dict[str, str] = {}
        with pytest.raises(ValueError, match=refused):
            SurveyDevice(other, memory, pinned=survey.version)
        assert memory == {}


def test_the_lifetime_of_fresh_texts_is_that_of_all_reports():
    """RAPPOR without anything kept: two reports of one text lose twice as much, by enumeration."""
    coins = RapporCoins.declare(f="1/2")
    scheme = Rappor(bits=4, hashes=1, cohorts=1, salt="s", coins=coins)
    question = SurveyQuestion(
        name="q", text="t", answers=Text(longest=4), scheme=scheme, scheme_name="rappor"
    )
    form = {"name": "texts", "reports": 2, "questions": [question.form()]}

    def twice(text: str, draws: Draws) -> bytes:
        made = SurveyDevice({"version": "v", "form": form}, {}, draws)
        return b"".join(made.report({"q": text}) or b"" for _ in range(2))

    one, two = (law_of(partial(twice, text)) for text in scheme.worst_pair())
    odds = max(one[reports] / two[reports] for reports in one)
    assert odds == scheme.odds() ** 2
    assert question.epsilon_of_lifetime(2) == 2 * scheme.event().epsilon
