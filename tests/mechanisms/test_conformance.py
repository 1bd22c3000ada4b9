"""One suite for every mechanism that adds noise."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.divergence import delta, max_divergence
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import enclosed
from discreet.audit.verdict import VerdictAnswer, pure_epsilon, verify
from discreet.core.contribution import Contribution
from discreet.core.event_json import event_from_json
from discreet.core.loss import Approximate, Pure, Zcdp
from tests.mechanisms.cases import CASES, Case
from tests.support.statistics.exact_tests import alpha, cells_p_value

PAIRS = [(case, *pair) for case in CASES for pair in case.pairs]
SAMPLES = 20_000


def laws(case: Case, first, second) -> LawPair:
    return LawPair(first=case.law(first), second=case.law(second))


@pytest.mark.parametrize(("case", "first", "second", "d_in"), PAIRS, ids=str)
def test_loss_is_never_below_the_truth(case: Case, first, second, d_in: Contribution):
    loss, pair = case.mechanism.loss(d_in), laws(case, first, second)
    if case.name == "linf_exponential":
        # The listed outcomes are decided; what is not listed has a tiny mass.
        loss = Approximate(loss.epsilon, "1e-5")
    answer = verify(pair, loss).answer
    if isinstance(loss, Zcdp):
        assert answer is not VerdictAnswer.BROKEN
        return
    assert answer is VerdictAnswer.HOLDS


@pytest.mark.parametrize(
    ("case", "first", "second", "d_in"), [p for p in PAIRS if p[0].is_tight], ids=str
)
def test_pure_loss_is_the_truth(case: Case, first, second, d_in: Contribution):
    loss = case.mechanism.loss(d_in)
    pair = laws(case, first, second)
    measured = pure_epsilon(pair)
    assert measured.low <= loss.epsilon <= measured.high
    below = Pure(loss.epsilon * Fraction(999_999, 1_000_000))
    assert verify(pair, below).answer is VerdictAnswer.BROKEN


@pytest.mark.parametrize("shift", [1, 3])
def test_linf_loss_is_the_truth(shift: int):
    case = next(case for case in CASES if case.name == "linf_exponential")
    exact = case.mechanism.loss(Contribution(linf=shift)).epsilon
    pair = laws(case, (0, 0), (shift, 0))
    below = Approximate(exact * Fraction(99, 100), "1e-5")
    assert verify(pair, below).answer is VerdictAnswer.BROKEN


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "2", "4"])
@pytest.mark.parametrize("case_pair", [p for p in PAIRS if p[0].name == "discrete_gaussian"])
def test_gaussian_curve_is_the_truth(case_pair, epsilon: str):
    """The exact curve lies in the enumeration's interval, for vectors too."""
    case, first, second, d_in = case_pair
    loss = case.mechanism.approximate_loss(d_in, epsilon=epsilon)
    pair = laws(case, first, second)
    measured = delta(pair.first, pair.second, epsilon)
    tiny = Fraction(1, 10**15)
    assert measured.low - tiny <= loss.delta <= measured.high + tiny


@pytest.mark.parametrize("shift", [1, 3])
def test_truncated_delta_is_the_truth(shift: int):
    case = next(case for case in CASES if case.name == "truncated_geometric")
    loss = case.mechanism.loss(Contribution(l0=1, linf=shift))
    pair = laws(case, (0,), (shift,))
    below = Approximate(loss.epsilon, loss.delta * Fraction(999_999, 1_000_000))
    assert verify(pair, loss).answer is VerdictAnswer.HOLDS
    assert verify(pair, below).answer is VerdictAnswer.BROKEN


def test_uniform_delta_is_the_truth():
    case = next(case for case in CASES if case.name == "uniform_smoothing")
    pair = laws(case, (0,), (3,))
    assert case.mechanism.loss(Contribution(l1=3)) == Approximate(0, Fraction(3, 19))
    assert delta(pair.first, pair.second, 0).low == Fraction(3, 19)
    assert max_divergence(pair.first, pair.second).low == float("inf")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_loss_grows_with_the_distance(case: Case):
    losses = [case.mechanism.loss(Contribution(l0=2, linf=step)) for step in range(5)]
    for smaller, larger in itertools.pairwise(losses):
        assert smaller <= larger
    numbers = {name: value for name, value in losses[0].to_json().items() if name != "measure"}
    assert set(numbers.values()) == {"0"}, "what moves nothing costs nothing"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_events_are_remembered(case: Case):
    event = case.mechanism.event(case.pairs[0][2])
    assert event_from_json(event.to_json()) == event
    assert event.metric is case.pairs[0][2].metric


@pytest.mark.parametrize("case", CASES, ids=str)
def test_release_keeps_shape_and_type(case: Case, rng):
    sizes = {"linf_exponential": (2,), "noisy_histogram": (2,)}
    for shape in [(0,), sizes.get(case.name, (2, 3)), (2, 1)]:
        values = np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)
        before = values.copy()
        released = case.mechanism.release(values, rng)
        assert released.shape == shape
        assert released.dtype == np.int64
        assert (values == before).all(), "the exact values are not touched"
        assert not np.shares_memory(values, released)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_release_has_the_stated_law(case: Case, rng):
    """The noise that comes out is the noise of the law that was verified, in its first entry."""
    level = alpha("mechanisms/law", parts=2 * len(CASES))
    centre = case.pairs[0][0]
    masses = enclosed(case.law(centre)).masses
    first: dict[int, Fraction] = {}
    for outcome, ends in masses.items():
        first[outcome[0]] = first.get(outcome[0], Fraction(0)) + ends[0]
    reach = 3
    cells = {z: first[z] for z in range(-reach, reach + 1)}
    if len(centre) == 1 or case.name == "noisy_histogram":
        shape = (SAMPLES, len(centre))
        mechanism = getattr(case.mechanism, "noise", case.mechanism)
        drawn = mechanism.release(np.broadcast_to(np.array(centre), shape).copy(), rng)[:, 0]
    else:
        drawn = np.array(
            [case.mechanism.release(np.array(centre), rng)[0] for _ in range(SAMPLES // 4)]
        )
    assert cells_p_value(drawn, cells) > level
    wider = {z: first[z] * Fraction(5, 6) for z in cells}
    assert cells_p_value(drawn, wider) < level, "the check has power"


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("beta", ["0.5", "0.2", "0.1"])
def test_error_quantile_holds(case: Case, beta: str):
    """By exact tails: no error above the quantile is more likely than stated."""
    centre = tuple(0 for _ in case.pairs[0][0])
    law = enclosed(case.law(centre))
    bound = case.mechanism.error_quantile(beta)
    assert bound == int(bound) >= 0
    above = sum(ends[1] for outcome, ends in law.masses.items() if abs(outcome[0]) > bound)
    assert above + law.outside <= Fraction(beta) + Fraction(1, 10**4) * (law.outside > 0)
    if case.name != "linf_exponential" and bound > 0:
        at_least = sum(ends[0] for o, ends in law.masses.items() if abs(o[0]) > bound - 1)
        assert at_least > Fraction(beta), "and it is the smallest"


def test_law_of_the_cube_has_the_right_norm():
    """P(largest entry = r) in the enumerated law is the formula of the error quantile."""
    case = next(case for case in CASES if case.name == "linf_exponential")
    law = enclosed(case.law((0, 0)))
    for beta in ("0.3", "0.05", "0.01"):
        bound = case.mechanism.error_quantile(beta)
        above = sum(ends[0] for o, ends in law.masses.items() if max(map(abs, o)) > bound)
        slightly = sum(ends[0] for o, ends in law.masses.items() if max(map(abs, o)) > bound - 3)
        assert above <= Fraction(beta) < slightly
