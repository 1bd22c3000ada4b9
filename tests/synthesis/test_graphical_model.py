"""Inference equals brute force, and rows have the law of the model."""

import itertools

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.synthesis.marginals.draw_rows import draw_rows, draw_within
from discreet.synthesis.marginals.graphical_model import GraphicalModel
from discreet.synthesis.marginals.junction_tree import junction_tree
from discreet.synthesis.marginals.pair_tables import pair_tables


def _random_model(random):
    """Return a model of up to six small columns, some cells of it impossible, and all its cells."""
    count = int(random.integers(1, 7))
    sizes = [int(size) for size in random.integers(1, 5, count)]
    groups = [
        tuple(sorted(random.choice(count, min(count, int(random.integers(1, 4))), replace=False)))
        for _ in range(random.integers(0, 6))
    ]
    tree = junction_tree(sizes, groups)
    assert all(tree.home(tuple(map(int, group))) is not None for group in groups)
    potentials = [3 * random.normal(size=tree.shape(i)) for i in range(len(tree.branches))]
    for one in potentials:
        if one.size > 3 and random.random() < 0.5:
            one.ravel()[random.integers(one.size)] = -np.inf
    logs = np.zeros(sizes)
    for branch, one in zip(tree.branches, potentials, strict=True):
        shape = [sizes[c] if c in branch.columns else 1 for c in range(count)]
        logs = logs + one.reshape(shape)
    return GraphicalModel.of(tree, potentials), np.exp(logs)


@pytest.mark.parametrize("number", range(200))
def test_inference_equals_brute_force(number, rng):
    random = np.random.default_rng(number)
    model, weights = _random_model(random)
    count = weights.ndim
    assert model.log_total == pytest.approx(np.log(weights.sum()), abs=1e-9)
    cells = weights / weights.sum()
    for columns in itertools.chain.from_iterable(
        itertools.combinations(range(count), size) for size in range(1, count + 1)
    ):
        asked = tuple(random.permutation(columns).tolist())
        others = tuple(set(range(count)) - set(columns))
        expected = cells.sum(axis=others).transpose([columns.index(c) for c in asked])
        assert np.allclose(model.marginal(asked), expected, atol=1e-12)
    pairs = pair_tables(model)
    assert sorted(pairs) == list(itertools.combinations(range(count), 2))
    for pair, table in pairs.items():
        assert np.allclose(table, model.marginal(pair), atol=1e-12)
    rows = np.array(list(itertools.product(*map(range, cells.shape))))
    assert np.allclose(np.exp(model.log_probability(rows)), cells.ravel())
    column = int(random.integers(count))
    value = int(random.integers(cells.shape[column]))
    some = np.zeros_like(cells)
    place = (slice(None),) * column + (value,)
    some[place] = cells[place]
    if some.sum() > 1e-9:
        given = model.given({column: value}).marginal(range(count))
        assert np.allclose(given, some / some.sum(), atol=1e-10)
    drawn = np.zeros(cells.shape)
    np.add.at(drawn, tuple(draw_rows(model, 200, rng).T), 1)
    assert not drawn[cells == 0].any()


def test_rows_are_as_even_as_can_be(rng):
    """Each cell of the root, and of a clique within what it shares, has its share of rows ± 1."""
    model, _ = _random_model(np.random.default_rng(7))
    rows = draw_rows(model, 10_000, rng)
    root = model.tree.branches[0]
    shape = model.tree.shape(0)
    places = np.ravel_multi_index(tuple(rows[:, c] for c in root.columns), shape)
    counts = np.bincount(places, minlength=int(np.prod(shape)))
    expected = 10_000 * np.exp(model.beliefs[0]).ravel()
    assert np.abs(counts - expected).max() <= 1 + 1e-6


def test_each_row_has_the_law_of_the_model(rng):
    """The first row of many small samples: systematic sampling in random order is fair.

    False alarms: by Hoeffding's inequality a share of 1,000 is off by .12 with a probability below
    2 exp(-2 * 1000 * .12**2) = 7e-13, for each of four cells. A law that took the rows in the order
    of the cells would always begin with the first one.
    """
    tree = junction_tree([2, 2], [(0, 1)])
    model = GraphicalModel.of(tree, [np.log(np.array([[0.1, 0.2], [0.3, 0.4]]))])
    firsts = [tuple(draw_rows(model, 3, rng)[0]) for _ in range(1_000)]
    for cell, share in (((0, 0), 0.1), ((0, 1), 0.2), ((1, 0), 0.3), ((1, 1), 0.4)):
        assert abs(firsts.count(cell) / 1_000 - share) < 0.12


def test_values_within_coarse_ones_have_their_shares(rng):
    numbers = np.array([0, 1, 0, 1, 1])
    shares = np.array([0.25, 0.5, 0.75, 0.5, 0.0])
    coarse = np.repeat([0, 1], 400)
    drawn = draw_within(coarse, numbers, shares, rng)
    assert (numbers[drawn] == coarse).all()
    counts = np.bincount(drawn, minlength=5)
    assert np.abs(counts - 400 * shares).max() <= 1


def test_impossible_conditions_are_refused():
    tree = junction_tree([2], [(0,)])
    with pytest.raises(InvalidArgument, match="No row can be"):
        GraphicalModel.of(tree, [np.full(2, -np.inf)])


def test_too_large_cliques_are_refused_with_their_size():
    with pytest.raises(InvalidArgument, match="1,000,000"):
        junction_tree([100, 100, 100], [(0, 1, 2)], most_cells=10_000)
