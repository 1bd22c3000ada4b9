"""Clusters: which of the parents' columns they are made of, and how fine."""

import math
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from discreet.core.loss import Zcdp
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.synthesis.counted.counted_rows import CountedColumn
from discreet.synthesis.marginals.coarse_values import CoarseValues
from discreet.synthesis.marginals.measured import MeasuredMarginals, MeasuredTable
from discreet.synthesis.related.clusters import (
    FINEST,
    MOST_AT_ALL,
    MOST_CLUSTERS,
    MOST_COLUMNS,
    Cluster,
    MeasuredLinks,
    ParentValues,
    chosen_columns,
    finest_cluster,
)
from discreet.synthesis.related.measure_children import ChildMechanism
from tests.support.statistics.exact_tests import alpha, binomial_p_value

NOISE = DiscreteGaussian(sigma_squared=4)
NUMBERS = np.array([0.0, 1.0, 2.0, 3.0])


def _parents(one_way, tables=()):
    """Return what is public of parents with these counts; the last is the number of children."""
    first = [MeasuredTable((i,), NOISE, np.array(one)) for i, one in enumerate(one_way)]
    measured = MeasuredMarginals(
        sizes=tuple(len(one) for one in one_way),
        first=tuple(first),
        coarse=tuple(CoarseValues(np.arange(len(one))) for one in one_way),
        tables=tuple(MeasuredTable(columns, NOISE, np.array(one)) for columns, one in tables),
    )
    columns = [CountedColumn(len(one), has_order=False, has_null=False) for one in one_way]
    columns[-1] = evolve(columns[-1], has_order=True)
    return ParentValues(measured=measured, columns=tuple(columns), numbers=NUMBERS)


ALIKE = ((0, 1), [[500, 0], [0, 500]])
APART = ((0, 1), [[250, 250], [250, 250]])
COUNTS = [[500, 500], [500, 500], [400, 200, 200, 200]]


def test_a_column_that_only_passes_on_a_link_is_left_out():
    links = np.array([100.0, 70.0, 0.0])
    for table, passed_on, chosen in ((ALIKE, 1.0, (0,)), (APART, 0.0, (0, 1))):
        parents = _parents(COUNTS, [table])
        assert parents.passed_on(0, 1) == parents.passed_on(1, 0) == passed_on
        assert chosen_columns(links, parents, 32) == chosen
    assert _parents(COUNTS).passed_on(0, 1) == 0, "not measured together"
    assert chosen_columns(np.zeros(3), _parents(COUNTS), 32) == ()
    assert chosen_columns(links, _parents(COUNTS), 3) == (0,), "no room for four clusters"


def test_numbers_of_children_weigh_with_their_children():
    """Half of the first group have no children, and no children are there to be told apart."""
    table = ((0, 2), [[250, 250, 0, 0], [0, 500, 0, 0]])
    assert _parents(COUNTS, [table]).passed_on(0, 2) == 0
    assert _parents(COUNTS).children() == pytest.approx(200 * (1 + 2 + 3))


def test_a_cluster_is_a_function_of_its_columns():
    cluster = finest_cluster((0, 2), _parents(COUNTS), 32)
    codes = np.array([[a, b, c] for a in range(2) for b in range(2) for c in range(4)])
    numbers = cluster.numbers(codes)
    assert 1 < cluster.size <= 8
    assert set(numbers.tolist()) == set(range(cluster.size))
    assert (numbers[codes[:, 1] == 0] == numbers[codes[:, 1] == 1]).all()
    again = Cluster.from_json(cluster.to_json())
    assert (again.numbers(codes) == numbers).all()
    nothing = finest_cluster((), _parents(COUNTS), 32)
    assert nothing.size == 1
    assert not nothing.numbers(codes).any()


def test_clusters_are_never_more_than_was_looked_at_before_the_charge():
    random = np.random.default_rng(4)
    for _ in range(50):
        sizes = random.integers(1, 300, 3)
        parents = _parents([random.integers(-9, 500, size) for size in (*sizes, 4)])
        columns = [
            evolve(one, has_order=bool(random.integers(0, 2)), has_null=one.size > 2)
            for one in parents.columns
        ]
        parents = evolve(parents, columns=tuple(columns))
        assert max(one.size for one in parents.coarse(FINEST[-1])) ** MOST_COLUMNS <= MOST_AT_ALL
        most = int(random.integers(4, MOST_CLUSTERS))
        found = finest_cluster((0, 1, 2), parents, most)
        assert found.size <= max(most, MOST_AT_ALL)


def test_more_noise_makes_fewer_cells():
    columns = (CountedColumn(9, has_order=True, has_null=True),)
    cells = [
        ChildMechanism(
            columns=columns, parents=2, rows_per_unit=most, price=Zcdp(rho=rho)
        ).cells_worth(10_000.0, 3_000.0)
        for rho, most in ((1, 1), (1, 5), ("0.01", 5))
    ]
    assert cells == sorted(cells, reverse=True)
    assert cells[1] == pytest.approx(cells[0] / 5, rel=0.05)


@pytest.mark.parametrize("noise", [DiscreteLaplace(scale=200), DiscreteGaussian(sigma_squared=200)])
def test_noise_alone_is_seldom_a_link_whatever_its_tails(noise, rng):
    """Of 60 scores that are noise alone, none is a link, but with a chance of a tenth.

    A margin of 2.5 deviations is passed by Laplace noise in more than half of all cases.
    """
    alone = MeasuredTable((0,), DiscreteGaussian(sigma_squared="1/1000"), np.array([0, 0]))
    values, trials = [CoarseValues(np.arange(2))] * 6, 200
    usual, found, twins = math.sqrt(2 * 1 * 4 / math.pi), 0, 0
    for _ in range(trials):
        drawn = noise.release(np.full(60, round(usual), dtype=np.int64), rng)
        scores = MeasuredTable((), noise, drawn)
        links = MeasuredLinks(children=(alone,) * 6, parents=(alone,) * 10, scores=scores)
        found += bool(links.links(values).any())
        twins += bool((drawn > usual + 2.5 * scores.variance**0.5).any())
    share = alpha("synthesis/related/links", parts=4)
    assert binomial_p_value(found, trials, Fraction(1, 10)) > share or found < trials / 10
    if isinstance(noise, DiscreteLaplace):
        assert binomial_p_value(twins, trials, Fraction(1, 10)) < share
