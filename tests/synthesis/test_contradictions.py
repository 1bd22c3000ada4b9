"""Tables that contradict each other: how many rows there are, and where the search ends."""

import numpy as np
import pytest

from discreet.synthesis.marginals.estimate import estimate
from discreet.synthesis.marginals.measurement import Measurement, total_rows

SIZES = (6, 6, 6)


def _contradicting(number):
    """Return noisy tables of each two of three columns, in which most cells are nearly empty."""
    random = np.random.default_rng(number)
    universe = 2_000 * random.dirichlet(np.full(216, 0.05)).reshape(SIZES)
    found = []
    for left_out in range(3):
        columns = tuple(one for one in range(3) if one != left_out)
        exact = universe.sum(axis=left_out)
        found.append(Measurement.of(columns, exact + random.normal(0, 20, exact.shape), 400.0))
    return found


@pytest.mark.parametrize("number", range(10))
def test_rows_are_as_many_as_all_tables_together_say(number):
    """What is below 0 would push the number of rows up, by fifty of 2,000 and more."""
    measured = _contradicting(number)
    total, _ = total_rows(measured)
    assert estimate(SIZES, measured).total == pytest.approx(total)
    assert estimate(SIZES, measured, still=0.002).total > total + 50


@pytest.mark.parametrize("number", range(10))
def test_the_search_ends_although_tables_never_agree(number):
    """Each step undoes a part of others for ever, but tours end at one place."""
    measured = _contradicting(number)
    found = estimate(SIZES, measured)
    assert found.is_found
    assert found.tours <= 20
    longer = estimate(SIZES, measured, still=1e-4)
    apart = found.model.marginal((0, 1, 2)) - longer.model.marginal((0, 1, 2))
    assert np.abs(apart.sum(axis=2)).max() * found.total < 20
