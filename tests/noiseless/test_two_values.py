"""MAP releases of many rows with two values, and enumerations that are made term by term."""

import math
from fractions import Fraction
from itertools import product

import pytest
from mpmath import mp, mpf

from discreet.noiseless import MapRelease, finite_family
from discreet.noiseless.certifiable import Way
from discreet.noiseless.histograms.cell_terms import binomial_term_down, binomial_term_up
from discreet.noiseless.stable.map_bounds import likeliest, uniform
from discreet.noiseless.stable.most_common import MostCommonRelease, most_common
from discreet.noiseless.stable.row_enumeration import (
    _chances,
    compositions,
    enumerated_deltas,
)
from discreet.noiseless.stable.two_values import two_value_delta

FAMILIES = [
    finite_family({"a": ["0.4", "0.6"], "b": ["0.6", "0.4"]}),
    finite_family({"a": ["0.4", "0.6"], "b": ["0.41", "0.59"], "c": ["1/2", "1/2"]}),
    finite_family({"a": ["0.9", "0.1"], "b": ["0.2", "0.8"], "c": ["0.55", "0.45"]}),
]


@pytest.mark.parametrize("family", FAMILIES, ids=range(len(FAMILIES)))
@pytest.mark.parametrize("known", [0, 1, 7])
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.7", "3"])
def test_counts_beside_the_enumeration_of_all_rows(family, known, epsilon):
    for others, weights in product((7, 8, 40), (uniform(family), None)):
        prior = weights or [Fraction(k + 1, 10) for k in range(family.size)]
        decide = likeliest(family, prior)
        at, shares = Fraction(epsilon), [law[0] for law in family.masses]
        true = enumerated_deltas(family.masses, decide, others, known, at)[1]
        found = two_value_delta(decide, shares, others, known, at)
        assert found is not None
        hardly = Fraction(1, 10**15)  # both are rounded
        assert true * (1 - hardly) <= found <= true * (1 + hardly) + hardly


def test_nearly_equal_laws_of_many_rows():
    """Where the choice is a toss, the rows that decide it are one count: its probability is δ."""
    family = finite_family({"a": ["0.4", "0.6"], "b": ["0.4001", "0.5999"]})
    for rows in (9_000, 150_000):
        found = MapRelease(family=family, rows=rows).deltas(Fraction(0))
        assert found[Way.SOURCE] == 1
        with mp.workdps(60):
            others, share = rows - 1, mpf("0.4")
            top = max(
                mp.binomial(others, c) * share**c * (1 - share) ** (others - c)
                for c in range(math.floor(others * 0.4), math.floor(others * 0.4) + 15)
            )
            delta = mpf(found[Way.TIGHT].numerator) / found[Way.TIGHT].denominator
            assert top * mpf("0.99") < delta < top * mpf("1.001")
        # An outcome that is likely anyway hides it as soon as ε is not tiny.
        assert MapRelease(family=family, rows=rows).deltas(Fraction(1, 10))[Way.TIGHT] == 0


@pytest.mark.parametrize("shares", [["0.55", "0.45"], ["0.5", "0.5"], ["0.2", "0.8"]])
@pytest.mark.parametrize("known", [0, 3])
def test_two_categories_beside_the_enumeration_of_all_rows(shares, known):
    vote = MostCommonRelease(shares=shares, rows=30, known=known)
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2)):
        true = enumerated_deltas([vote.shares], most_common, 29, known, epsilon)[1]
        found = vote.deltas(epsilon)
        assert abs(min(found[Way.SOURCE], true) - found[Way.TIGHT]) <= Fraction(1, 10**15)


def test_a_vote_of_millions_is_tight():
    found = MostCommonRelease(shares=["0.5", "0.5"], rows=10**8).deltas(Fraction(0))
    assert found[Way.SOURCE] == 1
    assert float(found[Way.TIGHT]) == pytest.approx(1 / math.sqrt(math.pi * 10**8 / 2), rel=1e-6)


def test_where_there_is_too_much_nothing_is_said():
    family = FAMILIES[0]
    assert Way.TIGHT not in MapRelease(family=family, rows=200_002).deltas(Fraction(0))
    assert Way.TIGHT not in MapRelease(family=family, rows=9_000, known=8_000).deltas(Fraction(0))
    assert two_value_delta(most_common, [Fraction(1)], 9, 0, Fraction(0)) is None


@pytest.mark.parametrize(
    "law",
    [
        ["0.2", "0.8"],
        ["0", "1"],
        ["1", "0"],
        ["0.5", "0", "0.5"],
        ["0.1", "0.2", "0.3", "0.4"],
        ["0.3", "0.7", "0"],
    ],
)
def test_chances_beside_the_formula(law):
    shares = [Fraction(one) for one in law]
    for total in (0, 1, 5):
        found = _chances(shares, total)
        for counts, chance in zip(compositions(total, len(law)), found, strict=True):
            ways = math.factorial(total) // math.prod(map(math.factorial, counts))
            exact = ways * math.prod(p**c for p, c in zip(shares, counts, strict=True))
            assert Fraction(chance, sum(found)) == exact


def test_ties_are_decided_by_whole_numbers():
    family = finite_family({"a": ["1/3", "2/3"], "b": ["2/3", "1/3"]})
    decide = likeliest(family, [Fraction(1, 2)] * 2)
    assert [decide((c, 20 - c)) for c in (9, 10, 11)] == [0, 0, 1]
    heavier = likeliest(family, [Fraction(1, 3), Fraction(2, 3)])
    assert [heavier((c, 21 - c)) for c in (9, 10, 11)] == [0, 0, 1]


@pytest.mark.parametrize(("trials", "count"), [(0, 0), (10, 3), (3_000, 1_000), (150_000, 60_000)])
def test_binomial_terms_from_both_sides(trials, count):
    share = Fraction(2, 5)
    with mp.workdps(60):
        true = mp.binomial(trials, count) * mpf("0.4") ** count * mpf("0.6") ** (trials - count)
        low, high = (
            mpf(one.numerator) / one.denominator
            for one in (
                binomial_term_down(trials, count, share),
                binomial_term_up(trials, count, share),
            )
        )
        assert low <= true * (1 + mpf("1e-50"))
        assert true * (1 - mpf("1e-50")) <= high <= low * (1 + mpf("1e-9"))
