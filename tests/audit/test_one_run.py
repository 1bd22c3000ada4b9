"""Auditing in one run: the bound against enumeration, against the paper's, on mechanisms."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.audit.one_run import OneRunResult, audit_one_run, audit_scores, p_value
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, Pure, Zcdp
from discreet.core.numbers import Number, exp_bounds
from discreet.mechanisms.noise.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.noise.discrete_laplace import DiscreteLaplace
from tests.support.statistics.exact_tests import alpha

SURE = Fraction(999_999, 1_000_000)


def result(
    right: int,
    guesses: int,
    canaries: int | None = None,
    *,
    delta: Number = 0,
    confidence: Number = SURE,
) -> OneRunResult:
    return OneRunResult(
        canaries=canaries or guesses,
        guesses=guesses,
        right=right,
        delta=delta,
        confidence=confidence,
    )


# ---------------------------------------------------------------- the theorem, by enumeration


def truth_share(epsilon: Fraction) -> Fraction:
    """The chance of a true answer of randomised response, so that it is ε-DP and hardly less."""
    factor = exp_bounds(epsilon)[0]
    return factor / (1 + factor)


def responses(canaries: int, epsilon: Fraction):
    """The law of the guesses for each row of coins: randomised response about each canary."""
    share = truth_share(epsilon)
    return lambda coins: {
        told: math.prod(share if a == b else 1 - share for a, b in zip(coins, told, strict=True))
        for told in itertools.product((0, 1), repeat=canaries)
    }


def told_all_sometimes(canaries: int, epsilon: Fraction, delta: Fraction):
    """With probability δ all coins are told; else randomised response answers."""
    inner = responses(canaries, epsilon)

    def law(coins):
        masses = {told: (1 - delta) * mass for told, mass in inner(coins).items()}
        masses[coins] += delta
        return masses

    return law


def helped_at_the_edge(canaries: int, epsilon: Fraction, delta: Fraction, needed: int):
    """The last canary is told, with probability δ, where one more right guess is needed."""
    inner = responses(canaries, epsilon)

    def law(coins):
        masses = dict(inner(coins))
        for told in list(masses):
            so_far = sum(a == b for a, b in zip(coins[:-1], told[:-1], strict=True))
            if so_far == needed - 1 and told[-1] != coins[-1]:
                moved = min(masses[told], delta * (masses[told] + masses[(*told[:-1], coins[-1])]))
                masses[told] -= moved
                masses[*told[:-1], coins[-1]] += moved
        return masses

    return law


def chances(law, canaries: int) -> list[Fraction]:
    """P[V >= v] for each v, over fair coins, exactly."""
    reached = [Fraction(0)] * (canaries + 1)
    for coins in itertools.product((0, 1), repeat=canaries):
        for told, mass in law(coins).items():
            reached[sum(a == b for a, b in zip(coins, told, strict=True))] += mass
    tails = itertools.accumulate(reversed(reached))
    return [one / 2**canaries for one in tails][::-1]


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_pure_bound_is_met_by_randomised_response(epsilon):
    epsilon, canaries = Fraction(epsilon), 5
    for right, true in enumerate(chances(responses(canaries, epsilon), canaries)):
        bound = p_value(Pure(epsilon), result(right, canaries))
        assert true <= bound
        if bound < 1:
            assert float(bound) == pytest.approx(float(true), abs=1e-12)
    assert bound < 1 or epsilon == 3


def is_private(law, canaries: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Every two rows of coins that differ in one place are (ε, δ)-close, by enumeration."""
    factor = exp_bounds(epsilon)[1]
    for coins in itertools.product((0, 1), repeat=canaries):
        for place in range(canaries):
            other = (*coins[:place], 1 - coins[place], *coins[place + 1 :])
            first, second = law(coins), law(other)
            if sum(max(Fraction(0), first[o] - factor * second[o]) for o in first) > delta:
                return False
    return True


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(1)])
def test_approximate_bound_holds_and_needs_its_term(epsilon, delta):
    canaries = 4
    laws = [told_all_sometimes(canaries, epsilon, delta)]
    laws += [helped_at_the_edge(canaries, epsilon, delta / 2, v) for v in (3, 4)]
    assert is_private(laws[0], canaries, epsilon, delta)
    broken_twins = 0
    for law in laws:
        if not is_private(law, canaries, epsilon, delta):
            continue
        for right, true in enumerate(chances(law, canaries)):
            found = result(right, canaries)
            assert true <= p_value(Approximate(epsilon, delta), found)
            broken_twins += true > p_value(Pure(epsilon), found) + Fraction(1, 10**12)
    assert broken_twins, "without the term of δ the bound does not hold"


# ---------------------------------------------------------------- against the paper's own numbers


def printed_p_value(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """The p-value as the paper prints it."""
    q = 1 / (1 + math.exp(-epsilon))
    beta = stats.binom.sf(v - 1, r, q)
    sums = np.cumsum(stats.binom.pmf(v - np.arange(1, v + 1), r, q))
    most = (sums / np.arange(1, v + 1)).max()
    return min(1.0, beta + most * delta * 2 * m)


@pytest.mark.parametrize(("guesses", "right"), [(100, 90), (1000, 780), (50, 50)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_p_value_is_the_printed_one_without_delta(guesses, right, epsilon):
    ours = p_value(Pure(Fraction(epsilon)), result(right, guesses, 1000))
    assert float(ours) == pytest.approx(printed_p_value(1000, guesses, right, epsilon, 0), rel=1e-6)


def test_neither_term_of_delta_is_always_smaller():
    few = p_value(Approximate(1, "1/1000"), result(10, 10, 10))
    assert float(few) < printed_p_value(10, 10, 10, 1.0, 1e-3)
    many = p_value(Approximate(1, "1/100000"), result(780, 1000, 1000))
    assert float(many) > printed_p_value(1000, 1000, 780, 1.0, 1e-5)


def test_epsilon_lower_is_where_the_p_value_passes():
    found = result(90, 100, confidence="0.95")
    low = found.epsilon_lower
    assert found.refutes(Pure(low))
    assert not found.refutes(Pure(low + Fraction(1, 1000)))
    with_delta = result(90, 100, confidence="0.95", delta="1e-5")
    assert 0 < with_delta.epsilon_lower < low
    assert result(90, 100, confidence="0.95", delta="1/100").epsilon_lower == 0
    assert result(50, 100, confidence="0.95").epsilon_lower == 0


# ---------------------------------------------------------------- mechanisms


def noisy_cells(noise, rng):
    return lambda included: noise.release(included.astype(np.int64), rng)


@pytest.mark.parametrize("scale", ["10", "1", "1/3"])
def test_sampling_catches_half_the_noise_in_one_run(scale, rng):
    # With half the noise so many are right that the check is seven deviations away, or more.
    canaries = {"10": 100_000, "1": 4_000, "1/3": 20_000}[scale]
    sure = 1 - Fraction(alpha("audit/one run/laplace", parts=6))
    claim = Pure(1 / Fraction(scale))
    said = {"canaries": canaries, "rng": rng, "confidence": sure}
    sound = audit_one_run(noisy_cells(DiscreteLaplace(scale=scale), rng), **said)
    assert not sound.refutes(claim)
    assert sound.epsilon_lower <= claim.epsilon
    half = DiscreteLaplace(scale=Fraction(scale) / 2)
    assert audit_one_run(noisy_cells(half, rng), **said).refutes(claim)


def test_fewer_guesses_see_more_of_normal_noise(rng):
    noise = DiscreteGaussian(sigma_squared=1)
    said = {"canaries": 4000, "rng": rng, "delta": "1e-12", "confidence": "0.999999"}
    bounds = [
        audit_one_run(noisy_cells(noise, rng), guesses=guesses, **said).epsilon_lower
        for guesses in (4000, 800)
    ]
    assert bounds[0] < bounds[1]


def test_canaries_that_are_not_there_say_nothing(rng):
    found = audit_one_run(lambda included: np.zeros(1000), canaries=1000, rng=rng)
    assert not found.refutes(Pure(0))
    assert found.epsilon_lower == 0


@pytest.mark.parametrize("is_in_first", [True, False])
def test_the_order_of_canaries_with_equal_scores_says_nothing(is_in_first, rng):
    """Sorted by who was in: half the canaries, and no guess about them is better than a coin."""
    coins = np.arange(1000) < 500
    coins = coins if is_in_first else ~coins
    for scores in (np.zeros(1000), np.arange(1000) % 2):
        found = audit_scores(coins, scores, rng=rng)
        assert abs(found.right - 500) < 200
        assert not found.refutes(Pure("1/4"))


def test_canaries_that_no_coin_has_put_in_are_refused(rng):
    for included in (0, 10, 90, 100):
        with pytest.raises(InvalidArgument, match="no fair coin"):
            audit_scores(np.arange(100) < included, np.zeros(100), rng=rng)
    assert audit_scores(np.arange(100) < 30, np.zeros(100), rng=rng).canaries == 100


# ---------------------------------------------------------------- forms and bad input


def test_what_is_printed_is_no_more_than_what_is_proved():
    """Rounded to the nearest, half of these were larger than their bounds; and 1 - 1e-12 was 1."""
    words = re.compile(r"at least (\S+) at δ = (\S+), with confidence (0\.\d+):")
    for right in range(150, 200):
        for sure in (Fraction(19, 20), 1 - Fraction(1, 10**12)):
            found = result(right, 200, delta=Fraction(1, 3 * 10**7), confidence=sure)
            said = words.search(str(found))
            assert said is not None
            assert Fraction(said[1]) <= found.epsilon_lower
            assert Fraction(said[2]) <= found.delta
            assert Fraction(said[3]) <= sure
            assert Fraction(found.to_json()["confidence"]) <= sure


def test_forms():
    found = result(90, 100, confidence="0.95")
    assert "90 of 100 guesses about 100 canaries" in str(found)
    assert found.to_json()["epsilon_lower"] <= found.epsilon_lower


@pytest.mark.parametrize("wrong", [{"guesses": 3}, {"guesses": 12}, {"confidence": 1}])
def test_bad_input_is_refused(wrong, rng):
    with pytest.raises(InvalidArgument):
        audit_one_run(lambda included: np.zeros(10), canaries=10, rng=rng, **wrong)


@pytest.mark.parametrize("scores", [np.zeros(9), np.full(10, np.nan), np.array(["a"] * 10)])
def test_what_is_no_score_is_refused(scores, rng):
    with pytest.raises(InvalidArgument, match="no scores"):
        audit_scores(np.ones(10, dtype=np.bool_), scores, rng=rng)


@pytest.mark.parametrize("coins", [[1, 0] * 5, ["yes"] * 10, [[True] * 10]])
def test_what_is_no_coin_is_refused(coins, rng):
    """Of numbers the complement is another number, and all guesses would be wrong."""
    with pytest.raises(InvalidArgument, match="no coins"):
        audit_scores(np.array(coins), np.zeros(10), rng=rng)


def test_unknown_measures_and_impossible_counts_are_refused():
    with pytest.raises(Unsupported):
        result(9, 10).refutes(Zcdp(rho=1))
    with pytest.raises(InvalidArgument, match="counts"):
        result(11, 10)
