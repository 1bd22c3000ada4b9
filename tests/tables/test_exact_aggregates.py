"""Private integers stay private."""

import copy
import json
import pickle

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.stability.thresholded_keys import ThresholdedKeys
from discreet.tables.plans.engine import ExactAggregates, Lists
from tests.support.projects.listed_keys import ListedKeys
from tests.support.statistics.numbered_rng import NumberedRng

SECRET = 424242


def private():
    return ExactAggregates((np.array([SECRET]),))


def with_private_groups():
    keys = (("b", None), ("a", 2), ("rare", SECRET), ("a", 1))
    sums = np.array([20, 12, SECRET, 11])
    lists = Lists(np.array([5, 6, 7, SECRET, 8]), np.array([0, 2, 3, 4, 5]))
    return ExactAggregates((sums, lists), (ListedKeys(keys), np.array([10**6, 10**6, 1, 10**6])))


class Plain:
    """A mechanism that adds nothing; of several values it takes the largest."""

    def release(self, values, rng):
        return values.copy()


class Largest:
    def release(self, values, rng):
        return max(values.tolist(), default=-1)


def test_nothing_shows_a_value():
    for held in (private(), with_private_groups()):
        assert str(SECRET) not in f"{held!r} {held!s} {dir(held)}"


def test_groups_are_selected_with_all_that_belongs_to_them():
    keys = ThresholdedKeys(noise=DiscreteLaplace(scale=1), threshold=1000)
    rng = NumberedRng(1, label="selected groups")
    shown, units, rest = with_private_groups().select(keys, rng)
    assert shown == (("a", 1), ("a", 2), ("b", None))
    assert all(abs(count - 10**6) < 10**4 for count in units)
    assert rest.randomise(0, Plain(), rng).tolist() == [11, 12, 20]
    assert rest.randomise(1, Largest(), rng).tolist() == [8, 7, 6]


def test_nothing_is_made_of_the_keys_that_are_not_shown():
    """One unit can have very many groups: rows of keys are made for the shown ones alone."""
    asked = []

    class Watched(ListedKeys):
        def rows(self, groups):
            asked.extend(groups)
            return super().rows(groups)

    found = Watched((("b",), ("rare",), ("a",)))
    held = ExactAggregates((np.array([1, 2, 3]),), (found, np.array([10**6, 1, 10**6])))
    keys = ThresholdedKeys(noise=DiscreteLaplace(scale=1), threshold=1000)
    shown, _, _ = held.select(keys, NumberedRng(2, label="selected groups"))
    assert shown == (("a",), ("b",))
    assert asked == [2, 0]


def test_private_groups_must_be_selected_and_public_ones_cannot():
    with pytest.raises(InvalidArgument, match="private"):
        with_private_groups().randomise(0, Plain(), None)
    with pytest.raises(InvalidArgument, match="public"):
        private().select(ThresholdedKeys(noise=DiscreteLaplace(scale=1), threshold=9), None)


@pytest.mark.parametrize(
    "leak", [pickle.dumps, copy.copy, copy.deepcopy, json.dumps, len, iter, vars]
)
def test_nothing_stores_or_walks_it(leak):
    with pytest.raises(TypeError):
        leak(private())


def test_only_whole_64_bit_columns():
    with pytest.raises(InvalidArgument):
        ExactAggregates((np.array([0.5]),))
    with pytest.raises(InvalidArgument):
        ExactAggregates((np.array([[1]]),))
