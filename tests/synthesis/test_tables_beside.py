"""Tables that take their steps together do to their clique what they would do one by one."""

import numpy as np
import pytest

from discreet.core.loss import Pure
from discreet.synthesis.counted.counted_rows import CountedColumn, CountedRows
from discreet.synthesis.marginals import tables_beside as beside
from discreet.synthesis.marginals.estimate import estimate
from discreet.synthesis.marginals.measure import MarginalMechanism
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


@pytest.mark.parametrize("tiny", [0.0, 1e-320, 1e-300, 1e-30])
@pytest.mark.parametrize("variance", [1e-9, 0.1, 1e9])
def test_what_one_tour_empties_the_next_may_fill(tiny: float, variance: float):
    """A step to where a cell should be would be beyond floats, and so would be those of several."""
    wanted = [np.full(tuple(SIZES[c] for c in columns), 1e12) for columns in TABLES]
    (group,) = beside.tables_beside(
        COLUMNS,
        SIZES,
        [Measurement.of(at, one, variance) for at, one in zip(TABLES, wanted, strict=True)],
    )
    counts = np.full(tuple(SIZES[column] for column in COLUMNS), 7.0)
    counts[0, 0] = tiny
    with np.errstate(all="raise", under="ignore"):
        for _ in range(40):
            group.step(counts, 0.01, 1.0, np.inf)
            assert np.isfinite(counts).all()
    assert (counts[0, 0] > 0).all() == (tiny > 0)


def test_a_step_is_the_root_or_as_long_as_may_be():
    counts, weight = np.array([1.0, 50.0, 1e-300, 2.0]), np.full(4, 0.1)
    wanted = np.array([3.0, 2.0, 1e6, -1e6])
    steps = beside._best_steps(counts, wanted, weight)
    assert counts[:2] * np.exp(steps[:2]) + weight[:2] * steps[:2] == pytest.approx(wanted[:2])
    assert steps[2:].tolist() == [beside.LONGEST_STEP, -beside.LONGEST_STEP]


def test_overlapping_tables_at_a_high_price_have_a_model(rng):
    """Where steps were as long as they liked, one run in six ended with a model that is nothing."""
    sizes = (4, 3, 6, 9)
    codes = np.stack([rng.words(30).astype(np.int64) % size for size in sizes], axis=1) % sizes
    rows = CountedRows(sizes, np.asfortranarray(np.abs(codes)), np.full(30, 100, dtype=np.int64))
    mechanism = MarginalMechanism(
        columns=tuple(CountedColumn(size=size, has_order=False, has_null=False) for size in sizes),
        rows_per_unit=1,
        price=Pure(20),
        tables=((0, 3), (2, 3), (0, 2, 3), (0, 1, 2), (0, 1), (1, 2, 3)),
    )
    for _ in range(30):
        measured = mechanism.release(rows, rng)
        found = estimate([one.size for one in measured.coarse], measured.measurements())
        assert found.total == pytest.approx(3000, rel=0.1)
        for beliefs in found.model.beliefs:
            assert np.isfinite(np.exp(beliefs)).all()


@pytest.mark.parametrize("below", [100, 400, 1000, 3000])
@pytest.mark.parametrize("variance", [0.02, 0.5])
def test_tables_that_contradict_each_other_beyond_measure_have_a_model(below: int, variance: float):
    """All counts were 0 once, or infinite, when one of them was said to be far below 0."""
    said = {
        (0, 1): [[100, -below], [100, 100]],
        (0,): [100, 100],
        (1,): [150, 50],
        (0, 1, 2): [[[50, 50], [60, -60]], [[50, 50], [50, 50]]],
        (0, 2): [[100, 100], [100, 100]],
    }
    measurements = [
        Measurement.of(columns, np.array(counts, dtype=np.float64), variance)
        for columns, counts in said.items()
    ]
    found = estimate([2, 2, 2], measurements)
    assert found.is_found
    assert found.total >= 0.999
    assert all(np.isfinite(np.exp(one)).all() for one in found.model.beliefs)
