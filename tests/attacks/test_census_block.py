"""The printed table of seven people gives all of them away, and noise takes that back."""

import json
from fractions import Fraction
from itertools import combinations_with_replacement
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.attacks.reconstruction.age_combinations import combinations_left, distinct_ages
from discreet.attacks.reconstruction.census_block import (
    BlockVerdict,
    _BlockModel,
    _Status,
    reconstruct_block,
)
from discreet.attacks.reconstruction.printed_table import PersonKind, PrintedTable, read_table
from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace

COLUMNS = {"sex": ["F", "M"], "race": ["black", "white"], "marital": ["single", "married"]}
PRINTED = [
    {"name": "1A", "count": 7, "median": 30, "mean": "38"},
    {"name": "2A", "where": {"sex": "F"}, "count": 4, "median": 30, "mean": "33.5"},
    {"name": "2B", "where": {"sex": "M"}, "count": 3, "median": 30, "mean": "44"},
    {"name": "2C", "where": {"race": "black"}, "count": 4, "median": 51, "mean": "48.5"},
    {"name": "2D", "where": {"race": "white"}, "count": 3, "median": 24, "mean": "24"},
    {"name": "3A", "where": {"marital": "single"}, "youngest": 18},
    {"name": "3B", "where": {"marital": "married"}, "count": 4, "median": 51, "mean": "54"},
    {
        "name": "4A",
        "where": {"race": "black", "sex": "F"},
        "count": 3,
        "median": 36,
        "mean": "36.7",
    },
    {"name": "5A", "oldest": 4},
]
BLOCK = [
    (8, "F", "black", "single"),
    (18, "M", "white", "single"),
    (24, "F", "white", "single"),
    (30, "M", "white", "married"),
    (36, "F", "black", "married"),
    (66, "F", "black", "married"),
    (84, "M", "black", "married"),
]


def table(lines=PRINTED, **others) -> PrintedTable:
    rules = [{"where": {"marital": "married"}, "youngest": 15}]
    written = {"columns": COLUMNS, "ages": [0, 125], "statistics": lines, "rules": rules, **others}
    return read_table(json.loads(json.dumps(written)))


def changed(name: str, **values) -> list[dict]:
    return [{**line, **values} if line["name"] == name else line for line in PRINTED]


def person(age: int, *values: str) -> PersonKind:
    return PersonKind(age=age, values=tuple(zip(COLUMNS, values, strict=True)))


def test_block_of_seven_is_recovered_and_unique():
    found = reconstruct_block(table())
    assert found.verdict is BlockVerdict.UNIQUE
    assert found.people == found.certain == tuple(person(*one) for one in BLOCK)
    assert "Exactly these people" in str(found)
    assert found.to_json()["people"][0] == {
        "age": 8,
        "sex": "F",
        "race": "black",
        "marital": "single",
    }


def test_married_adults_may_be_read_as_eighteen_or_older():
    assert reconstruct_block(table(changed("3B", youngest=18))).verdict is BlockVerdict.UNIQUE


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("1A", {"mean": "39"}),
        ("2C", {"count": 5}),
        ("2B", {"median": 200}),
        ("2A", {"median": "30.25"}),
    ],
)
def test_a_perturbed_table_is_impossible(name, values):
    found = reconstruct_block(table(changed(name, **values)))
    assert (found.verdict, found.people) == (BlockVerdict.IMPOSSIBLE, ())
    assert "Nobody meets the table" in str(found)


def test_a_noisy_table_does_not_give_the_block_away(rng):
    """With any count moved the block meets the table no more, so it is never what is found.

    All seven counts stay as they are less than once in 10**11 runs.
    """
    printed = [line for line in PRINTED if "count" in line]
    moved = DiscreteLaplace(scale=20).release(np.zeros(len(printed), dtype=np.int64), rng).tolist()
    lines = [
        {**line, "count": max(1, line["count"] + noise)}
        for line, noise in zip(printed, moved, strict=True)
    ]
    found = reconstruct_block(table(lines), seconds=5)
    assert found.people != tuple(person(*one) for one in BLOCK)


def test_a_coarser_table_has_several_solutions_and_says_who_is_certain():
    """Of three men one is 30 as the median, whoever the others are."""
    lines = [
        {"name": "all", "count": 3, "median": 30, "mean": "44"},
        {"name": "men", "where": {"sex": "M"}, "count": 3},
    ]
    found = reconstruct_block(
        read_table({"columns": {"sex": ["F", "M"]}, "ages": [1, 125], "statistics": lines})
    )
    assert found.verdict is BlockVerdict.SEVERAL
    assert PersonKind(age=30, values=(("sex", "M"),)) in found.certain
    assert len(found.certain) < 3
    assert found.people[1].age == 30


def test_no_time_is_undecided():
    found = reconstruct_block(table(), seconds=Fraction(1, 10**6))
    assert found.verdict is BlockVerdict.UNDECIDED
    assert "time was over" in str(found)


def test_what_was_not_proved_in_time_is_not_called_a_bound():
    counted = [line for line in PRINTED if line["name"] != "1A"]
    written = [{"name": "1A", "count": 7}, *counted]
    for lines, seconds in ((written, Fraction(1, 10**6)), (PRINTED, Fraction(1, 200))):
        found = reconstruct_block(table(lines), seconds=seconds)
        true = {
            ", ".join(values): sum(one[1:] == values for one in BLOCK)
            for values in {one[1:] for one in BLOCK}
        }
        held = {cell.name: cell for cell in found.cells if cell.name in true}
        assert len(held) == len(true)
        assert all(held[name].least <= count <= held[name].most for name, count in true.items())


def test_cells_of_one_name_are_all_told():
    lines = [{"name": "all", "count": 3}, {"name": "F", "where": {"sex": "F"}, "oldest": 4}]
    written = {"columns": {"sex": ["F"]}, "ages": [0, 9], "statistics": lines}
    cells = reconstruct_block(read_table(written)).cells
    assert [str(cell) for cell in cells] == ["F: 0 to 3", "F: 3"]


def test_others_are_found_near_the_first_people_or_proved_not_to_be():
    seven = {person(*one): 1 for one in BLOCK}
    assert _BlockModel(table()).solve_again(Fraction(60), 4, seven) == (_Status.NONE, {})
    coarse = read_table(
        {
            "columns": {"sex": ["F", "M"]},
            "ages": [0, 99],
            "statistics": [{"name": "all", "count": 30, "mean": "40", "median": 37}],
        }
    )
    model = _BlockModel(coarse)
    _, first = model.solve(Fraction(60), 4)
    status, others = model.solve_again(Fraction(60), 4, first)
    assert status is _Status.FOUND
    assert any(others.get(kind, 0) < count for kind, count in first.items())
    assert coarse.is_met([kind for kind, count in others.items() for _ in range(count)])


# ---- The exact checker, which shares nothing with the solver.


def test_checker_accepts_the_block_and_no_neighbour():
    people = [person(*one) for one in BLOCK]
    assert table().is_met(people)
    for place, (age, *values) in enumerate(BLOCK):
        others = people[:place] + people[place + 1 :]
        assert not table().is_met([*others, person(age + 1, *values)])
        assert not table().is_met(others)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 6), st.sampled_from("FM")), min_size=1, max_size=4))
def test_small_blocks_are_told_right(rows):
    """All blocks of so many people are looked at: as many must meet the table as are claimed."""
    people = [PersonKind(age=age, values=(("sex", sex),)) for age, sex in rows]
    groups = {"all": {}, **{sex: {"sex": sex} for sex in "FM"}}
    lines = []
    for name, where in groups.items():
        ages = [age for age, sex in rows if where.get("sex", sex) == sex]
        line = {"name": name, "where": where, "count": len(ages)}
        if ages:
            mean = Fraction(sum(ages), len(ages))
            line |= {"median": Fraction(median(map(Fraction, ages))), "mean": round(mean, 1)}
        lines.append(line)
    printed = read_table({"columns": {"sex": ["F", "M"]}, "ages": [0, 6], "statistics": lines})
    every = [
        block
        for block in combinations_with_replacement(printed.kinds(), len(people))
        if printed.is_met(block)
    ]
    found = reconstruct_block(printed)
    assert (found.verdict is BlockVerdict.UNIQUE) == (len(every) == 1)
    assert found.verdict in (BlockVerdict.UNIQUE, BlockVerdict.SEVERAL)
    for kind in set(found.people):
        least = min(block.count(kind) for block in every)
        assert found.certain.count(kind) == least
    for cell in found.cells:
        counts = [sum(dict(one.values)["sex"] == cell.name for one in block) for block in every]
        assert (cell.least, cell.most) == (min(counts), max(counts))


def test_withheld_numbers_are_bounded_as_enumeration_says():
    """Of three people from 0 to 6 the mean is known: how many are under 2 is not printed."""
    printed = read_table(
        {
            "columns": {"sex": ["F", "M"]},
            "ages": [0, 6],
            "statistics": [
                {"name": "all", "count": 3, "median": 3, "mean": 4},
                {"name": "small", "oldest": 2},
                {"name": "girls under 5", "where": {"sex": "F"}, "oldest": 4},
            ],
        }
    )
    every = [
        block
        for block in combinations_with_replacement(printed.kinds(), 3)
        if printed.is_met(block)
    ]
    found = reconstruct_block(printed)
    assert found.verdict is BlockVerdict.SEVERAL
    groups = {line.name: line.group for line in printed.statistics}
    seen = {cell.name: cell for cell in found.cells}
    assert set(seen) == {"small", "girls under 5", "F", "M"}
    for name in ("small", "girls under 5"):
        counts = [sum(map(groups[name].holds, block)) for block in every]
        assert (seen[name].least, seen[name].most) == (min(counts), max(counts))
    assert "numbers that are not printed are proved" in str(found)
    assert seen["small"].is_fixed == (str(seen["small"]) == f"small: {seen['small'].least}")


# ---- How many combinations of ages are left.


def test_ages_of_three_men():
    assert distinct_ages(3) == 317_750
    assert combinations_left(3, median=30, mean=44) == 30
    assert combinations_left(3, median=30, mean=44, youngest=0) == 31


@pytest.mark.parametrize("people", [1, 2, 3, 4, 5])
def test_combinations_are_what_enumeration_finds(people):
    blocks = list(combinations_with_replacement(range(2, 8), people))
    for twice in range(3, 16):
        for total in range(2 * people, 7 * people + 1):
            mean, middle = Fraction(total, people), Fraction(twice, 2)
            wanted = sum(
                sum(one) == total and median(map(Fraction, one)) == middle for one in blocks
            )
            assert wanted == combinations_left(
                people, median=middle, mean=mean, youngest=2, oldest=7
            )


def test_impossible_ages_have_no_combination():
    assert combinations_left(3, median="30.5", mean=44) == 0
    assert combinations_left(3, median="1/3", mean=44) == 0
    assert combinations_left(3, median=30, mean="44.1") == 0


# ---- Bad input.


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({}, "cannot be read"),
        ([], "cannot be read"),
        ({"columns": {}, "ages": [0, 5, 6], "statistics": []}, "cannot be read"),
        ({"columns": {}, "ages": [0, 5], "statistics": []}, "how many people"),
        ({"columns": {}, "ages": [5, 0], "statistics": [{"name": "a", "count": 1}]}, "too many"),
        (
            {"columns": {}, "ages": [0, 5], "statistics": [{"name": "a", "cuont": 1}]},
            "something unknown",
        ),
        (
            {"columns": {}, "ages": [0, 5], "statistics": [{"name": "a", "median": 1}]},
            "no people",
        ),
        (
            {"columns": {}, "ages": [0, 5], "statistics": [{"name": "a", "where": {"x": "y"}}]},
            "no column has",
        ),
        (
            {"columns": {}, "ages": [0, 5], "statistics": [{"name": "a", "count": -1}]},
            "out of range",
        ),
        ({"columns": {"x": "F"}, "ages": [0, 5], "statistics": [{"count": 1}]}, "cannot be read"),
        (
            {
                "columns": {"x": ["F"]},
                "ages": [0, 5],
                "statistics": [
                    {"name": "all", "count": 3},
                    {"name": "young", "oldest": 2},
                    {"name": "young", "oldest": 4},
                ],
            },
            "twice",
        ),
        (
            {
                "columns": {"x": ["F", "F"]},
                "ages": [0, 5],
                "statistics": [{"name": "all", "count": 3}],
            },
            "twice",
        ),
    ],
)
def test_bad_tables_are_refused(written, message):
    with pytest.raises(InvalidArgument, match=message):
        read_table(written)


def test_bad_parameters_are_refused():
    for seconds in (0, "1e400"):
        with pytest.raises(InvalidArgument, match="seconds"):
            reconstruct_block(table(), seconds=seconds)
    with pytest.raises(InvalidArgument, match="too many people"):
        combinations_left(100, median=30, mean=44)
    with pytest.raises(InvalidArgument, match="no such ages"):
        distinct_ages(3, youngest=5, oldest=4)


@pytest.mark.parametrize("mean", [10**30, -(10**30)])
def test_a_mean_that_nobody_has_is_met_by_nobody(mean):
    line = {"name": "all", "count": 2, "mean": mean}
    found = reconstruct_block(read_table({"columns": {}, "ages": [0, 9], "statistics": [line]}))
    assert found.verdict is BlockVerdict.IMPOSSIBLE
