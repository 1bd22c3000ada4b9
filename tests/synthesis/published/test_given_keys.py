"""Columns of which nothing is declared are counted by values that whoever publishes lists."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import DiscreetError, UndeclaredBound
from discreet.synthesis.published.publishing_methods import METHODS
from tests.support.projects.frames import owned as owned_frames

COLUMNS: dict[str, Any] = {
    "person": "integer",
    "word": {"type": "text", "nullable": False},
    "number": "integer",
    "sure": "boolean",
    "age": {"type": "integer", "min": 0, "max": 9},
    "share": "real",
}
WORDS = ["yes", "no", "perhaps", "secret"]


def rows() -> pa.Table:
    places = np.arange(400)
    return pa.table(
        {
            "person": places,
            "word": [WORDS[place % 4] for place in places.tolist()],
            "number": places % 7,
            "sure": places % 2 == 0,
            "age": places % 10,
            "share": places / 400,
        }
    )


@pytest.fixture(scope="module")
def connection():
    said: dict[str, Any] = {"columns": {"answers": COLUMNS}, "budget": {"rho": 10**8}}
    with pytest.warns(UserWarning, match="in memory"):
        owner = owned_frames({"answers": rows()}, unit="person", id_space="given", **said)
    with owner:
        yield owner.connect()


def test_values_that_are_listed_are_counted_and_others_are_null(connection):
    """Noise at this price is 0 but for a probability below 1e-100."""
    asked: dict[str, Any] = {"columns": ["word", "sure"], "method": "cells", "rho": 10**6}
    found = connection.publish("answers", keys={"WORD": ["no", "yes", "never"]}, **asked)
    table = found.estimate.table(["word"])
    assert np.rint(table).tolist() == [100, 100, 0, 200]
    assert found.plan.offered.labels(0) == ("no", "yes", "never", "NULL")
    assert any("'word' that were not listed count as NULL" in note for note in found.notes())
    assert "secret" not in str(found) + str(found.to_json())
    assert connection.publish("answers", keys={"word": ("no", "yes", "never")}, **asked).is_stored
    other = connection.publish("answers", keys={"word": ["yes", "no"]}, **asked)
    assert not other.is_stored, "other cells are measured anew"


def test_whole_numbers_may_be_listed_too(connection):
    said: dict[str, Any] = {"columns": ["number"], "method": "one-way", "rho": 10**6}
    found = connection.publish("answers", keys={"number": [0, 3, 99]}, **said)
    truth = [sum(one % 7 == key for one in range(400)) for key in (0, 3)]
    assert np.rint(found.lines.values).tolist() == [*truth, 0, 400 - sum(truth)]
    written = connection.publish("answers", keys={"number": ["0", "3", "99"]}, **said)
    assert written.is_stored, "on the command line all are texts"


def test_a_dialogue_takes_them_too(connection):
    dialogue = connection.open_queries(
        "answers",
        columns=["word"],
        keys={"word": ["yes", "no"]},
        options={"rows": 400, "threshold": 1},
        epsilon=1_000,
    )
    assert abs(dialogue.ask({"word": None}).value - 200) <= 100


def test_what_is_not_declared_says_how_to_list_it(connection):
    for name in METHODS:
        if name == "beginnings":
            continue
        options = {"rows": 400} if name == "search" else {}
        columns = ["word", "sure"] if name in ("heavy-sets", "projected-halfspaces") else ["word"]
        with pytest.raises(UndeclaredBound, match=r'keys=\{"word".*GROUP BY word'):
            connection.publish("answers", columns=columns, method=name, options=options, rho=1)


WRONG: list[Any] = [
    {"word": []},
    {"word": "yes"},
    {"word": ["yes", "yes"]},
    {"word": [3]},
    {"word": [None]},
    {"word": {"yes"}},
    {"word": ["x" * 2_000]},
    {"word": [str(n) for n in range(3_000)]},
    {"word": [float("nan")]},
    {"number": [True, False]},
    {"number": ["1e9"]},
    {"number": [1.5]},
    {"sure": [True]},
    {"age": [1, 2]},
    {"share": ["0.5"]},
    {"person": [1]},
    {"nothing": ["a"]},
    {"word": ["a"], "WORD": ["b"]},
    {3: ["a"]},
    ["word"],
    "word",
    5,
]


@pytest.mark.parametrize("keys", WRONG, ids=lambda one: repr(one)[:40])
def test_wrong_lists_are_refused_and_cost_nothing(connection, keys):
    before = len(connection.history())
    asked: dict[str, Any] = {"columns": ["word", "number", "sure", "age"], "keys": keys}
    with pytest.raises(DiscreetError):
        connection.publish("answers", method="one-way", rho=1, **asked)
    with pytest.raises(DiscreetError):
        connection.open_queries("answers", options={"rows": 9}, epsilon=1, **asked)
    assert len(connection.history()) == before
