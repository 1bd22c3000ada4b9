"""The rest of the catalogue, audited in one family: responses, choices, keys, stable answers.

As for noise (``test_catalogue.py``): samples on two neighbours, and no bound above the loss that
the accountant has. With each stands a twin that pays for half of what it does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import account
from discreet.accounting.accountants.pure import pure_loss
from discreet.audit.sampling import AuditResult, audit_outputs
from discreet.core.contribution import Contribution
from discreet.core.loss import Approximate, PrivacyLoss, Pure, Zcdp
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.noise.grid import on_grid
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries, PrefixRelease
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.mechanisms.selection.binary_search_quantile import BinarySearchQuantile
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from discreet.mechanisms.selection.laplace_noisy_max import LaplaceNoisyMax
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import EndSide, QuantileEnd
from discreet.mechanisms.selection.quantiles import Quantiles
from discreet.mechanisms.selection.top_k import TopK
from discreet.mechanisms.stability.answer_net import AnswerNet
from discreet.mechanisms.stability.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stability.stability_test import StabilityTest
from discreet.mechanisms.stability.stable_median import StableMedian
from discreet.mechanisms.stability.stable_mode import StableMode
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.mechanisms.thresholds.sparse_vector import Redraw, SparseVector
from tests.mechanisms.test_response import CASES as RESPONSES
from tests.mechanisms.test_response import NAMES as RESPONSE_NAMES
from tests.support.statistics.exact_tests import alpha

ONE = Contribution(l0=1, linf=1)
ALL = Contribution(linf=1)
SAMPLES = 400
"""On each side, in a usual run."""


@dataclass(frozen=True)
class Choice:
    """Something that is drawn on one of two neighbours, and what it is said to lose."""

    name: str
    draw: Callable[[Any, Any], Any]
    neighbours: tuple[Any, Any]
    loss: PrivacyLoss

    def __str__(self) -> str:
        return self.name


UP, DOWN = np.array([3, 2, 2, 0]), np.array([2, 3, 3, 1])
LOW, HIGH = np.array([1, 2, 3, 20, 21]), np.array([1, 2, 3, 20, 21, 25])


def chosen(mechanism: Any, d_in: Contribution = ALL) -> Choice:
    name = type(mechanism).__name__
    return Choice(name, mechanism.select, (UP, DOWN), mechanism.loss(d_in))


def ranked(mechanism: Any) -> Choice:
    name = type(mechanism).__name__
    return Choice(name, mechanism.release, (LOW, HIGH), mechanism.loss(ONE))


def released(mechanism: Any, first: Any, second: Any, d_in: Contribution = ONE) -> Choice:
    name = type(mechanism).__name__
    return Choice(
        name,
        lambda one, rng: _hashable(mechanism.release(one, rng)),
        (first, second),
        mechanism.loss(d_in),
    )


def proposed() -> Choice:
    """A number that may jump where its margin fails: 5 rows away from jumping, and 4."""

    def draw(data: Any, rng: Any) -> Any:
        value, margin = data
        return PROPOSED.release(value, margin, rng)

    return Choice("ProposeTestRelease", draw, ((10, 5), (13, 4)), PROPOSED.loss(ONE))


def prefixed() -> Choice:
    """Texts, one of which is another's: two shares of prefixes, and what they were made of."""
    prefixes = PrefixQueries([{"a"}, {"ab", "c"}])
    inner = Mwem.calibrate(queries=prefixes.linear, rounds=2, d_in=ROW, loss=Pure(1))
    mechanism = PrefixRelease(prefixes=prefixes, inner=inner)

    def draw(texts: Any, rng: Any) -> Any:
        found = mechanism.release(texts, rng)
        return (found.total, *found.chosen, *found.values)

    loss = account(mechanism.event(ROW), delta=0).loss
    return Choice("PrefixRelease", draw, (["a", "ab", "c"], ["a", "ab"]), loss)


def _hashable(released: Any) -> Any:
    if isinstance(released, np.ndarray):
        return tuple(released.tolist())
    return tuple(sorted(released.items())) if isinstance(released, dict) else released


def sparse() -> Choice:
    """Two answers of a machine, which halts at the first above."""
    machine = SparseVector(
        threshold_noise=DiscreteLaplace(scale=2),
        query_noise=DiscreteLaplace(scale=4),
        most_above=1,
        most_queries=2,
        redraw=Redraw.AFTER_ABOVE,
    )

    def draw(values: Any, rng: Any) -> Any:
        run = machine.open(threshold=0, d_in=ONE, rng=rng)
        return tuple(run.ask_many(np.array(values)))

    return Choice("SparseVector", draw, ((1, 0), (0, 1)), pure_loss([machine.event(ONE)]))


PROPOSED = ProposeTestRelease(
    proposed=3, test=StabilityTest(scale=2, threshold=6), noise=DiscreteLaplace(scale=3)
)
ROW = Contribution(l1=1)
NET = AnswerNet.calibrate(np.arange(9).reshape(-1, 1), radius=1, d_in=ALL, loss=Pure(1))
ENDS = [
    QuantileEnd(quantile="1/2", side=side, lower=0, upper=30, scale=2, distance=1)
    for side in EndSide
]
GRID = on_grid(DiscreteLaplace(scale=14), step="1/7", bound=100)
CHOICES = [
    chosen(ExponentialMechanism(scale=2)),
    chosen(PermuteAndFlip(scale=2)),
    chosen(LaplaceNoisyMax(scale=2)),
    chosen(TopK(scale=4, count=2)),
    ranked(Quantile(quantile="1/2", lower=0, upper=30, scale=2)),
    ranked(Quantiles(quantiles=["1/4", "3/4"], lower=0, upper=30, scale=2)),
    ranked(BinarySearchQuantile(quantile="1/2", lower=0, upper=30, noise=DiscreteLaplace(scale=6))),
    released(ThresholdedKeys(noise=DiscreteLaplace(scale=1), threshold=3), {"a": 2}, {"a": 1}),
    released(ThresholdedKeys(noise=DiscreteLaplace(scale=1), threshold=3), {"a": 1}, {}),
    released(
        StableMode(test=StabilityTest(scale=2, threshold=4)), {"a": 6, "b": 2}, {"a": 5, "b": 2}
    ),
    released(StableMedian(lower=0, upper=30, mechanism=PROPOSED), LOW, HIGH),
    released(
        SmallDatabase(queries=LinearQueries(np.array([[1, 1, 0], [0, 1, 1]])), size=2, scale=2),
        np.array([5, 1, 0]),
        np.array([4, 1, 0]),
    ),
    sparse(),
    *(ranked(end) for end in ENDS),
    released(NET, np.array([4]), np.array([5]), ALL),
    proposed(),
    prefixed(),
    Choice(
        "OnGrid",
        lambda value, rng: float(GRID.release(np.array([value]), rng)[0]),
        (0.2, 1.2),
        account(GRID.event(ONE), delta=0).loss,
    ),
]
AUDITS = len(CHOICES) + len(RESPONSES)


def sure() -> Fraction:
    return 1 - Fraction(alpha("audit/catalogue of choices", parts=AUDITS))


def audited(choice: Choice, rng: Any, samples_each: int) -> AuditResult:
    samples = [[choice.draw(one, rng) for _ in range(samples_each)] for one in choice.neighbours]
    delta = choice.loss.delta if isinstance(choice.loss, Approximate) else 0
    return audit_outputs(*samples, delta=delta, confidence=sure())


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_no_bound_exceeds_the_accountants_loss(choice: Choice, rng, soak):
    assert isinstance(choice.loss, Pure | Approximate | Zcdp)
    found = audited(choice, rng, soak.cases(SAMPLES))
    assert not found.refutes(choice.loss), str(found)


@pytest.mark.parametrize(("response", "first", "second", "law"), RESPONSES, ids=RESPONSE_NAMES)
def test_no_bound_on_responses_exceeds_it(response, first, second, law, rng):
    samples = [response.randomise_all(np.full(20_000, value), rng) for value in (first, second)]
    loss = response.loss()
    delta = loss.delta if isinstance(loss, Approximate) else 0
    found = audit_outputs(*samples, delta=delta, confidence=sure())
    assert not found.refutes(loss), str(found)
    if isinstance(loss, Pure):
        assert found.refutes(Pure(loss.epsilon * Fraction(1, 2))), "the audit has power"


TWINS = [
    ("a choice at half its scale", ExponentialMechanism(scale="1/4"), Pure(1)),
    ("noise for the maximum at half its scale", LaplaceNoisyMax(scale="1/4"), Pure(1)),
]


@pytest.mark.parametrize(("name", "mechanism", "loss"), TWINS, ids=[twin[0] for twin in TWINS])
def test_sampling_catches_choices_that_pay_too_little(name, mechanism, loss, rng):
    twin = Choice(name, mechanism.select, (UP, DOWN), loss)
    assert audited(twin, rng, 1500).refutes(loss)
