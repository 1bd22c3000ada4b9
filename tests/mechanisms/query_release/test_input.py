"""Bad input to query releases: refused before any noise is drawn, and no error quotes a count."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from discreet.core.contribution import Contribution
from discreet.core.errors import DiscreetError, InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.guess_and_check import GuessAndCheck
from discreet.mechanisms.query_release.linear_queries import LinearQueries, rows_of
from discreet.mechanisms.query_release.median_mechanism import MedianMechanism
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries, PrefixRelease
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.mechanisms.query_release.public_weights import PublicWeights
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.mechanisms.query_release.small_databases import number_of_databases
from discreet.mechanisms.thresholds.halting_sparse_vector import HaltingSparseVector
from discreet.mechanisms.thresholds.sparse_vector import SparseVector
from discreet.randomness.rng import SystemRng

ONE = Contribution(l1=1)
QUERIES = LinearQueries(np.array([[1, 0, 1], [0, 1, 1]]))
WRONG: Any = Approximate(1, "1e-6")
NEITHER: Any = Zcdp(rho=1)
NOT_TEXTS: Any = [1, None]
CHECKS = GuessAndCheck.calibrate(d_in=ONE, loss=Pure(1), most_above=2, threshold=20)
GAUSS = DiscreteGaussian(sigma_squared=400)
HALTING = HaltingSparseVector(threshold_noise=GAUSS, query_noise=GAUSS, ceiling=400, most_above=2)
LIMITED = PrivateMultiplicativeWeights(
    checks=GuessAndCheck(
        vector=SparseVector(threshold_noise=GAUSS, query_noise=GAUSS, most_queries=50),
        value_noise=GAUSS,
        threshold=10**6,
    ),
    cells=3,
    total=9,
)


class SilentRng:
    def words(self, count: int) -> np.ndarray:
        raise AssertionError("noise was drawn")


MECHANISMS: dict[str, Any] = {
    "mwem": Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=Pure(1)),
    "small": SmallDatabase(queries=QUERIES, size=4, scale=2),
}
MACHINES: dict[str, Any] = {
    "weights": PrivateMultiplicativeWeights(checks=CHECKS, cells=3, total=DiscreteLaplace(scale=2)),
    "median": MedianMechanism(checks=CHECKS, cells=3, size=4, total=DiscreteLaplace(scale=2)),
}
BAD_COUNTS = [
    np.array([1, 2]),
    np.array([1, 2, 3, 4]),
    np.array([[1, 2, 3]]),
    np.array([1.0, 2.0, 3.0]),
    np.array([1, 2, 3], dtype=np.int32),
    np.array([-4711, 2, 3]),
    np.array([2**61, 2**61, 4711]),
    np.array(["4711", "2", "3"]),
]


@pytest.mark.parametrize("counts", BAD_COUNTS, ids=str)
def test_bad_histograms_are_refused(counts):
    for mechanism in MECHANISMS.values():
        with pytest.raises(InvalidArgument) as caught:
            mechanism.release(counts, SilentRng())
        assert "4711" not in str(caught.value)
    for machine in MACHINES.values():
        with pytest.raises(InvalidArgument) as caught:
            machine.open(counts, d_in=ONE, rng=SilentRng())
        assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    "table",
    [
        np.array([1, 0]),
        np.zeros((0, 3), dtype=np.int64),
        np.zeros((3, 0), dtype=np.int64),
        np.array([[0.5, 1.0]]),
        np.array([[True, False]]),
        np.array([[2**20 + 1, 0]]),
        np.array([[-(2**63), 0]]),
        [[1, 0], [1]],
        None,
    ],
    ids=str,
)
def test_bad_queries_are_refused(table):
    with pytest.raises(InvalidArgument):
        LinearQueries(table)


def test_queries_cannot_be_changed_afterwards():
    table = np.array([[1, 0]])
    queries = LinearQueries(table)
    table[0, 0] = 1000
    assert queries.largest == 1
    with pytest.raises(ValueError, match="read-only"):
        queries.table[0, 0] = 1000
    assert queries == LinearQueries(np.array([[1, 0]]))
    assert queries != LinearQueries(np.array([[1, 1]]))


@pytest.mark.parametrize(
    "query",
    [[1, 0], [2, 0, 0], [-1, 0, 0], [[1, 0, 0]], [0.5, 0, 0], [True, False, True], [2**62, 0, 0]],
    ids=str,
)
@pytest.mark.parametrize("name", MACHINES)
def test_a_query_beyond_the_declared_range_is_not_answered(name, query):
    """The price is that of coefficients between 0 and 1; nothing is drawn for any other."""
    run = MACHINES[name].open(np.array([5, 6, 7]), d_in=ONE, rng=SystemRng())
    before = run.ask(np.array([1, 0, 0]))
    assert isinstance(before.value, int)
    with pytest.raises(InvalidArgument):
        run.ask(query)
    with pytest.raises(InvalidArgument):
        run.ask_many([[1, 0, 0], query])


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_lives_once(name):
    far = GuessAndCheck(vector=CHECKS.vector, value_noise=CHECKS.value_noise, threshold=1)
    counts = np.array([10**6, 0, 0])
    machine: Any = PrivateMultiplicativeWeights(checks=far, cells=3, total=10**6)
    if name == "median":
        machine = MedianMechanism(checks=far, cells=3, size=4, total=10**6)
    run = machine.open(counts, d_in=ONE, rng=SystemRng())
    for copied in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
        with pytest.raises(Unsupported, match="cannot be copied"):
            copied(run)
    answers = run.ask_many([[0, 1, 0], [1, 0, 0]] * 10)
    assert run.ended
    assert sum(one.is_measured for one in answers) == 2
    with pytest.raises(Unsupported, match="has ended"):
        run.ask([0, 1, 0])
    counts[0] = 5
    assert "1000000" not in repr(run)


def test_a_universe_that_is_too_large_is_refused_with_its_size():
    wide = LinearQueries(np.ones((1, 64), dtype=np.int64))
    with pytest.raises(Unsupported, match=r"about 10\*\*16 data sets of 16 rows over 64 cells"):
        SmallDatabase(queries=wide, size=16, scale=1)
    assert 10**16 <= number_of_databases(64, 16) < 10**17
    with pytest.raises(Unsupported, match="595665 data sets of 4 rows over 60 cells"):
        MedianMechanism(checks=CHECKS, cells=60, size=4, total=9)
    with pytest.raises(Unsupported, match=r"about 10\*\*\d+ data sets"):
        SmallDatabase(queries=wide, size=10**9, scale=1)
    with pytest.raises(Unsupported, match="use Mwem"):
        SmallDatabase.calibrate(
            queries=LinearQueries(np.eye(200, dtype=np.int64)),
            accuracy="0.01",
            d_in=ONE,
            loss=Pure(1),
        )


@pytest.mark.parametrize(
    "make",
    [
        lambda: Mwem.calibrate(queries=QUERIES, rounds=0, d_in=ONE, loss=Pure(1)),
        lambda: Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=WRONG),
        lambda: Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=Pure(0)),
        lambda: Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=Pure(1), rows=0),
        lambda: Mwem.calibrate(queries=QUERIES, rounds=2, d_in=Contribution(l0=1), loss=Pure(1)),
        lambda: Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=Zcdp(rho=1, xi=1)),
        lambda: Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=Pure("1e-18")),
        lambda: Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ONE, loss=Pure(10**6)),
        lambda: SmallDatabase(queries=QUERIES, size=4, scale=2**50),
        lambda: GuessAndCheck.calibrate(d_in=ONE, loss=Pure("1e-18"), most_above=1, threshold=1),
        lambda: SmallDatabase(queries=QUERIES, size=0, scale=1),
        lambda: SmallDatabase.calibrate(queries=QUERIES, accuracy=0, d_in=ONE, loss=Pure(1)),
        lambda: SmallDatabase.calibrate(queries=QUERIES, accuracy=1, d_in=ONE, loss=Pure(1)),
        lambda: GuessAndCheck.calibrate(d_in=ONE, loss=Pure(1), most_above=2, threshold=0),
        lambda: GuessAndCheck.calibrate(d_in=ONE, loss=Pure(1), most_above=0, threshold=1),
        lambda: GuessAndCheck.calibrate(
            d_in=ONE, loss=Pure(1), most_above=1, threshold=1, lower=1, upper=1
        ),
        lambda: PrivateMultiplicativeWeights(checks=CHECKS, cells=3, total=True),
        lambda: PrivateMultiplicativeWeights(checks=CHECKS, cells=3, total=1.5),
        lambda: PrivateMultiplicativeWeights(checks=CHECKS, cells=0, total=1),
        lambda: PublicWeights(cells=0, total=1),
        lambda: PrefixQueries([]),
        lambda: PrefixQueries("abc"),
        lambda: LIMITED.error_quantile("0.05", queries=51, rows=9),
        lambda: PrivateMultiplicativeWeights.calibrate(
            cells=3, d_in=ONE, loss=NEITHER, rows=9, updates=2, queries=5, beta="0.1"
        ),
        lambda: GuessAndCheck(vector=HALTING, value_noise=GAUSS, threshold=401),
        lambda: PrefixQueries([NOT_TEXTS]),
        lambda: PrefixRelease(prefixes=PrefixQueries([{"a"}]), inner=MECHANISMS["mwem"]),
        lambda: PrefixQueries([{"a"}]).histogram(NOT_TEXTS),
        lambda: MECHANISMS["mwem"].error_quantile("0.05", rows=0),
        lambda: MECHANISMS["mwem"].error_quantile("0.05", rows=2**50),
        lambda: MECHANISMS["mwem"].error_quantile(0, rows=10),
    ],
)
def test_what_cannot_be_is_refused(make):
    with pytest.raises(DiscreetError) as caught:
        make()
    assert caught.value.what


def test_numbers_of_rows_are_exact_and_a_noisy_total_is_at_least_one():
    assert rows_of(np.array([2**62 - 1] * 5)) == 5 * (2**62 - 1)
    noisy = Mwem.calibrate(queries=QUERIES, rounds=1, d_in=ONE, loss=Pure("1/100"))
    totals = [noisy.release(np.zeros(3, dtype=np.int64), SystemRng()).total for _ in range(30)]
    assert min(totals) >= 1


def test_gaussian_noise_and_halting_comparisons_fit_too():
    """Distances to a guess are never negative: a machine with Gaussian noise needs no limit."""
    checks = GuessAndCheck(vector=HALTING, value_noise=GAUSS, threshold=300)
    machine = PrivateMultiplicativeWeights(checks=checks, cells=3, total=GAUSS)
    run = machine.open(np.array([9000, 0, 0]), d_in=ONE, rng=SystemRng())
    assert run.ask([0, 0, 1]).is_measured
    assert machine.error_quantile("0.05", queries=5, rows=10) > 300
