"""Output laws: the builders, and how laws combine."""

import math
from fractions import Fraction

import pytest

from discreet.audit.exponential_sum import exp
from discreet.audit.laws import (
    EnclosedLaw,
    ExactLaw,
    discrete_gaussian_law,
    discrete_laplace_law,
    enclosed,
    finite_law,
    mixture,
    product,
    push_forward,
)
from discreet.core.errors import InvalidArgument

HALF = Fraction(1, 2)


def test_discrete_laplace_weights_sum_to_the_closed_form():
    law = discrete_laplace_law("7/2", centre=2, window=(-6, 9))
    q = exp(Fraction(-2, 7))
    assert law.total == 1 + q
    assert law.weights[2] == 1 - q
    assert law.weights[5] == exp(Fraction(-6, 7)) - exp(Fraction(-8, 7))
    assert law.weights[9] == exp(-2), "everything at or beyond the end"


def test_discrete_laplace_may_sit_at_the_end_of_its_window():
    law = discrete_laplace_law(1, centre=0, window=(0, 1))
    assert law.weights[0] == 1
    assert law.weights[1] == exp(-1)


@pytest.mark.parametrize("radius", [5, 12, 40])
def test_discrete_gaussian_is_enclosed(radius):
    law = discrete_gaussian_law("25/4", centre=3, radius=radius)
    weight = {k: math.exp(-k * k / 12.5) for k in range(-200, 201)}
    whole = sum(weight.values())
    for k, (low, high) in ((z - 3, ends) for z, ends in law.masses.items()):
        # Floats are good to 1e-12 here, and the enclosure is as wide as the unlisted mass.
        assert float(low) <= weight[k] / whole * (1 + 1e-12)
        assert float(high) >= weight[k] / whole * (1 - 1e-12)
    unlisted = sum(mass for k, mass in weight.items() if abs(k) > radius) / whole
    assert unlisted * (1 - 1e-9) <= float(law.outside) <= max(2 * unlisted, 1e-50)


def test_product_multiplies():
    coin = finite_law({0: Fraction(1, 3), 1: Fraction(2, 3)})
    both = product(coin, coin)
    assert isinstance(both, ExactLaw)
    assert both.weights[1, 0] == Fraction(2, 9)
    loose = product(coin, discrete_gaussian_law(1, centre=0, radius=3))
    assert isinstance(loose, EnclosedLaw)
    low, high = loose.masses[0, 0]
    part_low, part_high = discrete_gaussian_law(1, centre=0, radius=3).masses[0]
    assert low <= part_low / 3 <= part_high / 3 <= high
    assert loose.outside == discrete_gaussian_law(1, centre=0, radius=3).outside


def test_mixture_weighs_laws_of_different_totals():
    mixed = mixture([(HALF, ExactLaw({"a": 1, "b": 2})), (HALF, ExactLaw({"a": 7}))])
    assert isinstance(mixed, ExactLaw)
    assert mixed.weights["a"] * 3 == 2 * mixed.total
    gauss = discrete_gaussian_law(1, centre=0, radius=2)
    loose = mixture([(HALF, ExactLaw({0: 1})), (HALF, gauss)])
    assert isinstance(loose, EnclosedLaw)
    assert loose.outside == gauss.outside / 2
    assert loose.masses[0][0] > HALF


def test_push_forward_adds_up():
    law = push_forward(discrete_laplace_law(1, centre=0, window=(-3, 3)), abs)
    assert isinstance(law, ExactLaw)
    assert law.weights[1] == 2 * (exp(-1) - exp(-2))
    folded = push_forward(discrete_gaussian_law(1, centre=0, radius=3), abs)
    assert isinstance(folded, EnclosedLaw)
    assert folded.masses[1][0] > Fraction(48, 100)


def test_enclosed_law_of_an_exact_one():
    law = enclosed(ExactLaw({"truth": exp(1), "lie": 1}))
    low, high = law.masses["truth"]
    assert float(low) == pytest.approx(math.e / (1 + math.e))
    assert high - low < Fraction(1, 2**80)
    assert enclosed(law) is law


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExactLaw({}),
        lambda: ExactLaw({0: 0}),
        lambda: ExactLaw({0: exp(1) - exp(2)}),
        lambda: finite_law({0: HALF}),
        lambda: EnclosedLaw(masses={0: (HALF, HALF)}, outside=Fraction(1, 4)),
        lambda: EnclosedLaw(masses={0: (HALF, Fraction(1, 4))}, outside=Fraction(1)),
        lambda: EnclosedLaw(masses={}, outside=Fraction(2)),
        lambda: mixture([(HALF, ExactLaw({0: 1}))]),
        lambda: discrete_laplace_law(0, centre=0, window=(-1, 1)),
        lambda: discrete_laplace_law(1, centre=5, window=(-1, 1)),
        lambda: discrete_laplace_law(1, centre=0, window=(0, 0)),
        lambda: discrete_gaussian_law(0, centre=0, radius=3),
        lambda: discrete_gaussian_law(1, centre=0, radius=0),
        lambda: discrete_gaussian_law(10**9, centre=0, radius=1, bits=8),
    ],
)
def test_bad_laws_are_refused(make):
    with pytest.raises(InvalidArgument):
        make()
