"""Private integers stay private."""

import copy
import json
import pickle

import numpy as np
import pytest

from discreet.core.errors import InvalidArgument
from discreet.tables.exact_aggregates import ExactAggregates

SECRET = 424242


def private():
    return ExactAggregates((np.array([SECRET]),))


def test_nothing_shows_a_value():
    assert str(SECRET) not in f"{private()!r} {private()!s} {dir(private())}"


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
