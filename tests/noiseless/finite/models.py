"""Small random models, and the search for a simulator as it is defined, with nothing merged."""

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.noiseless.finite.coupled_pairs import individuals
from discreet.noiseless.finite.finite_model import FiniteModel
from discreet.noiseless.finite.world_conditions import conditions_of

BITS = list(product((0, 1), repeat=2))
EPSILONS = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3)])


def masses(size):
    weights = st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: [Fraction(one, sum(w)) for one in w])


@st.composite
def joint_laws(draw):
    """A law of two bits and of a knowledge with two values, dependent in any way."""
    keys = [(x, z) for x in BITS for z in ("a", "b")]
    return dict(zip(keys, draw(masses(len(keys))), strict=True))


@st.composite
def finite_models(draw, laws=2, outputs=3):
    mechanism = {x: dict(enumerate(draw(masses(outputs)))) for x in BITS}
    return FiniteModel(mechanism, [draw(joint_laws()) for _ in range(laws)])


PAIRS = individuals(2)


def channels(size, outputs=2):
    """A random function of ``size`` values, by its laws."""
    rows = st.lists(masses(outputs), min_size=size, max_size=size)
    return rows.map(lambda found: [dict(enumerate(row)) for row in found])


def plain_least_delta(model, pairs, epsilon, *, is_position_known=True):
    """The least δ by one linear programme with every condition, thing seen and output in it."""
    conditions = conditions_of(model, pairs, is_position_known=is_position_known)
    seen = sorted({a for one in conditions for a in one.left}, key=repr)
    outputs = sorted({t for law in model.mechanism.values() for t in law}, key=repr)
    count, factor = len(conditions), float(np.exp(float(epsilon)))
    cells = len(seen) * len(outputs)
    size = cells + 2 * count * len(outputs) + 1
    above, bound = [], []
    for c, one in enumerate(conditions):
        for direction in (0, 1):
            total = np.zeros(size)
            total[-1] = -1.0
            for t, output in enumerate(outputs):
                place = cells + (2 * c + direction) * len(outputs) + t
                row = np.zeros(size)
                p = float(one.released.get(output, 0))
                for a, weight in one.left.items():
                    share = float(weight) * (1.0 if direction else -factor)
                    row[seen.index(a) * len(outputs) + t] += share
                row[place] = -1.0
                total[place] = 1.0
                above.append(row)
                bound.append(factor * p if direction else -p)
            above.append(total)
            bound.append(0.0)
    equal = np.zeros((len(seen), size))
    for a in range(len(seen)):
        equal[a, a * len(outputs) : (a + 1) * len(outputs)] = 1.0
    goal = np.zeros(size)
    goal[-1] = 1.0
    solved = linprog(
        goal, A_ub=np.array(above), b_ub=bound, A_eq=equal, b_eq=np.ones(len(seen)), method="highs"
    )
    return solved.fun
