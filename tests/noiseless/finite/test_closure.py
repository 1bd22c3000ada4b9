"""What coupled worlds are closed under, on random models; and where other definitions are not."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.noiseless.finite.checked_delta import factors
from discreet.noiseless.finite.compared_laws import check_noiseless, check_pufferfish
from discreet.noiseless.finite.coupled_pairs import individuals
from discreet.noiseless.finite.coupled_worlds import (
    attained_delta,
    check_coupled_worlds,
    check_distributional,
)
from discreet.noiseless.finite.finite_model import less_knowledge, mixture, push
from discreet.noiseless.finite.separations import shared_sign
from tests.noiseless.finite.models import BITS, EPSILONS, PAIRS, channels, finite_models, masses

CASES = settings(max_examples=15, deadline=None)
ROUNDING = Fraction(1, 10**9)
"""The two ends are closer than that, as another test shows."""


@CASES
@given(finite_models(), EPSILONS, channels(3))
def test_processing_makes_nothing_worse(model, epsilon, channel):
    """The same simulator, processed, attains no more [Gro14, theorem 5.3]."""
    before = check_coupled_worlds(model, PAIRS, epsilon)
    after = model.processed(channel.__getitem__)
    simulator = {a: push(law, channel.__getitem__) for a, law in before.simulator.items()}
    attained, _ = attained_delta(after, PAIRS, simulator, factors(epsilon)[1])
    assert attained <= before.high
    assert check_coupled_worlds(after, PAIRS, epsilon).low <= before.high


@CASES
@given(finite_models(laws=2), EPSILONS, masses(2))
def test_mixtures_of_laws_are_covered(model, epsilon, weights):
    """With the simulator that serves both, for every mixture [Gro14, theorem 5.4]."""
    before = check_coupled_worlds(model, PAIRS, epsilon)
    mixed = model.with_laws([mixture(list(zip(weights, model.laws, strict=True)))])
    attained, _ = attained_delta(mixed, PAIRS, before.simulator, factors(epsilon)[1])
    assert attained <= before.high


@CASES
@given(finite_models(), EPSILONS, channels(2))
def test_less_knowledge_is_safe(model, epsilon, channel):
    """What is known goes through any channel first [Gro14, theorem 5.5]."""
    before = check_coupled_worlds(model, PAIRS, epsilon)
    told = [less_knowledge(law, lambda z: channel["ab".index(z)]) for law in model.laws]
    attained, _ = attained_delta(
        model.with_laws(told), PAIRS, before.simulator, factors(epsilon)[1]
    )
    assert attained <= before.high


@CASES
@given(finite_models(laws=1), st.permutations([Fraction(0), Fraction(1, 2), Fraction(2)]))
def test_delta_falls_with_epsilon_and_more_pairs_ask_for_more(model, epsilons):
    found = {epsilon: check_coupled_worlds(model, PAIRS, epsilon) for epsilon in epsilons}
    ordered = [found[epsilon] for epsilon in sorted(found)]
    for smaller, larger in itertools.pairwise(ordered):
        assert larger.low <= smaller.high
    alone = check_coupled_worlds(model, PAIRS[:1], 0)
    assert alone.low <= found[Fraction(0)].high


@CASES
@given(finite_models(laws=1), EPSILONS)
def test_noiseless_privacy_of_independent_rows_gives_distributional_privacy(model, epsilon):
    """Where rows are independent: the simulator inserts a value that can be."""
    weights = [Fraction(1, 3), Fraction(2, 3)]
    law = {(x, None): weights[x[0]] * weights[x[1]] for x in BITS}
    independent = model.with_laws([law])
    noiseless = check_noiseless(independent, PAIRS, epsilon)
    assert check_coupled_worlds(independent, PAIRS, epsilon).low <= noiseless.high


# ---- Where noiseless privacy and Pufferfish are not closed


@pytest.mark.parametrize(
    ("epsilon", "without", "within"),
    [
        ("0", 0.90049, 0.013538),
        ("0.5", 0.86821, 0.013225),
        ("1", 0.81499, 0.012711),
        ("2", 0.58259, 0.010463),
    ],
)
def test_knowing_less_breaks_noiseless_privacy(epsilon, without, within):
    knows = check_noiseless(shared_sign(5, "0.05", is_known=True), individuals(5), epsilon)
    ignores = check_noiseless(shared_sign(5, "0.05"), individuals(5), epsilon)
    assert float(knows.high) == pytest.approx(within, abs=1e-6)
    assert float(ignores.high) == pytest.approx(without, abs=1e-5)
    assert check_distributional(shared_sign(5, "0.05"), 5, epsilon).high < Fraction(7, 1000)


def test_a_mixture_breaks_noiseless_privacy():
    """Each of two laws has δ = 0.0135; their mixture has 0.9005."""
    known = shared_sign(5, "0.05", is_known=True)
    parts = [
        {(x, None): 2 * mass for (x, mu), mass in known.laws[0].items() if mu == sign}
        for sign in (-1, 1)
    ]
    both = known.with_laws(parts)
    mixed = known.with_laws([mixture([("1/2", part) for part in parts])])
    assert check_noiseless(both, individuals(5), 0).high < Fraction(14, 1000)
    assert check_noiseless(mixed, individuals(5), 0).low > Fraction(9, 10)
    assert check_distributional(mixed, 5, 0).high <= check_distributional(both, 5, 0).high


def test_the_same_for_pufferfish():
    """With the secret: whether the first row is -1."""
    secrets = [lambda x: int(x[0] > 0)]
    known = check_pufferfish(shared_sign(5, "0.05", is_known=True), secrets, 1)
    unknown = check_pufferfish(shared_sign(5, "0.05"), secrets, 1)
    assert known.high < Fraction(13, 1000) < Fraction(4, 5) < unknown.low


@CASES
@given(finite_models(), EPSILONS, channels(3))
def test_both_are_closed_under_processing(model, epsilon, channel):
    after = model.processed(channel.__getitem__)
    for check in (
        lambda one: check_noiseless(one, PAIRS, epsilon),
        lambda one: check_pufferfish(one, [lambda x: x[0]], epsilon),
    ):
        assert check(after).low <= check(model).high
