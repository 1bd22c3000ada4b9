"""One exact answer holds a whole table."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.reconstruction.one_query import decode_powers, power_query
from discreet.core.errors import InvalidArgument


@given(st.lists(st.integers(0, 40), min_size=2, max_size=30))
def test_every_table_is_recovered(values):
    total = sum(power_query(value, len(values)) for value in values)
    assert decode_powers(total, len(values)) == Counter(values)


@pytest.mark.parametrize("people", [2, 3, 1000])
@pytest.mark.parametrize("value", [0, 1, 7, 200])
def test_people_who_are_all_alike_are_recovered(people, value):
    assert decode_powers(people * power_query(value, people), people) == {value: people}


@given(st.lists(st.integers(0, 6), min_size=3, max_size=12), st.integers(1, 10**6))
def test_noise_hides_the_table(values, noise):
    """An error of a fiftieth digit makes digits that do not add up."""
    people = len(values)
    total = sum(power_query(value, people) for value in values)
    noisy = total + Fraction(noise, people**50)
    assert decode_powers(noisy, people) != Counter(values)


def test_an_answer_rounded_to_a_double_tells_nothing_sure():
    values = list(range(30))
    total = sum(power_query(value, 30) for value in values)
    assert decode_powers(float(total), 30) is None


@pytest.mark.parametrize("total", ["0", "-1", "1/7", "4", "0.5"])
def test_what_no_table_has_cannot_be_told(total):
    assert decode_powers(Fraction(total), 3) is None


@pytest.mark.parametrize(("value", "people"), [(-1, 3), (0, 1), (10**6, 3), (0, 0)])
def test_bad_queries_are_refused(value, people):
    with pytest.raises(InvalidArgument):
        power_query(value, people)


def test_one_person_is_refused():
    with pytest.raises(InvalidArgument):
        decode_powers(1, 1)
