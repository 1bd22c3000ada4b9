"""Filters: exact at the boundary, one measure at a time, and true about what is left."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.filters.rules import admits, common, left, require_filter
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, PrivacyLoss, Pure, Zcdp

amounts = st.fractions(min_value=0, max_value=4, max_denominator=50)
pure = st.builds(Pure, amounts)
zcdp = st.builds(Zcdp, rho=amounts, xi=amounts)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 3), max_denominator=50)
approximate_zcdp = st.builds(ApproximateZcdp, rho=amounts, delta=deltas, xi=amounts)


def triples(losses: st.SearchStrategy[PrivacyLoss]) -> st.SearchStrategy[tuple]:
    return st.tuples(losses, losses, losses)


approximate = st.builds(Approximate, amounts, deltas)
any_triple = st.one_of(
    triples(pure), triples(approximate), triples(zcdp), triples(approximate_zcdp)
)


@pytest.mark.parametrize(
    "cap",
    [
        Pure("0.1"),
        Approximate("0.7", "1e-6"),
        Zcdp(rho="1/7"),
        ApproximateZcdp(rho="0.3", delta="1e-9"),
    ],
    ids=str,
)
@pytest.mark.parametrize("parts", [1, 3, 7, 49])
def test_every_part_of_a_split_cap_is_admitted_and_nothing_more(cap, parts: int):
    part = cap * Fraction(1, parts)
    spent = None
    for _ in range(parts):
        assert admits(cap, spent, part)
        spent = part if spent is None else spent + part
    assert spent == cap
    assert not admits(cap, spent, cap * Fraction(1, 10**30))
    assert admits(cap, spent, cap * 0)


@given(any_triple)
def test_admits_is_composition_below_the_cap(losses):
    cap, spent, loss = losses
    assert admits(cap, spent, loss) == (spent + loss <= cap)


@given(any_triple)
def test_what_is_left_is_the_largest_loss_that_is_admitted(losses):
    cap, spent, loss = losses
    rest = left(cap, spent)
    if spent <= cap:
        assert admits(cap, spent, rest)
        assert admits(cap, spent, loss) == (loss <= rest)
    else:
        assert rest == cap * 0


@given(any_triple)
def test_common_is_the_largest_loss_that_implies_both(losses):
    first, second, loss = losses
    both = common(first, second)
    assert both <= first
    assert both <= second
    assert (loss <= both) == (loss <= first and loss <= second)


def test_nothing_spent_is_the_same_as_zero_spent():
    assert left(Pure(1), None) == left(Pure(1), Pure(0)) == Pure(1)


def test_deltas_that_add_up_to_one_are_refused_and_not_an_error():
    cap = ApproximateZcdp(rho=9, delta="0.9")
    assert not admits(cap, ApproximateZcdp(rho=1, delta="0.8"), ApproximateZcdp(rho=1, delta="0.8"))


def test_a_loss_in_another_measure_is_never_converted():
    with pytest.raises(Unsupported, match="must be pure; got zcdp") as caught:
        admits(Pure(1), None, Zcdp(rho="0.001"))
    assert caught.value.next
    with pytest.raises(Unsupported):
        admits(Pure(1), Zcdp(rho=0), Pure(0))


@pytest.mark.parametrize("use", [require_filter, lambda cap: admits(cap, None, cap)])
def test_measures_without_a_theorem_have_no_filter(use):
    with pytest.raises(Unsupported) as caught:
        use(RenyiCurve.of(Line(rho=1)))
    assert "rho with delta" in caught.value.next


def test_approximate_budgets_cap_both_sums():
    cap = Approximate(1, "1e-6")
    half = Approximate("1/2", "5e-7")
    assert admits(cap, half, half)
    assert not admits(cap, half, Approximate("1/2", "6e-7"))
    assert not admits(cap, half, Approximate("0.51", 0))
    assert left(cap, half) == half
