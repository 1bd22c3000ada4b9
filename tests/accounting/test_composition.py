"""Composition: the numbers of the literature, the order of the theorems, and what is refused."""

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from discreet.accounting.composition import basic, concentrated, optimal
from discreet.accounting.composition import compose as composing
from discreet.accounting.composition.compose import METHODS
from discreet.accounting.composition.workload import Workload
from discreet.accounting.conversions import from_zcdp
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.tails.normal_tail import normal_tail_bounds
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, MeanConcentrated, Pure, Zcdp
from discreet.core.numbers import exp_bounds

MICRO = Fraction(1, 10**6)

# Ste16, section 2.8, ε_i = 0.1 and δ = 1e-6, recomputed; the last column is the printed grid.
TABLE = {
    10: ("1.0", "1.767", "1.712", "1.656", "1.535", "1.0"),
    100: ("10", "6.308", "5.757", "5.799", "5.404", "4.8"),
    1000: ("100", "27.14", "21.62", "22.43", "21.03", "19.4"),
}
COLUMNS = ("basic", "drv", "squares", "closed_form", "tail")


def compose_epsilon(losses, **options):
    return composing.compose_epsilon(losses, **options)


def compose_delta(losses, **options):
    return composing.compose_delta(losses, **options)


def compose(losses):
    return basic.compose(losses)


def compose_fixed(losses):
    return basic.compose_fixed(losses)


def raw(losses, delta, method: str) -> Fraction:
    """The ε of one theorem alone, without the minimum with basic composition."""
    loss = METHODS[method][0](Workload.read(losses), Fraction(delta)).loss
    assert isinstance(loss, Approximate)
    return loss.epsilon


def agrees(value: Fraction, printed: str) -> bool:
    digits = len(printed.partition(".")[2])
    return abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**digits)


@pytest.mark.parametrize("count", TABLE)
def test_the_table_of_the_thesis(count: int):
    losses = {Pure("0.1"): count}
    for method, printed in zip(COLUMNS, TABLE[count], strict=False):
        assert agrees(raw(losses, MICRO, method), printed), method
    loss = optimal.kov_grid(losses, delta=MICRO).loss
    assert isinstance(loss, Approximate)
    grid = loss.epsilon
    optimum = compose_epsilon(losses, delta=MICRO, method="kov")
    assert grid == Fraction(TABLE[count][-1])
    assert grid - Fraction(2, 10) < optimum.lower.epsilon <= optimum.loss.epsilon <= grid


@pytest.mark.parametrize(
    ("epsilon", "count", "printed"),
    [("0.1", 100, "6.308"), ("0.1", 1000, "27.14"), ("0.01", 10**4, "6.262"), ("1", 10, "33.8")],
)
def test_advanced_composition_as_first_proved(epsilon: str, count: int, printed: str):
    losses = {Pure(epsilon): count}
    assert agrees(raw(losses, MICRO, "drv"), printed)
    assert compose_epsilon(losses, delta=MICRO, method="drv").loss.epsilon <= max(
        Fraction(printed) + Fraction(1, 100), count * Fraction(epsilon)
    )


def test_basic_is_taken_where_it_is_better():
    result = compose_epsilon({Pure(1): 10}, delta=MICRO, method="drv")
    assert result.method == "basic"
    assert result.loss.epsilon == 10
    assert [other.method for other in result.others] == ["drv"]


amounts = st.fractions(min_value=Fraction(1, 40), max_value=Fraction(3, 2), max_denominator=40)
small = st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(1, 10**7)])
losses_ = st.dictionaries(
    st.builds(Approximate, amounts, small), st.integers(1, 30), min_size=1, max_size=3
)
deltas = st.sampled_from([Fraction(1, 10**n) for n in (2, 3, 4)])


@pytest.fixture(scope="module", autouse=True)
def same_cases():
    """Draw the same cases whichever modules are loaded: Hypothesis takes constants from them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", type(providers.GLOBAL_CONSTANTS))
        yield


@settings(max_examples=40, deadline=None)
@given(losses_, deltas)
def test_no_theorem_is_below_the_optimum_and_the_order_holds(losses, delta: Fraction):
    result = compose_epsilon(losses, delta=delta)
    everything = (result, *result.others)
    assert all(other.loss.epsilon >= result.lower.epsilon for other in everything)
    assert result.loss.epsilon == min(other.loss.epsilon for other in everything)
    tail = raw(losses, delta, "tail")
    slack = 1 + Fraction(1, 10**9)
    assert result.loss.epsilon <= tail * slack
    assert tail <= raw(losses, delta, "closed_form") * slack
    assert tail <= raw(losses, delta, "squares") * slack
    assert raw(losses, delta, "rdp") <= raw(losses, delta, "zcdp") * slack
    assert raw(losses, delta, "squares") <= raw(losses, delta, "drv") * slack


@settings(max_examples=30, deadline=None)
@given(losses_, deltas, st.sampled_from(sorted(METHODS.keys() - {"mv"})))
def test_epsilon_and_delta_are_inverse(losses, delta: Fraction, method: str):
    try:
        there = compose_epsilon(losses, delta=delta, method=method).loss.epsilon
        back = compose_delta(losses, epsilon=there, method=method)
    except Unsupported:
        return
    assert back.loss.delta <= delta * (1 + Fraction(1, 100))


def test_smaller_losses_and_larger_deltas_cost_less():
    base = compose_epsilon({Pure("0.1"): 100}, delta="1e-6").loss.epsilon
    assert compose_epsilon({Pure("0.1"): 101}, delta="1e-6").loss.epsilon > base
    assert compose_epsilon({Pure("0.11"): 100}, delta="1e-6").loss.epsilon > base
    assert compose_epsilon({Pure("0.1"): 100}, delta="1e-5").loss.epsilon < base


def test_corollary_2_8_10_is_2_8_9_by_another_name():
    losses = {Pure("0.1"): 100}
    loss = concentrated.tail_curve(losses, tail="3.5").loss
    assert isinstance(loss, Approximate)
    again = compose_epsilon(losses, delta=loss.delta, method="tail").loss
    assert abs(again.epsilon - loss.epsilon) < Fraction(1, 10**9)


def test_the_closed_form_beyond_its_condition_is_half_the_square():
    # √(π/2)‖ε‖ = 0.0125 here; the printed logarithm would be negative at δ' = 0.1.
    losses = {Pure("0.01"): 1}
    assert raw(losses, "0.1", "closed_form") == Fraction(1, 20000)


def test_without_any_epsilon_only_the_deltas_count():
    losses = {Approximate(0, "0.01"): 2}
    assert compose_epsilon(losses, delta="0.02").loss.epsilon == 0
    assert compose_delta(losses, epsilon=0).loss.delta == Fraction("0.0199")
    with pytest.raises(Unsupported, match="deltas"):
        compose_epsilon(losses, delta="0.0198")


def test_delta_zero_is_basic_composition():
    result = compose_epsilon([Pure("1/3"), Pure("1/7")], delta=0)
    assert result.loss == Approximate(Fraction(10, 21), 0)
    assert result.lower == result.loss


def test_one_approximate_loss_at_its_own_delta_is_itself():
    loss = Approximate("0.3", "1e-6")
    assert compose_epsilon([loss], delta="1e-6").loss == loss


def test_the_delta_that_was_asked_for_is_the_one_that_is_answered():
    delta = Fraction(1, 3**90)
    for method in METHODS:
        assert compose_epsilon({Pure("0.1"): 5}, delta=delta, method=method).loss.delta == delta


def test_sums_in_other_measures():
    assert compose([Zcdp(rho=1, xi=1)] * 3).loss == Zcdp(rho=3, xi=3)
    curve = RenyiCurve.of(Line(rho=1))
    assert compose([curve, curve]).loss.upper(2) == 4
    assert compose([Approximate(1, "0.1"), Approximate(2, "0.2")]).loss == Approximate(3, "0.3")
    with pytest.raises(Unsupported):
        compose([MeanConcentrated(mu=1, tau_squared=1)] * 2)
    with pytest.raises(Unsupported):
        compose([Pure(1), Zcdp(rho=1)])
    with pytest.raises(InvalidArgument):
        compose([])


def test_a_fixed_sequence_of_approximate_zcdp_loses_less_than_the_sum():
    losses = [ApproximateZcdp(rho="0.1", delta="0.01")] * 50
    report, gate = compose_fixed(losses).loss, compose(losses).loss
    assert report.delta == 1 - Fraction(99, 100) ** 50 < gate.delta == Fraction(1, 2)
    assert report.rho == gate.rho == 5
    long = compose_fixed([ApproximateZcdp(rho=0, delta=Fraction(1, 10**7 + 1))] * 2000).loss
    assert long.delta.denominator.bit_length() < 9000
    assert long.delta >= 1 - (1 - Fraction(1, 10**7 + 1)) ** 2000
    with pytest.raises(InvalidArgument):
        compose_fixed([])
    with pytest.raises(Unsupported):
        compose_fixed([Zcdp(rho=1)])


def test_the_root_of_2a_of_theorem_9_12_understates_epsilon():
    # Das22, Theorem 9.12: D_α ≤ aα and B = ln(1/δ) is said to give ε = a + √(2aB).
    rho, exponent = Fraction(1, 100), 20
    delta_low, delta_high = exp_bounds(Fraction(-exponent), 128)
    right = from_zcdp.zcdp_to_approximate(Zcdp(rho=rho), delta=delta_low, method="basic").loss
    assert isinstance(right, Approximate)
    assert agrees(right.epsilon, "0.904")
    printed = Fraction("0.642")
    near, far = ((printed + sign * rho) ** 2 / (2 * rho) for sign in (-1, 1))
    growth = exp_bounds(printed, 96)[1]
    gaussian = normal_tail_bounds(near)[0] - growth * normal_tail_bounds(far)[1]
    assert gaussian > 40 * delta_high


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("delta", [-1, 1, "1.5", float("nan")])
def test_a_delta_outside_its_range_is_refused(method: str, delta):
    with pytest.raises(InvalidArgument) as caught:
        compose_epsilon([Pure(1)], delta=delta, method=method)
    assert caught.value.must


@pytest.mark.parametrize(
    "losses",
    [[], {}, {Pure(1): 0}, {Pure(1): -1}, {Pure(1): 10**12}, {Pure(1): Fraction(1, 2)}],
    ids=str,
)
def test_nothing_and_absurd_counts_are_refused_at_once(losses):
    start = time.monotonic()
    with pytest.raises(InvalidArgument) as caught:
        compose_epsilon(losses, delta="1e-6")
    assert time.monotonic() - start < 0.5
    assert caught.value.must
    assert caught.value.got


def test_other_measures_and_methods_are_refused():
    with pytest.raises(Unsupported, match="zcdp") as caught:
        compose_epsilon([Zcdp(rho=1)], delta="1e-6")
    assert caught.value.next
    with pytest.raises(InvalidArgument, match="tail"):
        compose_epsilon([Pure(1)], delta="1e-6", method="magic")
    with pytest.raises(InvalidArgument):
        compose_delta([Pure(1)], epsilon=-1)
    with pytest.raises(Unsupported, match="one epsilon"):
        compose_epsilon([Pure(1), Pure(2)], delta="1e-6", method="kov")


def test_too_many_terms_are_refused_with_what_would_work():
    with pytest.raises(Unsupported) as caught:
        compose_epsilon({Pure("0.001"): 10**9}, delta=Fraction(1, 10**300), method="kov")
    assert "zcdp" in caught.value.next
    assert compose_epsilon({Pure("0.001"): 10**9}, delta=Fraction(1, 10**300)).method == "rdp"
