"""Choosing tables privately must not make rows worse than columns by themselves."""

from itertools import combinations

import numpy as np
import pytest

from discreet.core.loss import Zcdp
from discreet.synthesis.counted.counted_rows import CountedColumn, CountedRows
from discreet.synthesis.marginals import choose_tables
from discreet.synthesis.marginals.measure import MarginalMechanism
from discreet.synthesis.synthetic_model import SyntheticModel

SIZES = (2, 3, 5, 8, 12, 4, 6, 2)
COUNT = 10_000
RHOS = {"0.01": "1.2e-6", "0.1": "1.2e-4", "1": "1.19e-2"}
"""What an ε with δ = 1e-9 buys, about."""


def _rows(random, *, depends):
    codes = np.stack([random.integers(0, size, COUNT) for size in SIZES], axis=1)
    if depends:
        for column in range(1, len(SIZES)):
            copied = random.random(COUNT) < 0.4
            codes[copied, column] = codes[copied, column - 1] % SIZES[column]
    return codes


def _error(codes, price, tables, rng):
    """Return the mean distance of all tables of two columns, of one synthesis."""
    columns = tuple(CountedColumn(size, has_order=False, has_null=False) for size in SIZES)
    mechanism = MarginalMechanism(columns=columns, rows_per_unit=1, price=price, tables=tables)
    counted = CountedRows(SIZES, codes, np.ones(COUNT, dtype=np.int64))
    model = SyntheticModel.of((), mechanism.release(counted, rng))
    return np.mean(
        [
            np.abs(counted.table(pair) / COUNT - model.table(pair)).sum() / 2
            for pair in combinations(range(len(SIZES)), 2)
        ]
    )


def _ratio(codes, price, repeats, rng):
    """Return the ratio of mean errors, with tables that are chosen and without, and its error."""
    chosen, alone = (
        np.array([_error(codes, price, tables, rng) for _ in range(repeats)])
        for tables in (None, ())
    )
    deviation = np.hypot(chosen.std(), alone.std()) / repeats**0.5
    return chosen.mean() / alone.mean(), deviation / alone.mean()


@pytest.mark.parametrize("epsilon", RHOS)
@pytest.mark.parametrize("depends", [True, False])
def test_choosing_is_never_worse_than_columns_by_themselves(soak, rng, epsilon, depends):
    """The mean of many runs, at each price, whether columns depend on each other or not.

    What scores cost is 3 % of the price, so the ratio is about 1.015 where none are believed. False
    alarms: means of bounded errors are nearly normal, and six deviations are 2e-9 for all six.
    """
    if not soak.active:
        pytest.skip("four hundred runs at each price take two minutes: make soak")
    codes = _rows(np.random.default_rng(7), depends=depends)
    ratio, deviation = _ratio(codes, Zcdp(RHOS[epsilon]), 400, rng)
    assert ratio - 6 * deviation <= 1.02


def test_taking_every_score_for_a_dependence_is_worse(rng, monkeypatch):
    """The twin believes scores that are nothing but noise; one run shows it, by far."""
    codes = _rows(np.random.default_rng(7), depends=False)
    price = Zcdp(RHOS["0.1"])
    honest, _ = _ratio(codes, price, 2, rng)
    monkeypatch.setattr(choose_tables, "SURE", -1e9)
    monkeypatch.setattr(choose_tables, "GAIN", 1e9)
    monkeypatch.setattr(choose_tables, "_sum_of_errors", lambda *a: -len(a[-1]))
    assert _ratio(codes, price, 2, rng)[0] > 1.05 * honest
