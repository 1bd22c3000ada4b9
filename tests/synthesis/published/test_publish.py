"""Counts are published through the gate: what is charged, what comes out, what is refused."""

import datetime
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.core.errors import BudgetError, DiscreetError, InvalidArgument, Unsupported
from discreet.project.charged import charged
from discreet.synthesis.published.interval_methods import TreeIntervals
from discreet.synthesis.published.place_methods import NestedPlaces
from discreet.synthesis.published.publishing_methods import METHODS
from tests.support.projects.frames import owned as owned_frames

DAY = datetime.date(2025, 1, 1)
COLUMNS: dict[str, Any] = {
    "patient": "integer",
    "region": {"type": "text", "keys": ["north", "south"], "nullable": False},
    "district": {"type": "text", "keys": ["n1", "n2", "s1"], "nullable": False},
    "age": {"type": "integer", "min": 0, "max": 99},
    "cost": {"type": "real", "min": 0, "max": 500, "step": 0.5},
    "day": {"type": "date", "min": DAY, "max": datetime.date(2027, 12, 31)},
    "urgent": "boolean",
    "word": "text",
}
PLACES = [("north", "n1"), ("north", "n2"), ("south", "s1")]
PLACE = ["region", "district"]
CASES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "tree": (["age"], {}),
    "prefix": (["cost"], {}),
    "search": (["age"], {"rows": 400}),
    "boxes": (["age", "cost"], {"depth": 3}),
    "hierarchy": (["region", "district"], {"places": PLACES}),
    "cells": (["region", "urgent"], {}),
    "tables": (["region", "district", "urgent"], {}),
    "contrasts": (["region", "district", "urgent"], {"tables": [["region", "urgent"]]}),
    "one-way": (["region", "district", "urgent"], {}),
    "mwem": (["region", "district", "urgent"], {"rounds": 4}),
    "small-database": (["region", "urgent"], {"accuracy": "0.2"}),
    "points": (["region", "urgent"], {}),
    "clamped-points": (["region", "urgent"], {}),
    "halfspaces": (["age", "cost"], {"resolution": 2, "cells": 16}),
    "projected-halfspaces": (["age", "cost", "day"], {"projections": 3, "resolution": 2}),
    "heavy-sets": (["region", "urgent"], {"halves": 20}),
    "beginnings": (["word"], {"queries": [["y", "no"], ["ye"]]}),
}


def visits(count=600, *, people=200, number=1):
    random = np.random.default_rng(number)
    place = random.integers(0, 3, count)
    return pa.table(
        {
            "patient": random.integers(0, people, count),
            "region": [PLACES[one][0] for one in place],
            "district": [PLACES[one][1] for one in place],
            "age": pa.array(random.integers(0, 100, count), mask=random.random(count) < 0.1),
            "cost": random.gamma(2, 50, count),
            "day": [DAY + datetime.timedelta(int(one)) for one in random.integers(0, 1000, count)],
            "urgent": random.random(count) < 0.3,
            "word": ["yes"] * count,
        }
    )


@pytest.fixture
def own(tmp_path):
    """Own the visits of patients, with a ledger on disk."""

    def own(rows=None, **said):
        usual: dict[str, Any] = {
            "ledger": tmp_path / "ledger",
            "id_space": tmp_path.name,
            "columns": {"visits": COLUMNS},
            "budget": {"rho": 100},
        }
        return owned_frames({"visits": visits() if rows is None else rows}, **usual | said)

    return own


def test_every_method_has_a_case():
    assert set(CASES) == set(METHODS)


@pytest.fixture(scope="module")
def shared():
    """An owner for many tests: in memory, and with room for all of them."""
    said: dict[str, Any] = {"columns": {"visits": COLUMNS}, "budget": {"rho": 1000}}
    with pytest.warns(UserWarning, match="in memory"):
        found = owned_frames({"visits": visits()}, id_space="published", **said)
    with found:
        yield found


@pytest.mark.parametrize("name", CASES)
def test_it_is_charged_what_its_event_costs_and_then_free(shared, name):
    columns, options = CASES[name]
    asked: dict[str, Any] = {"columns": columns, "method": name, "options": options, "rho": 2}
    asked |= {"rows_per_unit": 3}
    connection = shared.connect()
    before = connection.budget()[0].spent
    told = connection.explain_publishing("visits", **asked)
    assert not told.is_stored
    assert told.is_affordable()
    assert ("Costs", str(told.cost)) in told.steps()
    assert connection.budget()[0].spent == before
    first = connection.publish("visits", **asked)
    assert first.cost == charged(first.plan.ready.event(), connection.budget()[0].cap) == told.cost
    assert 1.99 < first.cost.rho <= 2
    assert first.plan.rows_per_unit == first.plan.plan.limits.rows_per_unit == 3
    assert connection.budget()[0].spent == before + first.cost
    again = shared.connect(analyst="other").publish("visits", **asked)
    assert again.is_stored
    assert [one.tolist() for one in again.measured] == [one.tolist() for one in first.measured]
    assert again.receipt == first.receipt
    assert connection.explain_publishing("visits", **asked).is_stored
    assert connection.budget()[0].spent == before + first.cost
    assert len(first.to_pandas()) == len(first) == first.to_arrow().num_rows
    assert json.loads(json.dumps(first.to_json()))["published"] == name
    assert "rows of nobody" in str(first)
    assert first.method in json.dumps(first.about())
    (stored,) = connection.releases(first.receipt.ticket.number)
    opened = stored.open()
    assert (stored.sql, stored.columns) == (first.plan.in_words(), first.columns)
    assert opened.is_stored
    assert opened.receipt == first.receipt
    assert opened.lines.values.tolist() == first.lines.values.tolist()
    assert opened.notes() == first.notes()
    assert f'method: "{name}"' in opened.card()
    for other in ({"rows_per_unit": 2}, {"fresh": True}):
        assert not connection.publish("visits", **asked | other).is_stored


@pytest.mark.parametrize("name", ["search", "contrasts", "small-database"])
def test_an_epsilon_buys_it_where_the_budget_is_pure(own, name):
    columns, options = CASES[name]
    with own(budget={"epsilon": 10}) as owner:
        found = owner.connect().publish(
            "visits", columns=columns, method=name, options=options, epsilon=2
        )
        assert 1.99 < found.cost.epsilon <= 2


@pytest.mark.parametrize("name", ["hierarchy", "one-way"])
def test_an_epsilon_with_a_delta_is_charged_no_more_than_both(own, name):
    columns, options = CASES[name]
    with own(budget={"epsilon": 10, "delta": 1e-5}) as owner:
        found = owner.connect().publish(
            "visits", columns=columns, method=name, options=options, epsilon=2, delta=1e-6
        )
        assert found.cost.epsilon <= 2
        assert found.cost.delta <= Fraction("1e-6")


# ---------------------------------------------------------------- what is counted


def test_a_unit_counts_with_as_many_rows_as_it_may(own):
    """Noise of deviation 0.003 (3 rows, ρ = 500,000) is 0 but for a probability of 1e-1000."""
    rows = pa.table(
        {
            "patient": [1] * 3_000 + list(range(2, 102)),
            "region": ["north"] * 3_000 + ["south"] * 100,
            "urgent": [True] * 3_100,
        }
    )
    declared = {"visits": {name: COLUMNS[name] for name in ("patient", "region", "urgent")}}
    with own(rows, columns=declared, budget={"rho": 10**8}) as owner:
        found = owner.connect().publish(
            "visits", columns=["region"], method="cells", rho=500_000, rows_per_unit=3
        )
        assert found.lines.values.tolist() == [3, 100]


def test_cells_of_a_wide_axis_are_those_of_a_narrow_one(own):
    """Where a range has many cells they are worked out by arithmetic, and not by a list.

    Each of ten levels has noise of deviation 0.007, which is 0 but for one in 10**4000.
    """
    asked: dict[str, Any] = {"method": "tree", "rho": 10**5, "rows_per_unit": 1}
    edges = {"age": [-5, 0, 1, 99, 400], "cost": [-1.0, 0.24, 0.26, 499.9, 1e9]}
    days = [datetime.date(1969, 1, 1), DAY, datetime.date(2027, 12, 31), DAY, DAY]
    rows = pa.table({"patient": range(5), **edges, "day": days})
    declared = {name: COLUMNS[name] for name in ("patient", "cost", "day")}
    declared["age"] = {"type": "integer", "min": 0, "max": 999}
    with own(rows, columns={"visits": declared}, budget={"rho": 10**6}) as owner:
        connection = owner.connect()
        for column in ("age", "cost", "day"):
            wide, narrow = (
                connection.publish(
                    "visits", columns=[column], options={"cells": cells, "branching": 16}, **asked
                )
                for cells in (1024, 100)
            )
            cells = narrow.plan.offered.cells[0].ends
            ends = np.searchsorted(cells, wide.plan.offered.cells[0].ends)
            sums = np.bincount(ends, np.rint(wide.lines.values), minlength=len(cells))
            assert len(wide) > 500 > 100 >= len(narrow)
            assert sums.tolist() == np.rint(narrow.lines.values).tolist()


def test_runs_are_asked_for_by_values(own):
    with own(budget={"rho": 10**8}) as owner:
        connection = owner.connect()
        table = visits()
        ages = np.array([one for one in table["age"].to_pylist() if one is not None])
        found = connection.publish(
            "visits", columns=["age"], method="tree", rho=10**6, rows_per_unit=50
        )
        about = found.count({"age": (20, 29)})
        assert about.count == pytest.approx(((ages >= 20) & (ages <= 29)).sum(), abs=0.5)
        assert found.count().count == pytest.approx(len(ages), abs=0.5)
        boxes = connection.publish("visits", **_boxes(rho=10**6))
        both = boxes.count({"age": (0, 99), "cost": (0, 500)})
        assert both.count == pytest.approx(len(ages), abs=0.5)
        with pytest.raises(InvalidArgument, match="was not counted"):
            found.count({"cost": 3})
        with pytest.raises(InvalidArgument, match="begins where it ends"):
            found.count({"age": (30, 20)})
        tables = connection.publish("visits", columns=["region"], method="cells", rho=10**5)
        with pytest.raises(InvalidArgument, match="to_pandas"):
            tables.count({"region": "north"})


def test_a_run_that_ends_within_a_cell_says_what_was_counted(own):
    """Cells of seven years hold 41 to 58 and more; without a word the count would be far off."""
    with own(budget={"rho": 10**8}) as owner:
        connection = owner.connect()
        ages = [one for one in visits()["age"].to_pylist() if one is not None]
        found = connection.publish(
            "visits",
            columns=["age"],
            method="tree",
            options={"cells": 20},
            rho=10**6,
            rows_per_unit=50,
        )
        about = found.count({"age": (41, 58)})
        low, high = map(int, about.counted["age"].split(" to "))
        assert low < 41 or high > 58
        exact = sum(low <= one <= high for one in ages)
        assert about.count == pytest.approx(exact, abs=0.5)
        assert found.count({"age": (low, high)}).counted == {}
        assert found.count().counted == found.count({"age": (-5, 1_000)}).counted == {}
        assert any("whole cells" in note for note in found.notes())
        boxes = connection.publish("visits", **_boxes(rho=10**6))
        with pytest.raises(InvalidArgument, match="'age' were left out"):
            boxes.count({"age": None})
        with pytest.raises(InvalidArgument, match="NULL at one end"):
            boxes.count({"age": (3, None)})


def _boxes(**said):
    columns, options = CASES["boxes"]
    return {"columns": columns, "method": "boxes", "options": options, "rows_per_unit": 50} | said


def test_places_add_up_as_declared(own):
    with own() as owner:
        found = owner.connect().publish(
            "visits",
            columns=["region", "district"],
            method=NestedPlaces(places=PLACES, declared={("north",): 300}),
            rho=5,
        )
        top, regions, districts = found.estimate
        assert regions.tolist()[0] == 300
        assert top[0] == regions.sum() == districts.sum()
        assert found.lines.labels[:2] == [(None, None), ("north", None)]
        assert any("declared" in note for note in found.notes())


def test_places_may_come_from_a_public_table(own):
    named = {
        name: list(column) for name, column in zip(PLACE, zip(*PLACES, strict=True), strict=True)
    }
    columns = {"visits": COLUMNS, "map": dict.fromkeys(PLACE, "text")}
    with own(columns=columns, public={"map": pa.table(named)}) as owner:
        connection = owner.connect()
        asked: dict[str, Any] = {"columns": PLACE, "method": "hierarchy", "rho": 5}
        found = connection.publish("visits", options={"places": "map"}, **asked)
        assert found.plan.ready.counts.hierarchy.sizes == (1, 2, 3)
        assert connection.publish("visits", options={"places": PLACES}, **asked).is_stored
        everything = connection.publish("visits", **asked)
        assert everything.plan.ready.counts.hierarchy.sizes == (1, 2, 6)
        with pytest.raises(DiscreetError, match="private table"):
            connection.publish("visits", options={"places": "visits"}, **asked)


def test_contrasts_are_fitted_by_whole_numbers(shared):
    connection = shared.connect()
    found = connection.publish("visits", columns=PLACE, method="contrasts", rho=2)
    counts = found.estimate.fitted().counts
    assert counts.min() >= 0
    assert counts.sum() == pytest.approx(found.estimate.table(["region"]).sum(), abs=30)
    assert found.estimate.table(["district", "region"]).shape == (3, 2)
    with pytest.raises(Unsupported, match="contrasts alone"):
        connection.publish("visits", columns=PLACE, method="cells", rho=1).estimate.fitted()


def test_counts_are_drawn(shared, tmp_path):
    found = shared.connect().publish("visits", columns=PLACE, method="cells", rho=1)
    found.plot(tmp_path / "places.svg")
    assert "<svg" in (tmp_path / "places.svg").read_text(encoding="utf-8")
    with pytest.raises(DiscreetError):
        found.plot(tmp_path / "places.nothing")


# ---------------------------------------------------------------- refused before a charge

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"columns": ["word"], "method": "tables"}, "not declared"),
    ({"columns": ["region"], "method": "tree"}, "has no intervals"),
    ({"columns": ["age", "cost"], "method": "tree"}, "is for one column"),
    ({"columns": ["patient"], "method": "one-way"}, "whose row it is"),
    ({"columns": ["age"], "method": "search"}, "how many rows"),
    ({"columns": ["age"], "method": "forest"}, "no such method"),
    ({"columns": ["age"], "method": "tree", "options": {"depth": 3}}, "no option 'depth'"),
    ({"columns": ["age"], "method": "tree", "options": {"cells": 1}}, "out of range"),
    ({"columns": ["age", "cost", "day"], "method": "cells"}, "too many cells"),
    ({"columns": ["age", "cost", "day"], "method": "mwem"}, r"universe .* too large"),
    (
        {"columns": ["region", "urgent"], "method": "mwem", "options": {"rounds": 1_000}},
        "So many rounds take too long",
    ),
    ({"columns": ["age"], "method": "small-database"}, "data sets of"),
    ({"columns": ["age", "region"], "method": "hierarchy"}, "cannot be listed"),
    (
        {
            "columns": ["region", "district"],
            "method": "hierarchy",
            "options": {"places": [("west", "n1")]},
        },
        "not among what is declared",
    ),
    (
        {
            "columns": ["region", "district"],
            "method": "hierarchy",
            "options": {"declared": {("west",): 3}},
        },
        "about no place",
    ),
    ({"columns": ["age"], "method": "tables", "options": {"tables": [["cost"]]}}, "not one of"),
    ({"columns": ["region"], "method": "cells", "rows_per_unit": 0}, "rows_per_unit"),
]


@pytest.mark.parametrize(("asked", "said"), REFUSED)
def test_what_cannot_be_measured_is_refused_and_costs_nothing(shared, asked, said):
    connection = shared.connect()
    before = len(connection.history())
    for ask in (connection.publish, connection.explain_publishing):
        with pytest.raises(DiscreetError, match=said):
            ask("visits", **{"rho": 1} | asked)
    assert len(connection.history()) == before


@pytest.mark.parametrize("name", CASES)
def test_a_price_too_small_for_any_noise_says_which_would_do(shared, name):
    columns, options = CASES[name]
    asked: dict[str, Any] = {"columns": columns, "method": name, "options": options}
    connection = shared.connect()
    before = len(connection.history())
    with pytest.raises((InvalidArgument, Unsupported), match=r"With ρ .* it can be done"):
        connection.publish("visits", rho="1e-40", **asked)
    assert len(connection.history()) == before


def test_what_the_budget_does_not_have_is_refused(shared):
    with pytest.raises(BudgetError):
        shared.connect().publish("visits", columns=["age"], method="tree", rho=1001)


def test_a_search_says_for_which_rows_it_is_useful(shared):
    """(ε, δ)-useful, as a stated result; and that nothing is promised of too few rows."""
    asked: dict[str, Any] = {"columns": ["age"], "method": "search", "rho": 5}
    for rows, said in ((10**9, "0.05)-useful: no interval is off"), (50, "nothing is promised")):
        told = shared.connect().explain_publishing("visits", options={"rows": rows}, **asked)
        assert said in dict(told.steps())["Useful"]


def test_prefix_sums_need_a_rho(shared):
    with pytest.raises(Unsupported, match="an ε alone buys none"):
        shared.connect().publish("visits", columns=["age"], method="prefix", epsilon=1)


def test_options_stand_in_one_place(shared):
    with pytest.raises(InvalidArgument, match="twice"):
        shared.connect().publish(
            "visits", columns=["age"], method=TreeIntervals(cells=50), options={"cells": 9}, rho=1
        )
