"""Laws as people write them: read, written again, and refused with a reason."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidArgument
from discreet.noiseless.advisor.law_text import WrittenLaw, law_of_table, read_law

numbers = st.fractions(-(10**6), 10**6, max_denominator=999)
names = st.from_regex(r"[a-z][a-z_]{0,7}", fullmatch=True)
flat = st.builds(
    WrittenLaw, names, st.lists(numbers, max_size=3), st.dictionaries(names, numbers, max_size=3)
)
laws = st.builds(
    WrittenLaw,
    names,
    st.lists(numbers | flat, max_size=3),
    st.dictionaries(names, numbers | flat, max_size=2),
)


@given(laws)
def test_what_is_written_is_read_again(law: WrittenLaw):
    assert read_law(str(law)) == law


def test_values_with_their_probabilities():
    law = read_law("discrete(0: 0.7, 1.5: 0.2, -1: 1/10)")
    assert law.named == {"0": Fraction(7, 10), "1.5": Fraction(1, 5), "-1": Fraction(1, 10)}


def test_a_table_is_the_same():
    table = {"kind": "normal", "mean": 70, "deviation": "10"}
    assert law_of_table(table) == read_law("normal(mean=70, deviation=10)")
    nested = law_of_table({"kind": "mixture", "a": "bernoulli(0.4)", "b": {"kind": "coin"}})
    assert nested.named["a"] == read_law("bernoulli(0.4)")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "uniform",
        "uniform(0, 100",
        "uniform 0, 100",
        "uniform(0, nan)",
        "uniform(0, inf)",
        "uniform(zero, 1)",
        "Uniform(0, 1)",
        "uniform(low=0, low=1)",
        "__import__('os')",
        "a(b(c(d(e(1)))))",
        "uniform(" + "1, " * 10_000 + "1)",
    ],
)
def test_what_cannot_be_read_is_refused(text: str):
    with pytest.raises(InvalidArgument):
        read_law(text)


@pytest.mark.parametrize(
    "text",
    [
        "uniform(0)",
        "uniform(0, 1, 2)",
        "uniform(0, low=1)",
        "uniform(a(1), 2)",
        "uniform(x=1, y=2)",
    ],
)
def test_numbers_are_those_of_the_names(text: str):
    with pytest.raises(InvalidArgument, match=r"uniform\(low, high\)"):
        read_law(text).numbers("low", "high")


def test_a_table_without_a_kind_is_refused():
    for table in ({}, {"kind": 5}, {"kind": "uniform", "low": [1]}):
        with pytest.raises(InvalidArgument):
            law_of_table(table)
