"""Pictures of plans: what is planned stands where its verdict is, and nothing else is claimed."""

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.planner.picture import cost_picture, map_picture, plan_picture
from discreet.planner.plan import Plan, plan
from discreet.planner.verdict import Feasibility

PLACES = (Feasibility.IMPOSSIBLE, Feasibility.OPEN, Feasibility.ACHIEVABLE)

PLANS: dict[str, dict[str, Any]] = {
    "achievable": {"task": "marginals", "within": "0.01", "loss": Pure(1), "dimension": 100},
    "open": {
        "task": "histogram", "people": 200, "within": "0.02", "loss": Zcdp("0.1"), "dimension": 50,
    },
    "impossible": {
        "task": "median", "people": 40, "within": "0.02", "loss": Pure("0.1"), "dimension": 9,
    },
    "one person": {
        "task": "histogram", "people": 1, "within": "0.02", "loss": Pure(1), "dimension": 1,
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=PLANS)
def planned(request) -> Plan:
    return plan(**PLANS[request.param])


def fields(found: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends of the fields, by people and by dimension, and what they say."""
    (mesh,) = map_picture(found).axes[0].collections
    corners = mesh.get_coordinates()
    return corners[0, :, 0], corners[:, 0, 1], np.asarray(mesh.get_array())


def test_the_map_says_of_the_plan_what_its_verdict_says(planned):
    people, dimensions, said = fields(planned)
    column = int(np.searchsorted(people, planned.people)) - 1
    row = int(np.searchsorted(dimensions, planned.dimension)) - 1
    assert PLACES[int(said[row, column])] is planned.verdict
    assert people[0] < planned.people < people[-1]


def test_each_field_is_judged_by_a_plan_of_its_own():
    found = plan(**PLANS["open"])
    people, dimensions, said = fields(found)
    for row in range(0, len(dimensions) - 1, 5):
        for column in range(0, len(people) - 1, 5):
            middle = [
                round(float(np.sqrt(ends[place] * ends[place + 1])))
                for ends, place in ((people, column), (dimensions, row))
            ]
            if not 0.9 < middle[0] / np.sqrt(people[column] * people[column + 1]) < 1.1:
                continue  # small numbers are rounded
            alone = plan(
                "histogram", people=middle[0], within="0.02", loss=Zcdp("0.1"), dimension=middle[1]
            )
            near = {said[row, max(0, column - 1)], said[row, column]}
            near |= set(said[max(0, row - 1) : row + 2, column])
            near |= set(said[row, column : column + 2])
            assert PLACES.index(alone.verdict) in near


def test_dimensions_that_a_task_cannot_have_are_not_shown():
    """A survey has two values or more, and a table of two columns two columns."""
    for task in ("survey-shares", "k-way"):
        found = plan(task, people=30_000, within="0.05", loss=Pure(1), dimension=2)
        assert fields(found)[1][0] > 1
        (line, *_) = cost_picture(found).axes[0].lines
        assert min(line.get_xdata()) == 2


def test_errors_are_drawn_through_the_plan(planned):
    axes = plan_picture(planned).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    best = planned.ways[0]
    line = lines[best.name]
    here = list(line.get_xdata()).index(planned.people)
    assert line.get_ydata()[here] == pytest.approx(min(1, float(best.error) / planned.people))
    below = lines["nobody is within that"]
    refuted = dict(zip(below.get_xdata(), below.get_ydata(), strict=True))
    if planned.impossible_within is not None:
        assert refuted[planned.people] == pytest.approx(float(planned.impossible_within))
    assert axes.get_ylim()[0] == pytest.approx(min(refuted.values()) / 3), "no white strip below"
    assert np.all(np.asarray(below.get_ydata()) < 1)


def test_costs_are_those_of_the_plan():
    found = plan(**PLANS["achievable"])
    axes = cost_picture(found).axes[0]
    best, nobody, _ = axes.lines
    errors = dict(zip(best.get_xdata(), best.get_ydata(), strict=True))
    assert errors[100] == pytest.approx(float(found.ways[0].error))
    refuted = dict(zip(nobody.get_xdata(), nobody.get_ydata(), strict=True))
    assert all(refuted[d] < errors[d] for d in refuted)
    assert axes.get_xlabel() == "properties"
    assert list(errors.values()) == sorted(errors.values())


def test_without_a_loss_none_is_named(monkeypatch):
    monkeypatch.setattr("discreet.planner.picture._PLACES", 4)
    found = plan("adaptive", people=5_000, within="0.2", dimension=10)
    for picture in (map_picture, cost_picture):
        axes = picture(found).axes[0]
        assert "None" not in axes.get_title(loc="left")
    said = fields(found)[2]
    assert set(said.ravel().tolist()) == {0, 1, 2}
    assert all(row.tolist() == sorted(row) for row in said), "more people do no harm"


def test_what_cannot_be_drawn_is_told():
    count = plan("count", people=9, within="0.4", loss=Pure(1))
    for picture in (map_picture, cost_picture):
        with pytest.raises(InvalidArgument, match="with a dimension"):
            picture(count)
    nothing = plan("count", people=9, within="0.4", loss=Approximate(0, "1e-6"))
    with pytest.raises(InvalidArgument, match="have a way"):
        plan_picture(nothing)
