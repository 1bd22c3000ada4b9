"""The error bounds of query releases: their lemmas by brute force, and the bounds by running."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.mechanisms.query_release.linear_queries import LinearQueries
from discreet.mechanisms.query_release.median_mechanism import MedianGuess, MedianMechanism
from discreet.mechanisms.query_release.mwem import Mwem
from discreet.mechanisms.query_release.prefix_queries import PrefixQueries, PrefixRelease
from discreet.mechanisms.query_release.private_weights import PrivateMultiplicativeWeights
from discreet.mechanisms.query_release.public_weights import PublicWeights
from discreet.mechanisms.query_release.small_database import SmallDatabase
from discreet.mechanisms.query_release.small_databases import (
    least_size,
    nearest_error,
    number_of_databases,
    small_databases,
)
from tests.mechanisms.query_release.laws import databases, weighted
from tests.support.statistics.exact_tests import alpha

ONE = Contribution(l1=1)


# ---------------------------------------------------------------- what a guess learns


def entropy(truth, guess) -> float:
    return sum(p * math.log(p / a) for p, a in zip(truth, guess, strict=True) if p)


@settings(max_examples=60)
@given(
    counts=st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any),
    steps=st.lists(
        st.tuples(st.lists(st.integers(-2, 3), min_size=3, max_size=3), st.integers(-150, 150)),
        min_size=1,
        max_size=4,
    ),
)
def test_a_guess_learns_what_the_lemma_says(counts, steps):
    """With any noise, also noise beyond all that is possible, and for any coefficients."""
    total, width = sum(counts), 5
    truth = np.array(counts) / total
    guess = PublicWeights(cells=3, total=total, width=width)
    for coefficients, noise in steps:
        query = np.array(coefficients)
        before = guess.shares
        value = int(query @ counts) + noise
        guess.learn(query, value)
        distance = query @ truth - query @ before
        gain = entropy(truth, before) - entropy(truth, guess.shares)
        assert gain >= 2 * (distance**2 - (noise / total) ** 2) / width**2 - 1e-9


def test_a_guess_that_learns_by_the_whole_width_gains_nothing():
    """The twin with twice the step: told the truth, it may be no nearer than before."""
    truth, query = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    before = np.array([0.1, 0.9])
    for factor, is_nearer in ((4, True), (16, False)):
        after = before * np.exp(factor * (0.5 - 0.1) * query)
        after /= after.sum()
        gain = entropy(truth, before) - entropy(truth, after)
        assert (gain >= 2 * 0.4**2) == is_nearer


@pytest.mark.parametrize("value", [100, 0, 51, 49])
def test_the_median_drops_half(value):
    guess = MedianGuess(cells=3, size=6, total=100)
    query = np.array([1, 0, 0])
    while guess.answer(query) != value:
        before, was = guess.left, guess.answer(query)
        guess.learn(query, value)
        assert guess.left <= before / 2 or guess.left == before
        if guess.left == before:
            break
        assert (guess.answer(query) > was) == (value > was)
    assert guess.left >= 1


# ---------------------------------------------------------------- small data sets


@pytest.mark.parametrize(("cells", "size"), [(1, 4), (2, 5), (3, 4), (4, 3)])
def test_all_small_data_sets_are_listed(cells, size):
    listed = [tuple(row) for row in small_databases(cells, size).tolist()]
    assert sorted(listed) == sorted(databases(cells, size))
    assert len(listed) == number_of_databases(cells, size)


@settings(max_examples=25)
@given(weights=st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(any))
def test_some_small_data_set_is_as_near_as_the_lemma_says(weights):
    """Against all 0/1 queries at once, and against one of them alone."""
    shares = [Fraction(w, sum(weights)) for w in weights]
    for size in (1, 2, 5):
        every = list(itertools.product((0, 1), repeat=3))

        gaps = [
            [p - Fraction(y, size) for p, y in zip(shares, small, strict=True)]
            for small in databases(3, size)
        ]
        for queries in (every, every[3:4]):
            best = min(max(abs(weighted(q, gap)) for q in queries) for gap in gaps)
            bound = nearest_error(cells=3, size=size, queries=len(queries), width=1)
            assert best <= bound


@pytest.mark.parametrize("queries", [1, 2, 3, 10, 1000])
def test_sizes_are_right_for_any_number_of_queries(queries):
    """The printed size is 0 for one query, and leaves no chance for two [Das22, Theorem 6.10]."""
    alpha_ = Fraction(1, 10)
    size = least_size(alpha_, cells=10**9, queries=queries, width=1)
    assert 2 * queries * math.exp(-2 * size * alpha_**2) < 1
    printed = math.log(queries) * 100
    assert (2 * queries * math.exp(-2 * printed / 100) < 1 - 1e-9) == (queries > 2)
    assert queries < 3 or size <= math.ceil(printed)


@pytest.mark.parametrize("rows", [2_000, 20_000])
@pytest.mark.parametrize("count", [3, 6])
def test_small_database_errs_no_more_than_printed(rows, count):
    """[Das22, Theorem 6.11] at its own size, and Theorem 6.12 at its own accuracy."""
    queries = LinearQueries(np.tril(np.ones((6, 6), dtype=np.int64))[:count])
    for accuracy in (0.3, 0.5):
        size = math.ceil(math.log(count) / accuracy**2)
        mechanism = SmallDatabase(queries=queries, size=size, scale=2)
        printed = accuracy + 2 * (math.log(6) * math.log(count) / accuracy**2 + math.log(20)) / rows
        assert mechanism.error_quantile("0.05", rows=rows) <= rows * printed
    root = ((16 * math.log(6) * math.log(count) + 4 * math.log(20)) / rows) ** (1 / 3)
    best = SmallDatabase.calibrate(
        queries=queries, accuracy=round(root / 2, 6), d_in=ONE, loss=Pure(1)
    )
    assert best.error_quantile("0.05", rows=rows) < rows * root


# ---------------------------------------------------------------- the bounds hold

PLANTED = np.array([900, 0, 20, 0, 0, 3, 60, 17])
HALVES = np.array([[(i >> bit) & 1 for i in range(8)] for bit in range(3)])
MANY = np.concatenate([HALVES, 1 - HALVES, np.tril(np.ones((8, 8), dtype=np.int64))])


@pytest.mark.parametrize("loss", [Pure(4), Zcdp(rho=1)])
@pytest.mark.parametrize("rows", [None, 1000, 1100])
def test_mwem_keeps_its_bound(loss, rows, rng):
    share = alpha("query_release/mwem_bound", parts=6)
    queries = LinearQueries(MANY)
    mechanism = Mwem.calibrate(queries=queries, rounds=12, d_in=ONE, loss=loss, rows=rows)
    release = mechanism.release(PLANTED, rng)
    worst = np.abs(release.answers() - queries.answers(PLANTED)).max()
    assert worst <= mechanism.error_quantile(share, rows=1000)
    assert release.histogram.sum() == pytest.approx(release.total)
    assert release.latest.sum() == pytest.approx(release.total)
    assert worst < 400, "and uniform data would be off by 800"
    assert np.abs(release.latest_answers() - queries.answers(PLANTED)).max() < 200


@pytest.mark.parametrize(
    ("loss", "is_declared"), [(Pure(4), False), (Pure(4), True), (Approximate(2, "1e-6"), False)]
)
def test_private_weights_keep_their_bound(loss, is_declared, rng):
    share = alpha("query_release/weights_bound", parts=3)
    rows = int(PLANTED.sum()) * 100
    machine = PrivateMultiplicativeWeights.calibrate(
        cells=8,
        d_in=ONE,
        loss=loss,
        rows=rows,
        updates=30,
        queries=200,
        beta=share,
        is_declared=is_declared,
    )
    run = machine.open(PLANTED * 100, d_in=ONE, rng=rng)
    bound = machine.error_quantile(share, queries=200, rows=rows)
    assert bound < rows / 2
    for index in range(200):
        query = MANY[index % len(MANY)]
        assert abs(run.ask(query).value - query @ PLANTED * 100) <= bound
    assert not run.ended


@pytest.mark.parametrize("is_declared", [False, True])
def test_median_mechanism_keeps_its_bound(is_declared, rng):
    share = alpha("query_release/median_bound", parts=2)
    counts = np.array([90_000, 2_000, 0, 8_000])
    machine = MedianMechanism.calibrate(
        cells=4,
        size=12,
        d_in=ONE,
        loss=Pure(4),
        rows=100_000,
        queries=16,
        beta=share,
        is_declared=is_declared,
    )
    bound = machine.error_quantile(share, queries=16, rows=100_000)
    assert bound < 20_000
    run = machine.open(counts, d_in=ONE, rng=rng)
    for query in itertools.product((0, 1), repeat=4):
        assert abs(run.ask(np.array(query)).value - np.array(query) @ counts) <= bound
    assert not run.ended
    assert run.guess.left >= 1


def test_small_database_keeps_its_bound(rng):
    share = alpha("query_release/small_bound")
    queries = LinearQueries(np.tril(np.ones((4, 4), dtype=np.int64)))
    mechanism = SmallDatabase.calibrate(queries=queries, accuracy="0.1", d_in=ONE, loss=Pure(1))
    rows = np.array([700, 100, 0, 200])
    small = mechanism.release(rows, rng)
    off = np.abs(queries.answers(rows) - 1000 * queries.answers(small) / small.sum()).max()
    assert off <= mechanism.error_quantile(share, rows=1000) < 500


def test_a_machine_without_a_theorem_says_so():
    low = PrivateMultiplicativeWeights.calibrate(
        cells=8, d_in=ONE, loss=Pure(1), rows=1000, updates=5, queries=10, beta="0.1"
    )
    with pytest.raises(InvalidArgument, match="threshold of at least"):
        low.error_quantile("0.001", queries=10**6, rows=10**6)


# ---------------------------------------------------------------- prefixes

TEXTS = st.text("ab", max_size=5)


@settings(max_examples=60)
@given(
    sets=st.lists(st.sets(TEXTS, max_size=4), min_size=1, max_size=4),
    texts=st.lists(st.text("abc", max_size=7), max_size=8),
)
def test_the_longest_prefix_answers_every_query_alike(sets, texts):
    """[Ste16, Claim 7.3.4], and a universe of one cell more than there are prefixes."""
    prefixes = PrefixQueries(sets)
    expected = [sum(any(t.startswith(p) for p in one) for t in texts) for one in sets]
    histogram = prefixes.histogram(texts)
    assert prefixes.linear.answers(histogram).tolist() == expected
    assert histogram.sum() == len(texts)
    assert len(prefixes.universe) <= len(set().union(*sets)) + 1
    if texts:
        moved = histogram - prefixes.histogram(texts[1:])
        assert np.abs(moved).sum() == 1


def test_prefix_release_keeps_the_bound_of_its_mechanism(rng):
    share = alpha("query_release/prefix_bound")
    prefixes = PrefixQueries([{"I1"}, {"I"}, {"J4", "K2"}])
    inner = Mwem.calibrate(queries=prefixes.linear, rounds=4, d_in=ONE, loss=Pure(4))
    mechanism = PrefixRelease(prefixes=prefixes, inner=inner)
    texts = ["I10.9"] * 900 + ["K21"] * 50 + ["Z"] * 50
    answers = mechanism.release(texts, rng).answers()
    bound = mechanism.error_quantile(share, rows=1000)
    assert bound == inner.error_quantile(share, rows=1000)
    assert np.abs(answers - [900, 900, 50]).max() <= bound
