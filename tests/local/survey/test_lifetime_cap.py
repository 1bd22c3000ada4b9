"""A device with a cap works out losses by itself, in both languages, and before it draws."""

import json
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from discreet.core.numbers import log_bounds
from discreet.local.device.draws import UNIT
from discreet.local.device.recipe_loss import LOSS_UNIT, log_up, loss_of_form
from discreet.local.device.survey_device import SurveyDevice
from discreet.local.survey.read_survey import parse_survey
from tests.local.case import Case
from tests.local.schemes import CASES
from tests.support.local.device_law import run_node
from tests.support.local.surveys import TEXT, small_survey

TOO_MUCH = "the survey tells more than this device allows; nothing is reported"
UNBOUNDED = "the survey has no loss that this device can bound; nothing is reported"
UNCOUNTED = "reports were made before they were counted; nothing is reported"
NO_NUMBER = "the most that a device may tell is no number of 0 or more"


def asked(recipe: Any, *, keeps: str = "no", values: int | None = None) -> dict[str, Any]:
    """A question that fits a recipe."""
    if recipe["kind"] in ("rappor", "words"):
        answers: dict[str, Any] = {"longest": 4}
    elif "most" in recipe:
        answers = {"min": "0", "step": "1/2", "most": recipe["most"], "default": 0}
    else:
        count = recipe.get("categories") or recipe.get("buckets") or recipe.get("bits")
        count = values or count or len(recipe["rows"])
        answers = {"values": [str(place) for place in range(count - 1)]}
    return {"name": "q", "recipe": dict(recipe), "keeps": keeps, **answers}


def form_of(*questions: dict[str, Any], reports: int = 1, name: str = "s") -> dict[str, Any]:
    return {"name": name, "reports": reports, "questions": list(questions)}


def form_of_case(case: Case, **options: Any) -> dict[str, Any]:
    recipe = json.loads(json.dumps(case.scheme.recipe()))
    values = recipe["bits"] if recipe["kind"] == "basic_rappor" else None
    return form_of(asked(recipe, values=values), **options)


def test_the_loss_of_every_scheme_is_that_of_its_odds_and_alike_in_javascript():
    """The odds were found by enumeration, in test_exact_laws."""
    forms = [form_of_case(case, reports=3) for case in CASES]
    losses = [loss_of_form(form) for form in forms]
    for case, loss in zip(CASES, losses, strict=True):
        low, high = log_bounds(case.scheme.odds(), 160) if case.scheme.odds() > 1 else (0, 0)
        assert 3 * low <= Fraction(loss, LOSS_UNIT) <= 3 * high + Fraction(1, 2**100), case
    assert run_node("losses", forms) == [str(loss) for loss in losses]


@pytest.mark.parametrize("ratio", [(2, 1), (3, 2), (10**40, 1), (UNIT, UNIT - 1), (7, 9**60)])
def test_logarithms_are_rounded_up_a_little(ratio):
    with localcontext(prec=80):
        truth = abs(Decimal(ratio[0]).ln() - Decimal(ratio[1]).ln()) * LOSS_UNIT
        assert 0 <= log_up(*ratio) - truth < 2**20


def test_the_loss_of_a_survey_is_what_it_says_of_itself():
    survey = small_survey()
    loss = Fraction(loss_of_form(survey.form()), LOSS_UNIT)
    assert 0 <= loss - survey.epsilon_of_person() < Fraction(1, 2**90)
    kept = parse_survey(
        'name = "t"\npurpose = "p"\nreports = 5\n[questions.a]\ntext = "Which?"\nepsilon = 2\n'
        'longest = 6\nkeeps = "permanent"\n'
    )
    loss = Fraction(loss_of_form(kept.form()), LOSS_UNIT)
    assert abs(loss - kept.epsilon_of_person()) < Fraction(1, 2**90)


COIN = {"kind": "k_ary", "categories": 2, "truth": 3 * 2**50}  # ln 3 = 1.0986... a report
LOUDER = {**COIN, "truth": 2**52 - 2**40}


def steps(most: Any, *forms: dict[str, Any]) -> list[Any]:
    """Report once to each form with one memory; say what came of it, and what was kept."""
    memory: dict[str, str] = {}
    found: list[Any] = []
    for form in forms:
        before = dict(memory)
        try:
            device = SurveyDevice({"version": "v", "form": form}, memory, most_epsilon=most)
            report = device.report({})
            found.append(None if report is None else len(report))
        except ValueError as error:
            found.append(str(error))
            assert memory == before, "what is refused leaves no trace"
    return [found, json.loads(memory.get("losses", "{}"))]


SAME = form_of(asked(COIN), reports=2)
OTHER = form_of(asked(COIN), reports=2, name="other")
NEWER = form_of({**asked(COIN), "name": "r"}, reports=2)
HISTORIES: list[tuple[Any, list[dict[str, Any]], list[Any]]] = [
    (2.25, [SAME, SAME, SAME], [1, 1, None]),
    (2.25, [SAME, OTHER, SAME], [1, TOO_MUCH, 1]),
    (4.5, [SAME, OTHER, SAME, form_of(asked(COIN), name="third")], [1, 1, 1, TOO_MUCH]),
    (2.25, [SAME, NEWER], [1, TOO_MUCH]),
    (2.1, [SAME], [TOO_MUCH]),
    (8, [form_of(asked(LOUDER))], [TOO_MUCH]),
    (1, [form_of(asked(COIN), asked(COIN))], [TOO_MUCH]),
    (10**9, [form_of(asked({**COIN, "truth": UNIT}))], [UNBOUNDED]),
    (2.25, [form_of(asked(COIN, keeps="permanent"), reports=100)], [1]),
    (2.15, [form_of(asked(COIN, keeps="permanent"), reports=100)], [TOO_MUCH]),
    (0, [SAME], [TOO_MUCH]),
    (0, [form_of(asked({**COIN, "truth": 2**51}))], [1]),
    (-1, [SAME], [NO_NUMBER]),
    ("2", [SAME], [NO_NUMBER]),
    (True, [SAME], [NO_NUMBER]),
]


def test_what_is_too_much_is_refused_before_it_draws():
    found = [steps(most, *forms) for most, forms, _ in HISTORIES]
    for one, (_, _, expected) in zip(found, HISTORIES, strict=True):
        assert one[0] == expected
    given = [{"most": most, "forms": forms} for most, forms, _ in HISTORIES]
    assert run_node("capped", given) == found


@pytest.mark.parametrize("most", [float("nan"), float("inf"), None])
def test_a_cap_that_is_no_number(most):
    published = {"version": "v", "form": SAME}
    if most is None:
        assert SurveyDevice(published, {}, most_epsilon=None).report({}) is not None
        return
    with pytest.raises(ValueError, match=NO_NUMBER):
        SurveyDevice(published, {}, most_epsilon=most)


def _changed(recipe: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**recipe, **more}


WINDOW = {"kind": "window", "most": 4, "width": 2, "inside": 2**51}
GRID = asked(WINDOW)
TEXT_RECIPE = {"kind": "words", "alphabet": "ab", "lengths": [1, 2], "buckets": 8, "salt": "s"}
TABLE = {"kind": "table", "rows": [[2**51], [2**50]]}
ODD_QUESTIONS: list[Any] = [
    None,
    [],
    {},
    {**asked(COIN), "keeps": "constructor"},
    {**asked(COIN), "keeps": None},
    {**asked(COIN), "name": 3},
    {**asked(COIN), "values": ["a", "b"]},
    {**asked(COIN), "values": "a"},
    {**asked(COIN), "values": [1]},
    {**asked(COIN), "recipe": {"kind": "constructor"}},
    {**asked(COIN), "recipe": {"kind": "k_ary"}},
    {**asked(COIN), "keeps": "rounded"},
    *(asked(_changed(COIN, truth=truth)) for truth in (-1, 0, UNIT, UNIT + 1, 0.5, "1", None)),
    *(asked(_changed(COIN, truth=truth)) for truth in (True, [1])),
    {**asked(COIN), "recipe": _changed(COIN, categories=2.5)},
    {**GRID, "most": 5},
    {**GRID, "default": 9},
    {**GRID, "step": "0"},
    {**GRID, "step": "-1"},
    {**GRID, "step": "1/0"},
    {**GRID, "min": "x"},
    {**GRID, "min": 0},
    {**GRID, "recipe": _changed(WINDOW, width=0)},
    {**asked(COIN), "values": None},
    asked(_changed(TEXT_RECIPE, truth=2**51, lengths=[])),
    asked(_changed(TEXT_RECIPE, truth=2**51, lengths=[2, 1])),
    asked(_changed(TEXT_RECIPE, truth=2**51, salt=3)),
    {**asked(COIN), "recipe": _changed(TEXT_RECIPE, truth=2**51)},
    asked(_changed(TABLE, rows=[[2**51], [2**51, 2**51]])),
    asked(_changed(TABLE, rows=[[2**51, 2**50], [2**50, 2**51]])),
    asked(_changed(TABLE, rows=[[0], [2**50]])),
]


def test_what_cannot_be_judged_is_refused_whatever_would_be_answered():
    """Forms that fail for some answers alone, or that no formula bounds, in both languages."""
    forms = [form_of(question) for question in ODD_QUESTIONS]
    forms += [{**SAME, "reports": 1.5}, {**SAME, "reports": -1}, {**SAME, "questions": {}}]
    for form in forms:
        with pytest.raises(ValueError, match=UNBOUNDED):
            SurveyDevice({"version": "v", "form": form}, {}, most_epsilon=1000)
    assert run_node("losses", forms) == [UNBOUNDED] * len(forms)


def test_reports_from_before_the_cap_are_not_forgotten():
    memory: dict[str, str] = {}
    published = {"version": "v", "form": SAME}
    assert SurveyDevice(published, memory).report({}) is not None
    with pytest.raises(ValueError, match=UNCOUNTED):
        SurveyDevice(published, memory, most_epsilon=100)


def test_losses_that_cannot_be_read_report_nothing():
    texts = ["", "[]", "null", '{"a": 1}', '{"a": "-1"}', "[" * 10_000]
    for text in texts:
        with pytest.raises(ValueError, match="cannot be read; nothing is reported"):
            SurveyDevice({"version": "v", "form": SAME}, {"losses": text}, most_epsilon=9)
    for said in run_node("spoiltLosses", texts):
        assert "cannot be read; nothing is reported" in said


def test_a_pinned_survey_with_a_cap_reports():
    survey = parse_survey(TEXT)
    cap = float(survey.epsilon_of_person()) + 1e-9
    device = SurveyDevice(survey.published(), {}, pinned=survey.version, most_epsilon=cap)
    assert device.report({}) is not None
