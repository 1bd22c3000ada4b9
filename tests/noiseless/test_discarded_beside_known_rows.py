"""Known rows are thrown away like others, so that sizes tell of one another a little."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from discreet.noiseless.histograms.random_discarding import RandomDiscarding
from discreet.noiseless.histograms.sized_histogram import DiscardedHistogram, SizedHistogram

ROWS, KNOWN, LEAST = 400, 250, 270
DISCARDING = RandomDiscarding.calibrate(rows=ROWS, epsilon=1, delta="1e-4")
EPSILON = Fraction(3)


def told_delta(share: float, growth: float) -> float:
    """Return δ for somebody who knows all rows of one cell but some, and which of them are gone."""
    sizes = DISCARDING.sizes()
    delta = 0.0
    for lost in range(1, 25):
        real, simulated, hidden = [], [], []
        for place in range(len(sizes.real)):
            others = sizes.first + place
            chance = hypergeom.pmf(lost, ROWS - 1, KNOWN, ROWS - 1 - others)
            real.append(float(sizes.real[place]) * chance)
            simulated.append(float(sizes.simulated[place]) * chance)
            hidden.append(others - (KNOWN - lost))
        delta += _divergence(real, simulated, hidden, LEAST - (KNOWN - lost), share, growth)
    return delta


def _divergence(real, simulated, hidden, least, share, growth):
    """Compare counts with the person beside counts without, from ``least`` on, by the size."""
    after = dict(zip(hidden, simulated, strict=True))
    found = 0.0
    for weight, size in zip(real, hidden, strict=True):
        if size < 0 or weight < 1e-14:
            continue
        counts = np.arange(size + 2)
        first = weight * np.append(0.0, binom.pmf(counts[:-1], size, share))
        second = after.get(size + 1, 0.0) * binom.pmf(counts, size + 1, share)
        found += np.maximum(first - growth * second, 0.0)[least:].sum()
    return found


def test_parts_of_the_sizes_are_hypergeometric_and_nothing_is_lost():
    whole, parts = DISCARDING.sizes(), DISCARDING.beside(KNOWN)
    for place, size in enumerate(range(whole.first, whole.first + len(whole.real))):
        lost = ROWS - 1 - size
        for count, part in enumerate(parts):
            chance = hypergeom.pmf(count, ROWS - 1, KNOWN, lost)
            expected = float(whole.real[place]) * chance
            assert float(part.real_at(size)) == pytest.approx(expected, rel=1e-6, abs=1e-16)
    for of in ("real", "simulated"):
        kept = sum(sum(getattr(part, of)) for part in parts)
        assert kept + sum(part.beyond for part in parts) >= sum(getattr(whole, of))


def test_nobody_known_is_the_law_of_sizes():
    assert DISCARDING.beside(0) == (DISCARDING.sizes(),)
    histogram = DiscardedHistogram(truncation=30, discarding=DISCARDING)
    alone = SizedHistogram(truncation=30, sizes=DISCARDING.sizes())
    assert histogram.deltas(EPSILON) == alone.deltas(EPSILON)


def test_who_is_told_which_known_rows_are_gone_never_exceeds_the_certificate():
    (certified,) = (
        DiscardedHistogram(truncation=LEAST, known=KNOWN, discarding=DISCARDING)
        .deltas(EPSILON)
        .values()
    )
    # The twin counts sizes as if known rows were never thrown away.
    (twin,) = (
        SizedHistogram(truncation=LEAST, known=KNOWN, sizes=DISCARDING.sizes())
        .deltas(EPSILON)
        .values()
    )
    worst = max(told_delta(share, math.exp(EPSILON)) for share in (0.12, 0.3))
    assert twin < worst <= certified
