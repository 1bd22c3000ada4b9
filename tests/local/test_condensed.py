"""Condensed privacy: the distance is a metric, every ratio is certified, shares are estimated."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exp_bounds
from discreet.local.condensed.condensed_response import CondensedResponse
from discreet.local.condensed.distance import Distance
from discreet.local.device.draws import UNIT
from tests.local.case import Case
from tests.local.number_cases import CASES
from tests.support.local.device_law import device_law
from tests.support.statistics.exact_tests import alpha

CONDENSED = [case for case in CASES if isinstance(case.scheme, CondensedResponse)]


def response(case: Case) -> CondensedResponse:
    assert isinstance(case.scheme, CondensedResponse)
    return case.scheme


@pytest.mark.parametrize("case", CONDENSED, ids=str)
def test_every_ratio_of_the_device_is_within_its_distance(case: Case):
    scheme = response(case)
    laws = [device_law(scheme.recipe(), x) for x in range(scheme.distance.values)]
    used = {}
    for x, y in itertools.permutations(range(len(laws)), 2):
        apart = scheme.alpha * scheme.distance.rows[x][y]
        ratio = max(laws[x][z] / laws[y][z] for z in laws[x])
        assert ratio <= exp_bounds(apart)[0]
        used[x, y] = float(np.log(float(ratio)) / float(apart))
    x, y, share = scheme.tightest()
    assert share == pytest.approx(max(used.values()), rel=1e-9)
    assert used[x, y] == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize("case", CONDENSED, ids=str)
def test_weights_are_the_exponentials_to_a_unit(case: Case):
    scheme = response(case)
    for place, row in enumerate(scheme.distance.rows):
        near = np.exp([-float(scheme.alpha * apart) / 2 for apart in row])
        assert np.array(scheme.weights[place]) / UNIT == pytest.approx(near / near.sum(), rel=1e-9)


def test_without_the_half_alpha_is_exceeded_and_refused():
    """A twin: e^(-alpha d) itself, whose normaliser nobody has counted."""
    distance = Distance.numeric(3)
    near = [[exp_bounds(-apart * 3)[0] for apart in row] for row in distance.rows]
    weights = []
    for place, row in enumerate(near):
        units = [int(weight / sum(row) * UNIT) for weight in row]
        units[place] += UNIT - sum(units)
        weights.append(tuple(units))
    with pytest.raises(InvalidArgument, match="apart better"):
        CondensedResponse(distance=distance, alpha=Fraction(3), weights=tuple(weights))


def test_a_unit_too_many_is_refused():
    """A twin of two values whose ratio is as large as it may be, and then one unit larger."""
    limit = exp_bounds(Fraction(1), 128)[0]
    most = int(limit / (1 + limit) * UNIT)
    distance = Distance.numeric(2)
    for extra in (0, 1):
        weights = ((most + extra, UNIT - most - extra), (UNIT - most - extra, most + extra))
        if extra:
            with pytest.raises(InvalidArgument, match="apart better"):
                CondensedResponse(distance=distance, alpha=1, weights=weights)
        else:
            assert CondensedResponse(distance=distance, alpha=1, weights=weights).tightest()[2] <= 1


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1, 3], [1, 0, 1], [3, 1, 0]],
        [[0, 1], [2, 0]],
        [[0, 0], [0, 0]],
        [[1, 1], [1, 0]],
        [[0, -1], [-1, 0]],
        [[0, 1, 1], [1, 0]],
        [[0]],
    ],
    ids=["detour", "one way", "same", "from itself", "negative", "ragged", "alone"],
)
def test_what_is_no_metric_is_refused(rows):
    with pytest.raises(InvalidArgument):
        Distance(rows)


def test_reports_too_rare_are_refused():
    with pytest.raises(InvalidArgument, match="rare"):
        CondensedResponse.calibrate(distance=Distance.numeric(3, step=40), alpha=1)
    with pytest.raises(InvalidArgument, match="alpha"):
        CondensedResponse.calibrate(distance=Distance.numeric(3), alpha=0)


def test_shares_are_unbiased_and_covered(rng):
    """Weights invert the law; each of 200 collections misses with probability at most 1 in 20."""
    scheme = CondensedResponse.calibrate(distance=Distance.ordinal([0, 1, 2, 4]), alpha=2)
    held = np.repeat(np.arange(4), [40, 10, 30, 20])
    missed = 0
    for _ in range(200):
        found = scheme.estimate(scheme.randomise_many(held, rng), together=True)
        truth = np.array([0.4, 0.1, 0.3, 0.2])
        missed += not ((found.low <= truth) & (truth <= found.high)).all()
    assert stats.binom.sf(missed - 1, 200, 0.05) > alpha("local/condensed")


def test_words_beside_numbers():
    scheme = CondensedResponse.calibrate(distance=Distance.numeric(5), alpha=1)
    x, y = scheme.worst_pair()
    assert scheme.event().epsilon <= scheme.alpha * scheme.distance.rows[x][y]
    assert "plain sense" in scheme.meaning()
