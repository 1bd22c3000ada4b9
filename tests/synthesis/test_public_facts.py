"""What is asserted to be public holds in the model and in rows, or is refused before a charge."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from discreet.core.errors import InvalidArgument
from discreet.synthesis.marginals.coarse_values import CoarseValues
from discreet.synthesis.marginals.draw_rows import draw_rows
from discreet.synthesis.marginals.estimate import estimate
from discreet.synthesis.marginals.hold_totals import hold_totals
from discreet.synthesis.marginals.measurement import Measurement
from discreet.synthesis.public_facts import EXACT, PublicFacts
from discreet.synthesis.read_facts import facts_of_file, require_possible
from discreet.synthesis.related.related_file import open_synthetic
from discreet.synthesis.synthetic_answer import model_again
from discreet.synthesis.synthetic_file import SyntheticFile
from discreet.synthesis.synthetic_release import METADATA
from tests.support.projects.frames import owned as owned_frames

# ---- Small models against brute force.


def _small_case(number):
    """Return sizes, masks, the possible cells, and the counts of a table that has no others."""
    random = np.random.default_rng(number)
    sizes = random.integers(2, 4, int(random.integers(2, 5))).tolist()
    possible = np.ones(sizes, dtype=bool)
    masks = []
    for _ in range(int(random.integers(1, 4))):
        width = min(len(sizes), int(random.integers(1, 4)))
        columns = tuple(sorted(random.choice(len(sizes), width, replace=False).tolist()))
        mask = random.random([sizes[one] for one in columns]) < 0.3
        masks.append((columns, mask))
        shape = [sizes[one] if one in columns else 1 for one in range(len(sizes))]
        possible &= ~mask.reshape(shape)
    return sizes, masks, possible, np.where(possible, random.integers(0, 40, sizes), 0)


def _one_way(table, column):
    return table.sum(axis=tuple(one for one in range(table.ndim) if one != column))


CASES = range(40)


@pytest.mark.parametrize("number", CASES)
def test_rows_hold_to_what_cannot_be_and_to_totals(number, rng):
    """Brute force: the possible cells are listed, and totals are those of a table of such rows."""
    sizes, masks, possible, table = _small_case(number)
    total = int(table.sum())
    if not total:
        return
    counts = [_one_way(table, column) for column in range(len(sizes))]
    totals = {
        column: {value: int(count) for value, count in enumerate(counts[column])}
        for column in range(0, len(sizes), 2)
    }
    known = [Measurement.of((c,), counts[c].astype(float), EXACT) for c in range(len(sizes))]
    nobody = [((column,), counts[column] == 0) for column in totals]
    found = estimate(sizes, known, impossible=[*masks, *nobody])
    joint = found.model.marginal(tuple(range(len(sizes))))
    assert (joint[~possible] == 0).all()
    assert joint.sum() == pytest.approx(1)
    rows = draw_rows(found.model, total, rng, totals)
    assert possible[tuple(rows.T)].all(), "no row is where none can be"
    first = min(totals)
    drawn = np.bincount(rows[:, first], minlength=sizes[first])
    missed = sum(
        int(np.abs(np.bincount(rows[:, c], minlength=sizes[c]) - counts[c]).sum()) for c in totals
    )
    assert missed <= 4, "what earlier columns leave no way for is little"
    if len(totals) == 1 or not any(mask.any() for _, mask in masks):
        assert drawn.tolist() == counts[first].tolist()


@pytest.mark.parametrize("number", CASES)
def test_a_model_with_what_cannot_be_is_that_of_brute_force(number):
    """Proportional fitting over all cells of the universe, of which some cannot be."""
    sizes, masks, possible, table = _small_case(number)
    table = table + possible
    counts = [_one_way(table, column).astype(float) for column in range(len(sizes))]
    if min(one.min() for one in counts) == 0:
        return
    known = [Measurement.of((column,), one, 100.0) for column, one in enumerate(counts)]
    found = estimate(sizes, known, impossible=masks, smoothing=1e-9, most_tours=200)
    expected = possible * 1.0
    for column, one in enumerate(counts):
        expected *= one.reshape([-1 if at == column else 1 for at in range(len(sizes))])
    for _ in range(200):
        for column, one in enumerate(counts):
            ratio = one / _one_way(expected, column)
            expected *= ratio.reshape([-1 if at == column else 1 for at in range(len(sizes))])
    joint = found.total * found.model.marginal(tuple(range(len(sizes))))
    assert joint == pytest.approx(expected, abs=2), "noise of 10 rows, of which a quarter is near"


@pytest.mark.parametrize("number", range(60))
def test_totals_are_reached_whenever_a_flow_does(number, rng):
    random = np.random.default_rng(number)
    groups, values, rows = (int(one) for one in random.integers([1, 2, 1], [6, 6, 60]))
    table = random.random((groups, values)) * (random.random((groups, values)) < 0.6)
    table[np.arange(groups), random.integers(0, values, groups)] += 0.1
    group = random.integers(0, groups, rows)
    drawn = np.array([random.choice(values, p=table[g] / table[g].sum()) for g in group])
    other = np.array([random.choice(np.flatnonzero(table[g])) for g in group])
    wanted = dict(enumerate(np.bincount(other, minlength=values).tolist()))
    if number % 3 == 0:
        wanted = dict(enumerate(random.multinomial(rows, np.full(values, 1 / values)).tolist()))
    if number % 4 == 0:
        wanted.pop(int(random.integers(values)))
    found = hold_totals(drawn, group, table, wanted, rng)
    assert (table[group, found] > 0).all()
    held = np.bincount(found, minlength=values)
    is_reached = all(held[one] == count for one, count in wanted.items())
    assert is_reached == _has_flow(group, table, wanted)


def _has_flow(group, table, wanted):
    """Tell by the largest flow whether rows can have the totals: groups, to values, to the end."""
    groups, values = table.shape
    size = groups + values + 2
    edges = np.zeros((size, size), dtype=np.int32)
    edges[0, 1 : groups + 1] = np.bincount(group, minlength=groups)
    edges[1 : groups + 1, groups + 1 : -1] = np.where(table > 0, len(group), 0)
    free = len(group) - sum(wanted.values())
    if free < 0 or (free and len(wanted) == values):
        return False
    for value in range(values):
        edges[groups + 1 + value, -1] = wanted.get(value, free)
    return maximum_flow(csr_array(edges), 0, size - 1).flow_value == len(group)


def test_facts_are_read_as_they_were_written():
    facts = PublicFacts.from_json(
        {
            "sizes": [3, 2],
            "impossible": [{"columns": [0, 1], "cells": [[0, 2], [1]]}],
            "totals": [{"column": 0, "counts": [[1, 5]]}],
            "rows": 9,
        }
    )
    assert PublicFacts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
    assert [one.tolist() for one in facts.divisions] == [[1, 0, 1], [0, 1]]
    fine = [CoarseValues(np.arange(size)) for size in facts.sizes]
    ((_, mask),) = facts.masks(fine)
    assert mask.tolist() == [[False, True], [False, False], [False, True]]
    require_possible(facts)


# ---- Through the gate.

COLUMNS = {
    "patient": "integer",
    "sex": {"type": "text", "keys": ["f", "m"]},
    "age": {"type": "integer", "min": 0, "max": 99},
    "pregnant": "boolean",
    "region": {"type": "text", "keys": ["north", "south", "east"], "nullable": False},
    "word": "text",
    "cost": {"type": "real", "min": 0, "max": 1, "step": 0.1},
    "day": {"type": "integer", "min": 0, "max": 999},
}
NAMES = ["sex", "age", "pregnant", "region"]
REGIONS = {"north": 301, "south": 299, "east": 100}
SAID: dict[str, Any] = {
    "impossible": [
        {"sex": "m", "pregnant": True},
        {"age": {"from": 0, "to": 12}, "pregnant": [True, None]},
    ],
    "totals": {"region": REGIONS, "sex": {"f": 333}},
}


def _rows(count=700):
    random = np.random.default_rng(5)
    return pa.table(
        {
            "patient": np.arange(count),
            "sex": random.choice(["f", "m"], count),
            "age": random.integers(0, 100, count),
            "pregnant": random.random(count) < 0.5,
            "region": random.choice(["north", "south", "east"], count),
            "word": ["yes"] * count,
            "cost": random.random(count),
            "day": random.integers(0, 1000, count),
        }
    )


@pytest.fixture
def owner(tmp_path):
    said = {"columns": {"visits": COLUMNS}, "budget": {"rho": 50, "delta": 1e-6}}
    said |= {"ledger": tmp_path / "ledger", "id_space": tmp_path.name}
    with owned_frames({"visits": _rows()}, rows_per_group=1, groups_per_unit=1, **said) as found:
        yield found


def _require_held(rows):
    found = rows.to_pylist()
    assert not any(row["sex"] == "m" and row["pregnant"] for row in found)
    young = [row for row in found if row["age"] is not None and row["age"] <= 12]
    assert young
    assert {row["pregnant"] for row in young} == {False}


def test_rows_of_a_release_hold_to_it(owner, tmp_path):
    """The data have what is said to be impossible: so it is not by chance that no row has."""
    connection = owner.connect()
    alone = connection.synthesise("visits", columns=NAMES, rho=0.5)
    assert any(row["sex"] == "m" and row["pregnant"] for row in alone.to_arrow().to_pylist())
    release = connection.synthesise("visits", columns=NAMES, rho=0.5, **SAID)
    assert release.is_stored, "what is public costs nothing"
    rows = release.to_arrow()
    _require_held(rows)
    _require_held(release.sample(5_000))
    regions = rows["region"].to_pylist()
    assert {one: regions.count(one) for one in set(regions)} == REGIONS
    assert rows["sex"].to_pylist().count("f") == 333
    assert any("asserted to be public" in note for note in release.notes())
    assert not any("asserted" in note for note in alone.notes())
    opened = open_synthetic(release.write(tmp_path / "v.parquet"))
    assert isinstance(opened, SyntheticFile)
    assert opened.model.facts == release.model.facts
    again = model_again(opened.model, owner._project.rng)
    _require_held(again.to_arrow(again.sample(700, owner._project.rng), owner._project.rng))
    about = json.loads(pq.read_schema(tmp_path / "v.parquet").metadata[METADATA])
    assert any("asserted to be public" in note for note in about["notes"])
    explained = connection.explain_synthesis("visits", columns=NAMES, rho=0.5, **SAID)
    assert "your word" in str(explained)


def test_values_that_are_found_may_stand_beside(owner):
    release = owner.connect().synthesise(
        "visits", columns=["word", "region"], rho=5, delta=1e-7, rows=650
    )
    assert len(release) == 650


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"impossible": [{"sex": "m"}, {"sex": ["f", None]}]}, "No rows can be"),
        ({"impossible": [{"sex": "f"}], "totals": {"sex": {"f": 5}}}, "No rows can be"),
        (
            {
                "impossible": [{"sex": ["m", None], "pregnant": True}],
                "totals": {"sex": {"f": 50, "m": 50, None: 0}, "pregnant": {True: 70}},
            },
            "No rows can be",
        ),
        ({"rows": 9, "totals": {"sex": {"f": 5, "m": 5}}}, "one number of rows"),
        ({"totals": {"region": {"north": 0, "south": 0, "east": 0}}}, "one number of rows"),
        ({"rows": 2.5}, "no number of rows"),
        ({"impossible": [{"sex": "x"}]}, "no such value"),
        ({"impossible": [{"region": None}]}, "no such value"),
        ({"impossible": [{"age": True}]}, "no such value"),
        ({"impossible": [{"sex": {"from": "f", "to": "m"}}]}, "no range"),
        ({"impossible": [{"nope": 1}]}, "not one of the columns"),
        ({"impossible": [{"word": "yes"}]}, "cannot be named"),
        ({"impossible": [{"cost": 1}]}, "cannot be named"),
        ({"impossible": [{"day": 5}]}, "has other values besides"),
        ({"impossible": {"sex": "m"}}, "no list"),
        ({"impossible": [dict.fromkeys(["sex", "age", "pregnant", "region"], 1)]}, "combination"),
        ({"impossible": [{}]}, "combination"),
        ({"totals": [1]}, "names of columns"),
        ({"totals": {"sex": {"f": -1}}}, "no number of rows"),
        ({"totals": {"sex": {}}}, "no numbers of rows"),
        ({"totals": {"sex": {"f": 1}, "SEX": {"m": 1}}}, "twice"),
    ],
)
def test_what_cannot_be_is_refused_before_a_charge(owner, said, words):
    connection = owner.connect()
    columns = [name for name in COLUMNS if name != "patient"]
    with pytest.raises(InvalidArgument, match=words):
        connection.synthesise("visits", columns=columns, rho=1, delta=1e-7, **said)
    (budget,) = connection.budget()
    assert budget.spent.rho == 0


def test_too_large_a_clique_is_refused_with_its_size(owner):
    ages = [{"age": one, "day": {"from": 0, "to": 7}, "sex": "m"} for one in range(100)]
    table = ["age", "day", "sex", "pregnant", "region", "cost"]
    with pytest.raises(InvalidArgument, match="joins too many columns"):
        owner.connect().synthesise(
            "visits", columns=table, tables=[table[:2], table], rho=1, impossible=ages
        )


def test_a_file_says_the_same(owner, tmp_path):
    place = tmp_path / "public.toml"
    place.write_text(
        'rows = 700\n[[impossible]]\nage = { from = 0, to = 12 }\npregnant = "true"\n'
        "[totals.age]\n50 = 20\n",
        encoding="utf-8",
    )
    release = owner.connect().synthesise("visits", columns=NAMES, rho=1, **facts_of_file(place))
    found = release.to_arrow().to_pylist()
    assert len(found) == 700
    assert [row["age"] for row in found].count(50) == 20
    assert not any(row["pregnant"] and (row["age"] or 99) <= 12 for row in found)
    place.write_text("columns = 3", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="something else"):
        facts_of_file(place)
    with pytest.raises(InvalidArgument, match="cannot be read"):
        facts_of_file(tmp_path / "nowhere.toml")


def test_a_clique_that_found_values_may_make_too_large_is_refused_before_a_charge(owner):
    connection = owner.connect()
    with pytest.raises(InvalidArgument, match="joins too many columns"):
        connection.synthesise(
            "visits",
            columns=["age", "day", "cost", "word"],
            tables=[["age", "word", "cost"], ["word", "day"], ["cost", "day"]],
            rho=1,
            delta=1e-7,
            impossible=[{"age": one, "day": {"from": 0, "to": 7}} for one in range(100)],
        )
    (budget,) = connection.budget()
    assert budget.spent.rho == 0
