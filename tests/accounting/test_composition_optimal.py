"""Optimal composition against exact enumeration, and intervals that hold the truth."""

import re
import time
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.composition import compose as composing
from discreet.accounting.composition import optimal
from discreet.accounting.composition.loss_curve import RoundedSide, lies, loss_curve
from discreet.audit.finite_divergence import FiniteLaw, hockey_stick
from discreet.core.errors import Unsupported
from discreet.core.loss import Approximate, Pure
from discreet.core.numbers import exp_bounds, log_bounds

TIGHT = Fraction(1, 10**9)


def compose_epsilon(losses, **options):
    return composing.compose_epsilon(losses, **options)


def compose_delta(losses, **options):
    return composing.compose_delta(losses, **options)


def kov_grid(losses, **options):
    return optimal.kov_grid(losses, **options)


def complete(bit: int, ratio: Fraction, delta: Fraction) -> FiniteLaw:
    """The complete mechanism: tell the bit with probability δ, else respond at odds ``ratio``."""
    return {
        (bit, "told"): delta,
        (bit, "said"): (1 - delta) * ratio / (1 + ratio),
        (1 - bit, "said"): (1 - delta) / (1 + ratio),
    }


def together(laws: list[FiniteLaw]) -> FiniteLaw:
    return {
        tuple(o for o, _ in outcomes): prod((mass for _, mass in outcomes), start=Fraction(1))
        for outcomes in product(*(law.items() for law in laws))
    }


def delta_of(case, epsilon, bits: int = 200) -> tuple[Fraction, Fraction]:
    """The truth, by listing every outcome of the complete mechanisms."""
    zero, one = (together([complete(bit, r, d) for r, d in case]) for bit in (0, 1))
    return hockey_stick(zero, one, epsilon, bits=bits)


ratios = st.fractions(min_value=Fraction(10, 9), max_value=4, max_denominator=9)
chances = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1, 7)])
cases = st.lists(st.tuples(ratios, chances), min_size=1, max_size=4)


def enclosed(case) -> tuple[list[Approximate], list[Approximate]]:
    """The losses of the case, with ε = ln(ratio) rounded down and up."""
    ends = [(log_bounds(ratio, 200), delta) for ratio, delta in case]
    return (
        [Approximate(low, delta) for (low, _), delta in ends],
        [Approximate(high, delta) for (_, high), delta in ends],
    )


@settings(max_examples=40, deadline=None)
@given(cases, st.fractions(min_value=0, max_value=3, max_denominator=10))
def test_the_optimum_is_the_composition_of_complete_mechanisms(case, epsilon: Fraction):
    truth = delta_of(case, epsilon)
    low, high = enclosed(case)
    for method in ("optimal", "mv", "auto"):
        above = compose_delta(high, epsilon=epsilon, method=method)
        below = compose_delta(low, epsilon=epsilon, method=method)
        assert below.lower.delta <= truth[1]
        assert above.loss.delta >= truth[0]
        if method == "optimal":
            assert above.loss.delta - below.lower.delta < TIGHT
    for method in ("basic", "drv", "squares", "tail", "closed_form", "zcdp", "rdp"):
        try:
            assert compose_delta(high, epsilon=epsilon, method=method).loss.delta >= truth[0]
        except Unsupported:
            continue


@settings(max_examples=40, deadline=None)
@given(cases, st.sampled_from([Fraction(1, 3), Fraction(1, 20), Fraction(1, 1000)]))
def test_epsilon_is_enough_and_hardly_less_is_not(case, delta: Fraction):
    low, high = enclosed(case)
    try:
        above = compose_epsilon(high, delta=delta, method="optimal")
    except Unsupported:
        assert delta_of(case, 100, bits=300)[1] > delta
        return
    below = compose_epsilon(low, delta=delta, method="optimal")
    assert delta_of(case, above.loss.epsilon)[0] <= delta
    assert above.loss.epsilon - below.lower.epsilon < TIGHT
    if below.lower.epsilon > TIGHT:
        assert delta_of(case, below.lower.epsilon - TIGHT)[1] > delta


amounts = st.fractions(min_value=Fraction(1, 30), max_value=1, max_denominator=97)
workloads = st.dictionaries(st.builds(Pure, amounts), st.integers(1, 6), min_size=2, max_size=5)


@settings(max_examples=25, deadline=None)
@given(workloads, st.sampled_from([Fraction(1, 50), Fraction(1, 10**5)]))
def test_the_interval_of_the_grid_holds_the_exact_optimum(losses, delta: Fraction):
    exact = compose_epsilon(losses, delta=delta, method="optimal")
    grid = compose_epsilon(losses, delta=delta, method="mv")
    assert grid.lower.epsilon <= exact.loss.epsilon
    assert exact.lower.epsilon <= grid.loss.epsilon
    assert grid.loss.epsilon - grid.lower.epsilon <= Fraction(1, 100)
    assert exact.loss.epsilon - exact.lower.epsilon < TIGHT


def printed_delta(epsilon: str, count: int, at: str) -> Decimal:
    """The formula of the paper with sixty digits, written without any of our code."""
    with localcontext() as context:
        context.prec = 60
        e, total = Decimal(epsilon).exp(), Decimal(0)
        for lie in range(count + 1):
            gain = e ** (count - lie) - Decimal(at).exp() * e**lie
            total += comb(count, lie) * max(gain, Decimal(0))
        return total / (1 + e) ** count


@pytest.mark.parametrize(
    ("epsilon", "count", "at"),
    [("0.1", 10, "0.85"), ("0.1", 100, "5"), ("0.1", 500, "14.05"), ("1", 30, "0"), ("3", 7, "20")],
)
def test_homogeneous_delta_to_many_digits(epsilon: str, count: int, at: str):
    result = compose_delta({Pure(epsilon): count}, epsilon=at, method="kov")
    truth = Fraction(printed_delta(epsilon, count, at))
    assert result.lower.delta * (1 - TIGHT) <= truth <= result.loss.delta * (1 + TIGHT)
    assert result.loss.delta - result.lower.delta <= TIGHT * truth


def test_a_tiny_delta_is_still_found():
    result = compose_delta({Pure("0.1"): 1000}, epsilon=90, method="kov")
    assert 0 < result.lower.delta <= result.loss.delta < Fraction(1, 10**100)
    assert result.loss.delta - result.lower.delta < result.loss.delta / 10**6


def test_a_delta_of_each_part_enters_through_the_complete_mechanism():
    pure = compose_delta({Pure("0.1"): 100}, epsilon=5).loss.delta
    mixed = compose_delta({Approximate("0.1", "1e-5"): 100}, epsilon=5)
    kept = (1 - Fraction(1, 10**5)) ** 100
    assert abs(mixed.loss.delta - (1 - (1 - pure) * kept)) < Fraction(1, 10**15)
    long = compose_delta({Approximate("0.001", "1e-9"): 10**6}, epsilon=8).loss.delta
    assert 1 - (1 - Fraction(1, 10**9)) ** 100 < long < Fraction(1, 100)


def test_the_printed_grid_is_the_next_point_above_the_optimum():
    for count, delta in ((7, "0.01"), (50, "1e-4"), (51, "1e-4"), (2, "0.3")):
        losses = {Approximate("0.3", "1e-7"): count}
        grid = kov_grid(losses, delta=delta).loss.epsilon
        assert (count - grid / Fraction(3, 10)) % 2 == 0
        assert compose_delta(losses, epsilon=grid).loss.delta <= Fraction(delta)
        lower = grid - Fraction(6, 10)
        if lower >= 0:
            assert compose_delta(losses, epsilon=lower).lower.delta > Fraction(delta)


@pytest.mark.parametrize(("count", "seconds"), [(10**3, 1), (10**4, 2), (10**5, 4)])
def test_many_equal_losses_are_quick(count: int, seconds: int):
    start = time.monotonic()
    result = compose_epsilon({Pure("0.01"): count}, delta="1e-8", method="kov")
    assert time.monotonic() - start < seconds
    assert result.loss.epsilon - result.lower.epsilon < TIGHT


@pytest.mark.parametrize(("epsilon", "count"), [(Fraction(1, 10), 40), (Fraction(9), 25)])
def test_masses_of_lies_enclose_the_binomial(epsilon: Fraction, count: int):
    law = lies(epsilon, count, 100)
    ratio_low, ratio_high = exp_bounds(-epsilon, 300)
    for n in range(count + 1):
        low = comb(count, n) * ratio_low**n / (1 + ratio_high) ** count
        high = comb(count, n) * ratio_high**n / (1 + ratio_low) ** count
        assert Fraction(law.low.get(n, 0), 1 << 100) <= high
        assert Fraction(law.high.get(n, law.dropped), 1 << 100) >= low
    assert sum(law.low.values()) <= 1 << 100 <= sum(law.high.values()) + law.dropped


def test_a_curve_from_below_is_never_above_one_from_above():
    curves = [
        loss_curve({3: 5, 7: 4, 1: 2}, Fraction(1, 20), bits=64, side=side, most_work=10**5)
        for side in (RoundedSide.LOWER, RoundedSide.UPPER)
    ]
    for step in range(40):
        low, high = (curve.delta(Fraction(step, 20)) for curve in curves)
        assert low <= high <= low + Fraction(1, 2**50)
    for delta in (Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)):
        least, most = (curve.epsilon(delta) for curve in curves)
        assert least is not None
        assert most is not None
        assert least <= most <= least + Fraction(1, 2**40)
    with pytest.raises(Unsupported):
        loss_curve({3: 5, 7: 4}, Fraction(1, 20), bits=64, side=RoundedSide.LOWER, most_work=3)


def test_losses_of_very_different_size():
    losses = {Pure(50): 1, Pure(Fraction(1, 10**6)): 3, Pure("0.1"): 20}
    result = compose_epsilon(losses, delta="1e-6")
    assert 50 < result.lower.epsilon <= result.loss.epsilon < 52
    huge = compose_epsilon({Pure(2000): 3}, delta="1e-6")
    assert 5999 < huge.lower.epsilon <= huge.loss.epsilon <= 6000


def test_many_different_losses_have_a_narrow_interval():
    """In [0.752, 0.781] after 16 seconds on the old code, for another 300; now by distributions."""
    losses = [Pure(Fraction(k, 10_000)) for k in range(1, 301)]
    found = composing.compose_epsilon(losses, delta="1e-6")
    assert found.method == "pld"
    assert isinstance(found.loss, Approximate)
    assert isinstance(found.lower, Approximate)
    assert 0 <= found.loss.epsilon - found.lower.epsilon < Fraction(1, 500)
    few = losses[-8:]
    exactly = composing.compose_epsilon(few, delta="1e-6", method="optimal").loss
    near = composing.compose_epsilon(few, delta="1e-6", method="pld")
    assert isinstance(near.lower, Approximate)
    assert isinstance(exactly, Approximate)
    assert near.lower.epsilon <= exactly.epsilon
    assert exactly.epsilon - near.lower.epsilon < Fraction(1, 500)


def test_a_refusal_for_its_work_names_a_limit_that_was_passed():
    """Of at most 2000000 products it got at least 3688 on the old code: of very long numbers."""
    losses = {Pure(Fraction(100 + k, 10**4)): 1 for k in range(300)}
    with pytest.raises(Unsupported, match="too long here") as refused:
        compose_epsilon(losses, delta="1e-6", method="optimal")
    most, got = (
        int(number) for number in re.findall(r"at (?:most|least) (\d+)", str(refused.value))
    )
    assert got > most
