"""Whatever is given to what publishes is taken, or refused in words before anything is spent."""

import datetime
import decimal
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import AnswerFailed, DiscreetError, UnexpectedError
from discreet.synthesis.published.publishing_methods import METHODS
from tests.support.projects.frames import owned as owned_frames
from tests.synthesis.published.test_publish import CASES, COLUMNS, visits

NASTY: list[Any] = [
    *(0, -1, 1.5, 10**30, 1e308, float("nan"), float("inf"), "", "1e400", "nan", "1/0", "\ud800"),
    *(True, b"x", [], [[]], [None], [[["region"]]], [["region", 3]], {}, {(): 3}, {1: 2}, object()),
    *(np.array([1, 2]), decimal.Decimal("sNaN"), 1j, datetime.date(2025, 1, 1)),
]
"""What a method, an option or a question may be given by mistake."""

PRICES: list[Any] = [0, -1, float("nan"), float("inf"), "1e-400", 10**400, "x", [], True, 1j, b"1"]

RARE = {
    "no rows": visits().slice(0, 0),
    "one row": visits().slice(0, 1),
    "one unit": visits(500, people=1),
    "nobody's": visits().set_column(0, "patient", pa.nulls(600, pa.int64())),
}


@pytest.fixture(scope="module")
def connection():
    said: dict[str, Any] = {"columns": {"visits": COLUMNS}, "budget": {"rho": 1000}}
    with pytest.warns(UserWarning, match="in memory"):
        owner = owned_frames({"visits": visits()}, id_space="nasty", **said)
    with owner:
        yield owner.connect()


def taken_or_refused(ask: Any, *given: Any, **said: Any) -> Any:
    """Return what comes of it, or None if it is refused in words that quote little."""
    refused: DiscreetError
    try:
        return ask(*given, **said)
    except (AnswerFailed, UnexpectedError):
        raise
    except DiscreetError as error:
        refused = error
    assert len(str(refused)) < 1_500
    assert refused.must or refused.next or refused.got
    return None


@pytest.mark.parametrize("name", METHODS)
def test_options_are_taken_or_refused(connection, name):
    columns, options = CASES[name]
    before = len(connection.history())
    asked: dict[str, Any] = {"columns": columns, "method": name, "rho": 1}
    for one in attrs.fields(METHODS[name]):
        for value in NASTY:
            given = options | {one.name: value}
            ask = connection.explain_publishing
            told = taken_or_refused(ask, "visits", **asked, options=given)
            assert told is None or str(told)
    for value in NASTY:
        taken_or_refused(connection.explain_publishing, "visits", **asked, options=value)
    for value in PRICES:
        price = {"rho": value}
        told = taken_or_refused(
            connection.publish, "visits", **asked | {"options": options} | price
        )
        assert told is None
    assert len(connection.history()) == before


@pytest.mark.parametrize("machine", ["weights", "median"])
def test_machines_are_taken_or_refused(connection, machine):
    before = len(connection.history())
    asked: dict[str, Any] = {"columns": ["region"], "machine": machine, "epsilon": 9}
    ask = connection.explain_open_queries
    for name in ("rows", "queries", "updates", "threshold", "size"):
        for value in NASTY:
            given = {"rows": 100} | {name: value}
            taken_or_refused(ask, "visits", **asked, options=given)
    for value in NASTY:
        taken_or_refused(ask, "visits", **asked, options=value)
        wrong = asked | {"machine": value, "options": {"rows": 100}}
        assert taken_or_refused(ask, "visits", **wrong) is None
    assert len(connection.history()) == before


def test_questions_are_taken_or_refused(connection):
    dialogue = connection.open_queries(
        "visits", columns=["region", "age"], options={"rows": 600}, epsilon=9
    )
    counts = {
        name: connection.publish("visits", columns=[name], method="tree", rho=9)
        for name in ("age", "cost", "day")
    }
    for value in NASTY:
        for asked in (value, {"age": value}, {"age": (value, value)}, {"region": value}):
            taken_or_refused(dialogue.ask, asked)
        for name, found in counts.items():
            for asked in (value, {name: value}, {name: (value, value)}):
                taken_or_refused(found.count, asked)
        if not isinstance(value, str):
            assert taken_or_refused(counts["age"].plot, value) is None


@pytest.mark.parametrize("said", ["method", "tables", "published", "impossible", "totals", "rows"])
def test_what_synthesise_is_told_is_taken_or_refused(connection, said):
    before = len(connection.history())
    asked: dict[str, Any] = {"columns": ["region", "urgent"], "rho": 1}
    for value in NASTY:
        given = asked | {said: value}
        taken_or_refused(connection.explain_synthesis, "visits", **given)
    assert len(connection.history()) == before


@pytest.mark.parametrize("rows", RARE)
def test_tables_of_hardly_anyone_are_published(rows):
    """What is rare in a table is no reason to fail: a failure would tell that it is rare."""
    said: dict[str, Any] = {"columns": {"visits": COLUMNS}, "budget": {"rho": 1000}}
    with pytest.warns(UserWarning, match="in memory"):
        owner = owned_frames({"visits": RARE[rows]}, id_space=f"rare {rows}", **said)
    with owner:
        connection = owner.connect()
        for name, (columns, options) in CASES.items():
            found = connection.publish(
                "visits", columns=columns, method=name, options=options, rho=5
            )
            assert found.to_arrow().num_rows == len(found) >= 0
            assert str(found)
        for machine in ("weights", "median"):
            dialogue = connection.open_queries(
                "visits", columns=["region"], machine=machine, options={"rows": 99}, epsilon=9
            )
            assert isinstance(dialogue.ask({"region": "north"}).value, int)
