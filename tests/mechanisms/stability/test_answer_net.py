"""Nets: packing and covering, the exact law of the choice, and the printed sample sizes."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.exponential_sum import exp
from discreet.audit.law_pair import LawPair
from discreet.audit.laws import ExactLaw, enclosed
from discreet.audit.verdict import VerdictAnswer, verify
from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument
from discreet.core.event_json import event_from_json
from discreet.core.loss import Pure, Zcdp
from discreet.mechanisms.stability.answer_net import AnswerNet, greedy_net, rows_for_pure
from tests.support.statistics.exact_tests import alpha, cells_p_value
from tests.support.statistics.numbered_rng import NumberedRng

GRID = np.array(list(itertools.product(range(9), repeat=2)))
ONE = Contribution(linf=1)
NET = AnswerNet.calibrate(GRID, radius=2, d_in=ONE, loss=Pure("3/2"))


def apart(first, second) -> int:
    return max(abs(a - b) for a, b in zip(first, second, strict=True))


def law(net: AnswerNet, answer: tuple[int, ...], sharpness: int = 1) -> ExactLaw:
    return ExactLaw(
        {p: exp(-sharpness * Fraction(apart(p, answer)) / net.temperature) for p in net.points}
    )


def pair_of(first: tuple[int, ...], second: tuple[int, ...], sharpness: int = 1) -> LawPair:
    return LawPair(first=law(NET, first, sharpness), second=law(NET, second, sharpness))


PAIRS = [((0, 0), (1, 1)), ((4, 4), (4, 5)), ((2, 2), (3, 1)), ((5, 0), (4, 0)), ((8, 8), (7, 7))]


@settings(max_examples=50)
@given(
    points=st.lists(st.tuples(*[st.integers(-20, 20)] * 3), min_size=1, max_size=60),
    radius=st.integers(0, 15),
)
def test_net_is_far_from_itself_and_near_all(points, radius: int):
    net = greedy_net(np.array(points, dtype=np.int64), radius=radius).tolist()
    assert all(apart(a, b) > radius for a, b in itertools.combinations(net, 2))
    assert all(min(apart(p, n) for n in net) <= radius for p in points)
    assert set(map(tuple, net)) <= set(points)


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=str)
def test_loss_holds(first, second):
    assert verify(pair_of(first, second), NET.loss(ONE)).answer is VerdictAnswer.HOLDS


def test_verifier_catches_the_exponent_without_its_two():
    """Weights exp(−ε·distance/Δ), twice too sharp, break ε-DP."""
    answers = [verify(pair_of(*pair, sharpness=2), NET.loss(ONE)).answer for pair in PAIRS]
    assert VerdictAnswer.BROKEN in answers


def test_verifier_catches_a_net_of_the_data():
    """A net of the answers near the data has points that the neighbour's has not."""
    near = [
        ExactLaw({tuple(p): 1 for p in greedy_net(GRID[GRID[:, 0] <= edge], radius=2).tolist()})
        for edge in (2, 3)
    ]
    assert verify(LawPair(first=near[0], second=near[1]), Pure(20)).answer is VerdictAnswer.BROKEN


def test_released_points_have_the_verified_law(rng):
    answer, samples = (3, 5), 6000
    places = {point: i for i, point in enumerate(NET.points)}
    values = np.array(answer, dtype=np.int64)
    drawn = np.array([places[tuple(NET.release(values, rng).tolist())] for _ in range(samples)])
    level = alpha("stability/net", parts=2)
    right = {places[p]: ends[0] for p, ends in enclosed(law(NET, answer)).masses.items()}
    sharp = {places[p]: ends[0] for p, ends in enclosed(law(NET, answer, 2)).masses.items()}
    assert cells_p_value(drawn, right) > level
    assert cells_p_value(drawn, sharp) < level, "the check has power"


@pytest.mark.parametrize("beta", ["0.5", "0.1", "0.01"])
def test_error_quantile_holds_exactly(beta: str):
    bound = NET.error_quantile(beta)
    for answer in itertools.product(range(9), repeat=2):
        masses = enclosed(law(NET, answer)).masses
        far = sum(ends[1] for p, ends in masses.items() if apart(p, answer) > bound)
        assert far <= Fraction(beta)


def test_printed_number_of_rows_is_not_what_its_theorem_gives():
    """Theorem 2.1.11 prints 5n²; Theorem 2.7.1 at α = 1/n gives 8n², or 4n² on [0, 1]."""
    for rows in (10, 100, 1000):
        small = Fraction(1, rows)
        common: dict[str, Any] = {
            "loss": Zcdp(rho=small**2),
            "rows": rows,
            "accuracy": small,
            "epsilon": small,
        }
        assert rows_for_pure(**common) == 8 * rows**2 > 5 * rows**2
        assert rows_for_pure(**common, width=1) == 4 * rows**2
        twice = common | {"accuracy": 2 * small, "epsilon": 2 * small}
        twice["loss"] = Zcdp(rho=4 * small**2)
        assert rows_for_pure(**twice) == 5 * rows**2, "from α = 2/n on the printed one holds"


def test_rows_grow_with_xi_rounded_up():
    loss = Zcdp(rho="1e-6", xi="1e-5")
    rows = rows_for_pure(loss=loss, rows=100, accuracy="0.01", epsilon="0.1")
    assert rows == pytest.approx(4000 * (0.01 + 1e-3 * (1 + 4.605170186) + 1), rel=1e-3)


def test_event_is_remembered():
    event = NET.event(ONE)
    assert event_from_json(event.to_json()) == event


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: AnswerNet.calibrate(GRID, radius=2, d_in=ONE, loss=Pure(0)),
        lambda: AnswerNet.calibrate(GRID, radius=-1, d_in=ONE, loss=Pure(1)),
        lambda: AnswerNet(points=(), radius=1, temperature=1),
        lambda: AnswerNet(points=((0, 2**62), (0, 1)), radius=1, temperature=1),
        lambda: AnswerNet(points=((-(2**63), 1),), radius=1, temperature=1),
        lambda: AnswerNet(points=((0,),), radius=1, temperature=0),
        lambda: greedy_net(np.zeros((0, 2), dtype=np.int64), radius=1),
        lambda: greedy_net(np.zeros((1, 2)), radius=1),  # type: ignore[arg-type]
        lambda: greedy_net(np.array([[2**62]]), radius=1),
        lambda: NET.release(np.array([1]), NumberedRng(0)),
        lambda: NET.release(np.array([1.0, 2.0]), NumberedRng(0)),
        lambda: rows_for_pure(loss=Zcdp(rho=1), rows=5, accuracy="0.1", epsilon=1),
        lambda: rows_for_pure(loss=Zcdp(rho=0), rows=0, accuracy="0.1", epsilon=1),
    ],
)
def test_bad_parameters_are_refused(attempt):
    with pytest.raises(InvalidArgument):
        attempt()


def test_the_furthest_points_do_not_wrap_around(rng):
    """Beyond 2**62 a distance would not fit 64 bits: the far point would look like the near one."""
    most = 2**62 - 1
    net = AnswerNet(points=((most, 0), (-most, 0)), radius=0, temperature=2**50)
    for answer in (most, most - 5, -most, 5 - most):
        nearest = most if answer > 0 else -most
        assert net.release(np.array([answer, 0]), rng).tolist() == [nearest, 0]
