"""With a δ too a linear programme finds the best mechanism on tiny data: no bound refutes it."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import exp
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from discreet.core.loss import Approximate
from discreet.planner.bounds.packing import Packing
from discreet.planner.bounds.wanted import Wanted
from discreet.planner.task_names import task_of
from discreet.planner.verdict import is_refuted

People = tuple[Any, ...]
Right = Callable[[People, Any], bool]
EPSILON = 0.5


def best_beta(kinds: list[Any], people: int, answers: list[Any], right: Right, delta: float) -> Any:
    """Return the smallest chance of a wrong answer, of all mechanisms with an ε and a δ.

    What one law exceeds e^ε times a neighbour's by adds up to δ at most, over all answers.
    """
    sets = [one for size in range(people + 1) for one in combinations_with_replacement(kinds, size)]
    width, place = len(answers), {one: number for number, one in enumerate(sets)}
    near = [
        pair
        for one in sets
        for other in {one[:i] + one[i + 1 :] for i in range(len(one))}
        for pair in ((place[one], place[other]), (place[other], place[one]))
    ]
    chances, columns = len(sets) * width, (len(sets) + len(near)) * width + 1
    entries: list[tuple[int, int, float]] = []
    most: list[float] = []
    for number, (first, second) in enumerate(near):
        for at in range(width):
            over = chances + number * width + at
            here = [(first * width + at, 1.0), (second * width + at, -exp(EPSILON)), (over, -1.0)]
            entries += [(len(most), column, value) for column, value in here]
            most.append(0.0)
        entries += [(len(most), chances + number * width + at, 1.0) for at in range(width)]
        most.append(delta)
    for one in sets:
        wrong = [place[one] * width + at for at in range(width) if not right(one, answers[at])]
        entries += [(len(most), column, 1.0) for column in wrong] + [(len(most), columns - 1, -1.0)]
        most.append(0.0)
    rows, places, values = zip(*entries, strict=True)
    laws = np.arange(chances)
    goal = np.zeros(columns)
    goal[-1] = 1
    found = linprog(
        goal,
        A_ub=coo_array((values, (rows, places)), shape=(len(most), columns)).tocsr(),
        b_ub=most,
        A_eq=coo_array((np.ones(chances), (laws // width, laws)), (len(sets), columns)).tocsr(),
        b_eq=np.ones(len(sets)),
    )
    return found.fun


def of_groups(groups: int, people: int, error: Fraction, delta: float, *, is_summed=False) -> Any:
    steps = [Fraction(place, 2) for place in range(2 * people + 1)]

    def right(one: People, said: Any) -> bool:
        points = all(abs(one.count(group) - said[group]) <= error for group in range(groups))
        return points and (not is_summed or abs(sum(said) - len(one)) <= error)

    return best_beta([*range(groups)], people, [*product(steps, repeat=groups)], right, delta)


def of_properties(columns: int, people: int, error: Fraction, delta: float) -> Any:
    steps = [Fraction(place, 2) for place in range(2 * people + 1)]

    def right(one: People, said: Any) -> bool:
        totals = [sum(row[column] for row in one) for column in range(columns)]
        return all(abs(total - told) <= error for total, told in zip(totals, said, strict=True))

    kinds = [*product((0, 1), repeat=columns)]
    return best_beta(kinds, people, [*product(steps, repeat=columns)], right, delta)


CASES: dict[str, tuple[Callable[..., Any], int | None, int]] = {
    "count": (lambda _, *rest: of_groups(1, *rest), None, 5),
    "histogram": (of_groups, 2, 3),
    "microdata": (lambda *given: of_groups(*given, is_summed=True), 2, 3),
    "marginals": (of_properties, 2, 2),
}


@pytest.mark.parametrize("delta", ["0.001", "0.2"])
@pytest.mark.parametrize("name", CASES)
def test_no_bound_refutes_the_best_mechanism_with_a_delta(name, delta):
    best, dimension, people = CASES[name]
    bounds, loss = task_of(name, dimension, None).bounds(), Approximate(EPSILON, delta)
    for error in (Fraction(1, 2), Fraction(1)):
        beta = best(dimension, people, error, float(delta))
        for tried in (Fraction(place, 100) for place in range(1, 100)):
            assert tried < beta or not is_refuted(bounds, Wanted(people, error, tried, loss)), beta


def test_a_bound_that_forgets_the_delta_is_found_out():
    """A broken twin: with ε alone it refutes what (ε, δ) does."""
    error, tried = Fraction(1, 2), Fraction(39, 100)
    assert of_groups(2, 3, error, 0.2) < float(tried)
    packing = Packing(task_of("histogram", 2, None).bounds()[0].log_ways)  # type: ignore[attr-defined]
    assert packing.rule(Wanted(3, error, tried, Approximate(EPSILON, 0))).refutes
    assert not packing.rule(Wanted(3, error, tried, Approximate(EPSILON, "0.2"))).refutes
