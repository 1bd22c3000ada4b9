"""What each query release tells is within its loss, by exact laws; and its twins are not."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.accountants.pure import pure_loss
from discreet.accounting.accountants.zcdp import zcdp_loss
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import push_forward
from discreet.audit.verdict import VerdictAnswer, pure_epsilon, verify
from discreet.core.contribution import Contribution, Metric
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.query_release.guess_and_check import GuessAndCheck
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.median_mechanism import MedianGuess, MedianMechanism
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries, PrefixRelease
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.mechanisms.query_release.public_weights import PublicWeights
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.mechanisms.selection.exponential_mechanism import ExponentialMechanism
from tests.mechanisms.query_release.laws import (
    best,
    both,
    checks_law,
    databases,
    mwem_law,
    off,
    shares_law,
    small_law,
)
from tests.support.statistics.exact_tests import alpha, cells_p_value

ROW, PERSON = Contribution(l1=1), Contribution(l1=2)
TABLE = [[1, 0], [1, 1]]
QUERIES = LinearQueries(np.array(TABLE))
WINDOW = (-1, 10)
HOLDS, BROKEN = VerdictAnswer.HOLDS, VerdictAnswer.BROKEN

NEIGHBOURS = [((2, 0), (4, 0)), ((1, 1), (2, 2)), ((0, 3), (0, 1)), ((5, 0), (6, 0))]
"""A person with at most two rows comes or goes."""


# ---------------------------------------------------------------- MWEM


def claim(epsilon: int) -> Approximate:
    """The pure claim, but for what the laws know of masses: they are enclosed in tiny intervals."""
    return Approximate(epsilon, "1e-12")


@pytest.mark.parametrize(("first", "second"), NEIGHBOURS)
def test_mwem_is_within_its_loss(first, second):
    mechanism = Mwem.calibrate(queries=QUERIES, rounds=2, d_in=PERSON, loss=Pure(8), rows=4)
    assert pure_loss([mechanism.event(PERSON)]) == Pure(8)
    pair = both(lambda rows: mwem_law(mechanism, rows, window=WINDOW), first, second)
    assert verify(pair, claim(8)).answer is HOLDS


@pytest.mark.parametrize(("first", "second"), NEIGHBOURS[:2])
def test_mwem_that_measures_the_total_is_within_its_loss(first, second):
    """The total is moved into the window before it is used, which reads nothing private."""
    mechanism = Mwem.calibrate(queries=QUERIES, rounds=1, d_in=PERSON, loss=Pure(6))
    assert pure_loss([mechanism.event(PERSON)]) == Pure(6)
    pair = both(lambda rows: mwem_law(mechanism, rows, window=WINDOW), first, second)
    assert verify(pair, claim(6)).answer is HOLDS


def test_twin_of_mwem_without_noise_on_its_scores():
    mechanism = Mwem.calibrate(queries=QUERIES, rounds=1, d_in=PERSON, loss=Pure(8), rows=4)
    pair = both(lambda rows: mwem_law(mechanism, rows, window=WINDOW, choice=best), (2, 0), (4, 0))
    assert verify(pair, Approximate(8, "1/10")).answer is BROKEN


def test_twin_of_mwem_with_the_sensitivity_of_a_row():
    """Calibrated for a row and told as if for a person: the loss is nearly twice as large."""
    twin = Mwem.calibrate(queries=QUERIES, rounds=2, d_in=ROW, loss=Pure(8), rows=4)
    pair = both(lambda rows: mwem_law(twin, rows, window=WINDOW), (2, 0), (4, 0))
    assert verify(pair, Approximate(8, "1/100")).answer is BROKEN
    one = both(lambda rows: mwem_law(twin, rows, window=WINDOW), (2, 0), (3, 0))
    assert verify(one, claim(8)).answer is HOLDS


def test_twin_of_mwem_that_tells_the_true_number_of_rows():
    mechanism = Mwem.calibrate(queries=QUERIES, rounds=1, d_in=ROW, loss=Pure(8), rows=4)

    def law(rows):
        return push_forward(
            mwem_law(mechanism, rows, window=WINDOW), lambda path: (sum(rows), path)
        )

    assert verify(both(law, (2, 0), (3, 0)), Approximate(8, "1/2")).answer is BROKEN


@pytest.mark.parametrize("l1", [1, 3])
@pytest.mark.parametrize("metric", Metric)
def test_loss_of_mwem_by_hand(l1, metric):
    """Add up the parts with fractions, in both measures, for coefficients up to 5."""
    queries = LinearQueries(np.array([[1, 0, -5], [2, 2, 2]]))
    d_in = Contribution(l1=l1, metric=metric)
    moved = 5 * l1
    pure = Mwem(
        queries=queries,
        rounds=7,
        choice=ExponentialMechanism(scale=30),
        noise=DiscreteLaplace(scale=40),
        total=DiscreteLaplace(scale=8),
    )
    expected = 7 * (Fraction(2 * moved, 30) + Fraction(moved, 40)) + Fraction(l1, 8)
    assert pure_loss([pure.event(d_in)]) == Pure(expected)
    gauss = Mwem(
        queries=queries,
        rounds=7,
        choice=ExponentialMechanism(scale=30),
        noise=DiscreteGaussian(sigma_squared=900),
        total=99,
    )
    rho = 7 * (Fraction(2 * moved, 30) ** 2 / 8 + Fraction(moved**2, 1800))
    assert zcdp_loss([gauss.event(d_in)]) == Zcdp(rho=rho)
    calibrated = Mwem.calibrate(queries=queries, rounds=7, d_in=d_in, loss=Zcdp(rho="1/10"))
    assert Fraction("0.0999999") < zcdp_loss([calibrated.event(d_in)]).rho <= Fraction(1, 10)
    for event in (pure.event(d_in), gauss.event(d_in)):
        assert event_from_json(event.to_json()) == event
        assert event.metric is metric


def test_mwem_has_its_law(rng):
    mechanism = Mwem.calibrate(queries=QUERIES, rounds=1, d_in=ROW, loss=Pure(2), rows=9)
    law = mwem_law(mechanism, (4, 1), window=WINDOW)
    wrong = mwem_law(mechanism, (4, 1), window=WINDOW, choice=best)
    numbers = {path: number for number, path in enumerate(law.masses)}
    sample = []
    for _ in range(1000):
        found = mechanism.release(np.array([4, 1]), rng)
        value = min(max(found.values[0], WINDOW[0]), WINDOW[1])
        sample.append(numbers[9, (found.chosen[0], value)])
    share = alpha("query_release/mwem_law", parts=2)
    assert cells_p_value(sample, {numbers[p]: low for p, (low, _) in law.masses.items()}) > share
    assert cells_p_value(sample, {numbers[p]: low for p, (low, _) in wrong.masses.items()}) < share


# ---------------------------------------------------------------- guess and check

ASKED = [[1, 0], [0, 1], [1, 1]]
CHECKS = GuessAndCheck.calibrate(d_in=PERSON, loss=Pure(9), most_above=2, threshold=2)
ONE_CHECK = GuessAndCheck.calibrate(d_in=PERSON, loss=Pure(4), most_above=1, threshold=2)
GUESSES: dict[str, Any] = {
    "weights": lambda: PublicWeights(cells=2, total=6),
    "median": lambda: MedianGuess(cells=2, size=4, total=6),
}
MACHINES: dict[str, Any] = {
    "weights": lambda checks: PrivateMultiplicativeWeights(checks=checks, cells=2, total=6),
    "median": lambda checks: MedianMechanism(checks=checks, cells=2, size=4, total=6),
}


@pytest.mark.parametrize(("first", "second"), [((6, 0), (4, 0)), ((1, 1), (2, 2))])
@pytest.mark.parametrize("name", GUESSES)
def test_machines_that_guess_are_within_their_loss(name, first, second):
    assert pure_loss([MACHINES[name](CHECKS).event(PERSON)]) == Pure(9)
    pair = both(
        lambda rows: checks_law(CHECKS, rows, ASKED, guess=GUESSES[name], window=WINDOW),
        first,
        second,
    )
    assert verify(pair, claim(9)).answer is HOLDS


@pytest.mark.parametrize("name", GUESSES)
def test_twin_of_guessing_that_compares_without_noise(name):
    pair = both(
        lambda rows: checks_law(
            ONE_CHECK, rows, ASKED, guess=GUESSES[name], window=WINDOW, is_exact=True
        ),
        (4, 3),
        (5, 3),
    )
    assert verify(pair, Approximate(4, "1/10")).answer is BROKEN


@pytest.mark.parametrize("name", GUESSES)
def test_twin_of_guessing_with_the_sensitivity_of_a_row(name):
    """Many queries that two rows lift above the threshold, after many that they lift from it."""
    twin = GuessAndCheck.calibrate(d_in=ROW, loss=Pure(4), most_above=1, threshold=2)
    asked = [[0, 1]] * 8 + [[1, 0]]

    def law(checks):
        return lambda rows: checks_law(checks, rows, asked, guess=GUESSES[name], window=WINDOW)

    neighbours = (1, 1), (1, 3)
    pair = both(law(twin), *neighbours)
    assert verify(pair, Approximate(4, "1e-9")).answer is BROKEN
    sound = both(law(ONE_CHECK), *neighbours)
    assert verify(sound, claim(4)).answer is HOLDS


@pytest.mark.parametrize("l1", [1, 2])
def test_loss_of_guessing_by_hand(l1):
    """Of a machine with c measurements: c thresholds, c comparisons, c values, and the total."""
    d_in = Contribution(l1=l1)
    machine = PrivateMultiplicativeWeights.calibrate(
        cells=8, d_in=d_in, loss=Pure(3), rows=1000, updates=5, queries=50, beta="0.1", lower=-2
    )
    moved, checks = 2 * l1, machine.checks
    noises = checks.vector.threshold_noise, checks.vector.query_noise, checks.value_noise
    first, second, third = (noise.spread for noise in noises)
    assert isinstance(machine.total, DiscreteLaplace)
    expected = l1 / machine.total.scale
    expected += 5 * (moved / first + 2 * moved / second + moved / third)
    assert expected == 3
    assert pure_loss([machine.event(d_in)]) == Pure(expected)
    assert machine.open(np.zeros(8, dtype=np.int64), d_in=d_in, rng=Zeros()).event() == (
        machine.event(d_in)
    )


class Zeros:
    """Words that are all alike; what is opened with them is not asked."""

    def words(self, count):
        return np.full(count, 2**40 + 12345, dtype=np.uint64)


@pytest.mark.parametrize("name", GUESSES)
def test_machines_that_guess_have_their_law(name, rng):
    """At ε = 2 a fifth of all paths are none of the twin's. At ε = 8 one in 200 is: too few."""
    checks = GuessAndCheck.calibrate(d_in=ROW, loss=Pure(2), most_above=1, threshold=2)
    rows, asked = (7, 1), ASKED
    law = checks_law(checks, rows, asked, guess=GUESSES[name], window=WINDOW)
    wrong = checks_law(checks, rows, asked, guess=GUESSES[name], window=WINDOW, is_exact=True)
    numbers = {path: number for number, path in enumerate(law.masses)}
    sample = []
    for _ in range(250):
        run = MACHINES[name](checks).open(np.array(rows), d_in=ROW, rng=rng)
        answers = run.ask_many(np.array(asked))
        measured = [(i, one.value) for i, one in enumerate(answers) if one.is_measured]
        sample.append(numbers[tuple((i, min(max(v, WINDOW[0]), WINDOW[1])) for i, v in measured)])
    share = alpha("query_release/guess_law", parts=4)
    foreign = sum(low for path, (low, _) in law.masses.items() if path not in wrong.masses)
    assert (1 - foreign) ** len(sample) < share, "one of them is seen for certain"
    assert cells_p_value(sample, {numbers[p]: low for p, (low, _) in law.masses.items()}) > share
    cells = {numbers[p]: low for p, (low, _) in wrong.masses.items() if p in numbers}
    assert cells_p_value(sample, cells) < share


# ---------------------------------------------------------------- SmallDB

TRIPLE = [[1, 0, 0], [1, 1, 0], [0, -1, 2]]
SMALL = SmallDatabase(queries=LinearQueries(np.array(TRIPLE)), size=2, scale=3)


def small(rows):
    return small_law(TRIPLE, rows, size=2, scale=Fraction(3))


def test_small_database_is_within_its_loss_for_every_small_table():
    """All tables of at most one row a cell, and one row more; then some people with two rows."""
    assert SMALL.loss(ROW) == Pure(2)
    assert SMALL.loss(PERSON) == Pure(4)
    tables = list(itertools.product(range(2), repeat=3))
    laws = {rows: small(rows) for rows in itertools.product(range(3), repeat=3)}
    worst = 0.0
    for rows in tables:
        for cell in range(3):
            more = tuple(count + (place == cell) for place, count in enumerate(rows))
            pair = LawPair(first=laws[rows], second=laws[more])
            assert verify(pair, SMALL.loss(ROW)).answer is HOLDS
            worst = max(worst, float(pure_epsilon(pair).low))
    assert worst > 0.7, "and not by much less"
    for first, second in (((0, 0, 0), (0, 0, 2)), ((1, 0, 1), (2, 1, 1)), ((2, 2, 0), (2, 0, 0))):
        pair = LawPair(first=laws[first], second=laws[second])
        assert verify(pair, SMALL.loss(PERSON)).answer is HOLDS


def test_twin_of_small_database_with_the_sensitivity_of_a_row():
    queries, rows, more = [[1, 0]], (0, 1), (0, 3)
    scale = Fraction(2)

    def law(table):
        return small_law(queries, table, size=4, scale=scale)

    one = SmallDatabase(queries=LinearQueries(np.array(queries)), size=4, scale=scale)
    pair = both(law, (9, 0), (9, 3))
    assert verify(pair, one.loss(ROW)).answer is BROKEN
    assert verify(both(law, rows, more), one.loss(PERSON)).answer is HOLDS


def test_twin_of_small_database_that_divides_by_the_true_number():
    """Shares of one row and of two, scaled to the ten rows that were declared, are far apart."""
    queries = [[1, 0]]
    loss = SmallDatabase(queries=LinearQueries(np.array(queries)), size=4, scale=2).loss(ROW)
    assert loss == Pure(1)

    def law(rows):
        return shares_law(queries, rows, size=4, scale=Fraction(2), declared=10)

    broken = verify(both(law, (1, 0), (1, 1)), loss)
    assert broken.answer is BROKEN
    assert broken.measured.low > 2

    def sound(rows):
        return small_law(queries, rows, size=4, scale=Fraction(2))

    assert verify(both(sound, (1, 0), (1, 1)), loss).answer is HOLDS


def test_small_database_has_its_law(rng):
    mechanism = SmallDatabase(queries=QUERIES, size=3, scale=2)
    law = small_law(TABLE, (5, 1), size=3, scale=Fraction(2))
    numbers = {y: number for number, y in enumerate(law.weights)}
    total = law.total.bounds(96)[0]
    cells = {numbers[y]: weight.bounds(96)[0] / total for y, weight in law.weights.items()}
    rows = np.array([5, 1])
    sample = [numbers[tuple(mechanism.release(rows, rng).tolist())] for _ in range(1000)]
    share = alpha("query_release/small_law", parts=2)
    assert cells_p_value(sample, cells) > share
    assert cells_p_value(sample, dict.fromkeys(cells, Fraction(1, len(cells)))) < share


# ---------------------------------------------------------------- prefixes


def test_prefix_release_costs_what_its_mechanism_costs(rng):
    prefixes = PrefixQueries([{"I10", "I11"}, {"I"}])
    inner = Mwem.calibrate(queries=prefixes.linear, rounds=3, d_in=PERSON, loss=Pure(2), rows=4)
    mechanism = PrefixRelease(prefixes=prefixes, inner=inner)
    assert pure_loss([mechanism.event(PERSON)]) == Pure(2)
    assert pure_loss([mechanism.event(ROW)]) == Pure(1)
    assert len(mechanism.release(["I10.0", "J1"], rng).values) == 3


# ---------------------------------------------------------------- neighbour replay


class Tape:
    """What was published, to be said again, and the private integers that were put in."""

    def __init__(self, choices, values):
        self.choices, self.values = iter(choices), iter(values)
        self.seen: list[np.ndarray] = []

    def choice(self, scores):
        self.seen.append(scores.copy())
        return next(self.choices)

    def value(self, exact):
        self.seen.append(exact.copy())
        return np.array([next(self.values)])


class TapedChoice(ExponentialMechanism):
    def select(self, scores, rng):
        return rng.choice(scores)


class TapedNoise(DiscreteLaplace):
    def release(self, exact_values, rng):
        return rng.value(exact_values)


COEFFICIENTS = st.lists(st.integers(-3, 4), min_size=4, max_size=4)


@settings(max_examples=40)
@given(
    table=st.lists(COEFFICIENTS, min_size=2, max_size=2),
    rows=st.lists(st.integers(0, 9), min_size=4, max_size=4),
    person=st.lists(st.integers(0, 3), max_size=3),
    choices=st.lists(st.integers(0, 1), min_size=3, max_size=3),
    values=st.lists(st.integers(-50, 50) | st.just(2**61), min_size=4, max_size=4),
)
def test_all_integers_of_mwem_move_by_no_more_than_is_paid_for(
    table, rows, person, choices, values
):
    """The same outputs on the neighbour, whatever they were: a person with three rows comes."""
    queries = LinearQueries(np.array(table))
    mechanism = Mwem(
        queries=queries,
        rounds=3,
        choice=TapedChoice(scale=2),
        noise=TapedNoise(scale=2),
        total=TapedNoise(scale=2),
    )
    seen = []
    persons: list[list[int]] = [[], person]
    for more in persons:
        tape: Any = Tape(choices, values)
        counts = np.array(rows) + np.bincount(np.array(more, dtype=np.int64), minlength=4)
        mechanism.release(counts, tape)
        seen.append(tape.seen)
    moved = [int(np.abs(a - b).max()) for a, b in zip(*seen, strict=True)]
    assert moved[0] <= len(person), "the total"
    assert max(moved[1:]) <= queries.one_answer(Contribution(l1=len(person))).bound("linf")


@settings(max_examples=40)
@given(
    table=st.lists(COEFFICIENTS, min_size=1, max_size=3),
    rows=st.lists(st.integers(0, 9), min_size=4, max_size=4),
    person=st.lists(st.integers(0, 3), min_size=1, max_size=3),
    size=st.integers(1, 3),
)
def test_scores_of_small_databases_move_by_no_more_than_is_paid_for(table, rows, person, size):
    """Each score by the width of a query for each row, in rows: negative coefficients too."""
    queries = LinearQueries(np.array(table))
    more = [count + person.count(cell) for cell, count in enumerate(rows)]
    limit = queries.width * len(person)
    for small in databases(4, size):
        assert abs(off(table, rows, small) - off(table, more, small)) <= limit
    event = SmallDatabase(queries=queries, size=size, scale=2).event(Contribution(l1=len(person)))
    assert event.spread == 2 * limit
