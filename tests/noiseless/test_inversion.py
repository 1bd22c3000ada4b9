"""What the search for an ε returns was looked at, and is close to the least."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument
from discreet.noiseless.inversion import LARGEST_EPSILON, decimal_up, least_epsilon

steps = st.lists(
    st.tuples(st.fractions(0, 70, max_denominator=997), st.fractions(0, 1, max_denominator=97)),
    max_size=12,
)


@given(steps, st.fractions(0, 1, max_denominator=97), st.sampled_from(["0.01", "1", "3/7", "50"]))
def test_of_any_falling_steps_the_answer_holds_and_is_near_the_least(corners, delta, start):
    """A falling curve with jumps anywhere: the worst that there can be."""

    def curve(epsilon: Fraction) -> Fraction:
        return min((d for e, d in corners if e <= epsilon), default=Fraction(1))

    found = least_epsilon(curve, delta, start=Fraction(start))
    if found is None:
        assert curve(LARGEST_EPSILON) > delta
        return
    assert curve(found) <= delta
    below = found * Fraction(99, 100)
    assert not found or curve(below) > delta or found <= Fraction(start) / 2048


@given(st.lists(st.fractions(0, 1, max_denominator=50), min_size=8, max_size=8))
def test_the_answer_holds_even_if_the_curve_does_not_fall(values):
    asked: dict[Fraction, Fraction] = {}

    def curve(epsilon: Fraction) -> Fraction:
        return asked.setdefault(epsilon, values[len(asked) % len(values)])

    found = least_epsilon(curve, Fraction(1, 3))
    assert found is None or asked[found] <= Fraction(1, 3)


def test_a_search_that_trusts_its_curve_is_caught():
    """A broken twin that returns the middle of the last interval returns what does not hold."""

    def curve(epsilon: Fraction) -> Fraction:
        return Fraction(0) if epsilon >= Fraction(1, 3) else Fraction(1)

    found = least_epsilon(curve, Fraction(1, 2))
    assert found is not None
    assert curve(found) == 0
    twin = found * Fraction(99, 100)
    assert curve(twin) == 1


def test_of_a_curve_that_is_never_small_enough_there_is_none():
    assert least_epsilon(lambda _: Fraction(1, 2), Fraction(1, 3)) is None
    assert least_epsilon(lambda _: Fraction(1, 2), Fraction(1, 2)) == 0


def test_few_questions_are_asked():
    count = 0

    def curve(epsilon: Fraction) -> Fraction:
        nonlocal count
        count += 1
        return Fraction(math.exp(-float(epsilon) * 40))

    found = least_epsilon(curve, Fraction("1e-6"))
    assert found is not None
    assert math.exp(-40 * float(found)) == pytest.approx(1e-6, rel=0.1)
    assert count < 12


@given(st.fractions(min_value=0, max_value=10**9), st.integers(1, 8))
def test_decimals_are_rounded_up(value: Fraction, digits: int):
    found = decimal_up(value, digits)
    assert value <= found <= value * (1 + Fraction(1, 10 ** (digits - 1)))


@pytest.mark.parametrize("delta", [Fraction(-1), Fraction(2)])
def test_no_such_delta(delta: Fraction):
    with pytest.raises(InvalidArgument):
        least_epsilon(lambda _: Fraction(0), delta)
