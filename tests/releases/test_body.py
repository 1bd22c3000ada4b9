"""A stored body is read whole, or refused with a clear error: nothing of it is guessed."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from discreet import connect
from discreet.core.errors import LedgerError
from discreet.releases.body import Body
from tests.support.projects.clinic import visit, write_project


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> dict[str, Any]:
    folder = write_project(tmp_path_factory.mktemp("body"), [visit(f"p{i}") for i in range(20)])
    with connect(folder, epsilon=1) as connection:
        return connection.sql("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic").body.to_json()


def to(*path: str | int, be: object) -> Callable[[dict[str, Any]], None]:
    """Return a change of one part."""

    def change(body: Any) -> None:
        for name in path[:-1]:
            body = body[name]
        body[path[-1]] = be

    return change


def without(*path: str | int) -> Callable[[dict[str, Any]], None]:
    """Return the loss of one part."""

    def change(body: Any) -> None:
        for name in path[:-1]:
            body = body[name]
        del body[path[-1]]

    return change


ODD = {
    "another format": to("format", be=3),
    "no selection": without("selection"),
    "no keys": without("keys"),
    "no cost": without("cost"),
    "more limits": to("limits", "another", be=1),
    "no limits": to("limits", be=None),
    "a later selection": to("selection", be={"threshold": 1, "units_needed": 2, "later": 3}),
    "noise with more": to("aggregates", 0, "noise", "another", be="1"),
    "noise that is a text": to("aggregates", 0, "noise", be="loud"),
    "an unknown noise": to("aggregates", 0, "noise", "law", be="cauchy"),
    "a step by zero": to("aggregates", 0, "step", be="1/0"),
    "a step downwards": to("aggregates", 0, "step", be="-1"),
    "too few values": to("aggregates", 0, "values", be=[1]),
    "too many values": to("aggregates", 0, "values", be=[1] * 99),
    "values of text": to("aggregates", 0, "values", be=["1", "2"]),
    "an unknown type": to("keys", "types", be=["colour"]),
    "keys of another type": to("keys", "types", be=["integer"]),
    "days that are none": to("keys", "types", be=["date"]),
    "too few rows": to("keys", "rows", be=[["a"]]),
    "rows that are texts": to("keys", "rows", be=["ab", "cd"]),
    "sets that are not there": to("keys", "sets", be=[7, 7]),
    "places that are not there": to("keys", "places", be=[[5]]),
    "a cost that is a list": to("cost", be=[]),
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_an_odd_body_is_refused(stored, change):
    odd = copy.deepcopy(stored)
    change(odd)
    with pytest.raises(LedgerError):
        Body.from_json(odd)


@pytest.mark.parametrize("odd", [5, "text", None, [], {}], ids=repr)
def test_what_is_no_body_is_refused(odd):
    with pytest.raises(LedgerError, match="unknown format"):
        Body.from_json(odd)


def test_a_whole_body_is_read(stored):
    assert Body.from_json(stored).to_json() == stored
