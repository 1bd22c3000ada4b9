"""Tables that contradict each other: how many rows there are, and where the search ends."""

import numpy as np
import pytest

from discreet.synthesis.marginals import estimate as estimating
from discreet.synthesis.marginals.estimate import estimate
from discreet.synthesis.marginals.measurement import Measurement, total_rows


def _contradicting(random, sizes=(6, 6, 6)):
    """Return noisy tables of three columns, in which most cells are nearly empty."""
    universe = 2_000 * random.dirichlet(np.full(216, 0.05)).reshape(sizes)
    found = []
    for left_out in range(3):
        columns = tuple(one for one in range(3) if one != left_out)
        exact = universe.sum(axis=left_out)
        found.append(Measurement.of(columns, exact + random.normal(0, 20, exact.shape), 400.0))
    return found


def test_rows_are_as_many_as_all_tables_together_say():
    """What is below 0 would push the number of rows up: by a hundred of 2,000 and more."""
    for number in range(10):
        measured = _contradicting(np.random.default_rng(number))
        total, _ = total_rows(measured)
        assert estimate((6, 6, 6), measured).total == pytest.approx(total)
        assert estimate((6, 6, 6), measured, still=0.002).total > total + 50


def test_the_last_tours_settle_what_tables_contradict(monkeypatch):
    """Without them the table that was last has its way, and all together are met less well."""

    def misfit():
        shares = known.model.marginal((0, 1, 2))
        return sum(
            float(((known.total * shares.sum(axis=left_out) - one.counts) ** 2).sum())
            for left_out, one in enumerate(measured)
        )

    for number in range(10):
        measured = _contradicting(np.random.default_rng(number))
        known = estimate((6, 6, 6), measured)
        settled = misfit()
        with monkeypatch.context() as patch:
            patch.setattr(estimating, "SETTLING", (1.0,) * len(estimating.SETTLING))
            known = estimate((6, 6, 6), measured)
        assert settled < misfit()
