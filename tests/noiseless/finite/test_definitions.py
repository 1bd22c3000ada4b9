"""Definitions without a simulator, and of conclusions: values, relations and separations."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.finite_divergence import excess
from discreet.core.errors import InvalidArgument
from discreet.noiseless.finite.checked_delta import factors
from discreet.noiseless.finite.compared_laws import (
    check_differential,
    check_noiseless,
    check_pufferfish,
    secret_laws,
)
from discreet.noiseless.finite.coupled_pairs import CoupledPair, individuals
from discreet.noiseless.finite.coupled_worlds import (
    check_coupled_worlds,
    check_distributional,
    check_simulated,
)
from discreet.noiseless.finite.finite_model import (
    FiniteModel,
    certain,
    deterministic,
    independent_rows,
    mixture,
    without_knowledge,
)
from discreet.noiseless.finite.inference_forms import (
    _least,
    check_inference,
    check_inference_pufferfish,
    check_semantic,
    semantic_reading,
)
from discreet.noiseless.finite.separations import (
    differenced_sums,
    known_parity,
    shared_sign,
    stranger,
)
from tests.noiseless.finite.models import BITS, EPSILONS, PAIRS, finite_models, masses

CASES = settings(max_examples=15, deadline=None)
FAIR = ["1/2", "1/2"]
THIRD = Fraction(1, 3)


def fair_sum(rows):
    bits = independent_rows([0, 1], rows, FAIR)
    return FiniteModel(deterministic(sum, bits), [without_knowledge(bits)])


@pytest.mark.parametrize(
    ("rows", "deltas"),
    [(4, (0.375, 0.29391, 0.16021, 0.125)), (6, (0.3125, 0.19086, 0.10255, 0.03125))],
)
def test_noiseless_privacy_of_the_sum_of_fair_bits(rows, deltas):
    for epsilon, delta in zip(("0", "0.5", "1", "2"), deltas, strict=True):
        found = check_noiseless(fair_sum(rows), individuals(rows), epsilon)
        assert float(found.high) == pytest.approx(delta, abs=6e-6)


@CASES
@given(st.lists(st.integers(0, 2), min_size=8, max_size=8), EPSILONS)
def test_a_deterministic_mechanism_is_constant_or_has_delta_one(values, epsilon):
    """[Gro14, theorem 3.5], which needs δ < 1: with δ = 1 everything is private."""
    mechanism = {
        x: certain(value) for x, value in zip(product((0, 1), repeat=3), values, strict=True)
    }
    found = check_differential(mechanism, epsilon)
    assert found.high == (0 if len(set(values)) == 1 else 1)


@CASES
@given(finite_models(laws=1), EPSILONS)
def test_simulator_form_and_neighbours(model, epsilon):
    """Nothing is lost one way; the other way it is 2ε and (1 + e^ε)δ."""
    neighbours = check_differential(model.mechanism, epsilon)
    simulated = check_simulated(model, 2, epsilon)
    assert simulated.low <= neighbours.high
    far = check_differential(model.mechanism, 2 * epsilon)
    assert far.low <= (1 + factors(epsilon)[2]) * simulated.high


def test_the_factor_two_is_needed():
    """Randomised response at ε = ln 2 in simulator form: neighbours are ln 3 apart, above ln 2."""
    flip = {(b,): {b: Fraction(3, 4), 1 - b: Fraction(1, 4)} for b in (0, 1)}
    epsilon = Fraction("0.6932")
    assert check_simulated(FiniteModel(flip, []), 1, epsilon).high == 0
    assert check_differential(flip, epsilon).low > Fraction(6, 25)
    assert check_differential(flip, "1.0987").high == 0


def test_deltas_of_a_group_do_not_add():
    """A chain of two steps at (1, 0.01) needs 0.037 at 2ε: more than twice 0.01."""
    delta = Fraction(1, 100)
    step = delta * (1 + factors(1)[1])
    chain = {
        x: {"bad": mass, "good": 1 - mass}
        for x, mass in (("a", step), ("b", delta), ("c", Fraction(0)))
    }
    near = check_differential(chain, 1, neighbours=[("a", "b"), ("b", "c")])
    far = check_differential(chain, 2, neighbours=[("a", "c")])
    assert near.high <= delta
    assert float(far.low) == pytest.approx(0.03718, abs=1e-5)
    right = float(delta) * (math.exp(2) - 1) / (math.e - 1)
    assert 0.02 < float(far.high) <= right + 1e-12


def test_neighbours_must_be_rows_or_listed():
    with pytest.raises(InvalidArgument, match="listed neighbours"):
        check_differential({"a": certain(0), "b": certain(1)}, 1)


def test_databases_of_two_lengths_are_no_neighbours():
    mechanism = {(0,): certain(0), (0, 0): certain(1)}
    assert check_differential(mechanism, 0).high == 0


# ---- Pufferfish


@CASES
@given(finite_models(laws=1), EPSILONS)
def test_a_secret_s_law_is_close_to_all_of_it(model, epsilon):
    """If both values look alike, each looks like the mixture [Gro14, theorem 5.7's proof]."""
    found = check_pufferfish(model, [lambda x: x[0]], epsilon)
    factor = factors(epsilon)[1]
    laws = secret_laws(model, lambda x: x[0])
    for known in ("a", "b"):
        here = [laws[key] for key in laws if key[1] == known]
        total = sum(mass for mass, _ in here)
        if total:
            mixed = mixture([(mass / total, law) for mass, law in here])
            for _, law in here:
                assert excess(law, mixed, factor) <= found.high
                assert excess(mixed, law, factor) <= found.high


def test_noiseless_privacy_is_an_instance_of_pufferfish():
    model = shared_sign(5, "0.05")
    secrets = [lambda x, i=i: int(x[i] > 0) for i in range(5)]
    for epsilon in (0, 1):
        assert check_pufferfish(model, secrets, epsilon).high == (
            check_noiseless(model, individuals(5), epsilon).high
        )


def test_where_a_secret_does_not_arise_nothing_is_compared():
    law = independent_rows([0, 1, 2], 1, [THIRD] * 3)
    model = FiniteModel(deterministic(lambda x: x[0] == 2, law), [without_knowledge(law)])
    assert check_pufferfish(model, [lambda x: x[0] if x[0] < 2 else None], 0).high == 0
    with pytest.raises(InvalidArgument, match="no secret"):
        check_pufferfish(model, [lambda x: x[0]], 0)


# ---- Conclusions


def test_the_least_delta_of_moves():
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    assert _least([(half, tenth), (Fraction(0), 1 - tenth)]) == tenth
    assert _least([(Fraction(1, 20), tenth), (Fraction(0), 1 - tenth)]) == Fraction(1, 20)
    assert _least([(Fraction(1), Fraction(1))]) == 1
    assert _least([(half, Fraction(3, 10)), (half, Fraction(3, 10)), (Fraction(0), half)]) == half


@CASES
@given(st.lists(st.tuples(masses(2), st.integers(1, 5)), min_size=1, max_size=5))
def test_the_least_delta_is_the_least(drawn):
    total = sum(weight for _, weight in drawn)
    moves = [(law[0], Fraction(weight, total)) for law, weight in drawn]
    least = _least(moves)
    assert sum(mass for move, mass in moves if move > least) <= least
    below = [one for one in {Fraction(k, 60 * total) for k in range(61 * total)} if one < least]
    assert all(sum(mass for move, mass in moves if move > one) > one for one in below)


def test_conclusions_from_a_parity_that_was_known():
    """Coupled worlds need δ = 1/2; conclusions do not move at all [Gro14, example 5.1]."""
    fair = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    found = check_inference(known_parity(4), individuals(4), lambda _: fair, 0)
    assert found.high == 0
    assert check_distributional(known_parity(4), 4, 0).low > Fraction(49, 100)
    with pytest.raises(InvalidArgument, match="at least 2"):
        known_parity(1)


def test_an_output_that_the_simulator_never_says_moves_everything():
    found = check_inference(fair_sum(2), individuals(2), lambda _: certain(1), 64)
    assert found.high == Fraction(1, 2)


@CASES
@given(finite_models(laws=1), st.sampled_from(["0.3", "1", "2"]), st.sampled_from(["0.1", "0.5"]))
def test_coupled_worlds_bound_conclusions_by_the_safe_lemma(model, epsilon, slack):
    """At (3ε, δ₂), the probability of a larger move is at most |Γ| δ₁."""
    worlds = check_coupled_worlds(model, PAIRS, epsilon)
    e, share = math.exp(float(Fraction(epsilon))), float(Fraction(slack))
    delta = float(worlds.high)
    failure = (1 + e) * delta / share + delta + delta * (1 + e**-2) / (1 - 1 / e)
    found = check_inference(model, PAIRS, worlds.simulator, 3 * Fraction(epsilon))
    assert float(found.high) <= max(share, len(PAIRS) * failure) + 1e-9


def test_pufferfish_in_terms_of_conclusions():
    """The secret is the first of some bits, and their sum is released: beliefs, by hand."""
    model, secrets = fair_sum(4), [lambda x: x[0]]
    # Given a sum of s, the first bit is 1 with probability s/4; it was 1/2.
    found = check_inference_pufferfish(model, secrets, 0)
    assert found.high == Fraction(1, 4)
    assert check_inference_pufferfish(model, secrets, 64).high == Fraction(1, 8)


# ---- Semantic privacy


def random_response(truth, rows=2):
    law = {0: {0: truth, 1: 1 - truth}, 1: {0: 1 - truth, 1: truth}}
    return {
        x: {
            t: math.prod((law[a][b] for a, b in zip(x, t, strict=True)), start=Fraction(1))
            for t in product((0, 1), repeat=rows)
        }
        for x in product((0, 1), repeat=rows)
    }


@CASES
@given(masses(4), st.sampled_from([Fraction(11, 20), Fraction(2, 3), Fraction(4, 5)]))
def test_pure_privacy_bounds_conclusions(prior, truth):
    """Randomised response is ln(p/(1-p))-private: no conclusion moves by more than 1 - e^(-2ε)."""
    mechanism = random_response(truth)
    law = dict(zip(BITS, prior, strict=True))
    epsilon = Fraction(math.log(truth / (1 - truth))).limit_denominator(10**9) + Fraction(1, 10**6)
    reading = semantic_reading(epsilon)
    assert reading.move <= semantic_reading(2 * epsilon).move
    assert float(reading.move) <= math.exp(3 * float(epsilon)) - 1
    found = check_semantic(mechanism, [law], 2, reading.move, default=0)
    assert found.high == 0


def test_semantic_privacy_refutes_what_tells_a_row():
    everything = {x: certain(x) for x in BITS}
    prior = dict.fromkeys(BITS, Fraction(1, 4))
    assert check_semantic(everything, [prior], 2, "0.4", default=0).high == 1
    assert check_semantic({x: certain(0) for x in BITS}, [prior], 2, 0, default=1).high == 0
    with pytest.raises(InvalidArgument, match="default"):
        check_semantic(everything, [prior], 2, "0.4", default=7)


@pytest.mark.parametrize("delta", ["1e-3", "1e-2"])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1"])
def test_approximate_privacy_bounds_conclusions(epsilon, delta):
    """A mechanism that tells a bit with probability δ, and otherwise responds at random."""
    leak, e = Fraction(delta), factors(epsilon)[0]
    low = factors(e)[1]
    truth = low / (1 + low)
    mechanism = {
        (b,): {b: (1 - leak) * truth, 1 - b: (1 - leak) * (1 - truth), ("it is", b): leak}
        for b in (0, 1)
    }
    assert check_differential(mechanism, epsilon).high <= leak
    reading = semantic_reading(epsilon, delta)
    prior = {(0,): Fraction(1, 2), (1,): Fraction(1, 2)}
    found = check_semantic(mechanism, [prior], 1, min(reading.move, Fraction(1)), default=0)
    assert found.high <= reading.failure


@pytest.mark.parametrize("bad", [(-1, 0), (1, 2), (1, -1), ("nan", 0)])
def test_a_reading_out_of_range_is_refused(bad):
    with pytest.raises(InvalidArgument):
        semantic_reading(*bad)
    with pytest.raises(InvalidArgument):
        semantic_reading(1, "0.1", slack=0)


# ---- Separations


@pytest.mark.parametrize("truth", [1, "3/4", "11/20", "1/2"])
def test_a_stranger_is_found_out_by_whatever_is_useful(truth):
    """Beliefs about somebody who is not in the data move as far as the release is useful."""
    model, useful = stranger(2, truth), Fraction(truth) - Fraction(1, 2)
    moved = check_inference_pufferfish(model, [lambda x: x[0]], 0)
    assert moved.high == useful
    pair = CoupledPair("the stranger", lambda x: x[0], lambda x: certain(x[1]))
    assert check_coupled_worlds(model, [pair], 0).high == 0


@pytest.mark.parametrize("truth", ["0.4", 2])
def test_a_stranger_out_of_range(truth):
    with pytest.raises(InvalidArgument):
        stranger(2, truth)
    with pytest.raises(InvalidArgument):
        shared_sign(4, "0.1")


def test_a_total_and_the_total_without_one_row():
    """Both are private alone; the pair tells the row, at every ε."""
    total, rest, both = differenced_sums(6)
    assert check_distributional(total, 6, 1).high < Fraction(1, 100)
    assert check_distributional(rest, 6, 1).high < Fraction(2, 100)
    for epsilon in (1, 5, 64):
        assert check_distributional(both, 6, epsilon).high == Fraction(1, 2)
