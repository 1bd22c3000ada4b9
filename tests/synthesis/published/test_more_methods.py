"""Points, projections, heavy sets and beginnings of texts, through the gate: what comes out.

Noise at a price of 500,000 or more is 0 but for a probability below 1e-100, so counts are exact.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.loss import Zcdp
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries
from discreet.synthesis.halfspaces.halfspace_answers import HalfspaceAnswers
from discreet.synthesis.halfspaces.paper_halfspaces import PaperHalfspaces
from tests.support.projects.frames import owned as owned_frames

TEXTS: list[str | None] = [
    "I10.9",
    "I1",
    "I10",
    "I",
    "i10",
    "J45",
    "J4",
    "",
    "I11",
    "\u00c9a",
    "\U0001f600x",
    "%_",
    None,
]
QUERIES = [["I10", "I11"], ["I"], ["J4"], ["\u00c9", "\U0001f600"], ["%"], ["_", "I10.99"], ["i"]]
COLUMNS: dict[str, Any] = {
    "person": "integer",
    "code": "text",
    "smokes": {"type": "boolean", "nullable": False},
    "ill": {"type": "boolean", "nullable": False},
    "age": {"type": "integer", "min": 0, "max": 15, "nullable": False},
    "height": {"type": "integer", "min": 0, "max": 15, "nullable": False},
    "weight": {"type": "integer", "min": 0, "max": 15, "nullable": False},
}


def rows(count: int = 4_000) -> pa.Table:
    random = np.random.default_rng(5)
    smokes = random.random(count) < 0.4
    numbers = {name: random.integers(0, 16, count) for name in ("age", "height", "weight")}
    return pa.table(
        {
            "person": range(count),
            "code": [TEXTS[place % len(TEXTS)] for place in range(count)],
            "smokes": smokes,
            "ill": smokes & (random.random(count) < 0.8),
            **numbers,
        }
    )


@pytest.fixture(scope="module")
def connection():
    said: dict[str, Any] = {"columns": {"people": COLUMNS}, "budget": {"rho": 10**9}}
    with pytest.warns(UserWarning, match="in memory"):
        owner = owned_frames({"people": rows()}, unit="person", id_space="methods", **said)
    with owner:
        yield owner.connect()


def test_clamped_points_are_whole_and_never_below_0(connection):
    asked: dict[str, Any] = {"columns": ["smokes", "ill"], "method": "clamped-points"}
    table = rows()
    found = connection.publish("people", rho=10**6, **asked)
    truth = np.zeros((2, 2), dtype=np.int64)
    for one, other in zip(table["smokes"].to_pylist(), table["ill"].to_pylist(), strict=True):
        truth[int(one), int(other)] += 1
    assert found.estimate.tolist() == truth.tolist()
    assert found.count({"smokes": True}).count == truth[1].sum()
    noisy = found.plan.ready.estimate([np.array([-5, 3, 0, -1])])
    assert noisy.tolist() == [[0, 3], [0, 0]]


@pytest.mark.parametrize("by", ["cells", "mwem"])
def test_beginnings_are_those_of_the_texts(connection, by):
    """The engine's cells are those of the library, for texts of all kinds."""
    options: dict[str, Any] = {"queries": QUERIES, "by": by}
    if by == "mwem":
        options |= {"rounds": len(QUERIES), "rows": 4_000}
    found = connection.publish(
        "people", columns=["code"], method="beginnings", options=options, rho=10**6
    )
    texts = [one for one in rows()["code"].to_pylist() if one is not None]
    truth = [sum(one.startswith(tuple(asked)) for one in texts) for asked in QUERIES]
    assert (
        truth
        == PrefixQueries(QUERIES).linear.answers(PrefixQueries(QUERIES).histogram(texts)).tolist()
    ), "Claim 7.3.4"
    if by == "cells":
        assert found.lines.values.tolist() == truth
        assert found.estimate.count(["I"]) == truth[1]
        other = connection.publish(
            "people",
            columns=["code"],
            method="beginnings",
            options={"queries": [[one for some in QUERIES for one in some]]},
            rho=10**6,
        )
        assert other.is_stored, "whatever is asked of the same cells is free"
        assert len(other) == 1
        with pytest.raises(InvalidArgument, match="were not counted"):
            found.estimate.count(["K"])
    else:
        chosen = found.estimate.chosen
        for place, value in zip(chosen, found.estimate.values, strict=True):
            assert value == truth[place]


def test_heavy_sets_find_what_was_never_measured_together(connection):
    """The estimate is within 8 standard errors, which is off less than once in 10**14 runs."""
    found = connection.publish(
        "people",
        columns=["smokes", "ill"],
        method="heavy-sets",
        options={"halves": 2_000},
        rho=10**6,
    )
    table = rows()
    ill = np.array(table["ill"].to_pylist())
    joined = found.estimate
    assert abs(joined.counts[1, 1] - ill.sum()) <= 8 * joined.standard_error[1, 1]
    assert abs(joined.counts[0, 1]) <= 8 * joined.standard_error[0, 1]
    assert joined.standard_error.max() < 200
    assert found.count({"smokes": True, "ill": True}).count == joined.counts[1, 1]
    assert found.lines.deviations.tolist() == joined.standard_error.ravel().tolist()
    named = connection.explain_publishing(
        "people",
        columns=["smokes", "ill", "age"],
        method="heavy-sets",
        options={"left": ["age"], "halves": 50},
        rho=1,
    )
    assert named.plan.ready.sets.left == (2,)
    assert "the table itself would have" in str(named)


def test_projections_are_drawn_when_paid_for_and_kept(connection):
    columns = ["age", "height", "weight"]
    asked: dict[str, Any] = {"columns": columns, "method": "projected-halfspaces"}
    found = connection.publish(
        "people", options={"projections": 5, "resolution": 3}, rho=10**9 // 2, **asked
    )
    counts, signs = found.measured
    assert signs.shape == (5, 4, 2)
    assert set(signs.ravel().tolist()) == {-1, 1}
    points = np.stack([np.array(rows()[name].to_pylist()) for name in columns], axis=1)
    points = np.column_stack([2 * points - 15, np.full(len(points), 16)])
    directions = found.plan.ready.method.net.directions.directions
    for place in range(5):
        sides = (points @ signs[place]) @ directions.T >= 0
        assert counts[place].tolist() == sides.sum(axis=0).tolist()
    kept = HalfspaceAnswers.from_json(found.estimate.to_json())
    for direction in ([1.0, 0, 0, 0], [0.3, -1, 0.5, 0.1]):
        assert kept.count(direction) == found.estimate.count(direction)
    assert len(found) == counts.size
    again = connection.publish(
        "people", options={"projections": 5, "resolution": 3}, rho=10**9 // 2, **asked
    )
    assert again.is_stored
    assert again.measured[1].tolist() == signs.tolist()
    moved = 5 * found.plan.ready.method.net.directions.size * found.plan.rows_per_unit**2
    assert found.plan.ready.method.noise.sigma_squared == Fraction(moved, 10**9)
    assert found.cost == Zcdp(rho=10**9 // 2)


def test_the_papers_mode_says_what_its_theorem_asks_for(connection):
    asked: dict[str, Any] = {
        "columns": ["age", "height", "weight"],
        "method": "projected-halfspaces",
        "options": {"error": "0.2", "failure": "0.05", "nearness": "0.5"},
    }
    paper = PaperHalfspaces.of(
        error=0.2, failure=0.05, nearness=0.5, bits=4, dimension=4, epsilon=math.sqrt(2)
    )
    before = len(connection.history())
    with pytest.raises(Unsupported, match=r"cannot be built.*10\*\*5577") as caught:
        connection.publish("people", rho=1, **asked)
    assert f"{paper.projections:,} projections to {paper.across:,} dimensions" in str(caught.value)
    assert "Leave error, failure and nearness out" in str(caught.value)
    assert len(connection.history()) == before


REFUSED: list[tuple[str, list[str], dict[str, Any], str]] = [
    ("beginnings", ["code"], {}, "Nobody said which"),
    ("beginnings", ["age"], {"queries": ["I"]}, "one column of texts"),
    ("beginnings", ["code", "age"], {"queries": ["I"]}, "one column of texts"),
    ("beginnings", ["code"], {"queries": [""]}, "only the empty one"),
    ("beginnings", ["code"], {"queries": [[f"p{n}" for n in range(400)]]}, "too many prefixes"),
    ("beginnings", ["code"], {"queries": ["x" * 2_000]}, "too long"),
    ("beginnings", ["code"], {"queries": 5}, "not a list of prefixes"),
    ("beginnings", ["code"], {"queries": [[3]]}, "sets of prefixes"),
    ("beginnings", ["code"], {"queries": ["I"], "by": "magic"}, "no such way"),
    ("beginnings", ["code"], {"queries": ["I"], "by": "mwem", "rounds": 10**6}, "too long"),
    ("heavy-sets", ["ill"], {}, "columns of their own"),
    ("heavy-sets", ["ill", "smokes"], {"left": ["ill", "smokes"]}, "columns of their own"),
    ("heavy-sets", ["ill", "smokes"], {"left": ["age"]}, "not one of the columns"),
    ("heavy-sets", ["ill", "smokes"], {"halves": 1}, "halves is out of range"),
    ("heavy-sets", ["ill", "smokes"], {"halves": 10**9}, "take too long"),
    ("projected-halfspaces", ["age"], {}, "several columns"),
    ("projected-halfspaces", ["age", "height"], {"across": 3}, "as many dimensions"),
    ("projected-halfspaces", ["age", "height"], {"projections": 10**6}, "projections is out"),
    ("projected-halfspaces", ["age", "height"], {"nearness": "0.5"}, "all three"),
    ("projected-halfspaces", ["age", "height"], {"resolution": 10**6}, "too large|too many"),
    ("projected-halfspaces", ["age", "smokes"], {}, "has no intervals"),
]


@pytest.mark.parametrize(("method", "columns", "options", "said"), REFUSED)
def test_what_cannot_be_measured_is_refused_and_costs_nothing(
    connection, method, columns, options, said
):
    before = len(connection.history())
    for ask in (connection.publish, connection.explain_publishing):
        with pytest.raises(DiscreetError, match=said):
            ask("people", columns=columns, method=method, options=options, rho=1)
    assert len(connection.history()) == before
