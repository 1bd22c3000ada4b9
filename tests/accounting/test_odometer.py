"""Odometers read and filters stop; neither is fooled by losses that depend on answers."""

from fractions import Fraction

import pytest

from discreet.accounting.composition.compose import compose_epsilon
from discreet.accounting.curves.curve import RenyiCurve
from discreet.accounting.curves.line import Line
from discreet.accounting.filters.odometer import Odometer
from discreet.accounting.filters.renyi_filter import RenyiFilter, at_order
from discreet.accounting.filters.rules import admits, require_filter
from discreet.audit.finite_divergence import renyi_divergence
from discreet.audit.game import Move, play
from discreet.core.errors import BudgetExhausted, InvalidArgument, Unsupported
from discreet.core.loss import Approximate, ApproximateZcdp, Pure, Zcdp
from discreet.core.numbers import log_bounds


def log_up(ratio: Fraction) -> Fraction:
    return log_bounds(ratio, 128)[1]


def response(ratio: Fraction) -> Move:
    truth, lie = ratio / (1 + ratio), 1 / (1 + ratio)
    return Move(
        mechanism=lambda bit: {bit: truth, 1 - bit: lie},
        neighbours=(0, 1),
        loss=Pure(log_up(ratio)),
    )


def test_the_reading_is_the_sum():
    odometer = Odometer()
    for loss in (Zcdp(rho="0.1"), Zcdp(rho="0.2", xi=1)):
        odometer = odometer.after(loss)
    result = odometer.read()
    assert result.loss == Zcdp(rho="0.3", xi=1)
    assert "not a stopping rule" in result.theorem


def test_a_pure_reading_bounds_every_transcript():
    # The adversary spends more after a 1, and stops as soon as it likes.
    def adversary(view):
        if len(view) > 4 or view[-2:] == (0, 0):
            return None
        return response(Fraction(3) if view[-1] == 1 else Fraction(2))

    game = play(adversary)
    readings = set()
    for view, losses in game.spent.items():
        odometer = Odometer()
        for loss in losses:
            odometer = odometer.after(loss)
        total = odometer.read().loss if losses else Pure(0)
        assert isinstance(total, Pure)
        reading = total.epsilon
        ratio = game.views[0][view] / game.views[1][view]
        assert abs(log_bounds(ratio, 128)[0]) <= reading
        readings.add(reading)
    assert len(readings) > 2


def test_the_bound_at_a_fixed_order_holds_at_all_times_at_once():
    # The adversary goes on until its luck is good: what it has seen then exceeds the bound for a
    # time fixed beforehand more often than that bound's δ, but not the bound for all times.
    step, rounds, alpha, delta = Fraction(2), 9, Fraction(3), Fraction(1, 10)
    loss = response(step).loss
    odometer, bounds = Odometer(), []
    for _ in range(rounds):
        odometer = odometer.after(loss)
        bounds.append(odometer.bound(alpha=alpha, delta=delta))
    game = play(lambda view: response(step) if len(view) <= rounds else None)
    exceeded = Fraction(0)
    for view, mass in game.views[0].items():
        steps = [1 if answer == 0 else -1 for answer in view[1:]]
        running = [sum(steps[: n + 1]) * log_bounds(step, 128)[0] for n in range(rounds)]
        if any(now > bound for now, bound in zip(running, bounds, strict=True)):
            exceeded += mass
    assert exceeded <= delta


def test_odometers_refuse_other_measures():
    with pytest.raises(Unsupported, match="No filter"):
        Odometer().after(RenyiCurve.of(Line(rho=1)))
    with pytest.raises(Unsupported, match="another measure"):
        Odometer().after(Pure(1)).after(Zcdp(rho=1))
    with pytest.raises(InvalidArgument):
        Odometer().read()
    spent = Odometer().after(ApproximateZcdp(rho=1, delta="1e-6"))
    assert spent.read().loss == ApproximateZcdp(rho=1, delta="1e-6")
    with pytest.raises(Unsupported, match="exceptional"):
        spent.bound(alpha=2, delta="1e-6")
    for alpha, delta in ((1, "0.1"), (2, 0), (2, 1)):
        with pytest.raises(InvalidArgument):
            Odometer().after(Pure(1)).bound(alpha=alpha, delta=delta)


def test_advanced_composition_is_never_a_gate():
    """The gate of an (ε, δ) budget stops at the plain sum, where advanced theorems would go on."""
    cap, each = Approximate("6.4", "1e-6"), Approximate("0.1", "1e-9")
    assert compose_epsilon({each: 100}, delta=cap.delta, method="drv").loss <= cap
    assert admits(cap, each * 63, each)
    assert not admits(cap, each * 64, each)
    with pytest.raises(Unsupported, match="No filter"):
        require_filter(RenyiCurve.of(Line(rho=1)))


def test_a_renyi_budget_can_be_split_and_spent_to_the_end():
    gate = RenyiFilter(alpha="5/2", cap="1/3")
    for _ in range(7):
        assert gate.admits(Fraction(1, 21))
        gate = gate.after(Fraction(1, 21))
    assert gate.left == 0
    assert gate.admits(0)
    assert not gate.admits(Fraction(1, 10**30))
    with pytest.raises(BudgetExhausted):
        gate.after(Fraction(1, 10**30))


def test_a_renyi_filter_holds_against_adaptive_losses():
    alpha, cap = Fraction(3), Fraction(6, 5)

    def adversary(view):
        gate = RenyiFilter(alpha=alpha, cap=cap)
        state: list[int] = []
        for answer in (*view[1:], None):
            odds = Fraction(5, 2) if state and state[-1] == 1 else Fraction(3, 2)
            move = response(odds)
            if not gate.admits(move.loss):
                return None
            if answer is None:
                return move
            gate = gate.after(move.loss)
            state.append(answer)
        return None

    game = play(adversary)
    assert len({len(view) for view in game.views[0]}) > 1
    for first, second in (game.views, game.views[::-1]):
        assert renyi_divergence(first, second, alpha)[0] <= cap


def test_what_a_loss_costs_at_one_order():
    assert at_order(Zcdp(rho="0.1", xi=1), 2) == Fraction(6, 5)
    assert at_order(RenyiCurve.of(Line(rho="0.1")), 2) == Fraction(1, 5)
    assert Fraction("0.7353") < at_order(Pure(1), 2) < Fraction("0.7354")
    assert at_order("0.5", 2) == Fraction(1, 2)
    with pytest.raises(Unsupported):
        at_order(Approximate(1, "1e-6"), 2)
    with pytest.raises(InvalidArgument):
        at_order(-1, 2)
    with pytest.raises(InvalidArgument):
        RenyiFilter(alpha=1, cap=1)
    with pytest.raises(InvalidArgument):
        RenyiFilter(alpha=2, cap=-1)
