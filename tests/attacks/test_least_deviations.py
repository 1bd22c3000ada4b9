"""The least sum of absolute errors is that of an independent solver, and a bound proves it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.attacks.reconstruction import least_deviations as module
from discreet.attacks.reconstruction.least_deviations import least_deviations
from discreet.core.errors import InvalidArgument


def least_by_simplex(sets, answers) -> float:
    count, people = sets.shape
    one = np.eye(count)
    found = linprog(
        np.concatenate([np.zeros(people), np.ones(2 * count)]),
        A_eq=np.hstack([sets, one, -one]),
        b_eq=answers,
        bounds=[(0, 1)] * people + [(0, None)] * (2 * count),
        method="highs",
    )
    return float(found.fun)


@settings(max_examples=80)
@given(st.data())
def test_error_is_that_of_another_solver(data):
    people, count = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 14))
    bit = st.integers(0, 1)
    sets = np.array(
        data.draw(st.lists(bit, min_size=people * count, max_size=people * count)), dtype=float
    ).reshape(count, people)
    number = st.one_of(st.integers(-3, people + 3), st.just(1000))
    answers = np.array(data.draw(st.lists(number, min_size=count, max_size=count)), dtype=float)
    found = least_deviations(sets, answers)
    least = least_by_simplex(sets, answers)
    room = 2e-6 * max(least, count) + 1e-9
    assert abs(found.error - least) <= room
    assert found.bound <= least + room
    assert ((found.solution >= 0) & (found.solution <= 1)).all()
    assert np.abs(answers - sets @ found.solution).sum() == pytest.approx(found.error)


def test_what_is_not_solved_is_not_given_out(monkeypatch):
    monkeypatch.setattr(module, "MOST_STEPS", 1)
    with pytest.raises(InvalidArgument, match="not solved"):
        least_deviations(np.eye(3), np.array([5.0, 0.0, 1.0]))
