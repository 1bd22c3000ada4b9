"""Attackers who count all outcomes never beat a true certificate, and beat a false one."""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import exp

import pytest

from discreet.noiseless.laws.grid_law import DiscreteLaw, GridFloor
from discreet.noiseless.sums.exact_sum import ExactSum
from tests.noiseless.finite_sums import divergence, hockey_stick, sum_law

DIE = DiscreteLaw(["1/5"] * 5)
EPSILONS = ("0", "0.3", "1")


def attacked(weights, others, place, middle, epsilon):
    """Return what the best attacker gains against a row of one value."""
    return divergence(sum_law(weights, others), place - middle, float(epsilon))


@pytest.mark.parametrize("known", [0, 1, 3])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_attacker_beats_a_true_certificate_and_one_more_known_row_breaks_it(known, epsilon):
    certificate = ExactSum(DIE, rows=7, known=known).delta(epsilon)
    best = max(attacked(DIE.weights, 6 - known, place, 2, epsilon) for place in range(5))
    assert best <= certificate
    beyond = max(attacked(DIE.weights, 5 - known, place, 2, epsilon) for place in range(5))
    assert beyond > certificate


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_bayesian_who_guesses_between_two_values_stays_within_the_certificate(epsilon):
    """Both values are (ε, δ)-close to the simulator, so to one another with 2ε and (1 + e^ε) δ."""
    delta = float(ExactSum(DIE, rows=7).delta(epsilon))
    law, at = sum_law(DIE.weights, 6), float(epsilon)
    twice, both = exp(2 * at), (1 + exp(at)) * delta
    for first, second in product(range(5), repeat=2):
        totals = {place + first for place in law} | {place + second for place in law}
        right = sum(
            max(law.get(total - first, Fraction(0)), law.get(total - second, Fraction(0))) / 2
            for total in totals
        )
        assert right <= (twice + both) / (1 + twice) + 1e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_floor_holds_for_every_law_above_it(epsilon):
    floor = GridFloor("0.15", block=(1, 3), clamps=(0, 4), step=1)
    certificate = ExactSum(floor, rows=7).delta(epsilon)
    rest = Fraction(11, 20)
    spread = ("1 0 0 0 0", "0 0 1 0 0", "1/2 0 0 0 1/2", "1/3 0 0 2/3 0")
    for extra in (one.split() for one in spread):
        base = [Fraction(0), *[Fraction(3, 20)] * 3, Fraction(0)]
        weights = [b + rest * Fraction(e) for b, e in zip(base, extra, strict=True)]
        assert sum(weights) == 1
        for place in range(5):
            assert attacked(weights, 6, place, 2, epsilon) <= certificate


def test_an_atom_that_was_not_asserted_breaks_it():
    certificate = ExactSum(DIE, rows=7).delta("0.3")
    atom = [Fraction(24, 25), *[Fraction(1, 100)] * 4]
    assert attacked(atom, 6, 4, 2, "0.3") > 2 * certificate


def test_a_dependent_row_breaks_it():
    """Another row is a copy of the one in question, so the sum moves twice as far."""
    certificate = ExactSum(DIE, rows=7).delta("0.3")
    law = sum_law(DIE.weights, 5)
    real = {place + 2 * 4: mass for place, mass in law.items()}
    simulated = {place + 4 + 2: mass for place, mass in law.items()}
    assert hockey_stick(real, simulated, 0.3) > certificate


def test_a_value_between_the_grid_is_told_apart_at_once():
    """A simulator that inserts the middle of an odd range has no total in common with the rows."""
    law = sum_law([Fraction(1, 4)] * 4, 6)
    middle = {place + 1.5: mass for place, mass in law.items()}
    real = {place + 1: mass for place, mass in law.items()}
    assert hockey_stick(real, middle, 5.0) == pytest.approx(1)
    assert ExactSum(DiscreteLaw(["1/4"] * 4), rows=7).delta(5) < Fraction(1, 100)


def given_the_largest(values, rows, known, row, largest):
    """Return the law of the sum of the other unknown rows, given one row and the largest ones."""
    found: dict[int, Fraction] = defaultdict(Fraction)
    for others in product(range(values), repeat=rows - 1):
        everybody = sorted((*others, row))
        if tuple(everybody[rows - known :]) == largest and row <= largest[0]:
            found[sum(everybody[: rows - known]) - row] += 1
    total = sum(found.values())
    return {place: mass / total for place, mass in found.items()}


def test_who_knows_the_largest_rows_is_not_covered_and_the_conditional_law_is():
    """Given that the two largest of five rows are 1, the others are 0 or 1, and no die."""
    certificate = ExactSum(DIE, rows=5, known=2).delta(1)
    law = given_the_largest(5, 5, 2, 0, (1, 1))
    real, simulated = law, {place + 2: mass for place, mass in law.items()}
    assert hockey_stick(real, simulated, 1.0) > certificate
    # All rows above 1 are known by declaration: the others are fair bits, and are certified so.
    bits = DiscreteLaw(["1/2", "1/2", 0, 0, 0])
    honest = ExactSum(bits, rows=3).delta(1)
    assert divergence(sum_law(bits.weights, 2), -2, 1.0) <= honest
    assert honest > certificate
