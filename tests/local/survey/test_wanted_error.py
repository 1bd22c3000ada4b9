"""Questions that say how exact they shall be, and surveys that say how long they take reports."""

import asyncio
import datetime
import json
from collections.abc import MutableMapping
from typing import Any

import pytest

from discreet.core.errors import DeclarationError
from discreet.local.device.survey_device import SurveyDevice
from discreet.local.survey.plan import plan_survey
from discreet.local.survey.question_schemes import SCHEMES
from discreet.local.survey.read_survey import parse_survey
from discreet.local.survey.survey import ListedValues, NumberRange, Text
from discreet.server.collector.app import Collector
from discreet.server.collector.page import survey_page
from discreet.server.collector.report_store import ReportStore

HEAD = 'name = "s"\npurpose = "p"\n'
QUESTION = '[questions.q]\ntext = "Which?"\npeople = 20000\n'
ANSWERS = {
    ListedValues: 'values = ["a", "b", "c"]\nerror = 0.01\n',
    NumberRange: "min = -10\nmax = 10\nstep = 0.5\nerror = 0.2\n",
    Text: 'longest = 6\ncandidates = ["cat", "dog"]\nerror = 0.02\n',
}


@pytest.mark.parametrize("name", [None, *SCHEMES])
def test_the_least_loss_is_taken_that_gives_the_error(name):
    kinds = list(ANSWERS) if name is None else [SCHEMES[name].goes_with]
    for kind in kinds:
        text = HEAD + QUESTION + ANSWERS[kind] + ("" if name is None else f'scheme = "{name}"\n')
        wanted = float(ANSWERS[kind].split("error = ")[1])
        if name == "words":
            wanted, text = 0.1, text.replace("error = 0.02", "error = 0.1")
        planned = plan_survey(parse_survey(text), [20_000]).questions[0]
        assert planned.errors["20000"] <= wanted
        steps = round(100 * planned.epsilon)
        line = text[text.index("error = ") :].split("\n")[0]
        less = text.replace(line, f"epsilon = {(steps - 1) / 100}")
        assert plan_survey(parse_survey(less), [20_000]).questions[0].errors["20000"] > wanted


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("", "neither"),
        ("epsilon = 1\nerror = 0.1\n", "both"),
        ("error = 0\n", "error"),
        ("error = -1\n", "error"),
        ("error = 1e-9\n", "out of reach"),
        ("error = nan\n", "error"),
        ('error = "small"\n', "error"),
    ],
)
def test_what_cannot_be_had_is_refused(keys, words):
    with pytest.raises(DeclarationError, match=words):
        parse_survey(f'{HEAD}{QUESTION}values = ["a"]\n{keys}')


def sent(app: Collector, body: str) -> int:
    """Hand a batch to the application; return the status."""
    found: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body.encode()}

    async def send(message: MutableMapping[str, Any]) -> None:
        found.append(message)

    asyncio.run(app({"type": "http", "method": "POST", "path": "/reports"}, receive, send))
    return int(found[0]["status"])


def test_reports_are_taken_until_the_last_day_and_a_clock_that_was_wrong_loses_none(tmp_path):
    survey = parse_survey(f'{HEAD}until = 2026-12-31\n{QUESTION}values = ["a"]\nepsilon = 1\n')
    assert survey.form()["until"] == "2026-12-31"
    assert "until 2026-12-31" in survey_page(survey)
    batches = [SurveyDevice(survey.published(), {}).batch({}) or "" for _ in range(3)]
    store = ReportStore(tmp_path / "kept", survey)
    clock = [datetime.date(2026, 12, 31)]
    app = Collector(store, today=lambda: clock[0])
    assert sent(app, batches[0]) == 201
    clock[0] = datetime.date(2027, 1, 1)
    assert [sent(app, batch) for batch in batches] == [410, 410, 410]
    clock[0] = datetime.date(2020, 1, 1)
    assert [sent(app, batch) for batch in batches] == [200, 201, 201]
    assert sum(len(page) for page in store.pages()) == 3
    store.close()


def test_a_survey_without_an_end_has_the_version_that_it_had():
    plain = parse_survey(f'{HEAD}{QUESTION}values = ["a"]\nepsilon = 1\n')
    assert "until" not in json.dumps(plain.form())
    with pytest.raises(DeclarationError, match="until"):
        parse_survey(f'{HEAD}until = "soon"\n{QUESTION}values = ["a"]\nepsilon = 1\n')
