"""Every mechanism can be watched: a sound use replays, and one that moves too far does not."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.finding import FindingKind, replay_audit
from discreet.audit.inputs import Inputs
from discreet.audit.recorder import Recorder
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.grid import on_grid
from discreet.mechanisms.noise.linf_exponential import LinfExponential
from discreet.mechanisms.noise.noisy_histogram import NoisyHistogram
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.noise.uniform_smoothing import UniformSmoothing
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.mechanisms.stability.answer_net import AnswerNet
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.randomness.rng import SystemRng
from tests.audit import test_replay_inputs, test_replay_machines
from tests.support.statistics import every_draw
from tests.support.statistics.numbered_rng import NumberedRng

ONE = Contribution(l0=1, linf=1)
ALL = Contribution(linf=1)
LOSS = Approximate(1, "1e-6")
LAPLACE = DiscreteLaplace(scale=2)
QUERIES = LinearQueries(np.array([[1, 0], [1, 1], [0, 1]]))
GRID = [[a, b] for a in range(0, 20, 4) for b in range(0, 20, 4)]

VECTORS: dict[str, tuple[Any, Contribution]] = {
    "DiscreteLaplace": (LAPLACE, ONE),
    "DiscreteGaussian": (DiscreteGaussian(sigma_squared=9), ONE),
    "TruncatedGeometric": (TruncatedGeometric(scale=2, bound=40), ONE),
    "LinfExponential": (LinfExponential(scale=2, dimension=2), ALL),
    "NoisyHistogram": (NoisyHistogram(noise=LAPLACE, cells=2), ONE),
    "UniformSmoothing": (UniformSmoothing(radius=50), ONE),
    "AnswerNet": (AnswerNet.calibrate(np.array(GRID), radius=4, d_in=ALL, loss=Pure(1)), ALL),
    "Mwem": (Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=Pure(2)), ONE),
    "SmallDatabase": (SmallDatabase(queries=QUERIES, size=4, scale=2), ONE),
    "OnGrid": (on_grid(LAPLACE, step="1/4", bound=100), ONE),
}
"""Mechanisms that take one number a cell."""

ELSEWHERE = {
    *(type(mechanism).__name__ for mechanism in test_replay_inputs.RANKS.values()),
    *(type(selector).__name__ for selector in test_replay_machines.SELECTORS),
    *("ThresholdedKeys", "StableMode", "PrefixRelease"),
    *("TwoCoinResponse", "CategoricalResponse", "ApproximateResponse", "SignOfGaussian"),
}
"""Those with a sound replay and twins of their own in the two other files."""

NOT_ALONE = {"StabilityTest"}
"""The test of a margin, whose promise is about what follows it: watched as ProposeTestRelease."""


def test_no_mechanism_is_forgotten():
    known = set(VECTORS) | ELSEWHERE | NOT_ALONE | {"ProposeTestRelease"}
    groups = (
        every_draw.NOISES,
        every_draw.RESPONSES,
        every_draw.SELECTIONS,
        every_draw.STABILITIES,
        every_draw.QUERY_RELEASES,
    )
    assert known == {name for group in groups for name in group}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_replay(name):
    mechanism, d_in = VECTORS[name]
    kind = np.float64 if name == "OnGrid" else np.int64

    def run(values, recorder):
        watched = recorder.watch(mechanism, d_in=d_in)
        return watched.release(np.array(values, dtype=kind), recorder.rng)

    for number in range(4):
        assert replay_audit(run, [5, 9], [5, 10], NumberedRng(number)) == ()
    findings = replay_audit(run, [5, 9], [5, 11], NumberedRng(1))
    assert {finding.kind for finding in findings} == {FindingKind.CONTRIBUTION}


# ---------------------------------------------------------------- a number and its margin


PTR = ProposeTestRelease.calibrate(proposed=3, d_in=Contribution(l1=1), loss=LOSS)


def after_a_test(data, recorder):
    watched = recorder.watch_test(PTR, d_in=Contribution(l1=1))
    return watched.release(*data, recorder.rng)


@pytest.mark.parametrize(
    ("first", "second", "is_sound"),
    [
        ((50, 40), (53, 41), True),
        ((50, 0), (5000, 0), True),
        ((50, 40), (54, 41), False),
        ((50, 40), (50, 42), False),
        ((50, 0), (5000, 1), False),
    ],
)
def test_a_number_may_jump_only_where_its_margin_fails(first, second, is_sound):
    findings = replay_audit(after_a_test, first, second, NumberedRng(1))
    assert (not findings) == is_sound


def test_a_margin_is_asked_for():
    recorder = Recorder(SystemRng())
    with pytest.raises(InvalidArgument, match="Use watch_test"):
        recorder.watch(PTR, d_in=ONE)
    wrong: Any = LAPLACE
    with pytest.raises(InvalidArgument, match="no test of a margin"):
        recorder.watch_test(wrong, d_in=ONE)


# ---------------------------------------------------------------- the class of the fault


FEW = st.lists(st.integers(0, 5), max_size=8)


@given(rows=FEW, extra=FEW.filter(len), order=st.randoms(use_true_random=False))
def test_neighbours_within_the_declaration_are_never_too_far(rows, extra, order):
    """Whatever comes or goes is counted, in any order, and never as more than it is."""
    more = rows + extra
    order.shuffle(more)
    first, second = np.array(rows, dtype=np.int64), np.array(more, dtype=np.int64)
    count = len(extra)
    assert Inputs.ROWS.exceeded(first, second, Contribution(l1=count)) == {}
    assert Inputs.KEYS.exceeded(Counter(rows), Counter(more), Contribution(l1=count)) == {}
    assert Inputs.POINTS.exceeded(first, second, Contribution(linf=count)) == {}
    less = Contribution(l1=count - 1)
    assert Inputs.ROWS.exceeded(first, second, less)["l1"] == count
    assert Inputs.KEYS.exceeded(Counter(rows), Counter(more), less)["l1"] == count
    assert Inputs.POINTS.exceeded(first, second, Contribution(linf=count - 1))["linf"] == count
