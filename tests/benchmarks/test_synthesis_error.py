"""Whoever synthesises gets the same cells, and is compared with the same tables."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.harness import DISTANCES
from benchmarks.programs import synthesis_data, synthesis_error

ROWS = 2_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("synthesis") / "planted"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthesis_data, "ROWS", ROWS)
        synthesis_data.write("planted", path)
    return path


def test_made_up_rows_are_the_same_each_time(folder: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(synthesis_data, "ROWS", ROWS)
    synthesis_data.write("planted", tmp_path / "again")
    first, again = (np.load(one / "codes.npy") for one in (folder, tmp_path / "again"))
    assert first.shape == (ROWS, synthesis_data.COLUMNS)
    assert (first == again).all()


def test_distance_is_the_share_of_rows_that_must_move():
    true = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    made = np.array([[0, 1], [1, 0]])
    assert synthesis_error.distances(true, made, [2, 2], 1) == [0.0, 0.0]
    assert synthesis_error.distances(true, made, [2, 2], 2) == [1.0]


def test_large_tables_are_left_out_and_many_are_some():
    assert set(synthesis_error.tables_of([100, 100, 101], 2)) == {(0, 1)}
    many = list(synthesis_error.tables_of([2] * 30, 3))
    assert len(set(many)) == len(many) == synthesis_error.MOST_TABLES
    assert many == list(synthesis_error.tables_of([2] * 30, 3))


def test_cells_of_a_range_are_those_that_we_divide_it_into():
    values = list(range(5, 1_000, 3))
    column = synthesis_data.declared("gain", values)
    assert (column["min"], column["max"], column["width"], column["size"]) == (5, 998, 8, 125)
    assert synthesis_data.codes(column, [5, 12, 13, 998]).tolist() == [0, 0, 1, 124]


def test_lines_of_another_length_are_not_rows():
    lines = iter(["|about", "39, 77516, <=50K", "50, 83311, >50K."])
    found = synthesis_data._columns(lines, ["age", "weight", "income"], without="weight")
    assert found == {"age": [39, 50], "income": ["<=50K", ">50K"]}


def test_our_rows_are_compared(folder: Path, monkeypatch):
    monkeypatch.setattr(synthesis_error, "folder_of", lambda data: folder)
    found = synthesis_error.measured("discreet", "planted", "10")
    assert set(found) == {"seconds", "mebibytes", *DISTANCES}
    alone = synthesis_error.measured("independent", "planted", "10")
    assert all(0 <= found[kind] <= 1 for kind in DISTANCES)
    assert found["mean_2_way"] < alone["mean_2_way"]


def test_range_and_keys_come_back_as_their_cells(tmp_path: Path):
    columns: dict[str, list[Any]] = {"gain": list(range(200)) * 2, "sex": ["Female", "Male"] * 200}
    described = [synthesis_data.declared(name, values) for name, values in columns.items()]
    cells = [synthesis_data.codes(one, columns[one["name"]]) for one in described]
    arrow = pytest.importorskip("pyarrow")
    assert (
        synthesis_error.cells_of(arrow.table(columns), described) == np.stack(cells, axis=1)
    ).all()
    assert json.loads(json.dumps(described)) == described
