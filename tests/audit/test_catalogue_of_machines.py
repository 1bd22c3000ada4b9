"""What answers one by one, audited in one family: thresholds, and answers from a public guess.

As for choices (``test_catalogue_of_choices.py``), and the output is everything that a life says.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import account
from discreet.audit.sampling import AuditResult, audit_outputs
from discreet.core.contribution import Contribution
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, PrivacyLoss, Pure
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.guess_and_check import GuessAndCheck
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.median_mechanism import MedianMechanism
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.mechanisms.query_release.public_weights import PublicWeights
from discreet.mechanisms.thresholds.adaptive_thresholds import AdaptiveThresholds
from discreet.mechanisms.thresholds.between_thresholds import BetweenThresholds
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.interior_point import InteriorPoint
from discreet.mechanisms.thresholds.numeric_sparse import NumericSparse
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector
from discreet.mechanisms.thresholds.stage_wise import StageWise
from tests.support.statistics.exact_tests import alpha

ONE = Contribution(linf=1)
ROW = Contribution(l1=1)
CHANGED = Contribution(linf=1, metric="change_one")
DELTA = Fraction(1, 100)
SAMPLES = 400
"""On each side, in a usual run."""

Life = Callable[[Any, Any], tuple[Any, ...]]
"""Everything that one life says about some data, drawn with an Rng."""

QUERIES = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]])
ROWS = np.array([5, 1, 0]), np.array([4, 1, 0])
VALUES = np.array([0, -1, 0]), np.array([-1, 0, -1])
GAUSS = DiscreteGaussian(sigma_squared=4)
STAGE = SparseVector(
    threshold_noise=GAUSS, query_noise=GAUSS, most_above=1, most_queries=3, redraw=Redraw.NEVER
)
CHECKS = GuessAndCheck.calibrate(d_in=ROW, loss=Pure(1), most_above=2, threshold=1)


def asked(run: Any, queries: Any) -> tuple[Any, ...]:
    """Ask until a machine ends: when it does is a part of what it says."""
    said: list[Any] = []
    for query in queries:
        try:
            said.append(run.ask(query))
        except Unsupported:
            said.append("ended")
    return tuple(said)


def compared(machine: Any) -> Life:
    return lambda values, rng: asked(
        machine.open(threshold=0, d_in=ONE, rng=rng), [int(one) for one in values]
    )


def checked(machine: Any) -> Life:
    def life(rows: Any, rng: Any) -> tuple[Any, ...]:
        said = asked(machine.open(rows, d_in=ROW, rng=rng), QUERIES)
        return tuple(one if one == "ended" else (one.value, one.is_measured) for one in said)

    return life


class _Guessing:
    """Checks of a guess that knows the number of rows."""

    def open(self, rows: Any, *, d_in: Contribution, rng: Any) -> Any:
        return CHECKS.open(rows, guess=PublicWeights(cells=3, total=5), d_in=d_in, rng=rng)


def measured(mechanism: Mwem) -> Life:
    def life(rows: Any, rng: Any) -> tuple[Any, ...]:
        found = mechanism.release(rows, rng)
        return (found.total, *found.chosen, *found.values)

    return life


BETWEEN = BetweenThresholds.calibrate(d_in=ONE, loss=Approximate(1, DELTA), centre=0)
POINT = InteriorPoint.calibrate(loss=Approximate(1, DELTA), queries=3, beta="1/4")
ADAPTIVE = AdaptiveThresholds.calibrate(
    d_in=CHANGED, loss=Approximate(2, DELTA), alpha="1/4", beta="1/4", queries=3
)
MWEM = Mwem.calibrate(queries=LinearQueries(QUERIES), rounds=2, d_in=ROW, loss=Pure(1))
HALTING = HaltingSparseVector(
    threshold_noise=GAUSS, query_noise=DiscreteGaussian(sigma_squared=16), ceiling=20, most_above=2
)
NUMERIC = NumericSparse.calibrate(d_in=ONE, loss=Pure(1), most_above=1)
STAGES = StageWise(stage=STAGE, most_above=2)
WEIGHTS = PrivateMultiplicativeWeights(checks=CHECKS, cells=3, total=DiscreteLaplace(scale=2))
MEDIAN = MedianMechanism.calibrate(
    cells=3, size=2, d_in=ROW, loss=Pure(2), rows=6, queries=3, beta="1/4"
)
ENDS = np.repeat([0, 100], POINT.size // 2 + 1)[: POINT.size]
SIDES = np.sort(np.arange(40) % 4)


def near_points(values: Any, rng: Any) -> tuple[Any, ...]:
    run = POINT.open(values, d_in=CHANGED, rng=rng)
    return tuple(bool(one) for one in run.ask_many(np.array([50, 0, 100])))


def shares(values: Any, rng: Any) -> tuple[Any, ...]:
    run = ADAPTIVE.open(values, size=len(values), d_in=CHANGED, rng=rng)
    return tuple(int(one) for one in run.ask_many(np.array([0, 1, 2])))


def sides(values: Any, rng: Any) -> tuple[Any, ...]:
    run = BETWEEN.open(d_in=ONE, epsilon=1, rng=rng)
    return asked(run, [BETWEEN.upper * int(one) for one in (1, 1)] + [int(one) for one in values])


def paid(event: Any, delta: Any = DELTA) -> PrivacyLoss:
    return account(event, delta=delta).loss


MACHINES: dict[str, tuple[Life, tuple[Any, Any], PrivacyLoss]] = {
    "numeric sparse": (compared(NUMERIC), VALUES, paid(NUMERIC.event(ONE), 0)),
    "halting sparse vector": (compared(HALTING), VALUES, paid(HALTING.event(ONE))),
    "stages": (compared(STAGES), VALUES, paid(STAGES.event(ONE))),
    "between thresholds": (sides, VALUES, BETWEEN.loss(ONE, epsilon=1)),
    "interior point": (near_points, (ENDS, np.append(ENDS[1:], 100)), Approximate(1, DELTA)),
    "adaptive thresholds": (shares, (SIDES, np.append(SIDES[1:], 3)), ADAPTIVE.loss(CHANGED)),
    "guess and check": (checked(_Guessing()), ROWS, paid(CHECKS.event(ROW), 0)),
    "private weights": (checked(WEIGHTS), ROWS, paid(WEIGHTS.event(ROW), 0)),
    "median mechanism": (checked(MEDIAN), ROWS, paid(MEDIAN.event(ROW), 0)),
    "mwem": (measured(MWEM), ROWS, paid(MWEM.event(ROW), 0)),
}

OF = {
    "numeric sparse": NUMERIC,
    "halting sparse vector": HALTING,
    "stages": STAGES,
    "between thresholds": BETWEEN,
    "interior point": POINT,
    "adaptive thresholds": ADAPTIVE,
    "guess and check": CHECKS,
    "private weights": WEIGHTS,
    "median mechanism": MEDIAN,
    "mwem": MWEM,
}
"""The mechanism of each life."""


def audited(
    life: Life, neighbours: Any, loss: PrivacyLoss, rng: Any, samples_each: int
) -> AuditResult:
    samples = [[life(one, rng) for _ in range(samples_each)] for one in neighbours]
    sure = 1 - Fraction(alpha("audit/catalogue of machines", parts=len(MACHINES)))
    delta = loss.delta if isinstance(loss, Approximate) else 0
    return audit_outputs(*samples, delta=delta, confidence=sure)


@pytest.mark.parametrize("name", MACHINES)
def test_no_bound_on_a_life_exceeds_the_accountants_loss(name, rng, soak):
    life, neighbours, loss = MACHINES[name]
    assert isinstance(loss, Pure | Approximate)
    found = audited(life, neighbours, loss, rng, soak.cases(SAMPLES))
    assert not found.refutes(loss), str(found)


LOUD = DiscreteLaplace(scale="1/4")
NO_NOISE = SparseVector(threshold_noise=LOUD, query_noise=LOUD, most_above=1)
TWINS = {
    "comparisons at a quarter of their noise": (compared(NO_NOISE), VALUES),
    "measurements at a quarter of their noise": (
        measured(Mwem(queries=MWEM.queries, rounds=2, choice=MWEM.choice, noise=LOUD, total=5)),
        ROWS,
    ),
    "a machine that checks exactly": (
        checked(
            PrivateMultiplicativeWeights(
                checks=GuessAndCheck(vector=NO_NOISE, value_noise=LOUD, threshold=1),
                cells=3,
                total=5,
            )
        ),
        ROWS,
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_sampling_catches_machines_that_pay_too_little(name, rng):
    life, neighbours = TWINS[name]
    assert audited(life, neighbours, Pure(1), rng, 1500).refutes(Pure(1))
