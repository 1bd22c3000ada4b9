"""Tables that take their steps together do to their clique what they would do one by one."""

import numpy as np
import pytest

from discreet.synthesis.marginals import tables_beside as beside
from discreet.synthesis.marginals.measurement import Measurement

SIZES = (3, 4, 2, 5, 3)
COLUMNS = (0, 1, 2, 4)
TABLES = ((0,), (0, 1), (1, 2), (0, 2), (2, 4), (4,), (0, 1, 4))


@pytest.fixture
def measurements(rng) -> list[Measurement]:
    found = []
    for columns in TABLES:
        shape = tuple(SIZES[column] for column in columns)
        words = rng.words(int(np.prod(shape))).astype(np.float64) * 2.0**-64
        found.append(Measurement.of(columns, 100 * words.reshape(shape), 4.0))
    return found


@pytest.mark.parametrize("part", [1.0, 0.5])
@pytest.mark.parametrize("least", [10, 1000])
def test_together_as_one_by_one(measurements, monkeypatch, least: int, part: float):
    shape = tuple(SIZES[column] for column in COLUMNS)
    monkeypatch.setattr(beside, "LEAST", least)
    together = beside.tables_beside(COLUMNS, SIZES, measurements)
    assert len(together) < len(TABLES)
    order = [one.table for group in together for one in group.tables]
    assert sorted(one.columns for one in order) == sorted(TABLES)
    alone = [beside.tables_beside(COLUMNS, SIZES, [one])[0] for one in order]
    first, second = np.full(shape, 7.0), np.full(shape, 7.0)
    for _ in range(3):
        far = [one.step(first, 0.01, part, np.inf) for one in together]
        each = [one.step(second, 0.01, part, np.inf) for one in alone]
        assert first == pytest.approx(second)
        assert sum(one for one, _ in far) == pytest.approx(sum(one for one, _ in each))
        assert sum(cells for _, cells in far) == sum(cells for _, cells in each)


def test_tables_with_more_noise_take_no_step(measurements):
    counts = np.full(tuple(SIZES[column] for column in COLUMNS), 7.0)
    for one in beside.tables_beside(COLUMNS, SIZES, measurements):
        assert one.step(counts, 0.01, 1.0, 1.0) == (0.0, 0)
    assert (counts == 7.0).all()
