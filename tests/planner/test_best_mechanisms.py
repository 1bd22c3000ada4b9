"""On tiny data sets a linear programme finds the best mechanism: no bound refutes what it does."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.core.loss import Pure
from discreet.planner.bounds.packing import LOG_TWO, Packing
from discreet.planner.bounds.wanted import Wanted
from discreet.planner.task_names import task_of
from discreet.planner.verdict import is_refuted

People = tuple[Any, ...]
Right = Callable[[People, Any], bool]
HALVES = [Fraction(1, 2), Fraction(1)]
BETAS = [Fraction(place, 40) for place in range(1, 40)]


def best_beta(
    rows: Iterable[Any], people: int, answers: list[Any], right: Right, *, epsilon: float, least=0
) -> float:
    """Return the smallest chance of a wrong answer, of all mechanisms with an ε.

    Data sets have up to ``people`` people; of fewer than ``least`` nothing is promised.
    """
    kinds = list(rows)
    sets = [one for size in range(people + 1) for one in combinations_with_replacement(kinds, size)]
    place = {one: number for number, one in enumerate(sets)}
    width, columns = len(answers), len(answers) * len(sets) + 1
    limits = []
    for one in sets:
        for other in {one[:i] + one[i + 1 :] for i in range(len(one))}:
            for near, far in ((one, other), (other, one)):
                block = np.zeros((width, columns))
                block[:, place[near] * width : (place[near] + 1) * width] = np.eye(width)
                block[:, place[far] * width : (place[far] + 1) * width] -= exp(epsilon) * np.eye(
                    width
                )
                limits.append(block)
        if len(one) >= least:
            wrong = np.zeros((1, columns))
            wrong[0, place[one] * width : (place[one] + 1) * width] = [
                not right(one, answer) for answer in answers
            ]
            wrong[0, -1] = -1
            limits.append(wrong)
    upper = np.vstack(limits)
    total = np.hstack([np.kron(np.eye(len(sets)), np.ones(width)), np.zeros((len(sets), 1))])
    goal = np.zeros(columns)
    goal[-1] = 1
    found = linprog(
        goal, A_ub=upper, b_ub=np.zeros(len(upper)), A_eq=total, b_eq=np.ones(len(sets))
    )
    return float(found.fun)


def steps(people: int) -> list[Fraction]:
    return [Fraction(place, 2) for place in range(2 * people + 1)]


def of_groups(groups: int, people: int, error: Fraction, epsilon: float) -> float:
    answers = list(product(steps(people), repeat=groups))

    def right(one: People, said: Any) -> bool:
        return all(abs(one.count(group) - said[group]) <= error for group in range(groups))

    return best_beta(range(groups), people, answers, right, epsilon=epsilon)


def of_weighted_rows(groups: int, people: int, error: Fraction, epsilon: float) -> float:
    answers = list(product(steps(people), repeat=groups))

    def right(one: People, said: Any) -> bool:
        points = all(abs(one.count(group) - said[group]) <= error for group in range(groups))
        return points and abs(sum(said) - len(one)) <= error

    return best_beta(range(groups), people, answers, right, epsilon=epsilon)


def of_properties(
    columns: int, people: int, error: Fraction, epsilon: float, *, least: int = 0
) -> float:
    answers = list(product(steps(people), repeat=columns))

    def right(one: People, said: Any) -> bool:
        totals = [sum(row[column] for row in one) for column in range(columns)]
        return all(abs(total - told) <= error for total, told in zip(totals, said, strict=True))

    rows = product((0, 1), repeat=columns)
    return best_beta(rows, people, answers, right, epsilon=epsilon, least=least)


def of_means(columns: int, people: int, error: Fraction, epsilon: float) -> float:
    return of_properties(columns, people, error, epsilon, least=people)


def of_medians(values: int, people: int, error: Fraction, epsilon: float) -> float:
    def right(one: People, said: int) -> bool:
        middle = Fraction(len(one), 2)
        below, up_to = sum(value < said for value in one), sum(value <= said for value in one)
        return below - error <= middle <= up_to + error

    return best_beta(range(values), people, [*range(values)], right, epsilon=epsilon, least=people)


CASES: dict[str, tuple[Callable[..., float], int | None, int]] = {
    "count": (lambda _, *rest: of_groups(1, *rest), None, 5),
    "histogram": (of_groups, 2, 3),
    "microdata": (of_weighted_rows, 3, 2),
    "marginals": (of_properties, 1, 4),
    "sums": (of_properties, 2, 2),
    "mean": (lambda _, *rest: of_means(1, *rest), None, 4),
    "median": (of_medians, 3, 4),
}


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "2"])
@pytest.mark.parametrize("name", CASES)
def test_no_bound_refutes_the_best_mechanism(name, epsilon):
    best, dimension, people = CASES[name]
    task = task_of(name, dimension, None)
    for error in HALVES:
        beta = best(dimension, people, error, float(epsilon))
        for tried in BETAS:
            wanted = Wanted(people, error, tried, Pure(epsilon))
            assert not is_refuted(task.bounds(), wanted) or tried < beta, (error, tried, beta)


def test_people_without_a_property_are_no_way_to_join():
    """The twin counts them, and refutes what can be done."""
    error, loss, tried = Fraction(1), Pure("0.5"), Fraction(1, 4)
    wanted = Wanted(4, error, tried, loss)
    assert tried > of_properties(1, 4, error, 0.5)
    assert Packing(LOG_TWO).rule(wanted).refutes
    assert not is_refuted(task_of("marginals", 1, None).bounds(), wanted)
    few: Any = task_of("marginals", 64, None).bounds()[0]
    many: Any = task_of("marginals", 65, None).bounds()[0]
    assert 64 * LOG_TWO - few.log_ways < Fraction(1, 10**15)
    assert 0 < 65 * LOG_TWO - many.log_ways < Fraction(1, 10**15)
